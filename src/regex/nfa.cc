// Built from the pattern's end, so the successor of each part is known.
#include "regex/nfa.h"

#include <optional>
#include <utility>

#include "base/strings.h"
#include "regex/limits.h"

namespace wick::regex {

class NfaBuilder {
 public:
  explicit NfaBuilder(const SyntaxTree& tree) : tree_(tree) {}

  Result<Nfa> build() {
    const int end = add({});
    out_.start_ = add_part(tree_.root, end);
    if (error_) return *std::move(error_);
    return std::move(out_);
  }

 private:
  using Kind = NfaNode::Kind;

  int fail(Error error) {
    if (!error_) error_ = std::move(error);
    return 0;
  }

  int add(NfaNode node) {
    if (error_) return 0;
    if (out_.nodes_.size() >= kMaxNfaNodes) {
      return fail(too_large(cat("the pattern has more than ", kMaxNfaNodes, " places")));
    }
    out_.nodes_.push_back(node);
    return static_cast<int>(out_.nodes_.size()) - 1;
  }

  int add_fork(int first, int second) {
    return add({.kind = Kind::kFork, .next = first, .other = second});
  }

  int set_of(const CodePoints& set) {
    const auto [known, is_new] =
        numbers_.try_emplace(set.ranges(), static_cast<int>(out_.sets_.size()));
    if (is_new) out_.sets_.push_back(set);
    return known->second;
  }

  // The set of a part that is one character, -1 of any other.
  int single(std::uint32_t part) {
    const Syntax& node = tree_.nodes[part];
    if (node.kind == SyntaxKind::kSet) return set_of(tree_.sets[node.set]);
    if (node.kind == SyntaxKind::kCharacter) return set_of(CodePoints(node.min, node.min));
    return -1;
  }

  int add_part(std::uint32_t part, int next) {
    if (error_) return 0;
    const Syntax& node = tree_.nodes[part];
    switch (node.kind) {
      case SyntaxKind::kCharacter:
      case SyntaxKind::kSet:
        return add({.kind = Kind::kSet, .set = single(part), .next = next});
      case SyntaxKind::kSequence:
        for (auto it = node.parts.rbegin(); it != node.parts.rend(); ++it) {
          next = add_part(*it, next);
        }
        return next;
      case SyntaxKind::kAlternatives: {
        int first = add_part(node.parts.back(), next);
        for (auto it = node.parts.rbegin() + 1; it != node.parts.rend(); ++it) {
          const int preferred = add_part(*it, next);
          first = add_fork(preferred, first);
        }
        return first;
      }
      case SyntaxKind::kRepeat:
        return node.is_possessive ? add_possessive(node, next) : add_repeat(node, next);
      case SyntaxKind::kStart: {  // of a line, which does not start after the text's last newline
        const int some = set_of(CodePoints::all()), newline = set_of(CodePoints(U'\n', U'\n'));
        const int more = add({.kind = Kind::kNext, .set = some, .next = next});
        return add_fork(add_edge(Kind::kBefore, next),
                        add({.kind = Kind::kBefore, .set = newline, .next = more}));
      }
      case SyntaxKind::kEnd:
        return add({.kind = Kind::kNext,
                    .holds_edge = true,
                    .set = set_of(CodePoints(U'\n', U'\n')),
                    .next = next});
      case SyntaxKind::kBorder:
        return add_border(node.is_negative, next);
      case SyntaxKind::kAhead:
      case SyntaxKind::kBehind:
        return add_look(part, next);
    }
    return next;
  }

  int add_edge(Kind kind, int next) {  // the start or the end of the text
    return add({.kind = kind,
                .is_negative = true,
                .holds_edge = true,
                .set = set_of(CodePoints::all()),
                .next = next});
  }

  // Of the characters on both sides one belongs to a word; \B: both or none.
  int add_border(bool is_negative, int next) {
    const int word = set_of(oniguruma_word_characters(false));
    const auto look = [&](Kind kind, bool wants_word, int behind) {
      return add({.kind = kind,
                  .is_negative = !wants_word,
                  .holds_edge = !wants_word,
                  .set = word,
                  .next = behind});
    };
    const int leaves = look(Kind::kNext, is_negative, next);
    const int enters = look(Kind::kNext, !is_negative, next);
    return add_fork(look(Kind::kBefore, true, leaves), look(Kind::kBefore, false, enters));
  }

  int add_look(std::uint32_t part, int next) {
    const Syntax& node = tree_.nodes[part];
    const bool is_ahead = node.kind == SyntaxKind::kAhead;
    if (const int set = single(node.parts[0]); set >= 0) {
      return add({.kind = is_ahead ? Kind::kNext : Kind::kBefore,
                  .is_negative = node.is_negative,
                  .holds_edge = node.is_negative,
                  .set = set,
                  .next = next});
    }
    if (!is_ahead) {
      return fail(refused("a lookbehind of more than one character", node.at,
                          "the automaton reads forward"));
    }
    if (is_in_look_) {
      return fail(
          refused("a lookahead in a lookahead", node.at, "only one character is looked at"));
    }
    const auto [known, is_new] = looks_.try_emplace(part, static_cast<int>(looks_.size()));
    const int look = known->second;
    if (is_new) {
      if (looks_.size() > kMaxLongLooks) {
        return fail(too_large(cat("the pattern has more than ", kMaxLongLooks,
                                  " lookaheads of more than one character")));
      }
      is_in_look_ = true;
      const int end = add({});
      out_.look_starts_.push_back(add_part(node.parts[0], end));
      is_in_look_ = false;
    }
    return add({.kind = Kind::kAhead, .is_negative = node.is_negative, .look = look, .next = next});
  }

  // As many as there are: what follows is not another one.
  int add_possessive(const Syntax& node, int next) {
    const int set = single(node.parts[0]);
    const int behind = add(
        {.kind = Kind::kNext, .is_negative = true, .holds_edge = true, .set = set, .next = next});
    if (node.max == kUnbounded) return add_repeat(node, behind);
    return add_fork(add_part(node.parts[0], next), behind);  // "?+"
  }

  int add_repeat(const Syntax& node, int next) {
    const std::uint32_t part = node.parts[0];
    const auto fork = [&](int inside, int behind) {
      return node.is_lazy ? add_fork(behind, inside) : add_fork(inside, behind);
    };
    int first = next;
    if (node.max == kUnbounded) {
      const int loop = fork(-1, next);
      const int inside = add_part(part, loop);
      if (error_) return 0;
      NfaNode& made = out_.nodes_[static_cast<std::size_t>(loop)];
      (node.is_lazy ? made.other : made.next) = inside;
      first = loop;
    } else {
      for (std::uint32_t i = node.min; i < node.max && !error_; ++i) {
        first = fork(add_part(part, first), next);
      }
    }
    for (std::uint32_t i = 0; i < node.min && !error_; ++i) {
      first = add_part(part, first);
    }
    return first;
  }

  const SyntaxTree& tree_;
  Nfa out_ = {};
  std::map<std::vector<CodeRange>, int> numbers_ = {};  // of sets
  std::map<std::uint32_t, int> looks_ = {};             // by their place in the tree
  bool is_in_look_ = false;
  std::optional<Error> error_ = {};
};

Result<Nfa> Nfa::build(const SyntaxTree& tree) {
  return NfaBuilder(tree).build();
}

}  // namespace wick::regex
