#include "base/printable.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <ostream>

#include "base/utf8.h"

namespace wick {

namespace {

bool is_control(char32_t code) noexcept {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

// Characters without a shape of their own (Unicode 15: Default_Ignorable_Code_Point without the
// variation selectors, which only choose between shapes; separators of lines; format characters),
// and those that look like a space and are none: no shell splits words there.
bool is_invisible(char32_t code) noexcept {
  struct Range {
    char32_t first, last;
  };

  static constexpr Range kRanges[] = {
      {0x00A0, 0x00A0},    // no-break space
      {0x00AD, 0x00AD},    // soft hyphen
      {0x034F, 0x034F},    // combining grapheme joiner
      {0x061C, 0x061C},    // Arabic letter mark
      {0x115F, 0x1160},    // Hangul fillers
      {0x1680, 0x1680},    // Ogham space
      {0x17B4, 0x17B5},    // Khmer inherent vowels
      {0x180E, 0x180E},    // Mongolian vowel separator
      {0x2000, 0x200F},    // spaces of other widths, zero width, marks of direction
      {0x2028, 0x202F},    // separators of lines, overrides of direction, narrow no-break space
      {0x205F, 0x206F},    // mathematical space, joiners, isolates of direction
      {0x2800, 0x2800},    // blank Braille pattern
      {0x3000, 0x3000},    // ideographic space
      {0x3164, 0x3164},    // Hangul filler
      {0xFEFF, 0xFEFF},    // byte order mark
      {0xFFA0, 0xFFA0},    // halfwidth Hangul filler
      {0xFFF0, 0xFFFB},    // annotations
      {0x1BCA0, 0x1BCA3},  // shorthand format controls
      {0x1D173, 0x1D17A},  // musical format controls
      {0xE0000, 0xE00FF},  // tags
      {0xE01F0, 0xE0FFF},
  };
  const auto* const next = std::upper_bound(std::begin(kRanges), std::end(kRanges), code,
                                            [](char32_t c, const Range& r) { return c < r.first; });
  return next != std::begin(kRanges) && code <= std::prev(next)->last;
}

}  // namespace

// Goes through a text once; how an unprintable character is written is what its users differ in.
class Escaper {
 public:
  enum class Form { kPlain, kJson, kToml };

  struct Rules {
    Form form = Form::kPlain;
    bool keeps_lines = false, keeps_invisible = false;
    std::size_t limit = std::string_view::npos;
  };

  static Printable escape(std::string_view text, const Rules& rules) {
    Escaper escaper(rules);
    escaper.out_.text_.reserve(std::min(text.size(), rules.limit));
    while (!text.empty()) {
      if (escaper.out_.size() >= rules.limit) {
        escaper.out_.text_ += "…";
        break;
      }
      const int length = utf8_sequence(text);
      text.remove_prefix(length > 0 ? escaper.add(text.substr(0, static_cast<std::size_t>(length)))
                                    : escaper.add_invalid(text, -length));
    }
    return std::move(escaper.out_);
  }

 private:
  explicit Escaper(const Rules& rules) : rules_(rules) {}

  std::size_t add(std::string_view sequence) {
    const char32_t code = decode_utf8(sequence).code;
    const bool is_line = code == '\n' || code == '\t';
    const bool is_kept = (is_line && rules_.keeps_lines) || !is_control(code);
    if (rules_.form == Form::kToml && (code == '"' || code == '\\')) {
      out_.text_ += '\\';
      out_.text_ += sequence;
    } else if (rules_.form == Form::kToml && code == '\n') {
      out_.text_ += "\\n";
    } else if (is_kept && (rules_.keeps_invisible || !is_invisible(code))) {
      out_.text_ += sequence;
    } else {
      add_escape(code);
    }
    return sequence.size();
  }

  // Byte by byte where each may be told, else as one replacement character.
  std::size_t add_invalid(std::string_view text, int length) {
    if (rules_.form == Form::kPlain) {
      add_hex("\\x%02X", static_cast<unsigned char>(text[0]));
      return 1;
    }
    out_.text_ += "\xEF\xBF\xBD";
    return length == 0 ? text.size() : static_cast<std::size_t>(length);
  }

  void add_escape(char32_t code) {
    const bool is_wide = code > 0xFFFF;
    if (rules_.form == Form::kJson && is_wide) {
      add_hex("\\u%04x", 0xD7C0U + (code >> 10U));
      add_hex("\\u%04x", 0xDC00U + (code & 0x3FFU));
    } else if (rules_.form == Form::kPlain && code < 0x80) {
      add_hex("\\x%02X", code);
    } else if (rules_.form == Form::kPlain) {
      add_hex(is_wide ? "\\U%08X" : "\\u%04X", code);
    } else {
      add_hex(is_wide ? "\\U%08x" : "\\u%04x", code);
    }
  }

  void add_hex(const char* format, unsigned value) {
    std::array<char, 12> text;
    std::snprintf(text.data(), text.size(), format, value);
    out_.text_ += text.data();
  }

  const Rules& rules_;
  Printable out_ = {};
};

std::ostream& operator<<(std::ostream& out, const Printable& text) {
  return out << text.view();
}

Printable printable(std::string_view text, std::size_t limit) {
  return Escaper::escape(text, {.limit = limit});
}

Printable printable_lines(std::string_view text) {
  return Escaper::escape(text, {.keeps_lines = true});
}

Printable printable_answer(std::string_view text) {
  return Escaper::escape(text, {.keeps_lines = true, .keeps_invisible = true});
}

Printable printable_json(std::string_view json) {
  return Escaper::escape(json, {.form = Escaper::Form::kJson, .keeps_lines = true});
}

Printable printable_toml(std::string_view text) {
  return Escaper::escape(text, {.form = Escaper::Form::kToml});
}

}  // namespace wick
