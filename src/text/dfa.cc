// The problem: of several ways to match, take the one that a backtracking engine tries first. The
// idea: a state of the automaton is a list of places in the pattern, in the order in which
// backtracking would try them. A character moves each place forward; of equal places the first
// stays. Once a place is the pattern's end, everything behind it in the list can no longer win and
// is dropped, while what stands before it may still find a match that is preferred. So the last
// match seen is the right one.
//
// Looks at the next character are places, too: when that character comes, those that it satisfies
// are replaced by what follows them, before anything moves. Matches are therefore known one
// character late, and noted on the transition.
//
// Cost of building: states × classes × places, limited by kMaxDfaWork; of searching: a table
// look-up for each character.
#include "text/dfa.h"

#include <algorithm>
#include <map>

#include "text/limits.h"

namespace wick {
namespace {

struct NfaNode {
  enum class Kind : std::uint8_t { kSet, kLook, kFork, kEnd };
  Kind kind = Kind::kEnd;
  int set = -1;
  int next = -1;   // kFork: tried first
  int other = -1;  // kFork: tried second
};

// The tree as places with ways between them, built from the end: each part knows where to go on.
class NfaBuilder {
 public:
  explicit NfaBuilder(const Regex& regex) : regex_(regex) {}

  bool build() {
    const int end = add({.kind = NfaNode::Kind::kEnd});
    start_ = add_part(regex_.root, end);
    return !is_full_;
  }

  int start() const noexcept { return start_; }

  const std::vector<NfaNode>& nodes() const noexcept { return nodes_; }

 private:
  int add(NfaNode node) {
    if (nodes_.size() >= kMaxNfaNodes) {
      is_full_ = true;
      return 0;
    }
    nodes_.push_back(node);
    return static_cast<int>(nodes_.size()) - 1;
  }

  int add_part(int part, int next) {
    if (is_full_) return 0;
    const RegexNode& node = regex_.nodes[static_cast<std::size_t>(part)];
    switch (node.kind) {
      case RegexNode::Kind::kSet:
        return add({.kind = NfaNode::Kind::kSet, .set = node.set, .next = next});
      case RegexNode::Kind::kLook:
        return add({.kind = NfaNode::Kind::kLook, .set = node.set, .next = next});
      case RegexNode::Kind::kSequence:
        for (auto it = node.parts.rbegin(); it != node.parts.rend(); ++it) {
          next = add_part(*it, next);
        }
        return next;
      case RegexNode::Kind::kAlternatives: {
        int first = add_part(node.parts.back(), next);
        for (auto it = node.parts.rbegin() + 1; it != node.parts.rend(); ++it) {
          const int preferred = add_part(*it, next);
          first = add({.kind = NfaNode::Kind::kFork, .next = preferred, .other = first});
        }
        return first;
      }
      case RegexNode::Kind::kRepeat:
        return add_repeat(node, next);
    }
    return next;
  }

  int add_fork(const RegexNode& repeat, int inside, int behind) {
    return repeat.is_lazy ? add({.kind = NfaNode::Kind::kFork, .next = behind, .other = inside})
                          : add({.kind = NfaNode::Kind::kFork, .next = inside, .other = behind});
  }

  int add_repeat(const RegexNode& node, int next) {
    const int part = node.parts[0];
    int first = next;
    if (node.max < 0) {
      const int loop = add_fork(node, -1, next);
      const int inside = add_part(part, loop);
      if (is_full_) return 0;
      NfaNode& fork = nodes_[static_cast<std::size_t>(loop)];
      (node.is_lazy ? fork.other : fork.next) = inside;
      first = loop;
    }
    for (int i = node.min; i < node.max && !is_full_; ++i) {
      first = add_fork(node, add_part(part, first), next);
    }
    for (int i = 0; i < node.min && !is_full_; ++i) {
      first = add_part(part, first);
    }
    return first;
  }

  const Regex& regex_;
  std::vector<NfaNode> nodes_ = {};
  int start_ = 0;
  bool is_full_ = false;
};

}  // namespace

class DfaBuilder {
 public:
  DfaBuilder(const Regex& regex, const NfaBuilder& nfa)
      : regex_(regex), nodes_(nfa.nodes()), marks_(nodes_.size(), 0) {
    dfa_.universe_ = regex.universe;
    group_elements();
    state_of({});  // kDead
    List first;
    ++mark_;
    follow(nfa.start(), -1, first);
    state_of(first);
  }

  bool build() {
    if (lists_.size() < 2 || examples_.empty()) return false;
    for (std::size_t state = 0; state < lists_.size(); ++state) {
      for (std::size_t c = 0; c < n_classes_; ++c) {
        const Dfa::Next next = step(state, c);
        if (work_ > kMaxDfaWork || lists_.size() > kMaxDfaStates) return false;
        dfa_.wide_.push_back(next);
      }
    }
    fill_tables();
    return true;
  }

  Dfa take() { return std::move(dfa_); }

 private:
  using List = std::vector<std::uint16_t>;  // places, in the order of preference
  static constexpr std::size_t kMaxClasses = 255;

  // Elements that every set treats alike are one class: each set splits the classes so far.
  void group_elements() {
    const std::size_t n = regex_.universe.size();
    if (n * regex_.sets.size() > kMaxDfaWork) return;
    std::vector<std::size_t> class_of(n, 0);
    n_classes_ = 1;
    std::vector<std::size_t> split;  // by class, and whether the set has the element; 0: not seen
    for (const CharSet& set : regex_.sets) {
      split.assign(2 * n_classes_, 0);
      n_classes_ = 0;
      for (std::size_t e = 0; e < n; ++e) {
        std::size_t& part = split[2 * class_of[e] + (set.has(e) ? 1 : 0)];
        if (part == 0) part = ++n_classes_;
        class_of[e] = part - 1;
      }
      if (n_classes_ > kMaxClasses) return;
    }
    dfa_.class_of_.resize(n);
    for (std::size_t e = 0; e < n; ++e) {
      dfa_.class_of_[e] = static_cast<std::uint8_t>(class_of[e]);
      if (class_of[e] == examples_.size()) examples_.push_back(e);
    }
    dfa_.n_classes_ = n_classes_;
  }

  bool has(int set, std::size_t element) const noexcept {
    return regex_.sets[static_cast<std::size_t>(set)].has(element);
  }

  // Appends to `list` where `place` leads without a character: sets, the end, and looks, which are
  // passed where `next_element` is known (not −1) and satisfies them.
  void follow(int place, std::ptrdiff_t next_element, List& list) {
    open_.assign(1, place);
    while (!open_.empty()) {
      const int at = open_.back();
      open_.pop_back();
      ++work_;
      if (marks_[static_cast<std::size_t>(at)] == mark_) continue;
      marks_[static_cast<std::size_t>(at)] = mark_;
      const NfaNode& node = nodes_[static_cast<std::size_t>(at)];
      const bool is_known_look = node.kind == NfaNode::Kind::kLook && next_element >= 0;
      if (node.kind == NfaNode::Kind::kFork) {
        open_.push_back(node.other);
        open_.push_back(node.next);
      } else if (!is_known_look) {
        list.push_back(static_cast<std::uint16_t>(at));
      } else if (has(node.set, static_cast<std::size_t>(next_element))) {
        open_.push_back(node.next);
      }
    }
  }

  Dfa::Next state_of(const List& list) {
    const auto added = states_.try_emplace(list, static_cast<Dfa::Next>(lists_.size()));
    if (added.second) lists_.push_back(list);
    return added.first->second;
  }

  Dfa::Next step(std::size_t state, std::size_t char_class) {
    const std::size_t element = examples_[char_class];
    here_.clear();
    ++mark_;
    for (const std::uint16_t place : lists_[state]) {
      follow(place, static_cast<std::ptrdiff_t>(element), here_);
    }
    moved_.clear();
    bool is_match = false;
    ++mark_;
    for (const std::uint16_t place : here_) {
      const NfaNode& node = nodes_[place];
      if (node.kind == NfaNode::Kind::kEnd) {
        is_match = true;
        break;
      }
      if (has(node.set, element)) follow(node.next, -1, moved_);
    }
    const bool is_end = element == regex_.universe.end_of_text();
    const Dfa::Next next = is_end ? Dfa::kDead : state_of(moved_);
    return is_match ? static_cast<Dfa::Next>(next | Dfa::kMatch) : next;
  }

  void fill_tables() {
    const std::size_t end_class = dfa_.class_of_[regex_.universe.end_of_text()];
    dfa_.bytes_.resize(lists_.size());
    dfa_.ends_.resize(lists_.size());
    for (std::size_t state = 0; state < lists_.size(); ++state) {
      const Dfa::Next* const row = dfa_.wide_.data() + state * n_classes_;
      dfa_.ends_[state] = row[end_class];
      dfa_.bytes_[state].fill(Dfa::kWide);
      for (std::size_t byte = 0; byte < kFirstNonAscii; ++byte) {
        dfa_.bytes_[state][byte] = row[dfa_.class_of_[byte]];
      }
    }
    for (char32_t block = 0; block < dfa_.block_class_.size(); ++block) {
      const char32_t first = block * kUnicodeBlock;
      const auto& universe = regex_.universe;
      const bool is_one =
          is_uniform_block(first) && first >= kFirstNonAscii &&
          universe.interval_of(first) == universe.interval_of(first + kUnicodeBlock - 1);
      dfa_.block_class_[block] = is_one ? dfa_.class_of_[universe.element_of(first)] : Dfa::kMixed;
    }
    const auto leads_nowhere = [&](std::size_t element) {
      return dfa_.wide_[Dfa::kStart * n_classes_ + dfa_.class_of_[element]] == Dfa::kDead;
    };
    bool are_wide_barren = true;
    for (std::size_t e = kFirstNonAscii; e < regex_.universe.end_of_text(); ++e) {
      are_wide_barren = are_wide_barren && leads_nowhere(e);
    }
    for (std::size_t byte = 0; byte < 256; ++byte) {
      dfa_.is_barren_[byte] = byte < kFirstNonAscii ? leads_nowhere(byte) : are_wide_barren;
    }
  }

  const Regex& regex_;
  const std::vector<NfaNode>& nodes_;
  Dfa dfa_ = {};
  std::size_t n_classes_ = 0;
  std::vector<std::size_t> examples_ = {};  // of each class, one element
  std::vector<List> lists_ = {};            // of each state
  std::map<List, Dfa::Next> states_ = {};
  std::vector<int> open_ = {};        // of follow()
  List here_ = {}, moved_ = {};       // of step(): the places with all looks decided, and behind
  std::vector<std::uint32_t> marks_;  // of each place: when it was last followed
  std::uint32_t mark_ = 0;
  std::size_t work_ = 0;
};

std::optional<Dfa> Dfa::compile(std::string_view pattern) {
  const auto regex = parse_regex(pattern);
  if (!regex) return std::nullopt;
  NfaBuilder nfa(*regex);
  if (!nfa.build()) return std::nullopt;
  DfaBuilder builder(*regex, nfa);
  if (!builder.build()) return std::nullopt;
  return builder.take();
}

namespace {

// A character of valid UTF-8 that is not ASCII.
struct WideChar {
  char32_t code;
  std::size_t bytes;
};

WideChar wide_char(const unsigned char* p) noexcept {
  const auto rest = [&](int i) { return static_cast<char32_t>(p[i] & 0x3FU); };
  if (p[0] < 0xE0) return {(static_cast<char32_t>(p[0] & 0x1FU) << 6U) | rest(1), 2};
  if (p[0] < 0xF0) {
    return {(static_cast<char32_t>(p[0] & 0x0FU) << 12U) | (rest(1) << 6U) | rest(2), 3};
  }
  return {
      (static_cast<char32_t>(p[0] & 0x07U) << 18U) | (rest(1) << 12U) | (rest(2) << 6U) | rest(3),
      4};
}

}  // namespace

std::optional<Span> Dfa::find(std::string_view text, std::size_t from,
                              std::size_t& work) const noexcept {
  const auto* const begin = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* const end = begin + text.size();
  const unsigned char* start = begin + from;
  while (start < end && !is_too_much(work, text)) {
    if (is_barren_[*start]) {
      ++start;
      continue;
    }
    const unsigned char* best = nullptr;
    const unsigned char* at = start;
    for (Next state = kStart;;) {
      if (at == end) {
        if ((ends_[state] & kMatch) != 0) best = at;
        break;
      }
      Next next = bytes_[state][*at];
      std::size_t bytes = 1;
      if (next == kWide) {
        const WideChar c = wide_char(at);
        next = wide(state, c.code);
        bytes = c.bytes;
      }
      if ((next & kMatch) != 0) best = at;
      state = next & static_cast<Next>(~kMatch);
      if (state == kDead) break;
      at += bytes;
    }
    work += static_cast<std::size_t>(at - (best != nullptr ? best : start));
    if (best != nullptr) {
      return Span{static_cast<std::size_t>(start - begin), static_cast<std::size_t>(best - begin)};
    }
    start += *start < kFirstNonAscii ? 1 : wide_char(start).bytes;
  }
  return std::nullopt;
}

}  // namespace wick
