// Escapes untrusted text for messages, terminals and JSON. Names, metadata, templates, errors of
// other programs and network data may contain terminal escape sequences, marks that change the text
// direction, and invisible characters. Only the functions below create a Printable, and only a
// Printable or a literal can be printed to the terminal (cli/out.h), so the compiler enforces the
// escaping. Any thread.
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

// One line. Control characters, invalid UTF-8 (\x1B, \xFF) and characters that are invisible, look
// like a space (\u00A0) or change the direction of text (\u202E) are escaped, and what is longer
// than `limit` bytes ends in "…". A Printable's text stays as it is.
Printable printable(std::string_view text, std::size_t limit = 200);

// The same without limit; line feeds and tabs stay.
Printable printable_lines(std::string_view text);

// For a model's answer: like printable_lines, but keeps invisible characters and direction marks,
// because languages and emoji need them. Escape sequences are escaped.
Printable printable_answer(std::string_view text);

// For JSON text. Such characters occur in its strings only; they become \u escapes with the same
// meaning. Invalid UTF-8 becomes U+FFFD.
Printable printable_json(std::string_view json);

// The content of a basic string of TOML 1.0, without its quotes: the same with TOML's escapes, also
// for quote and backslash.
Printable printable_toml(std::string_view text);

}  // namespace wick
