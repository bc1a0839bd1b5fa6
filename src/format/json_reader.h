// A pull reader for JSON text that is nearly all two long lists, as tokenizer.json is: values are
// handed out as they come, strings as views into the text, nothing is built. Small parts are cut
// out with skip() and given to a JSON library. Every byte is checked: UTF-8, grammar, nesting.
// After the first fault all calls fail and has_failed() says so. One thread; the text outlives the
// reader, and the reader outlives the strings.
//
//   JsonReader in(text);
//   std::string_view key;
//   for (in.open('{'); in.next_member(key);) {
//     if (key == "n") n = in.integer(); else in.skip();
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace wick {

class JsonReader {
 public:
  explicit JsonReader(std::string_view text);

  bool has_failed() const noexcept { return has_failed_; }

  // Bytes that were read; after a fault those before it.
  std::size_t position() const noexcept { return has_failed_ ? fault_ : at_; }

  // Whether nothing but white space is left, and nothing was wrong.
  bool is_done() noexcept;

  // The first character of the next value; NUL at the end of the text.
  char peek() noexcept {
    const char next = at_ < text_.size() ? text_[at_] : '\0';
    return next > ' ' && !has_failed_ ? next : peek_behind_space();
  }

  // Enters the object or list that comes next; false if something else does.
  bool open(char bracket) noexcept;
  // Goes to the value of the next member; false, with the object left, after the last.
  bool next_member(std::string_view& key);
  // Goes to the next item; false, with the list left, after the last.
  bool next_item() noexcept;

  std::string_view string();        // empty if something else comes
  std::int64_t integer() noexcept;  // without fraction and exponent, at most 18 digits
  std::string_view skip();          // the text of the value

 private:
  void fail() noexcept {
    if (!has_failed_) fault_ = at_;
    has_failed_ = true;
  }

  char peek_behind_space() noexcept;
  void skip_space() noexcept;
  bool take(char c) noexcept;
  void skip_scalar() noexcept;
  bool scan_string(std::string_view& raw, bool& has_escapes) noexcept;
  std::string_view unescaped(std::string_view raw);

  std::string_view text_;
  std::size_t at_ = 0;
  bool is_first_ = false;  // in the object or list just opened
  bool has_failed_ = false;
  std::size_t fault_ = 0;
  std::deque<std::string> unescaped_ = {};
};

}  // namespace wick
