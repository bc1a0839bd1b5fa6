// The parser of Oniguruma's Ruby syntax, in which tokenizer files spell their patterns. What the
// DFA cannot run (back-references, atomic groups, lookbehind of more than a character) and what
// means another thing in Ruby than elsewhere ({n}?, {n,m}+, flags but i) is refused by name.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "regex/limits.h"
#include "regex/syntax.h"

namespace wick::regex {
namespace {

constexpr bool is_letter(char32_t code) noexcept {
  return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
}

constexpr bool is_ascii(char32_t code) noexcept {
  return code < 0x80;
}

class OnigurumaParser final : public SyntaxParser {
 public:
  explicit OnigurumaParser(std::string_view pattern)
      : SyntaxParser(pattern, "Patterns are Oniguruma's regular expressions.") {}

 private:
  Result<std::uint32_t> term() override {
    const std::size_t began = at_;
    const auto place = static_cast<std::uint32_t>(began);
    if (take("^")) return add({.kind = SyntaxKind::kStart, .at = place});
    if (take("$")) return add({.kind = SyntaxKind::kEnd, .at = place});
    if (take("(")) return group();
    if (take(".")) return add_set(CodePoints(U'\n', U'\n').complement(), began);
    if (take("[")) {
      WICK_TRY(CodePoints set, character_class(1));
      return add_set(std::move(set), began);
    }
    if (next_is_one_of("*+?")) return wrong("a quantifier with nothing to repeat", began);
    if (take("\\b")) return add({.kind = SyntaxKind::kBorder, .at = place});
    if (take("\\B")) return add({.kind = SyntaxKind::kBorder, .is_negative = true, .at = place});
    if (take("\\z")) return edge(SyntaxKind::kAhead, began);
    if (take("\\A")) return edge(SyntaxKind::kBehind, began);
    CodePoints set;
    if (take("\\")) {
      WICK_TRY(const bool is_class, class_escape(set, false));
      if (!is_class) {
        WICK_TRY(const char32_t code, escaped());
        WICK_DO(add_character(code, began, set));
      }
    } else {
      WICK_TRY(const char32_t code, character());
      WICK_DO(add_character(code, began, set));
    }
    return add_set(std::move(set), began);
  }

  // No character behind, or none before: the end or the start of the text.
  Result<std::uint32_t> edge(SyntaxKind kind, std::size_t began) {
    WICK_TRY(const std::uint32_t any, add_set(CodePoints::all(), began));
    return add({.kind = kind,
                .is_negative = true,
                .at = static_cast<std::uint32_t>(began),
                .parts = {any}});
  }

  // After the parenthesis.
  Result<std::uint32_t> group() {
    const std::size_t began = at_ - 1;
    Syntax look{.kind = SyntaxKind::kSequence, .at = static_cast<std::uint32_t>(began)};
    const bool was_caseless = is_caseless_;
    if (take("?=") || take("?!")) {
      look.kind = SyntaxKind::kAhead;
    } else if (take("?<=") || take("?<!")) {
      look.kind = SyntaxKind::kBehind;
    } else if (take("?i:")) {
      is_caseless_ = true;
    } else if (take("?i)")) {
      return caseless_rest(began);
    } else if (take("?<")) {
      WICK_DO(group_name(began));
    } else if (next_is("*")) {
      return refused("a verb", began, "Oniguruma has none");
    } else if (take("?>")) {
      return refused("an atomic group", began, "a finite automaton gives nothing back either");
    } else if (!take("?:") && next_is("?")) {
      return refused("a group's flags, or a special group", began, "only (?i:…) is known");
    }
    look.is_negative = text_[at_ - 1] == '!';
    WICK_TRY(const std::uint32_t part, alternatives());
    is_caseless_ = was_caseless;
    if (!take(")")) return wrong("a '(' without its ')'", began);
    if (look.kind == SyntaxKind::kSequence) return part;
    look.parts = {part};
    return add(std::move(look));
  }

  // (?i) holds to the end of its group; where it does not begin the pattern, Ruby and others differ
  // in what that is.
  Result<std::uint32_t> caseless_rest(std::size_t began) {
    if (began != 0) return refused("(?i) behind other parts", began, "write (?i:…)");
    is_caseless_ = true;
    return alternatives();
  }

  Result<std::uint32_t> quantified(std::uint32_t part) override {
    const std::size_t began = at_;
    Syntax node{.kind = SyntaxKind::kRepeat,
                .max = kUnbounded,
                .at = static_cast<std::uint32_t>(began),
                .parts = {part}};
    if (take("+")) {
      node.min = 1;
    } else if (take("?")) {
      node.max = 1;
    } else if (!take("*")) {
      if (next_is("{,")) return refused("{,m}", began, "write {0,m}");
      WICK_TRY(const bool is_count, counts(node.min, node.max));
      if (!is_count) return part;
      const bool is_range = text_.substr(began, at_ - began).find(',') != std::string_view::npos;
      if (next_is("+") || (next_is("?") && !is_range)) {
        return refused("a sign behind {…}", began, "it means another thing in Ruby than elsewhere");
      }
      if (node.max == 0) return refused("a repetition of no times", began, "leave the part out");
    }
    node.is_lazy = take("?");
    node.is_possessive = !node.is_lazy && take("+");
    if (next_is_one_of("*+?")) return refused("a quantifier after a quantifier", at_, "group them");
    const SyntaxKind kind = tree_.nodes[part].kind;
    if (node.is_possessive && kind != SyntaxKind::kSet) {
      return refused("a possessive repetition of a group", began,
                     "only one of characters is known");
    }
    if (may_be_empty(part)) {
      return refused("a repetition of what may match nothing", began,
                     "engines differ in when it ends");
    }
    return add(std::move(node));
  }

  bool may_be_empty(std::uint32_t part) const {
    const Syntax& node = tree_.nodes[part];
    const auto empty = [this](std::uint32_t p) { return may_be_empty(p); };
    switch (node.kind) {
      case SyntaxKind::kCharacter:
      case SyntaxKind::kSet:
        return false;
      case SyntaxKind::kSequence:
        return std::all_of(node.parts.begin(), node.parts.end(), empty);
      case SyntaxKind::kAlternatives:
        return std::any_of(node.parts.begin(), node.parts.end(), empty);
      case SyntaxKind::kRepeat:
        return node.min == 0;  // its part is never empty
      default:
        return true;
    }
  }

  // Without regard to case: ASCII letters, and the two others whose lower case is one of them.
  Result<void> add_character(char32_t code, std::size_t at, CodePoints& set) {
    set.add(code, code);
    if (!is_caseless_) return {};
    if (!is_ascii(code)) return refused_without_case(at);
    if (!is_letter(code)) return {};
    set.add(code ^ 0x20U, code ^ 0x20U);
    const char32_t lower = code | 0x20U;
    if (lower == 's') set.add(0x17F, 0x17F);    // ſ
    if (lower == 'k') set.add(0x212A, 0x212A);  // the Kelvin sign
    return {};
  }

  static Error refused_without_case(std::size_t at) {
    return refused("a class, or a letter beyond ASCII, without regard to case", at,
                   "write its letters in both cases");
  }

  // After the backslash of an escape that is no class.
  Result<char32_t> escaped() {
    const std::size_t began = at_ - 1;
    if (at_end()) return wrong("a backslash at its end", began);
    constexpr std::string_view kNames = "tnvfrae", kCodes = "\t\n\v\f\r\a\x1B";
    if (const std::size_t i = kNames.find(text_[at_]); i != std::string_view::npos) {
      ++at_;
      return static_cast<char32_t>(kCodes[i]);
    }
    if (take("u{") || take("x{")) return braced_hex(began);
    if (take("x") || take("u")) {
      const bool is_byte = text_[at_ - 1] == 'x';
      WICK_TRY(const char32_t code, hex(is_byte ? 2 : 4));
      if (is_byte && !is_ascii(code)) return refused("\\x of a byte", began, "write \\x{…}");
      if (code >= 0xD800 && code < 0xE000) return wrong("half of a surrogate pair", began);
      return code;
    }
    const char c = text_[at_];
    if (c >= '1' && c <= '9') {
      return refused(cat("a back-reference (\\", c, ")"), began,
                     "what it matches depends on what a group matched");
    }
    WICK_TRY(const char32_t code, character());
    if (is_letter(code) || code == '0' || !is_ascii(code)) {
      return refused(cat("\\", text_.substr(began + 1, at_ - began - 1)), began,
                     "the escape has no meaning here");
    }
    return code;
  }

  // After a backslash: \s \d \w \p{…} and their opposites; false, with nothing read, where the
  // escape is another.
  Result<bool> class_escape(CodePoints& out, bool in_class) {
    const std::size_t began = at_ - 1;
    const char c = at_end() ? '\0' : text_[at_];
    const bool is_negated = c >= 'A' && c <= 'Z';
    CodePoints set;
    switch (c | 0x20) {
      case 's':
        set = white_space();
        break;
      case 'd':
        set = *oniguruma_property("Nd");
        break;
      case 'w':
        set = oniguruma_word_characters(in_class);
        break;
      case 'p':
        break;
      default:
        return false;
    }
    if (is_caseless_) return refused_without_case(began);  // Oniguruma folds classes, too
    ++at_;
    if ((c | 0x20) == 'p') {
      const auto negated_name = [](std::string_view name) -> std::optional<CodePoints> {
        if (!name.starts_with('^')) return oniguruma_property(name);
        auto known = oniguruma_property(name.substr(1));
        return known ? std::optional(known->complement()) : std::nullopt;
      };
      WICK_TRY(set, property(is_negated, +negated_name));
    } else if (is_negated) {
      set = set.complement();
    }
    out.add(set);
    return true;
  }

  // Behind a '[': members, ranges, classes within, '&&' between.
  Result<CodePoints> character_class(int depth) {
    const std::size_t began = at_ - 1;
    if (depth > kMaxNesting) return too_large(cat("the pattern nests classes ", depth, " deep"));
    const bool is_negated = take("^");
    if (is_negated && is_caseless_) return refused_without_case(began);
    if (next_is("]")) return refused("']' as the first member of a class", at_, "write \\]");
    if (next_is(":")) return refused("a POSIX class", began, "write \\p{…}");
    CodePoints part;
    std::optional<CodePoints> common;
    while (!at_end() && !next_is("]")) {
      if (take("&&")) {
        common = common ? common->intersection(part) : std::move(part);
        part = CodePoints();
      } else {
        WICK_DO(member(depth, part));
      }
    }
    if (!take("]")) return wrong("a '[' without its ']'", began);
    if (common) part = common->intersection(part);
    WICK_DO(count_ranges(part));
    return is_negated ? part.complement() : part;
  }

  Result<void> member(int depth, CodePoints& set) {
    const std::size_t began = at_;
    if (take("[")) {
      WICK_TRY(const CodePoints inner, character_class(depth + 1));
      set.add(inner);
      return {};
    }
    const auto is_range = [this] {
      return next_is("-") && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
    };
    if (next_is("\\")) {
      ++at_;
      WICK_TRY(const bool is_class, class_escape(set, true));
      if (is_class && is_range()) {
        return refused("a range that begins with a class", began, "write \\-");
      }
      if (is_class) return {};
      --at_;
    }
    WICK_TRY(const char32_t first, class_character());
    if (!is_range()) return add_character(first, began, set);
    ++at_;
    if (next_is("[") || next_is("&&")) return refused("a range to a class", began, "write \\-");
    WICK_TRY(const char32_t last, class_character());
    if (last < first) return wrong("a range that ends before it begins", began);
    if (is_caseless_ && !is_ascii(last)) return refused_without_case(began);
    set.add(first, last);
    for (char32_t code = first; is_caseless_ && code <= last; ++code) {
      WICK_DO(add_character(code, began, set));
    }
    return {};
  }

  Result<char32_t> class_character() {
    if (!take("\\")) return character();
    if (take("b")) return U'\b';
    return escaped();
  }

  bool is_caseless_ = false;
};

}  // namespace

Result<SyntaxTree> parse_oniguruma(std::string_view pattern) {
  return OnigurumaParser(pattern).parse();
}

}  // namespace wick::regex
