// Three ways through the same order of merges. Of a few symbols (nearly always) those that may
// merge are searched for the lowest rank again after every merge: n² steps of about a cycle.
//
// In many that repeat themselves (a line of a million '=') there are few different pairs, and each
// rank merges a good part of all symbols at once. As long as that is so, one pass finds the lowest
// rank and the next merges its pairs from left to right. That is the order of merges if none of
// them makes a pair with a rank as low as its own; where one does, the passes end.
//
// Many others are a linked list, and their possible merges wait in three places: `sorted`, with a
// cursor; `heap`, for new ones that may come before what is left in `sorted`; and `later`, for
// those that come behind all of it, which become the next `sorted`. In a long run of one letter
// each round of merges makes the next one in order, so that nothing is ever searched for; in the
// worst case all goes through the heap, n log n. A candidate is out of date when its symbol, or the
// symbol's neighbor, has merged since; then the two no longer have the length noted in it.
#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "text/bpe.h"

namespace wick {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::uint32_t kTieLimit = 0xFFFF;
constexpr std::size_t kWorthPass = 8;  // a pass merges at least one symbol in 8

// Looks pairs up that are often the same one again.
class RepeatedPair {
 public:
  explicit RepeatedPair(const PairTable& pairs) : pairs_(pairs) {}

  Merge find(TokenId left, TokenId right) noexcept {
    if (left != left_ || right != right_) {
      left_ = left;
      right_ = right;
      merge_ = pairs_.find(left, right);
      if (merge_.id < 0) merge_.rank = kNone;
    }
    return merge_;
  }

 private:
  const PairTable& pairs_;
  TokenId left_ = -1, right_ = -1;
  Merge merge_ = {.rank = kNone};
};

// Types, not functions, so that sorting has them inline.
struct ComesFirst {
  bool operator()(const BpeScratch::Candidate& a, const BpeScratch::Candidate& b) const noexcept {
    if (a.key != b.key) return a.key < b.key;
    if (a.id != b.id) return a.id < b.id;
    return a.at < b.at;
  }
};

struct ComesLater {
  bool operator()(const BpeScratch::Candidate& a, const BpeScratch::Candidate& b) const noexcept {
    return ComesFirst{}(b, a);
  }
};

// The candidates of one piece, lowest key first.
class Queue {
 public:
  explicit Queue(BpeScratch& scratch)
      : sorted_(scratch.sorted), heap_(scratch.heap), later_(scratch.later) {
    sorted_.clear();
    heap_.clear();
    later_.clear();
  }

  void push(const BpeScratch::Candidate& found) {
    if (sorted_.empty() || found.key > sorted_.back().key) {
      later_.push_back(found);
    } else {
      heap_.push_back(found);
      std::push_heap(heap_.begin(), heap_.end(), ComesLater{});
    }
  }

  // False: none is left.
  bool pop(BpeScratch::Candidate& found) {
    if (at_ == sorted_.size() && heap_.empty()) {
      if (later_.empty()) return false;
      sort_later();
    }
    const bool is_sorted_next =
        heap_.empty() || (at_ < sorted_.size() && ComesFirst{}(sorted_[at_], heap_.front()));
    if (is_sorted_next) {
      found = sorted_[at_++];
      return true;
    }
    std::pop_heap(heap_.begin(), heap_.end(), ComesLater{});
    found = heap_.back();
    heap_.pop_back();
    return true;
  }

 private:
  // A run of one letter has a million candidates with a handful of keys, in order for each: those
  // are dealt out key by key.
  void sort_later() {
    constexpr std::size_t kFew = 16;
    std::array<std::uint64_t, kFew> keys{};
    std::size_t n_keys = 0;
    for (std::size_t i = 0; i < later_.size() && n_keys <= kFew; ++i) {
      const auto end = keys.begin() + static_cast<std::ptrdiff_t>(n_keys);
      if (std::find(keys.begin(), end, later_[i].key) != end) continue;
      if (n_keys < kFew) keys[n_keys] = later_[i].key;
      ++n_keys;
    }
    sorted_.clear();
    if (n_keys <= kFew) {
      std::sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n_keys));
      for (std::size_t k = 0; k < n_keys; ++k) {
        std::copy_if(later_.begin(), later_.end(), std::back_inserter(sorted_),
                     [&](const BpeScratch::Candidate& c) { return c.key == keys[k]; });
      }
    } else {
      std::swap(sorted_, later_);
    }
    if (!std::is_sorted(sorted_.begin(), sorted_.end(), ComesFirst{})) {
      std::sort(sorted_.begin(), sorted_.end(), ComesFirst{});
    }
    later_.clear();
    at_ = 0;
  }

  std::vector<BpeScratch::Candidate>& sorted_;
  std::vector<BpeScratch::Candidate>& heap_;
  std::vector<BpeScratch::Candidate>& later_;
  std::size_t at_ = 0;  // in sorted_
};

}  // namespace

// Bits stand for symbols: `live` for those that are left, `open` for those that may merge with the
// next live one. Taking one out moves nothing.
void BpeModel::merge_few(std::span<TokenId> ids, std::vector<TokenId>& out) const {
  std::array<Merge, kShortPiece> merges;  // of the open ones
  const auto bit = [](std::size_t i) { return std::uint64_t{1} << i; };
  const auto lowest_in = [](std::uint64_t bits) {
    return static_cast<std::size_t>(std::countr_zero(bits));
  };
  std::uint64_t live = ids.empty() ? 0 : ~std::uint64_t{0} >> (kShortPiece - ids.size());
  std::uint64_t open = 0;
  const auto look_up = [&](std::size_t left, std::size_t right) {
    merges[left] = pairs.find(ids[left], ids[right]);
    open = merges[left].id < 0 ? open & ~bit(left) : open | bit(left);
  };
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
    open |= std::uint64_t{pairs.may_have(ids[i], ids[i + 1])} << i;
  }
  for (std::uint64_t left = open; left != 0; left &= left - 1) {
    __builtin_prefetch(pairs.place(ids[lowest_in(left)], ids[lowest_in(left) + 1]));
  }
  for (std::uint64_t left = open; left != 0; left &= left - 1) {
    look_up(lowest_in(left), lowest_in(left) + 1);
  }
  while (open != 0) {
    std::size_t at = lowest_in(open);
    for (std::uint64_t left = open & (open - 1); left != 0; left &= left - 1) {
      const std::size_t i = lowest_in(left);
      if (merges[i].rank < merges[at].rank) at = i;
    }
    ids[at] = merges[at].id;
    const std::uint64_t before = live & (bit(at) - 1);
    std::uint64_t behind = live & ~before & ~bit(at);
    const std::uint64_t right = behind & ~(behind - 1);
    live ^= right;
    behind ^= right;
    open &= ~(bit(at) | right);
    if (behind != 0) look_up(at, lowest_in(behind));
    if (before != 0) look_up(static_cast<std::size_t>(std::bit_width(before)) - 1, at);
  }
  for (; live != 0; live &= live - 1) {
    out.push_back(ids[lowest_in(live)]);
  }
}

// Merges the pairs of rank `lowest`; false where one of the new pairs may have to come before.
bool BpeModel::merge_rank(std::uint32_t lowest, BpeScratch& scratch) const {
  auto& symbols = scratch.symbols;
  RepeatedPair joined(pairs), before(pairs), behind(pairs);
  bool is_in_order = true;
  std::size_t n = 0;  // symbols that stay
  std::size_t at = 0;
  while (is_in_order && at + 1 < symbols.size()) {
    const Merge merge = joined.find(symbols[at].id, symbols[at + 1].id);
    if (merge.rank != lowest) {
      symbols[n++] = symbols[at++];
      continue;
    }
    BpeScratch::Symbol both = symbols[at];
    both.id = merge.id;
    both.bytes += symbols[at + 1].bytes;
    at += 2;
    is_in_order = (n == 0 || before.find(symbols[n - 1].id, both.id).rank > lowest) &&
                  (at == symbols.size() || behind.find(both.id, symbols[at].id).rank > lowest);
    symbols[n++] = both;
  }
  const auto left = symbols.begin() + static_cast<std::ptrdiff_t>(n);
  symbols.erase(left, symbols.begin() + static_cast<std::ptrdiff_t>(at));
  return is_in_order;
}

void BpeModel::merge_repeats(BpeScratch& scratch) const {
  const auto& symbols = scratch.symbols;
  RepeatedPair pair(pairs);
  std::size_t n_lowest = 0;
  std::uint32_t lowest = kNone;
  do {
    lowest = kNone;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const std::uint32_t rank = pair.find(symbols[i].id, symbols[i + 1].id).rank;
      if (rank < lowest) n_lowest = 0;
      lowest = std::min(lowest, rank);
      n_lowest += rank == lowest ? 1 : 0;
    }
  } while (lowest != kNone && n_lowest * kWorthPass >= symbols.size() &&
           merge_rank(lowest, scratch));
}

BpeScratch::Candidate BpeModel::candidate(std::string_view piece, const Vocab& vocab,
                                          const BpeScratch& scratch,
                                          std::int32_t at) const noexcept {
  const auto& left = scratch.symbols[static_cast<std::size_t>(at)];
  const auto& right = scratch.symbols[static_cast<std::size_t>(left.next)];
  BpeScratch::Candidate found{.at = at, .bytes = left.bytes + right.bytes};
  if (!by_score) {
    const Merge merge = pairs.find(left.id, right.id);
    found.id = merge.id;
    found.key = merge.rank;
    return found;
  }
  const bool may_merge =
      left.characters > 0 && right.characters > 0 && right.begin == left.begin + left.bytes;
  if (!may_merge) return found;
  found.id = find(piece.substr(left.begin, found.bytes), vocab);
  if (found.id < 0) return found;
  if (is_leftmost_first) {
    found.key = std::uint64_t{ranks[static_cast<std::size_t>(found.id)]} << 32U;
    if (scores_repeat_) found.key |= static_cast<std::uint32_t>(at);
    return found;
  }
  // Hugging Face turns scores into ranked merges: among equal scores the longer left half, then the
  // longer right half, comes first.
  found.key = (std::uint64_t{ranks[static_cast<std::size_t>(found.id)]} << 32U) |
              ((kTieLimit - std::min(left.characters, kTieLimit)) << 16U) |
              (kTieLimit - std::min(right.characters, kTieLimit));
  return found;
}

void BpeModel::merge_many(std::string_view piece, const Vocab& vocab, BpeScratch& scratch) const {
  auto& symbols = scratch.symbols;
  const auto n = static_cast<std::int32_t>(symbols.size());
  for (std::int32_t i = 0; i < n; ++i) {
    symbols[static_cast<std::size_t>(i)].prev = i - 1;
    symbols[static_cast<std::size_t>(i)].next = i + 1 < n ? i + 1 : -1;
  }
  Queue queue(scratch);
  const auto push = [&](std::int32_t at) {
    if (at < 0 || symbols[static_cast<std::size_t>(at)].next < 0) return;
    const auto found = candidate(piece, vocab, scratch, at);
    if (found.id >= 0) queue.push(found);
  };
  for (std::int32_t i = 0; i < n; ++i) {
    push(i);
  }
  BpeScratch::Candidate merge;
  while (queue.pop(merge)) {
    auto& left = symbols[static_cast<std::size_t>(merge.at)];
    if (left.bytes == 0 || left.next < 0) continue;
    auto& right = symbols[static_cast<std::size_t>(left.next)];
    if (left.bytes + right.bytes != merge.bytes) continue;
    left.id = merge.id;
    left.bytes = merge.bytes;
    left.characters += right.characters;
    left.next = right.next;
    right.bytes = 0;
    if (right.next >= 0) symbols[static_cast<std::size_t>(right.next)].prev = merge.at;
    push(left.prev);
    push(merge.at);
  }
}

}  // namespace wick
