// From syntax to languages.
//
// Problem: assertions speak about what surrounds a match, expressions only about what is in it.
// Idea: compile from the right, with the language of everything that follows in hand. Then
// "x$" is x before what is empty, "(?=a)x" is (a·anything) ∩ x·…, and "(?!a)x" is the same with a
// complement. What comes before is known as one of three contexts: the text's start, behind a word
// character, behind another one; each step carries three languages of what follows, one for each
// context. Most patterns have no assertion but ^ and $ at their ends, and the three stay equal.
//
// Invariant: compile(node, after)[c] are the texts that node, followed by what `after` says of the
// context after it, accepts when it begins in context c.
//
// Lookbehind would need the same from the left. It is honored where the text on its left is whole:
// at the start of an alternative of the pattern (where any text may precede), and right before a
// final $, where it is a condition on all of the text. Elsewhere the part on its left must be at
// least as long: then it is a condition on this part.
#include "regex/ecma.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "regex/syntax.h"

namespace wick::regex {
namespace {

enum Context : std::uint8_t { kAtStart, kBehindWord, kBehindOther };

using After = std::array<ExprId, 3>;  // by context

class Compiler {
 public:
  Compiler(ExprPool& pool, const SyntaxTree& tree)
      : pool_(pool),
        tree_(tree),
        words_(word_characters()),
        word_(character_of(pool, words_)),
        other_(character_of(pool, words_.complement())),
        text_(pool.any_text()) {}

  Result<ExprId> whole() {
    WICK_TRY(const After out, compile(tree_.root, {kEpsilon, kEpsilon, kEpsilon}));
    return out[kAtStart];
  }

  Result<ExprId> search() {
    const Syntax& root = tree_.nodes[tree_.root];
    std::vector<ExprId> found;
    if (root.kind != SyntaxKind::kAlternatives) {
      WICK_TRY(const ExprId one, search_sequence(tree_.root));
      return one;
    }
    for (const std::uint32_t part : root.parts) {
      WICK_TRY(const ExprId one, search_sequence(part));
      found.push_back(one);
    }
    return pool_.unite(found);
  }

 private:
  const Syntax& at(std::uint32_t node) const { return tree_.nodes[node]; }

  // An alternative of the whole pattern, where lookbehind at its ends has a meaning.
  Result<ExprId> search_sequence(std::uint32_t node) {
    std::vector<std::uint32_t> parts = {node};
    if (at(node).kind == SyntaxKind::kSequence) parts = at(node).parts;
    ExprId before = text_, all = text_;
    std::size_t begin = 0, end = parts.size();
    while (begin < end && at(parts[begin]).kind == SyntaxKind::kBehind) {
      WICK_TRY(before, behind(before, at(parts[begin++])));
    }
    if (end > begin && at(parts[end - 1]).kind == SyntaxKind::kEnd) {
      std::size_t last = end - 1;
      while (last > begin && at(parts[last - 1]).kind == SyntaxKind::kBehind) {
        WICK_TRY(all, behind(all, at(parts[--last])));
      }
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(last), parts.end() - 1);
      end = last + 1;
    }
    After after = {text_, text_, text_};
    parts.resize(end);
    WICK_TRY(after, sequence(parts, begin, after));
    ExprId out = kEmptySet;
    if (after[0] == after[1] && after[1] == after[2]) {
      out = pool_.concat(before, after[0]);
    } else {
      const auto ending = [&](ExprId character) {
        const ExprId any = pool_.concat(text_, character);
        return before == text_ ? any : pool_.intersect({before, any});
      };
      out = pool_.unite({pool_.is_nullable(before) ? after[kAtStart] : kEmptySet,
                         pool_.concat(ending(word_), after[kBehindWord]),
                         pool_.concat(ending(other_), after[kBehindOther])});
    }
    return all == text_ ? out : pool_.intersect({out, all});
  }

  // Those texts of `texts`, from the text's start, that the lookbehind accepts at their end.
  Result<ExprId> behind(ExprId texts, const Syntax& look) {
    const Syntax& body = at(look.parts[0]);
    std::vector<std::uint32_t> alternatives = {look.parts[0]};
    if (body.kind == SyntaxKind::kAlternatives) alternatives = body.parts;
    std::vector<ExprId> ends;
    for (const std::uint32_t one : alternatives) {
      WICK_TRY(const ExprId end, end_of(one, look));
      ends.push_back(end);
    }
    const ExprId all = pool_.unite(ends);
    return pool_.intersect({texts, look.is_negative ? pool_.complement(all) : all});
  }

  // The texts that end in what the alternative `node` of a lookbehind says; it may begin with ^.
  Result<ExprId> end_of(std::uint32_t node, const Syntax& look) {
    std::vector<std::uint32_t> parts = {node};
    if (at(node).kind == SyntaxKind::kSequence) parts = at(node).parts;
    const bool is_whole = !parts.empty() && at(parts[0]).kind == SyntaxKind::kStart;
    ExprId out = kEpsilon;
    for (std::size_t i = parts.size(); i-- > (is_whole ? 1U : 0U);) {
      if (at(parts[i]).has_assertion) {
        return refused("an assertion within a lookbehind", look.at,
                       "only characters may be there, and ^ before them");
      }
      out = pool_.concat(plain(parts[i]), out);
    }
    return is_whole ? out : pool_.concat(text_, out);
  }

  // The part before `parts[end]`, with the lookbehinds between them. kEmptySet: it may be shorter
  // than what they look at.
  ExprId looked_at(const std::vector<std::uint32_t>& parts, std::size_t begin, std::size_t& end) {
    std::size_t first = end;
    while (first > begin && at(parts[first - 1]).kind == SyntaxKind::kBehind)
      --first;
    if (first == begin || at(parts[first - 1]).has_assertion) return kEmptySet;
    ExprId out = plain(parts[first - 1]);
    for (std::size_t i = first; i < end && out != kNoExpr; ++i) {
      const Syntax& look = at(parts[i]);
      if (at(look.parts[0]).has_assertion) return kEmptySet;
      const ExprId seen = plain(look.parts[0]);
      if (seen == kNoExpr) return kNoExpr;
      if (pool_.at(seen).max_len > pool_.at(out).min_len) return kEmptySet;
      const ExprId ends = pool_.concat(text_, seen);
      out = look.is_negative ? pool_.minus(out, ends) : pool_.intersect({out, ends});
    }
    end = first - 1;
    return out;
  }

  CodePoints set_of(const Syntax& node) const {
    return node.kind == SyntaxKind::kCharacter ? CodePoints(node.min, node.min)
                                               : tree_.sets[node.set];
  }

  // Classes such as \p{L} occur many times in a pattern and cost some thousand steps.
  ExprId character(const CodePoints& set) {
    const auto [known, is_new] = characters_.try_emplace(set.ranges(), kNoExpr);
    if (is_new) known->second = character_of(pool_, set);
    return known->second;
  }

  // A node without assertions, or one with ^ behind the text's start.
  ExprId plain(std::uint32_t index) {
    const Syntax& node = at(index);
    switch (node.kind) {
      case SyntaxKind::kCharacter: {
        std::string text;
        append_utf8(text, node.min);
        const ExprId out = pool_.literal(text);
        pool_.mark_text(out);
        return out;
      }
      case SyntaxKind::kSet:
        return character(tree_.sets[node.set]);
      case SyntaxKind::kStart:  // see anchored()
        return kEmptySet;
      case SyntaxKind::kRepeat:
        return pool_.repeat(plain(node.parts[0]), node.min, node.max);
      case SyntaxKind::kSequence: {
        ExprId out = kEpsilon;
        for (std::size_t i = node.parts.size(); i-- > 0 && out != kNoExpr;) {
          out = pool_.concat(plain(node.parts[i]), out);
        }
        return out;
      }
      default:
        break;
    }
    std::vector<ExprId> parts;
    for (const std::uint32_t part : node.parts) {
      parts.push_back(plain(part));
      if (parts.back() == kNoExpr) return kNoExpr;
    }
    return pool_.unite(parts);
  }

  Result<After> compile(std::uint32_t index, const After& after) {
    const Syntax& node = at(index);
    if (std::find(after.begin(), after.end(), kNoExpr) != after.end()) return pool_.failure();
    if (!node.has_assertion && node.kind != SyntaxKind::kSequence) return without(index, after);
    switch (node.kind) {
      case SyntaxKind::kSequence:
        return sequence(node.parts, 0, after);
      case SyntaxKind::kAlternatives:
        return alternatives(node, after);
      case SyntaxKind::kRepeat:
        return repeat(node, after);
      case SyntaxKind::kStart:
        return After{after[kAtStart], kEmptySet, kEmptySet};
      case SyntaxKind::kEnd:
        return each(after, [&](ExprId e) { return pool_.is_nullable(e) ? kEpsilon : kEmptySet; });
      case SyntaxKind::kBorder: {
        const ExprId into_word = pool_.concat(word_, text_);
        After out = after;
        for (const Context c : {kAtStart, kBehindWord, kBehindOther}) {
          const bool wants_word = (c == kBehindWord) == node.is_negative;
          out[c] = wants_word ? pool_.intersect({after[c], into_word})
                              : pool_.minus(after[c], into_word);
        }
        return out;
      }
      case SyntaxKind::kAhead: {
        WICK_TRY(const After seen, compile(node.parts[0], {text_, text_, text_}));
        After out = after;
        for (std::size_t c = 0; c < out.size(); ++c) {
          out[c] = node.is_negative ? pool_.minus(after[c], seen[c])
                                    : pool_.intersect({after[c], seen[c]});
        }
        return out;
      }
      default:
        return refused(
            "a lookbehind", node.at,
            "only at the start, before a final $, and behind a part of at least its length");
    }
  }

  // `parts` from `begin` on before `after`.
  Result<After> sequence(const std::vector<std::uint32_t>& parts, std::size_t begin, After after) {
    for (std::size_t i = parts.size(); i-- > begin;) {
      std::size_t end = i + 1;
      const bool looks = at(parts[i]).kind == SyntaxKind::kBehind;
      const ExprId part = looks ? looked_at(parts, begin, end) : kEmptySet;
      if (end > i) {
        WICK_TRY(after, compile(parts[i], after));
      } else {
        if (part == kNoExpr) return pool_.failure();
        after = joined(part, after);
        i = end;
      }
    }
    return after;
  }

  template <class Change>
  static After each(const After& from, const Change& change) {
    return {change(from[0]), change(from[1]), change(from[2])};
  }

  // A part without assertions before `after`.
  After without(std::uint32_t index, const After& after) {
    const Syntax& node = at(index);
    const bool words_differ = after[kBehindWord] != after[kBehindOther];
    const bool is_character = node.kind == SyntaxKind::kSet || node.kind == SyntaxKind::kCharacter;
    if (is_character && words_differ) {
      const CodePoints set = set_of(node);
      const ExprId word = character(set.intersection(words_));
      const ExprId other = character(set.intersection(words_.complement()));
      const ExprId out = pool_.unite(
          {pool_.concat(word, after[kBehindWord]), pool_.concat(other, after[kBehindOther])});
      return {out, out, out};
    }
    return joined(plain(index), after);
  }

  // `it` before `after`.
  After joined(ExprId it, const After& after) {
    const bool words_differ = after[kBehindWord] != after[kBehindOther];
    if (!words_differ && (after[kAtStart] == after[kBehindWord] || !pool_.is_nullable(it))) {
      const ExprId out = pool_.concat(it, after[kBehindWord]);
      return {out, out, out};
    }
    const ExprId some = pool_.non_empty(it);
    ExprId consumed = kEmptySet;
    if (words_differ) {
      const auto ending = [&](ExprId character) {
        return pool_.intersect({some, pool_.concat(text_, character)});
      };
      consumed = pool_.unite({pool_.concat(ending(word_), after[kBehindWord]),
                              pool_.concat(ending(other_), after[kBehindOther])});
    } else {
      consumed = pool_.concat(some, after[kBehindWord]);
    }
    if (!pool_.is_nullable(it)) return {consumed, consumed, consumed};
    return each(after, [&](ExprId e) { return pool_.unite({consumed, e}); });
  }

  Result<After> alternatives(const Syntax& node, const After& after) {
    std::array<std::vector<ExprId>, 3> found;
    for (const std::uint32_t part : node.parts) {
      WICK_TRY(const After one, compile(part, after));
      for (std::size_t c = 0; c < found.size(); ++c) {
        found[c].push_back(one[c]);
      }
    }
    return After{pool_.unite(found[0]), pool_.unite(found[1]), pool_.unite(found[2])};
  }

  // A repeated part with assertions: unrolled, or one of the forms that need no unrolling.
  Result<After> repeat(const Syntax& node, const After& after) {
    const bool is_last = after == After{kEpsilon, kEpsilon, kEpsilon};
    if (node.min == 0 && after == After{text_, text_, text_}) return after;  // no time is enough
    if (node.max == kUnbounded && is_last) {
      if (const auto out = guarded(node); out != kEmptySet) return After{out, out, out};
    }
    if (const auto body = within(node.parts[0]))
      return joined(pool_.repeat(*body, node.min, node.max), after);
    if (after[0] == after[1] && after[1] == after[2]) {
      if (const auto out = guarded_before(node, after[0]); out != kEmptySet)
        return After{out, out, out};
    }
    if (node.max == kUnbounded && node.min <= kMaxUnrolled && is_anchored(node.parts[0]) &&
        after[kBehindWord] == after[kBehindOther])
      return anchored(node, after);
    const std::uint32_t n = node.max;
    if (n > kMaxUnrolled) {
      return refused("an assertion in a repetition", node.at,
                     cat("only in one of at most ", kMaxUnrolled, " times"));
    }
    After out = after;
    for (std::uint32_t i = n; i-- > 0;) {
      WICK_TRY(After more, compile(node.parts[0], out));
      if (i >= node.min) {
        for (std::size_t c = 0; c < more.size(); ++c) {
          more[c] = pool_.unite({more[c], after[c]});
        }
      }
      out = more;
    }
    return out;
  }

  // ((?!a)x)* at the end of the text, x one character: x* where no suffix but the empty one begins
  // with a. kEmptySet: not of this form.
  ExprId guarded(const Syntax& node) {
    const Syntax& body = at(node.parts[0]);
    if (body.kind != SyntaxKind::kSequence || body.parts.size() < 2) return kEmptySet;
    const std::size_t n_looks = body.parts.size() - 1;
    const Syntax& last = at(body.parts[n_looks]);
    if (last.kind != SyntaxKind::kSet && last.kind != SyntaxKind::kCharacter) return kEmptySet;
    const ExprId some_text = pool_.concat(pool_.any_character(), text_);
    std::vector<ExprId> bad;
    for (std::size_t i = 0; i < n_looks; ++i) {
      const Syntax& look = at(body.parts[i]);
      if (look.kind != SyntaxKind::kAhead || at(look.parts[0]).has_assertion) return kEmptySet;
      const ExprId seen = pool_.concat(plain(look.parts[0]), text_);
      const ExprId suffix = look.is_negative ? pool_.non_empty(seen) : pool_.minus(some_text, seen);
      bad.push_back(pool_.concat(text_, suffix));
    }
    const ExprId characters = pool_.repeat(plain(body.parts[n_looks]), node.min, node.max);
    return pool_.minus(characters, pool_.unite(bad));
  }

  // (x(?!a))* before texts in which no a can stand behind the first character, x one character: no
  // suffix of the whole but itself begins with a. kEmptySet: not of this form.
  ExprId guarded_before(const Syntax& node, ExprId after) {
    const Syntax& body = at(node.parts[0]);
    if (body.kind != SyntaxKind::kSequence || body.parts.size() < 2 || node.max == 0)
      return kEmptySet;
    const Syntax& first = at(body.parts[0]);
    if (first.kind != SyntaxKind::kSet && first.kind != SyntaxKind::kCharacter) return kEmptySet;
    std::vector<ExprId> bad;
    for (std::size_t i = 1; i < body.parts.size(); ++i) {
      const Syntax& look = at(body.parts[i]);
      const bool is_plain = look.kind == SyntaxKind::kAhead && !at(look.parts[0]).has_assertion;
      if (!is_plain || !look.is_negative) return kEmptySet;
      const ExprId seen = plain(look.parts[0]);
      if (seen == kNoExpr) return kNoExpr;
      if (pool_.at(after).max_len > pool_.at(seen).min_len) return kEmptySet;
      bad.push_back(pool_.concat({pool_.any_character(), text_, seen, text_}));
    }
    const std::uint32_t least = std::max(node.min, 1U);
    const ExprId all = pool_.concat(pool_.repeat(plain(body.parts[0]), least, node.max), after);
    const ExprId some = pool_.minus(all, pool_.unite(bad));
    return node.min == 0 ? pool_.unite({some, after}) : some;
  }

  // The language of a node whose assertions speak only of what follows within it: "\.(?!\.)/".
  std::optional<ExprId> within(std::uint32_t index) {
    const Syntax& node = at(index);
    if (!node.has_assertion) return plain(index);
    if (node.kind == SyntaxKind::kSequence) return sequence_within(node);
    const bool is_repeat = node.kind == SyntaxKind::kRepeat;
    if (!is_repeat && node.kind != SyntaxKind::kAlternatives) return std::nullopt;
    std::vector<ExprId> parts;
    for (const std::uint32_t part : node.parts) {
      const auto one = within(part);
      if (!one) return std::nullopt;
      parts.push_back(*one);
    }
    return is_repeat ? pool_.repeat(parts[0], node.min, node.max) : pool_.unite(parts);
  }

  std::optional<ExprId> sequence_within(const Syntax& node) {
    ExprId out = kEpsilon;
    for (std::size_t i = node.parts.size(); i-- > 0;) {
      const Syntax& part = at(node.parts[i]);
      const bool is_ahead = part.kind == SyntaxKind::kAhead;
      const auto it = within(is_ahead ? part.parts[0] : node.parts[i]);
      if (!it || *it == kNoExpr || out == kNoExpr) return it;
      if (!is_ahead) {
        out = pool_.concat(*it, out);
        continue;
      }
      if (pool_.at(*it).max_len > pool_.at(out).min_len) return std::nullopt;
      const ExprId seen = pool_.concat(*it, text_);
      out = part.is_negative ? pool_.minus(out, seen) : pool_.intersect({out, seen});
    }
    return out;
  }

  // Whether ^ is the only assertion.
  bool is_anchored(std::uint32_t index) const {
    const Syntax& node = at(index);
    if (!node.has_assertion || node.kind == SyntaxKind::kStart) return true;
    if (node.kind != SyntaxKind::kSequence && node.kind != SyntaxKind::kAlternatives &&
        node.kind != SyntaxKind::kRepeat)
      return false;
    return std::all_of(node.parts.begin(), node.parts.end(),
                       [&](std::uint32_t part) { return is_anchored(part); });
  }

  // Repeated without a limit. Only what begins at the text's start has ^; plain() has none.
  Result<After> anchored(const Syntax& node, const After& after) {
    const ExprId some = pool_.repeat(plain(node.parts[0]), 0, kUnbounded);
    const ExprId more = pool_.concat(some, after[kBehindWord]);
    WICK_TRY(const After once, compile(node.parts[0], {kEmptySet, more, more}));
    After out = {pool_.unite({after[kAtStart], once[kAtStart]}), more, more};
    for (std::uint32_t i = 0; i < node.min; ++i) {
      WICK_TRY(out, compile(node.parts[0], out));
    }
    return out;
  }

  ExprPool& pool_;
  const SyntaxTree& tree_;
  CodePoints words_;
  std::map<std::vector<CodeRange>, ExprId> characters_ = {};
  ExprId word_, other_, text_;
};

}  // namespace

Result<ExprId> parse_ecma(ExprPool& pool, std::string_view pattern, PatternUse use) {
  WICK_TRY(const SyntaxTree tree, parse_ecma_syntax(pattern));
  pool.refuel();
  Compiler compiler(pool, tree);
  WICK_TRY(const ExprId out, use == PatternUse::kSearch ? compiler.search() : compiler.whole());
  if (out == kNoExpr) return pool.failure();
  return out;
}

}  // namespace wick::regex
