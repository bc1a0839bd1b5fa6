// Foreign text as a person may see it: in a message, on a terminal, in JSON. Names, metadata,
// templates, errors of other programs and bytes of a network may hold escape sequences that rewrite
// what stands on the screen, marks that turn the reading order round, and characters that nobody
// sees. Only the functions below make a Printable, and only a Printable (or a literal) goes to the
// terminal (cli/out.h), so the compiler asks for the escape. Any thread.
//
//   cat(printable(path.string()), ": ", what)      // into a message
//   print({printable(name), "\n"});                // onto the terminal
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

namespace wick {

class Printable {
 public:
  Printable() = default;

  std::string_view view() const noexcept { return text_; }

  std::size_t size() const noexcept { return text_.size(); }

  operator std::string() const& { return text_; }  // implicit

  operator std::string() && {  // implicit: it may be used as any text
    return std::move(text_);
  }

 private:
  friend class Escaper;
  std::string text_ = {};
};

std::ostream& operator<<(std::ostream& out, const Printable& text);

// One line. Control characters, invalid UTF-8 (\x1B, \xFF) and characters that are invisible or
// change the direction of text (\u202E) are escaped, and what is longer than `limit` bytes ends in
// "…". A Printable's text stays as it is.
Printable printable(std::string_view text, std::size_t limit = 200);

// The same without limit; line feeds and tabs stay.
Printable printable_lines(std::string_view text);

// What a model says: as printable_lines, but invisible characters and marks of direction stay, for
// languages and emoji are written with them. No escape sequence passes.
Printable printable_answer(std::string_view text);

// JSON text, which holds such characters in strings only: they become \u escapes, which mean the
// same, and invalid UTF-8 U+FFFD.
Printable printable_json(std::string_view json);

// What stands between the quotes of a basic string of TOML 1.0: the same with TOML's escapes, quote
// and backslash among them.
Printable printable_toml(std::string_view text);

}  // namespace wick
