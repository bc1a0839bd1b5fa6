// JSON text to a JsonValue by nlohmann's event parser (which keeps no tree and does not recurse),
// and back as Python writes it.
#include <nlohmann/json.hpp>

#include "base/blanks.h"
#include "base/strings.h"
#include "chat/limits.h"
#include "chat/python_text.h"
#include "chat/json_value.h"

namespace wick {
namespace {

using nlohmann::json;

// Builds the tree under a stack of the containers that are still open. Pointers into a parent stay
// valid, because a parent grows only after its child is closed.
class Builder : public nlohmann::json_sax<json> {
 public:
  explicit Builder(DuplicateKeys duplicates) : duplicates_(duplicates) {}

  bool null() override { return put(nullptr); }

  bool boolean(bool value) override { return put(value); }

  bool number_integer(number_integer_t value) override { return put(std::int64_t{value}); }

  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) return put(static_cast<double>(value));
    return put(static_cast<std::int64_t>(value));
  }

  bool number_float(number_float_t value, const string_t&) override { return put(double{value}); }

  bool string(string_t& value) override { return put(std::move(value)); }

  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Object()); }

  bool end_object() override { return close(); }

  bool start_array(std::size_t) override { return open(Array()); }

  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    key_ = std::move(value);
    if (duplicates_ == DuplicateKeys::kError && stack_.back()->object()->find(key_) != nullptr) {
      message = cat("JSON has the key \"", printable(key_), "\" twice in one object");
      return false;
    }
    return counts();
  }

  bool parse_error(std::size_t at, const std::string&, const json::exception& error) override {
    message = cat("JSON is not well formed at byte ", at, ": ", printable(error.what()));
    return false;
  }

  JsonValue root;
  std::string message;

 private:
  // Where the next value goes; null until it is set, but for a key that comes again.
  JsonValue* place() {
    if (stack_.empty()) return &root;
    if (Array* array = stack_.back()->array()) return &array->emplace_back();
    return &(*stack_.back()->object())[key_];
  }

  bool counts() {
    if (++n_values_ <= kMaxJsonValues) return true;
    message = cat("JSON has more than ", kMaxJsonValues, " values and keys");
    return false;
  }

  bool put(JsonValue&& value) {
    if (!counts()) return false;
    *place() = std::move(value);
    return true;
  }

  bool open(JsonValue&& value) {
    if (!counts()) return false;
    if (stack_.size() >= static_cast<std::size_t>(kMaxJsonDepth)) {
      message = cat("JSON is nested deeper than ", kMaxJsonDepth, " levels");
      return false;
    }
    stack_.push_back(place());
    *stack_.back() = std::move(value);
    return true;
  }

  bool close() {
    stack_.pop_back();
    return true;
  }

  DuplicateKeys duplicates_;
  std::vector<JsonValue*> stack_;
  std::string key_;
  std::size_t n_values_ = 0;
};

void write(std::string& out, const JsonValue& value) {
  if (value.is_null()) {
    out += "null";
  } else if (const bool* truth = value.boolean()) {
    out += *truth ? "true" : "false";
  } else if (const std::int64_t* integer = value.integer()) {
    out += std::to_string(*integer);
  } else if (const double* number = value.number()) {
    out += json_float(*number);
  } else if (const std::string* text = value.string()) {
    append_json_string(out, *text);
  } else if (const Array* array = value.array()) {
    out += '[';
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (i > 0) out += ", ";
      write(out, (*array)[i]);
    }
    out += ']';
  } else {
    out += '{';
    bool first = true;
    for (const auto& [key, item] : *value.object()) {
      if (!first) out += ", ";
      first = false;
      append_json_string(out, key);
      out += ": ";
      write(out, item);
    }
    out += '}';
  }
}

}  // namespace

Result<JsonValue> parse_json(std::string_view text, DuplicateKeys duplicates) {
  if (text.size() > kMaxJsonBytes) {
    return Error{ErrorCode::kInvalid, "json_syntax",
                 cat("JSON has ", text.size(), " bytes, the limit is ", kMaxJsonBytes)};
  }
  WICK_DO(check_blanks(text));
  Builder builder(duplicates);
  if (!json::sax_parse(text, &builder)) {
    return Error{ErrorCode::kInvalid, "json_syntax", builder.message};
  }
  return std::move(builder.root);
}

std::string to_json(const JsonValue& value) {
  std::string out;
  write(out, value);
  return out;
}

}  // namespace wick
