// The problem: of several ways to match, take the one that a backtracking engine tries first. The
// idea: a state of the automaton is a list of places in the pattern, in the order in which
// backtracking would try them. A character moves each place forward; of equal places the first
// stays. Once a place is the pattern's end, everything after it in the list can no longer win and
// is dropped, while what stands before it may still find a match that is preferred. So the last
// match seen is the right one.
//
// Looks at the next character are places, too: when that character comes, those that it satisfies
// are replaced by what follows them, before anything moves. Matches are therefore known one
// character late, and noted on the transition. Looks at the character before are decided when they
// are reached; since a look at the next one may stand in between, a state also knows what kind of
// character was before it, as far as the pattern tells kinds apart.
//
// A lookahead of more than one character is a question: its own automaton answers it at each place
// where a state asks, and a state has a row of transitions for each combination of answers.
//
// Cost of building: states × classes × places, limited by kMaxDfaWork; of searching: a table
// look-up for each character, and what the long lookaheads read.
#include "regex/dfa.h"

#include <algorithm>
#include <map>
#include <span>

#include "base/strings.h"
#include "regex/limits.h"
#include "regex/nfa.h"

namespace wick::regex {

class DfaBuilder {
 public:
  explicit DfaBuilder(const Nfa& nfa) : nfa_(nfa), nodes_(nfa.nodes()), marks_(nodes_.size(), 0) {}

  Result<Dfa> build() {
    if (!group_characters()) return too_large("the pattern tells too many kinds of characters");
    group_contexts();
    find_questions();
    for (const int start : nfa_.look_starts()) {
      if (!fill(start, 1, dfa_.looks_.emplace_back())) return failure();
    }
    dfa_.n_answers_ = std::size_t{1} << nfa_.look_starts().size();
    if (!fill(nfa_.start(), dfa_.n_answers_, dfa_.main_)) return failure();
    fill_bytes();
    return std::move(dfa_);
  }

 private:
  using List = std::vector<std::uint16_t>;  // places, in the order of preference; last: the context

  static constexpr std::size_t kMaxClasses = 255;
  static constexpr std::ptrdiff_t kUnknown = -1;

  static Error failure() {
    return too_large(cat("the pattern needs more than ", kMaxDfaStates, " states or ", kMaxDfaWork,
                         " steps to build them"));
  }

  // --- Classes: characters that every set treats alike ---

  bool group_characters() {
    std::vector<char32_t> borders = {0, 0x80, 0xD800, 0xE000, kLastCodePoint + 1};
    for (const CodePoints& set : nfa_.sets()) {
      for (const CodeRange& range : set.ranges()) {
        borders.push_back(range.first);
        borders.push_back(range.last + 1);
      }
    }
    std::sort(borders.begin(), borders.end());
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    const std::size_t n = borders.size() - 1;  // intervals
    std::vector<std::size_t> class_of(n, 0);
    std::vector<std::vector<bool>> has(nfa_.sets().size(), std::vector<bool>(n));
    std::size_t n_classes = 1;
    std::vector<std::size_t> split;  // by class, and whether the set has it; 0: not seen
    for (std::size_t s = 0; s < has.size(); ++s) {
      const auto& ranges = nfa_.sets()[s].ranges();
      auto range = ranges.begin();
      split.assign(2 * n_classes, 0);
      n_classes = 0;
      for (std::size_t i = 0; i < n; ++i) {
        while (range != ranges.end() && range->last < borders[i]) {
          ++range;
        }
        has[s][i] = range != ranges.end() && range->first <= borders[i];
        std::size_t& part = split[2 * class_of[i] + (has[s][i] ? 1 : 0)];
        if (part == 0) part = ++n_classes;
        class_of[i] = part - 1;
      }
      if (n_classes > kMaxClasses) return false;
    }
    dfa_.n_classes_ = n_classes;
    members_.assign(has.size(), std::vector<bool>(n_classes));
    is_wide_.assign(n_classes, false);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t s = 0; s < has.size(); ++s) {
        members_[s][class_of[i]] = has[s][i];
      }
      if (borders[i] >= 0x80) is_wide_[class_of[i]] = true;
    }
    map_characters(borders, class_of);
    return true;
  }

  void map_characters(const std::vector<char32_t>& borders,
                      const std::vector<std::size_t>& class_of) {
    std::size_t i = 0;  // the interval
    for (char32_t first = 0; first <= kLastCodePoint; first += Dfa::kBlock) {
      while (borders[i + 1] <= first) {
        ++i;
      }
      if (borders[i + 1] >= first + Dfa::kBlock) {
        dfa_.blocks_.push_back(static_cast<std::uint16_t>(class_of[i]));
        continue;
      }
      dfa_.blocks_.push_back(
          static_cast<std::uint16_t>(Dfa::kMixed + dfa_.mixed_.size() / Dfa::kBlock));
      std::size_t at = i;
      for (char32_t c = first; c < first + Dfa::kBlock; ++c) {
        if (borders[at + 1] <= c) ++at;
        dfa_.mixed_.push_back(static_cast<std::uint8_t>(class_of[at]));
      }
    }
  }

  // Whether the node matches a character of the class, or the edge of the text.
  bool passes(const NfaNode& node, std::size_t char_class) const noexcept {
    if (char_class == dfa_.n_classes_) return node.holds_edge;
    return members_[static_cast<std::size_t>(node.set)][char_class] != node.is_negative;
  }

  // --- Contexts: kinds of characters before a place that lookbehind tells apart ---

  void group_contexts() {
    std::map<std::vector<bool>, std::uint16_t> known;
    for (std::size_t c = 0; c <= dfa_.n_classes_; ++c) {
      std::vector<bool> answers;
      for (const NfaNode& node : nodes_) {
        if (node.kind == NfaNode::Kind::kBefore) answers.push_back(passes(node, c));
      }
      const auto number = static_cast<std::uint16_t>(known.size());
      const auto added = known.try_emplace(std::move(answers), number);
      if (added.second) example_.push_back(c);
      context_of_.push_back(added.first->second);
    }
  }

  // Places from which a long lookahead is reached without a character.
  void find_questions() {
    asks_.assign(nodes_.size(), false);
    if (nfa_.look_starts().empty()) return;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      open_.assign(1, static_cast<int>(i));
      ++mark_;
      while (!open_.empty() && !asks_[i]) {
        const auto at = static_cast<std::size_t>(open_.back());
        open_.pop_back();
        if (marks_[at] == mark_) continue;
        marks_[at] = mark_;
        ++work_;
        const NfaNode& node = nodes_[at];
        if (node.kind == NfaNode::Kind::kAhead || asks_[at]) asks_[i] = true;
        if (node.kind == NfaNode::Kind::kSet || node.kind == NfaNode::Kind::kEnd) continue;
        open_.push_back(node.next);
        if (node.kind == NfaNode::Kind::kFork) open_.push_back(node.other);
      }
    }
  }

  // --- States ---

  // Appends to `list` where `place` leads without a character: sets, the end, and looks, which are
  // passed where the class of the next character is known and satisfies them.
  void follow(int place, std::size_t context, std::ptrdiff_t next, std::size_t answers,
              List& list) {
    open_.assign(1, place);
    while (!open_.empty()) {
      const auto at = static_cast<std::size_t>(open_.back());
      open_.pop_back();
      ++work_;
      if (marks_[at] == mark_) continue;
      marks_[at] = mark_;
      const NfaNode& node = nodes_[at];
      bool is_passed = false, is_look = true;
      switch (node.kind) {
        case NfaNode::Kind::kFork:
          open_.push_back(node.other);
          open_.push_back(node.next);
          continue;
        case NfaNode::Kind::kBefore:
          is_passed = passes(node, example_[context]);
          break;
        case NfaNode::Kind::kNext:
          is_look = next != kUnknown;
          is_passed = is_look && passes(node, static_cast<std::size_t>(next));
          break;
        case NfaNode::Kind::kAhead:
          is_look = next != kUnknown;
          is_passed =
              ((answers >> static_cast<unsigned>(node.look)) & 1U) != (node.is_negative ? 1U : 0U);
          break;
        default:
          is_look = false;
      }
      if (!is_look) {
        list.push_back(static_cast<std::uint16_t>(at));
      } else if (is_passed) {
        open_.push_back(node.next);
      }
    }
  }

  static std::span<const std::uint16_t> places_of(const List& list) noexcept {
    return {list.data(), list.empty() ? 0 : list.size() - 1};
  }

  Dfa::Next state_of(List& list, std::size_t context) {
    if (list.empty()) return Dfa::kDead;
    list.push_back(static_cast<std::uint16_t>(context));
    const auto added = states_.try_emplace(list, static_cast<Dfa::Next>(lists_.size()));
    if (added.second) lists_.push_back(list);
    return added.first->second;
  }

  // All states that `start` leads to. False: too many, or too much work.
  bool fill(int start, std::size_t n_answers, Dfa::Table& table) {
    states_.clear();
    lists_.assign(1, {});  // kDead
    table.looks_back = example_.size() > 1;
    std::vector<Dfa::Next> first;
    for (std::size_t context = 0; context < example_.size(); ++context) {
      List list;
      ++mark_;
      follow(start, context, kUnknown, 0, list);
      first.push_back(state_of(list, context));
    }
    for (const std::uint16_t context : context_of_) {
      table.starts.push_back(first[context]);
    }
    for (std::size_t state = 0; state < lists_.size(); ++state) {
      const List list = lists_[state];
      const auto places = places_of(list);
      const bool asks = n_answers > 1 && std::any_of(places.begin(), places.end(), [&](auto place) {
                          return static_cast<bool>(asks_[place]);
                        });
      table.asks.push_back(asks);
      for (std::size_t answers = 0; answers < n_answers; ++answers) {
        for (std::size_t c = 0; c < dfa_.n_classes_; ++c) {
          table.next.push_back(step(list, asks ? answers : 0, c));
          if (work_ > kMaxDfaWork || lists_.size() > kMaxDfaStates) return false;
        }
        table.ends.push_back(step(list, asks ? answers : 0, dfa_.n_classes_));
      }
    }
    return true;
  }

  Dfa::Next step(const List& list, std::size_t answers, std::size_t char_class) {
    here_.clear();
    moved_.clear();
    if (list.empty()) return Dfa::kDead;
    ++mark_;
    for (const std::uint16_t place : places_of(list)) {
      follow(place, list.back(), static_cast<std::ptrdiff_t>(char_class), answers, here_);
    }
    const bool is_end = char_class == dfa_.n_classes_;
    const std::size_t context = context_of_[char_class];
    bool is_match = false;
    ++mark_;
    for (const std::uint16_t place : here_) {
      const NfaNode& node = nodes_[place];
      is_match = node.kind == NfaNode::Kind::kEnd;
      if (is_match) break;
      if (!is_end && passes(node, char_class)) follow(node.next, context, kUnknown, 0, moved_);
    }
    const Dfa::Next next = state_of(moved_, context);
    return is_match ? static_cast<Dfa::Next>(next | Dfa::kMatch) : next;
  }

  void fill_bytes() {
    const Dfa::Table& table = dfa_.main_;
    const std::size_t row = dfa_.n_answers_ * dfa_.n_classes_;
    dfa_.bytes_.resize(table.asks.size());
    for (std::size_t state = 0; state < table.asks.size(); ++state) {
      dfa_.bytes_[state].fill(Dfa::kSlow);
      for (char32_t c = 0; c < 0x80 && !table.asks[state]; ++c) {
        dfa_.bytes_[state][c] = table.next[state * row + dfa_.class_of(c)];
      }
    }
    std::vector<bool> leads(dfa_.n_classes_);
    for (const Dfa::Next start : table.starts) {
      for (std::size_t i = 0; i < row; ++i) {
        if (table.next[start * row + i] != Dfa::kDead) leads[i % dfa_.n_classes_] = true;
      }
    }
    bool leads_wide = false;
    for (std::size_t c = 0; c < leads.size(); ++c) {
      leads_wide = leads_wide || (leads[c] && is_wide_[c]);
    }
    for (char32_t byte = 0; byte < 256; ++byte) {
      dfa_.is_barren_[byte] = byte < 0x80 ? !leads[dfa_.class_of(byte)] : !leads_wide;
    }
  }

  const Nfa& nfa_;
  const std::vector<NfaNode>& nodes_;
  Dfa dfa_ = {};
  std::vector<std::vector<bool>> members_ = {};  // by set and class
  std::vector<bool> is_wide_ = {};               // by class: has characters beyond ASCII
  std::vector<std::uint16_t> context_of_ = {};   // by class; last: the start of the text
  std::vector<std::size_t> example_ = {};        // of each context, a class
  std::vector<bool> asks_ = {};                  // by place
  std::vector<List> lists_ = {};                 // of each state
  std::map<List, Dfa::Next> states_ = {};
  std::vector<int> open_ = {};        // of follow()
  List here_ = {}, moved_ = {};       // of step(): the places with all looks decided, and behind
  std::vector<std::uint32_t> marks_;  // of each place: when it was last followed
  std::uint32_t mark_ = 0;
  std::size_t work_ = 0;
};

Result<Dfa> Dfa::compile(std::string_view pattern) {
  WICK_TRY(const SyntaxTree tree, parse_oniguruma(pattern));
  WICK_TRY(const Nfa nfa, Nfa::build(tree));
  return DfaBuilder(nfa).build();
}

// --- Searching ---

Dfa::Char Dfa::char_at(const unsigned char* p) noexcept {
  const auto rest = [&](int i) { return static_cast<char32_t>(p[i] & 0x3FU); };
  if (p[0] < 0x80) return {p[0], 1};
  if (p[0] < 0xE0) return {(static_cast<char32_t>(p[0] & 0x1FU) << 6U) | rest(1), 2};
  if (p[0] < 0xF0) {
    return {(static_cast<char32_t>(p[0] & 0x0FU) << 12U) | (rest(1) << 6U) | rest(2), 3};
  }
  return {
      (static_cast<char32_t>(p[0] & 0x07U) << 18U) | (rest(1) << 12U) | (rest(2) << 6U) | rest(3),
      4};
}

Dfa::Next Dfa::start_of(const Table& table, const unsigned char* begin,
                        const unsigned char* at) const noexcept {
  if (!table.looks_back) return table.starts[0];
  if (at == begin) return table.starts[n_classes_];
  do {
    --at;
  } while ((*at & 0xC0U) == 0x80U);
  return table.starts[class_of(char_at(at).code)];
}

// Whether the lookahead holds at `at`.
bool Dfa::matches(const Table& look, const unsigned char* begin, const unsigned char* at,
                  const unsigned char* end, std::size_t& work) const noexcept {
  Next state = start_of(look, begin, at);
  while (at != end && state != kDead) {
    const Char c = char_at(at);
    const Next next = look.next[state * n_classes_ + class_of(c.code)];
    if ((next & kMatch) != 0) return true;
    state = next;
    at += c.bytes;
    work += c.bytes;
  }
  return (look.ends[state] & kMatch) != 0;
}

std::size_t Dfa::answers(const unsigned char* begin, const unsigned char* at,
                         const unsigned char* end, std::size_t& work) const noexcept {
  std::size_t out = 0;
  for (std::size_t i = 0; i < looks_.size(); ++i) {
    if (matches(looks_[i], begin, at, end, work)) out |= std::size_t{1} << i;
  }
  return out;
}

std::optional<Span> Dfa::find(std::string_view text, std::size_t from, std::size_t& work,
                              std::size_t most_work) const noexcept {
  const auto* const begin = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* const end = begin + text.size();
  const unsigned char* start = begin + from;
  while (start < end && work <= most_work) {
    if (is_barren_[*start]) {
      ++start;
      continue;
    }
    const unsigned char* best = nullptr;
    const unsigned char* at = start;
    for (Next state = start_of(main_, begin, start);;) {
      if (at == end) {
        const std::size_t said = main_.asks[state] ? answers(begin, at, end, work) : 0;
        if ((main_.ends[state * n_answers_ + said] & kMatch) != 0) best = at;
        break;
      }
      Next next = bytes_[state][*at];
      std::size_t bytes = 1;
      if (next == kSlow) {
        const Char c = char_at(at);
        const std::size_t said = main_.asks[state] ? answers(begin, at, end, work) : 0;
        if (work > most_work) return std::nullopt;
        next = main_.next[(state * n_answers_ + said) * n_classes_ + class_of(c.code)];
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
    start += *start < 0x80 ? 1 : char_at(start).bytes;
  }
  return std::nullopt;
}

}  // namespace wick::regex
