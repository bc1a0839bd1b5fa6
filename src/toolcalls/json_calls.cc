// Calls whose arguments are a JSON object, which is passed on verbatim as it arrives.
#include "base/strings.h"
#include "toolcalls/call_reader.h"
#include "toolcalls/limits.h"

namespace wick {
namespace {

// Finds the end of a JSON string, object or array.
class JsonExtent {
 public:
  // Whether it ends with this byte.
  bool push(char c) noexcept {
    if (is_in_text_) {
      is_in_text_ = c != '"' || is_escaped_;
      is_escaped_ = c == '\\' && !is_escaped_;
      return !is_in_text_ && depth_ == 0;
    }
    if (c == '"') {
      is_in_text_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      return --depth_ == 0;
    }
    return false;
  }

 private:
  bool is_in_text_ = false, is_escaped_ = false;
  std::size_t depth_ = 0;
};

// {"name": "f", "arguments": {…}} or {"f": {…}}. What comes before the name is kept
// (kMaxJsonHeader bytes).
class JsonCall final : public CallReader {
 public:
  // `is_keyed`: the object's one key is the name.
  explicit JsonCall(bool is_keyed) : is_keyed_(is_keyed) {}

  void push(char c) override {
    const bool is_inside = at_ == At::kKeyText || at_ == At::kWhole || at_ == At::kScalar;
    if (is_call_space(c) && !is_inside) return;
    read(c);
    if (is_over() && name_.empty()) fail();
    if (is_over() && !has_arguments_) arguments_ = "{}";
    is_named_ = is_over() || has_arguments_;
    if (!is_streamed_ && value_.size() + arguments_.size() > kMaxJsonHeader) fail();
  }

 private:
  // kWhole: a string, object or array.
  enum class At { kStart, kKey, kKeyText, kColon, kValue, kWhole, kScalar, kNext };

  void read(char c) {
    switch (at_) {
      case At::kStart:
        return expect(c, '{', At::kKey);
      case At::kKey:
        if (c == '}') return end();
        value_.clear();
        extent_ = {};
        expect(c, '"', At::kKeyText);
        [[fallthrough]];
      case At::kKeyText:
        value_ += c;
        if (extent_.push(c)) end_key();
        return;
      case At::kColon:
        return expect(c, ':', At::kValue);
      case At::kValue:
        return begin_value(c);
      case At::kWhole:
        (is_streamed_ ? arguments_ : value_) += c;
        if (extent_.push(c)) end_value();
        return;
      case At::kScalar:
        if (c != ',' && c != '}' && !is_call_space(c)) {
          value_ += c;
          return;
        }
        end_value();
        if (is_call_space(c) || is_bad()) return;
        [[fallthrough]];
      case At::kNext:
        return c == '}' ? end() : expect(c, ',', At::kKey);
    }
  }

  void expect(char c, char wanted, At next) {
    at_ = next;
    if (c != wanted) fail();
  }

  void end_key() {
    key_ = text_of(value_);
    if (is_keyed_ && name_.empty()) name_ = key_;
    at_ = At::kColon;
  }

  void begin_value(char c) {
    value_.clear();
    extent_ = {};
    is_streamed_ = is_arguments() && c == '{' && !name_.empty() && !has_arguments_;
    has_arguments_ = has_arguments_ || is_streamed_;
    at_ = c == '"' || c == '{' || c == '[' ? At::kWhole : At::kScalar;
    read(c);
  }

  void end_value() {
    at_ = At::kNext;
    if (is_streamed_) {
      is_streamed_ = false;
    } else if ((key_ == "name" || key_ == "tool_name") && name_.empty()) {
      name_ = text_of(value_);
      if (name_.empty()) fail();
    } else if (is_arguments() && !has_arguments_) {
      // Some models write the arguments as a string that holds them.
      const bool is_text = value_.starts_with('"');
      arguments_ = is_text ? text_of(value_) : value_ == "null" ? "{}" : value_;
      const auto object = parse_json(arguments_);
      if (!object || object->object() == nullptr) fail();
      has_arguments_ = true;
    }
    value_.clear();
  }

  bool is_arguments() const noexcept {
    return key_ == "arguments" || key_ == "parameters" || (is_keyed_ && key_ == name_);
  }

  // The text that a JSON string stands for; empty if it is none.
  static std::string text_of(const std::string& json) {
    const auto value = parse_json(json);
    return value && value->string() != nullptr ? *value->string() : std::string();
  }

  bool is_keyed_;
  At at_ = At::kStart;
  std::string key_ = {}, value_ = {};
  bool has_arguments_ = false, is_streamed_ = false;
  JsonExtent extent_ = {};
};

// The tool's name, and then the arguments:
//
//   f[ARGS]{…}          Mistral       functions.f:0<|tool_call_argument_begin|>{…}    Kimi K2
class NamedCall final : public CallReader {
 public:
  // `behind_name`: the text between the name and the arguments.
  explicit NamedCall(std::string_view behind_name) : behind_name_(behind_name) {}

  void push(char c) override {
    if (is_in_name_) return push_name(c);
    if (!is_named_) {
      if (is_call_space(c)) return;
      if (c != '{') return fail();
      is_named_ = true;
    }
    arguments_ += c;
    if (extent_.push(c)) end();
  }

 private:
  void push_name(char c) {
    name_ += c;
    if (behind_name_ == "\n" && c != '\n' && !is_name_char(c)) return fail();
    if (name_.ends_with(behind_name_)) {
      name_ = name_in(std::string_view(name_).substr(0, name_.size() - behind_name_.size()));
      is_in_name_ = false;
      if (name_.empty()) fail();
    } else if (name_.size() > kMaxNamedHeader) {
      fail();
    }
  }

  // Of a tool's name; a line of text that begins like a call has others.
  static bool is_name_char(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  }

  // "function<｜tool▁sep｜>f", "functions.f:0", "f[CALL_ID]12" and " f\n" are all f.
  static std::string name_in(std::string_view header) {
    for (const std::string_view before : {"<｜tool▁sep｜>", "<|tool_call:name|>"}) {
      if (const std::size_t at = header.find(before); at != std::string_view::npos)
        header.remove_prefix(at + before.size());
    }
    header = without_call_spaces(header.substr(0, header.find("[CALL_ID]")));
    if (header.starts_with("functions.")) {
      header.remove_prefix(10);
      header = header.substr(0, header.rfind(':'));
    }
    return std::string(header);
  }

  std::string_view behind_name_;
  bool is_in_name_ = true;
  JsonExtent extent_ = {};
};

}  // namespace

std::unique_ptr<CallReader> read_json_call(bool is_keyed) {
  return std::make_unique<JsonCall>(is_keyed);
}

std::unique_ptr<CallReader> read_named_call(std::string_view behind_name) {
  return std::make_unique<NamedCall>(behind_name);
}

}  // namespace wick
