// Appends JSON to a string, without a tree and without memory of its own. It inserts the commas.
// Texts must be valid UTF-8; others go through repair_utf8() first. One thread.
//
//   JsonOut(out).object().field("id", id).key("choices").array().end_array().end_object();
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace wick::server {

class JsonOut {
 public:
  explicit JsonOut(std::string& out) : out_(out), begin_(out.size()) {}

  // Goes on in an object or array that stands open at the end of `out`.
  static JsonOut on(std::string& out) { return JsonOut(out, 0); }

  JsonOut& object() { return open('{'); }

  JsonOut& end_object() { return close('}'); }

  JsonOut& array() { return open('['); }

  JsonOut& end_array() { return close(']'); }

  JsonOut& key(std::string_view name);  // any text
  JsonOut& text(std::string_view value);
  JsonOut& number(double value);  // null if it is not finite
  JsonOut& number(std::int64_t value);
  JsonOut& number(std::uint64_t value);
  JsonOut& boolean(bool value);
  JsonOut& null();
  // JSON already, in pieces, whole numbers among them: a value, or something that may end with a
  // key.
  template <class... Parts>
  JsonOut& raw(const Parts&... parts) {
    separate();
    (append_piece(parts), ...);
    return *this;
  }

  JsonOut& field(std::string_view name, std::string_view value) { return key(name).text(value); }

  JsonOut& field(std::string_view name, const char* value) { return key(name).text(value); }

  template <std::same_as<bool> T>  // a template, so that a pointer does not decay into it
  JsonOut& field(std::string_view name, T value) {
    return key(name).boolean(value);
  }

  template <std::signed_integral T>
  JsonOut& field(std::string_view name, T value) {
    return key(name).number(static_cast<std::int64_t>(value));
  }

  template <std::unsigned_integral T>

  requires(!std::same_as<T, bool>) JsonOut& field(std::string_view name, T value) {
    return key(name).number(static_cast<std::uint64_t>(value));
  }

  JsonOut& field(std::string_view name, double value) { return key(name).number(value); }

  JsonOut& field(std::string_view name, std::nullptr_t) { return key(name).null(); }

  // null if it is empty.
  JsonOut& field_or_null(std::string_view name, std::string_view value) {
    return value.empty() ? key(name).null() : key(name).text(value);
  }

 private:
  JsonOut(std::string& out, std::size_t begin) : out_(out), begin_(begin) {}

  void append_piece(std::string_view piece) { out_ += piece; }

  template <std::signed_integral T>

  requires(!std::same_as<T, char>) void append_piece(T piece) {
    append_whole(piece);
  }

  void append_whole(std::int64_t value);
  JsonOut& open(char bracket);
  JsonOut& close(char bracket);
  bool needs_comma() const noexcept;
  void separate();

  std::string& out_;
  std::size_t begin_;
};

// What stands between the quotes of a JSON string.
void append_escaped(std::string& out, std::string_view text);

}  // namespace wick::server
