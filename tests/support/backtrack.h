// A pattern by plain backtracking, in the order that the syntax tree says: what tests hold the DFA
// against. Recursive and slow; for short texts.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "base/marked_text.h"
#include "base/utf8.h"
#include "regex/syntax.h"

namespace wick::test {

class Backtracker {
 public:
  Backtracker(const regex::SyntaxTree& tree, std::string_view text) : tree_(tree), text_(text) {}

  // The first match that starts at or after `from` and before the text's end.
  std::optional<Span> find(std::size_t from) const {
    for (std::size_t at = from; at < text_.size(); at += length(at)) {
      std::size_t end = 0;
      const bool found = match(tree_.root, at, [&](std::size_t e) {
        end = e;
        return true;
      });
      if (found) return Span{at, end};
    }
    return std::nullopt;
  }

 private:
  using Kind = regex::SyntaxKind;
  using Then = std::function<bool(std::size_t)>;

  std::size_t length(std::size_t at) const {
    return static_cast<std::size_t>(decode_utf8(text_.substr(at)).length);
  }

  std::size_t before(std::size_t at) const {
    do {
      --at;
    } while ((static_cast<unsigned char>(text_[at]) & 0xC0U) == 0x80U);
    return at;
  }

  bool is_word(std::size_t at) const {
    static const regex::CodePoints kWords = regex::oniguruma_word_characters(false);
    return at < text_.size() && kWords.has(decode_utf8(text_.substr(at)).code);
  }

  bool takes(const regex::Syntax& node, std::size_t at) const {
    if (at >= text_.size()) return false;
    const char32_t code = decode_utf8(text_.substr(at)).code;
    return node.kind == Kind::kCharacter ? code == node.min : tree_.sets[node.set].has(code);
  }

  bool match(std::uint32_t index, std::size_t at, const Then& then) const {
    const regex::Syntax& node = tree_.nodes[index];
    const auto yes = [](std::size_t) { return true; };
    switch (node.kind) {
      case Kind::kCharacter:
      case Kind::kSet:
        return takes(node, at) && then(at + length(at));
      case Kind::kSequence:
        return sequence(node, 0, at, then);
      case Kind::kAlternatives:
        for (const std::uint32_t part : node.parts) {
          if (match(part, at, then)) return true;
        }
        return false;
      case Kind::kRepeat:
        return repeat(node, 0, at, then);
      case Kind::kStart:
        return (at == 0 || (text_[at - 1] == '\n' && at < text_.size())) && then(at);
      case Kind::kEnd:
        return (at == text_.size() || text_[at] == '\n') && then(at);
      case Kind::kBorder:
        return ((at > 0 && is_word(before(at))) != is_word(at)) != node.is_negative && then(at);
      case Kind::kAhead:
        return match(node.parts[0], at, yes) != node.is_negative && then(at);
      case Kind::kBehind: {
        const bool holds = at > 0 && match(node.parts[0], before(at), yes);  // of one character
        return holds != node.is_negative && then(at);
      }
    }
    return false;
  }

  bool sequence(const regex::Syntax& node, std::size_t i, std::size_t at, const Then& then) const {
    if (i == node.parts.size()) return then(at);
    return match(node.parts[i], at,
                 [&, i](std::size_t next) { return sequence(node, i + 1, next, then); });
  }

  bool repeat(const regex::Syntax& node, std::uint32_t n, std::size_t at, const Then& then) const {
    const auto more = [&] {
      return n < node.max && match(node.parts[0], at, [&, n](std::size_t next) {
               return repeat(node, n + 1, next, then);
             });
    };
    if (n < node.min) return more();
    if (node.is_lazy) return then(at) || more();
    if (node.is_possessive) {
      const regex::Syntax& part = tree_.nodes[node.parts[0]];
      return n < node.max && takes(part, at) ? repeat(node, n + 1, at + length(at), then)
                                             : then(at);
    }
    return more() || then(at);
  }

  const regex::SyntaxTree& tree_;
  std::string_view text_;
};

}  // namespace wick::test
