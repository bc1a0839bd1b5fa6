#include "chat/json_value.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "base/blanks.h"
#include "base/strings.h"
#include "chat/limits.h"
#include "chat/python_text.h"

namespace wick {

namespace {

constexpr std::size_t kScanItems = 12;  // as many keys are found faster by looking at each

}  // namespace

std::size_t Object::position(std::string_view key) const noexcept {
  if (index_.empty()) {
    std::size_t at = 0;
    while (at < items_.size() && items_[at].first != key)
      ++at;
    return at;
  }
  const std::size_t mask = index_.size() - 1;
  for (std::size_t at = std::hash<std::string_view>{}(key)&mask;; at = (at + 1) & mask) {
    if (index_[at] == 0) return items_.size();
    if (items_[index_[at] - 1].first == key) return index_[at] - 1;
  }
}

void Object::rebuild_index() {
  index_.clear();
  if (items_.size() <= kScanItems) return;
  std::size_t slots = 64;
  while (slots < items_.size() * 4)
    slots *= 2;
  index_.resize(slots);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    std::size_t at = std::hash<std::string_view>{}(items_[i].first) & (slots - 1);
    while (index_[at] != 0)
      at = (at + 1) & (slots - 1);
    index_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

const JsonValue* Object::find(std::string_view key) const noexcept {
  const std::size_t at = position(key);
  return at < items_.size() ? &items_[at].second : nullptr;
}

JsonValue* Object::find(std::string_view key) noexcept {
  const std::size_t at = position(key);
  return at < items_.size() ? &items_[at].second : nullptr;
}

JsonValue& Object::operator[](std::string_view key) {
  const std::size_t at = position(key);
  if (at == items_.size()) append(key, JsonValue());
  return items_[at].second;
}

void Object::set(std::string_view key, JsonValue value) {
  const std::size_t at = position(key);
  if (at < items_.size()) {
    items_[at].second = std::move(value);
  } else {
    append(key, std::move(value));
  }
}

void Object::append(std::string_view key, JsonValue value) {
  items_.emplace_back(std::piecewise_construct, std::forward_as_tuple(key),
                      std::forward_as_tuple(std::move(value)));
  if (items_.size() > kScanItems && index_.size() < items_.size() * 2) {
    rebuild_index();
  } else if (!index_.empty()) {
    const std::size_t mask = index_.size() - 1;
    std::size_t slot = std::hash<std::string_view>{}(key)&mask;
    while (index_[slot] != 0)
      slot = (slot + 1) & mask;
    index_[slot] = static_cast<std::uint32_t>(items_.size());
  }
}

Object json_object(std::initializer_list<std::pair<std::string_view, JsonValue>> fields) {
  Object object;
  object.reserve(fields.size());
  for (const auto& [key, value] : fields)
    object.set(key, value);
  return object;
}

void Object::erase(std::string_view key) {
  const std::size_t at = position(key);
  if (at == items_.size()) return;
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
  rebuild_index();
}

// JSON text to a JsonValue by nlohmann's event parser (which keeps no tree and does not recurse),
// and back as Python writes it.

namespace {

using nlohmann::json;

// Builds the tree under a stack of the containers that are still open. Pointers into a parent stay
// valid, because a parent grows only after its child is closed.
// `at`: the byte at which the library gave up, from 1; `token`: what it had read there, with
// control characters spelled out. A token that begins with a quote and ends with none may have
// words and marks before the last one.
std::string syntax_message(std::string_view text, std::size_t at, std::string_view token,
                           bool is_overflow) {
  constexpr std::string_view kBetween = " \t\r\n[]{},:";
  constexpr std::size_t kShown = 24;
  if (at > text.size()) return "JSON is not well formed: it ends too early";
  std::string_view shown = text.substr(at == 0 ? 0 : at - 1, 1);
  if (!token.ends_with('"')) token.remove_prefix(token.find_last_of(kBetween) + 1);  // npos + 1 = 0
  const std::size_t begin = at - std::min(token.size(), at);
  if (!token.empty() && text.substr(begin, token.size()) == token) {
    shown = token;
    at = begin + 1;
  }
  const std::string_view before = text.substr(0, at == 0 ? 0 : at - 1);
  const std::size_t line_begin = before.rfind('\n') + 1;
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  return cat("JSON is not well formed at line ", line, ", column ", at - line_begin, ": ",
             is_overflow ? "too large a number, '" : "unexpected '", printable(shown, kShown), "'");
}

class Builder : public nlohmann::json_sax<json> {
 public:
  Builder(std::string_view text, DuplicateKeys duplicates) : text_(text), duplicates_(duplicates) {}

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

  bool parse_error(std::size_t at, const std::string& token,
                   const json::exception& error) override {
    constexpr int kNumberOverflow = 406;
    message = syntax_message(text_, at, token, error.id == kNumberOverflow);
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

  std::string_view text_;
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
  Builder builder(text, duplicates);
  if (!json::sax_parse(text, &builder)) {
    return Error{ErrorCode::kInvalid, "json_syntax", builder.message};
  }
  return std::move(builder.root);
}

std::string to_json(const JsonValue& value) {
  constexpr std::size_t kUsualObjectBytes = 256;  // of an object
  std::string out;
  if (value.object() != nullptr) out.reserve(kUsualObjectBytes);
  write(out, value);
  return out;
}

}  // namespace wick
