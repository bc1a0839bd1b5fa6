// Calls whose arguments are literals of another language, which become JSON.
#include "base/strings.h"
#include "chat/python_text.h"
#include "toolcalls/call_reader.h"
#include "toolcalls/limits.h"
#include "toolcalls/python_literal.h"

namespace wick {
namespace {

// Python's syntax: weather(city="Rome", days=[1, 2], brief=True)        LFM2, Llama 4
class PythonCall final : public CallReader {
 public:
  void push(char c) override {
    switch (at_) {
      case At::kName:
        return push_name(c);
      case At::kKeyOrEnd:
      case At::kKey:
        return push_key(c);
      case At::kValue:
        if (value_.push(c, arguments_)) return;
        if (value_.is_bad() || !value_.finish(arguments_)) return fail();
        at_ = At::kNext;
        [[fallthrough]];
      case At::kNext:
        if (is_call_space(c)) return;
        at_ = At::kKeyOrEnd;
        if (c == ')') return end_arguments();
        if (c != ',') fail();
    }
  }

  void finish() override {
    if (at_ == At::kValue) value_.finish(arguments_);
  }

 private:
  enum class At { kName, kKeyOrEnd, kKey, kValue, kNext };

  static bool is_name_byte(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  }

  void push_name(char c) {
    if (is_name_byte(c) && name_.size() < kMaxCalledName) {
      name_ += c;
    } else if (c == '(' && !name_.empty()) {
      arguments_ = "{";
      at_ = At::kKeyOrEnd;
    } else {
      fail();
    }
  }

  // The call is certain with the name of an argument: arguments without names are no call.
  void push_key(char c) {
    if (is_call_space(c)) return;
    if (is_name_byte(c) && key_.size() < kMaxCalledName) {
      key_ += c;
      at_ = At::kKey;
    } else if (c == '=' && !key_.empty()) {
      arguments_ += cat(is_named_ ? ", " : "", to_json(JsonValue(key_)), ": ");
      is_named_ = true;
      key_.clear();
      value_ = PythonLiteral();
      at_ = At::kValue;
    } else if (c == ')' && at_ == At::kKeyOrEnd) {
      end_arguments();
    } else {
      fail();
    }
  }

  void end_arguments() {
    arguments_ += '}';
    is_named_ = true;
    end();
  }

  At at_ = At::kName;
  std::string key_ = {};
  PythonLiteral value_ = {};
};

// Gemma 4: call:weather{city:<|"|>Rome<|"|>,days:[1,2],place:{lat:1.5}}
//
// Names of members have no quotes, strings stand between <|"|>.
class GemmaCall final : public CallReader {
 public:
  void push(char c) override {
    switch (at_) {
      case At::kName:
        return push_name(c);
      case At::kKey:
        return push_key(c);
      case At::kValue:
        return push_value(c);
      case At::kWord:
        if (c == ',' || c == '}' || c == ']' || is_call_space(c)) {
          end_word();
          return push_next(c);
        }
        return hold(c);
      case At::kQuote:
        held_ += c;
        if (held_ == kQuoteMark) {
          end_mark(At::kText);
        } else if (!kQuoteMark.starts_with(held_)) {
          fail();
        }
        return;
      case At::kText:
        return push_text(c);
      case At::kNext:
        return push_next(c);
    }
  }

 private:
  enum class At { kName, kKey, kValue, kWord, kQuote, kText, kNext };

  static constexpr std::string_view kCall = "call:", kQuoteMark = R"(<|"|>)";

  void hold(char c) {
    held_ += c;
    if (held_.size() > kMaxCalledName) fail();
  }

  void end_mark(At next) {
    held_.clear();
    arguments_ += '"';
    at_ = next;
  }

  void push_name(char c) {
    if (held_.empty() && is_call_space(c)) return;
    if (c != '{') {
      hold(c);
      if (!kCall.starts_with(std::string_view(held_).substr(0, kCall.size()))) fail();
      return;
    }
    if (held_.size() <= kCall.size()) return fail();
    name_ = held_.substr(kCall.size());
    held_.clear();
    open(c);
  }

  void open(char c) {
    open_ += c;
    arguments_ += c;
    is_first_ = true;
    at_ = c == '{' ? At::kKey : At::kValue;
    if (open_.size() > kMaxLiteralDepth) fail();
  }

  // The call is certain with the name of an argument: what is no object is no call.
  void push_key(char c) {
    if (held_.empty() && is_call_space(c)) return;
    if (c == '}' && held_.empty() && is_first_) return push_next(c);
    if (c != ':') return hold(c);
    // Some models put the name between quotes.
    std::string_view key = held_;
    for (const std::string_view quote : {kQuoteMark, std::string_view("\"")}) {
      if (key.size() > 2 * quote.size() && key.starts_with(quote) && key.ends_with(quote))
        key = key.substr(quote.size(), key.size() - 2 * quote.size());
    }
    if (key.empty()) return fail();
    arguments_ += cat(std::exchange(has_comma_, false) ? ", " : "", to_json(JsonValue(key)), ": ");
    held_.clear();
    is_named_ = true;
    is_first_ = false;
    at_ = At::kValue;
  }

  void push_value(char c) {
    if (is_call_space(c)) return;
    if (c == ']' && open_.back() == '[' && is_first_) return push_next(c);
    if (std::exchange(has_comma_, false)) arguments_ += ", ";
    if (c == '{' || c == '[') return open(c);
    is_first_ = false;
    held_ = c;
    at_ = c == '<' ? At::kQuote : At::kWord;
  }

  // `held_` is a beginning of the closing mark.
  void push_text(char c) {
    held_ += c;
    if (held_ == kQuoteMark) return end_mark(At::kNext);
    while (!held_.empty() && !kQuoteMark.starts_with(held_)) {
      append_json_escaped(arguments_, std::string_view(held_).substr(0, 1), false);
      held_.erase(0, 1);
    }
  }

  void end_word() {
    if (held_ == "None" || held_ == "True" || held_ == "False")
      held_ = held_ == "None" ? "null" : held_ == "True" ? "true" : "false";
    arguments_ += parse_json(held_) ? held_ : to_json(JsonValue(held_));
    held_.clear();
  }

  void push_next(char c) {
    at_ = At::kNext;
    if (is_call_space(c)) return;
    const bool is_object = open_.back() == '{';
    if (c == ',') {
      has_comma_ = true;
      is_first_ = false;
      at_ = is_object ? At::kKey : At::kValue;
    } else if (c == (is_object ? '}' : ']')) {
      open_.pop_back();
      arguments_ += c;
      is_first_ = has_comma_ = false;
      is_named_ = is_named_ || open_.empty();
      if (open_.empty()) end();
    } else {
      fail();
    }
  }

  At at_ = At::kName;
  std::string held_ = {}, open_ = {};
  bool has_comma_ = false, is_first_ = false;
};

}  // namespace

std::unique_ptr<CallReader> read_python_call() {
  return std::make_unique<PythonCall>();
}

std::unique_ptr<CallReader> read_gemma_call() {
  return std::make_unique<GemmaCall>();
}

}  // namespace wick
