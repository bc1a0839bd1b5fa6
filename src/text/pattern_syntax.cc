// Oniguruma's Ruby syntax → PCRE2's. The two agree on nearly everything that tokenizer files use;
// what they do not agree on is either spelled out here (\s, \w, \b, \d, \p, \u) or refused by name.
#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "unicode/table.h"
#include "text/limits.h"
#include "text/pattern.h"
#include "text/unicode_data.h"
#include "base/utf8.h"

namespace wick {
namespace {

// White_Space; PCRE2's \s has U+180E besides.
constexpr std::string_view kSpace =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f})"
    R"(\x{3000})";

// Alphabetic characters that are neither letters, letter numbers nor marks: Ⓐ and such.
constexpr std::string_view kAlphabeticSymbols =
    R"(\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})";

// Oniguruma's \w has these as well, but not inside of a class: ² ³ ¹ ¼ ½ ¾.
constexpr std::string_view kLatin1Words = R"(\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";

class Translator {
 public:
  explicit Translator(std::string_view regex) : regex_(regex) {}

  Result<std::string> run() {
    while (at_ < regex_.size()) {
      WICK_DO(in_class_ ? class_item() : item());
      if (longest() > kMaxPatternCharacters) {
        return refuse(cat("counted repetitions of ", longest(), " characters in all, of ",
                          kMaxPatternCharacters, " allowed,"));
      }
    }
    return std::move(out_);
  }

 private:
  Error refuse(std::string_view what) const {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "tokenizer_pattern",
                 .message = cat("the tokenizer's pattern '", printable(regex_), "' uses ", what,
                                " at byte ", at_, ", which wick does not translate"),
                 .hint = "use a GGUF file of this model: its pre-tokenizer is known by name"};
  }

  bool starts(std::string_view text) const noexcept {
    return regex_.substr(at_, text.size()) == text;
  }

  void copy(std::size_t n) {
    out_ += regex_.substr(at_, n);
    at_ += n;
  }

  Result<void> item() {
    const char c = regex_[at_];
    if (c == '{') return counted();
    if (c == '*' || c == '+' || c == '?') {
      repeat(1, c != '?');
      copy(1);
      if (starts("?") || starts("+")) copy(1);  // lazy, possessive
      return {};
    }
    if (c == '|') {
      last_ = {};
      copy(1);
      return {};
    }
    if (c == '(') return group();
    if (c == ')') {
      close_group();
      copy(1);
      return {};
    }
    begin_item(1);
    if (c == '\\') return escape();
    if (c == '[') {
      in_class_ = true;
      copy(starts("[^") ? 2 : 1);
      if (starts("]")) return refuse("']' as the first member of a class");
      return {};
    }
    copy(static_cast<std::size_t>(decode_utf8(regex_.substr(at_)).length));
    return {};
  }

  // --- what repeats ------------------------------------------------------------------------------
  // PCRE2 counts its steps (text/pattern.cc limits them), but runs through a repetition of one
  // character, a* or [a-z]*+, in a single one; so that is spelled as that of a group, which costs a
  // step for each time, and a{512} as (?:a{16}|(?!)){32}:
  // a group with a second way, even to nothing, is a step.

  struct Item {
    std::size_t begin = 0;  // in out_
    std::size_t length =
        0;  // characters that it passes at most, apart from repetitions without end
    bool is_single = false;  // no group
  };

  void begin_item(std::size_t length) {
    last_ = {.begin = out_.size(), .length = length, .is_single = true};
    open_.back().length += length;
  }

  void open_group() { open_.push_back({.begin = out_.size()}); }

  void close_group() {
    if (open_.size() == 1) return;  // PCRE2 says what is wrong
    last_ = open_.back();
    open_.pop_back();
    open_.back().length += last_.length;
  }

  // The last item, `most` times, or without an end.
  void repeat(std::size_t most, bool is_endless) {
    open_.back().length += last_.length * (std::max<std::size_t>(most, 1) - 1);
    if (is_endless && last_.is_single) {
      out_.insert(last_.begin, "(?:");
      out_ += ')';
    }
    last_ = {};
  }

  std::size_t longest() const noexcept {
    std::size_t all = 0;
    for (const Item& group : open_)
      all += group.length;
    return all;
  }

  static std::size_t number(std::string_view digits) noexcept {
    std::size_t n = 0;
    for (const char digit : digits) {
      n = n * 10 + static_cast<std::size_t>(digit - '0');
    }
    return n;
  }

  // The single item at the end of out_, at least and at most so many times.
  void put_counted(std::string_view least, std::string_view most, bool is_lazy) {
    constexpr std::size_t kAtOnce = 16;
    const std::size_t n = number(least);
    const std::size_t begin = last_.begin;
    const std::size_t groups = last_.is_single && n <= number(most) ? n / kAtOnce : 0;
    const std::string item = groups > 0 ? out_.substr(begin) : std::string();
    if (groups > 0) {
      out_.replace(begin, item.size(), cat("(?:(?:", item, "{", kAtOnce, "}|(?!)){", groups, "}"));
    }
    const std::size_t taken = groups * kAtOnce;
    if (groups > 0 && taken < number(most)) out_ += item;
    if (taken < number(most) || groups == 0) {
      out_ += cat("{", n - taken, ",", number(most) - taken, is_lazy ? "}?" : "}");
    }
    if (groups > 0) out_ += ')';
  }

  // {n}, {n,m} and {n,}. Ruby reads a '+' behind it as a second quantifier, PCRE2 as possessive.
  Result<void> counted() {
    const std::size_t end = regex_.find_first_not_of("0123456789,", at_ + 1);
    const bool is_counted = end != std::string_view::npos && regex_[end] == '}' && end > at_ + 1;
    if (!is_counted) {
      begin_item(1);
      copy(1);
      return {};
    }
    const std::string_view counts = regex_.substr(at_ + 1, end - at_ - 1);
    if (end + 1 < regex_.size() && regex_[end + 1] == '+') return refuse("a possessive {n,m}+");
    if (counts.front() == ',') return refuse("{,m}");
    const std::size_t comma = std::min(counts.find(','), counts.size());
    const bool is_endless = comma + 1 == counts.size();
    const std::string_view least = counts.substr(0, comma);
    const std::string_view most =
        is_endless || comma == counts.size() ? least : counts.substr(comma + 1);
    if (std::max(least.size(), most.size()) > 5) {
      return refuse("a repetition of more than 99999 times");
    }
    if (most.find(',') != std::string_view::npos) return refuse("a second ','");
    const bool is_lazy = regex_.substr(end + 1, 1) == "?";
    if (!is_endless) put_counted(least, most, is_lazy);
    repeat(number(most), is_endless);
    if (is_endless) {
      copy(end + 1 - at_);
      if (is_lazy) copy(1);
    } else {
      at_ = end + 1 + (is_lazy ? 1 : 0);
    }
    return {};
  }

  // (?flags) and (?flags:…): only i has the same meaning in both.
  Result<void> group() {
    if (starts("(*")) return refuse("a verb");
    open_group();
    if (!starts("(?")) {
      copy(1);
      return {};
    }
    std::size_t end = at_ + 2;
    while (end < regex_.size() &&
           (regex_[end] == '-' || (regex_[end] >= 'a' && regex_[end] <= 'z'))) {
      ++end;
    }
    const std::string_view flags = regex_.substr(at_ + 2, end - at_ - 2);
    if (flags.find_first_not_of("i-") != std::string_view::npos) return refuse("a group's flags");
    if (end < regex_.size() &&
        std::string_view(":=!<>)").find(regex_[end]) == std::string_view::npos) {
      return refuse("a special group");
    }
    if (end < regex_.size() && regex_[end] != ')') ++end;  // ':', '=', '!', '>' or '<'
    if (regex_[end - 1] == '<' && end < regex_.size() &&
        (regex_[end] == '=' || regex_[end] == '!')) {
      ++end;
    }
    copy(end - at_);
    return {};
  }

  Result<void> class_item() {
    if (starts("]")) {
      in_class_ = false;
      copy(1);
      return {};
    }
    if (starts("&&")) return refuse("an intersection of classes");
    if (starts("[")) return refuse("a class inside a class");
    if (starts("\\")) return escape();
    copy(1);
    return {};
  }

  void put_class(bool is_negated, std::string_view members) {
    if (in_class_) {
      out_ += members;
    } else {
      out_ += is_negated ? "[^" : "[";
      out_ += members;
      out_ += ']';
    }
  }

  static std::string property(std::string_view name) {
    const auto atoms = unicode_atoms();
    const bool is_script = std::any_of(atoms.begin(), atoms.end(),
                                       [&](const UnicodeAtom& a) { return a.script == name; });
    // PCRE2's \p{Han} alone is Script_Extensions.
    return cat(is_script && !name.empty() ? "\\p{sc:" : "\\p{", name, "}", newer_characters(name));
  }

  std::string word_members() const {
    return cat(property("L"), property("Nl"), kAlphabeticSymbols, property("M"), property("Nd"),
               property("Pc"), in_class_ ? std::string_view() : kLatin1Words);
  }

  // \b and \B: a look at what follows, by what is before.
  std::string word_border(bool is_negated) const {
    const std::string word = cat("[", word_members(), "]");
    return cat("(?(?<=", word, is_negated ? ")(?=" : ")(?!", word,
               is_negated ? ")|(?!" : ")|(?=", word, "))");
  }

  Result<void> escape() {
    if (at_ + 1 >= regex_.size()) return refuse("a lone backslash");
    const char c = regex_[at_ + 1];
    const bool is_negated = c >= 'A' && c <= 'Z';
    if (is_negated && in_class_ && std::string_view("SWDP").find(c) != std::string_view::npos) {
      return refuse("a negated class inside a class");
    }
    switch (c) {
      case 's':
      case 'S':
        put_class(is_negated, kSpace);
        break;
      case 'w':
      case 'W':
        put_class(is_negated, word_members());
        break;
      case 'b':
      case 'B':
        if (in_class_) {
          copy(2);
          return {};
        }
        out_ += word_border(is_negated);
        break;
      case 'd':
      case 'D':
        put_class(is_negated, property("Nd"));
        break;
      case 'p':
      case 'P':
        return property_escape(is_negated);
      case 'u':
        return code_escape();
      case 'h':
      case 'H':
      case 'R':
      case 'X':
      case 'K':
      case 'G':
      case 'C':
      case 'k':
      case 'g':
        return refuse(cat("\\", c));
      default:
        copy(2);
        return {};
    }
    at_ += 2;
    return {};
  }

  Result<void> property_escape(bool is_negated) {
    const std::size_t end = regex_.find('}', at_);
    if (end == std::string_view::npos || regex_.size() < at_ + 4 || regex_[at_ + 2] != '{' ||
        regex_[at_ + 3] == '^') {
      return refuse("a property that is not \\p{Name}");
    }
    put_class(is_negated, property(regex_.substr(at_ + 3, end - at_ - 3)));
    at_ = end + 1;
    return {};
  }

  Result<void> code_escape() {  // \uHHHH
    const std::string_view digits = regex_.substr(at_ + 2, 4);
    if (digits.size() != 4 ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
      return refuse("a \\u without four hexadecimal digits");
    }
    out_ += cat("\\x{", digits, "}");
    at_ += 6;
    return {};
  }

  std::string_view regex_;
  std::size_t at_ = 0;
  bool in_class_ = false;
  std::string out_ = {};
  Item last_ = {};                     // what a quantifier repeats
  std::vector<Item> open_ = {Item{}};  // groups, the pattern itself first
};

}  // namespace

Result<std::string> to_pcre2(std::string_view regex) {
  return Translator(regex).run();
}

}  // namespace wick
