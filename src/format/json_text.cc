#include "format/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/blanks.h"
#include "base/strings.h"
#include "format/limits.h"
#include "format/model_parts.h"

namespace wick {

namespace {

using nlohmann::json;

// Parses a document without building it: is it JSON, not too deep, an object? Notes the outermost
// names. (The library's own way to watch names while building, a callback, costs time in the square
// of their number.)
class Survey : public nlohmann::json_sax<json> {
 public:
  bool null() override { return depth_ > 0; }

  bool boolean(bool) override { return depth_ > 0; }

  bool number_integer(json::number_integer_t) override { return depth_ > 0; }

  bool number_unsigned(json::number_unsigned_t) override { return depth_ > 0; }

  bool number_float(json::number_float_t, const json::string_t&) override { return depth_ > 0; }

  bool string(json::string_t&) override { return depth_ > 0; }

  bool binary(json::binary_t&) override { return false; }

  bool start_object(std::size_t) override { return enter(); }

  bool end_object() override { return leave(); }

  bool start_array(std::size_t) override { return depth_ > 0 && enter(); }

  bool end_array() override { return leave(); }

  bool key(json::string_t& name) override {
    if (depth_ == 1) names.push_back(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error_at = position;
    return false;
  }

  bool is_too_deep() const noexcept { return depth_ > kMaxHeaderJsonDepth; }

  std::vector<std::string> names = {};       // of the outermost object, in the text's order
  std::optional<std::size_t> error_at = {};  // byte at which the text stops being JSON

 private:
  bool enter() noexcept { return ++depth_ <= kMaxHeaderJsonDepth; }

  bool leave() noexcept {
    --depth_;
    return true;
  }

  int depth_ = 0;
};

Error syntax_error(const Survey& survey, std::string_view text, std::string_view path) {
  if (survey.is_too_deep()) {
    return corrupt("deep_json", cat(printable(path), ": JSON is nested too deep, wanted at most ",
                                    kMaxHeaderJsonDepth, " levels"));
  }
  if (!survey.error_at) {
    return corrupt("bad_json", cat(printable(path), ": is not a JSON object"));
  }
  if (*survey.error_at > text.size()) {
    return truncated("truncated_json", cat(printable(path), ": JSON ends after ", text.size(),
                                           " bytes, before it is complete"));
  }
  return corrupt("bad_json",
                 cat(printable(path), ": is not valid JSON at byte ", *survey.error_at));
}

}  // namespace

Result<nlohmann::json> parse_json_object(std::string_view text, std::string_view path,
                                         JsonNames names) {
  if (const auto few = check_blanks(text); !few) {
    return corrupt("bad_json", cat(printable(path), ": ", few.error().message));
  }
  Survey survey;
  if (!json::sax_parse(text.begin(), text.end(), &survey)) {
    return syntax_error(survey, text, path);
  }
  if (names == JsonNames::kUnique) {
    std::sort(survey.names.begin(), survey.names.end());
    const auto twice = std::adjacent_find(survey.names.begin(), survey.names.end());
    if (twice != survey.names.end()) {
      return corrupt("duplicate_tensor",
                     cat(printable(path), ": '", printable(*twice), "' appears twice"));
    }
  }
  return json::parse(text.begin(), text.end(), nullptr, false);
}

std::string shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return cat("an array of ", value.size());
  if (value.is_string()) return cat("'", printable(value.get_ref<const std::string&>()), "'");
  return value.dump();
}

}  // namespace wick
