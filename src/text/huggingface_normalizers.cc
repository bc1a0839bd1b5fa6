// The "normalizer" of tokenizer.json: one row for each type.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "text/base64.h"
#include "text/charsmap.h"
#include "text/huggingface_json.h"
#include "text/limits.h"

namespace wick {
namespace {

using Step = Result<NormalizerStepPtr>;

// A text that a step may insert, or look for.
Result<std::string> short_text(std::string_view text, bool may_be_empty) {
  if (text.size() <= kMaxNormaliserBytes && (may_be_empty || !text.empty())) {
    return std::string(text);
  }
  return corrupt_json(cat("a normalizer step has the text '", printable(text), "', wick takes ",
                          may_be_empty ? 0 : 1, " to ", kMaxNormaliserBytes, " bytes"));
}

template <UnicodeForm kForm>
Step read_form(const Json& /*node*/) {
  return make_form(kForm);
}

template <NormalizerStepPtr (*kMake)()>
Step read_plain(const Json& /*node*/) {
  return kMake();
}

Step read_prepend(const Json& node) {
  WICK_TRY(std::string text, short_text(text_member(node, "prepend"), false));
  return make_prepend(std::move(text));
}

Step read_replace(const Json& node) {
  WICK_TRY(std::string to, short_text(text_member(node, "content"), true));
  const Json& pattern = member(node, "pattern");
  if (member(pattern, "Regex").is_string()) {
    WICK_TRY(Pattern from, Pattern::compile(text_member(pattern, "Regex")));
    return make_replace(std::move(from), std::move(to));
  }
  WICK_TRY(std::string from, short_text(text_member(pattern, "String"), false));
  return make_replace(std::move(from), std::move(to));
}

Step read_strip(const Json& node) {
  return make_strip(flag_member(node, "strip_left", true), flag_member(node, "strip_right", true));
}

Step read_bert(const Json& node) {
  const bool lowers = flag_member(node, "lowercase", true);
  return make_bert({.cleans = flag_member(node, "clean_text", true),
                    .spaces_ideographs = flag_member(node, "handle_chinese_chars", true),
                    .strips_accents = flag_member(node, "strip_accents", lowers),
                    .lowers = lowers});
}

Step read_precompiled(const Json& node) {
  std::string bytes;
  if (!append_base64(bytes, text_member(node, "precompiled_charsmap"))) {
    return corrupt_json("the normalizer's precompiled_charsmap is no base64");
  }
  WICK_TRY(Charsmap map, Charsmap::parse(bytes));
  return make_precompiled(std::move(map));
}

struct Row {
  std::string_view type;
  Step (*read)(const Json& node);
};

constexpr auto kRows = std::to_array<Row>({
    {"NFC", read_form<UnicodeForm::kNfc>},
    {"NFD", read_form<UnicodeForm::kNfd>},
    {"NFKC", read_form<UnicodeForm::kNfkc>},
    {"NFKD", read_form<UnicodeForm::kNfkd>},
    {"Prepend", read_prepend},
    {"Replace", read_replace},
    {"Strip", read_strip},
    {"StripAccents", read_plain<make_strip_accents>},
    {"Lowercase", read_plain<make_lowercase>},
    {"Nmt", read_plain<make_nmt>},
    {"ByteLevel", read_plain<make_byte_alphabet>},
    {"BertNormalizer", read_bert},
    {"Precompiled", read_precompiled},
});

}  // namespace

Result<void> read_normalizer(const Json& node, Normalizer& steps) {
  if (node.is_null()) return {};
  const std::string_view type = type_of(node);
  if (type == "Sequence") {
    for (const Json& part : member(node, "normalizers")) {
      WICK_DO(read_normalizer(part, steps));
    }
    return {};
  }
  const auto* const row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.type == type; });
  if (row == kRows.end()) return unsupported_part("normalizer", cat("'", printable(type), "'"));
  if (steps.size() >= kMaxStages) {
    return corrupt_json(cat("the normalizer has more than ", kMaxStages, " steps"));
  }
  WICK_TRY(NormalizerStepPtr step, row->read(node));
  steps.add(std::move(step));
  return {};
}

}  // namespace wick
