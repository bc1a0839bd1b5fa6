// Unions, intersections, and lists of words.
//
// Derivatives give the same language again and again in slightly different forms; an automaton is
// small only if these become one id. Beyond the laws of sets (flat, sorted, no duplicates), unions
// join what differs in a byte before the same rest, and counters before the same rest whose ranges
// touch. Both make the union shorter, so normalization ends.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "regex/expr.h"

namespace wick::regex {
namespace {

constexpr std::size_t kFewParts = 16;
constexpr ByteSet kAsciiBytes = ByteSet::range(0, 0x7F);

}  // namespace

// The parts in `out`, with those of parts of the same kind in their place; ascending, each once.
// False where a part is kNoExpr.
bool ExprPool::flatten(ExprKind kind, std::span<const ExprId> parts, std::vector<ExprId>& out) {
  for (const ExprId p : parts) {
    if (p == kNoExpr) return false;
    if (exprs_[p].kind != kind) {
      out.push_back(p);
      continue;
    }
    const auto inner = children(exprs_[p]);
    out.insert(out.end(), inner.begin(), inner.end());
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return spend(3 * out.size());
}

// [ab]·t for a·t ∪ b·t. True if something was joined, also where that failed (kNoExpr).
bool ExprPool::unite_sets(std::vector<ExprId>& parts) {
  struct Head {
    ExprId tail, part;
  };

  std::vector<Head> heads;
  std::vector<ExprId> rest;
  for (const ExprId p : parts) {
    const Counted c = counted(p);
    const bool is_byte = c.min == 1 && c.max == 1 && exprs_[c.base].kind == ExprKind::kBytes;
    if (is_byte) {
      heads.push_back({c.tail, p});
    } else {
      rest.push_back(p);
    }
  }
  if (heads.size() < 2) return false;
  std::sort(heads.begin(), heads.end(), [](const Head& a, const Head& b) {
    return std::tie(a.tail, a.part) < std::tie(b.tail, b.part);
  });
  bool is_changed = false;
  for (std::size_t i = 0; i < heads.size();) {
    ByteSet set;
    std::size_t end = i;
    for (; end < heads.size() && heads[end].tail == heads[i].tail; ++end) {
      set = set | set_of(exprs_[counted(heads[end].part).base]);
    }
    rest.push_back(end == i + 1 ? heads[i].part : concat(bytes(set), heads[i].tail));
    is_changed |= end > i + 1;
    i = end;
  }
  if (is_changed) parts = std::move(rest);
  return is_changed;
}

// r{a,d}·t for r{a,b}·t ∪ r{c,d}·t where c ≤ b + 1; r{0,n} for ε ∪ r{1,n}.
bool ExprPool::join_counted(std::vector<ExprId>& parts) {
  std::vector<Counted> all;
  all.reserve(parts.size());
  bool has_repeat = false, has_epsilon = false;
  for (const ExprId p : parts) {
    has_epsilon |= p == kEpsilon;
    if (p == kEpsilon) continue;
    all.push_back(counted(p));
    has_repeat |= all.back().min != 1 || all.back().max != 1;
  }
  if (!has_repeat) return false;
  std::sort(all.begin(), all.end(), [](const Counted& a, const Counted& b) {
    return std::tie(a.tail, a.base, a.min, a.max) < std::tie(b.tail, b.base, b.min, b.max);
  });
  std::vector<Counted> joined;
  for (const Counted& c : all) {
    if (!joined.empty()) {
      Counted& last = joined.back();
      const bool touches = last.max == kUnbounded || c.min <= last.max + 1;
      if (last.base == c.base && last.tail == c.tail && touches) {
        last.max = std::max(last.max, c.max);
        continue;
      }
    }
    joined.push_back(c);
  }
  bool is_changed = joined.size() < all.size();
  if (has_epsilon) {
    const auto optional = std::find_if(joined.begin(), joined.end(), [](const Counted& c) {
      return c.tail == kEpsilon && c.min == 1 && c.max > 1;
    });
    if (optional != joined.end()) {
      optional->min = 0;
      has_epsilon = false;
      is_changed = true;
    }
  }
  if (!is_changed) return false;
  parts.clear();
  if (has_epsilon) parts.push_back(kEpsilon);
  for (const Counted& c : joined) {
    parts.push_back(from(c));
  }
  return true;
}

// Whether each part has a byte first and then a rest of its own: nothing of their union is joined.
// The words of an enum are so.
bool ExprPool::are_apart(std::span<const ExprId> parts) const noexcept {
  std::array<ExprId, kFewParts> rests;
  if (parts.size() < 2 || parts.size() > rests.size()) return false;
  auto end = rests.begin();
  for (const ExprId p : parts) {
    if (p == kNoExpr) return false;
    const Expr& e = exprs_[p];
    const bool is_bytes = e.kind == ExprKind::kBytes;
    if (!is_bytes && (e.kind != ExprKind::kConcat || exprs_[e.a].kind != ExprKind::kBytes))
      return false;
    const ExprId rest = is_bytes ? kEpsilon : e.b;
    if (std::find(rests.begin(), end, rest) != end) return false;
    *end++ = rest;
  }
  return true;
}

ExprId ExprPool::unite(std::span<const ExprId> given) {
  if (are_apart(given) && spend(3 * given.size())) {
    std::array<ExprId, kFewParts> sorted;
    const auto end = std::copy(given.begin(), given.end(), sorted.begin());
    std::sort(sorted.begin(), end);
    return add_many(ExprKind::kUnion, {sorted.begin(), end});
  }
  std::vector<ExprId> parts;
  if (!flatten(ExprKind::kUnion, given, parts)) return kNoExpr;
  for (bool is_changed = true; is_changed;) {
    const auto has = [&](ExprId id) { return std::binary_search(parts.begin(), parts.end(), id); };
    if (has(kEverything)) return kEverything;
    const bool has_all_text = has(any_text_);
    const bool has_nullable = std::any_of(parts.begin(), parts.end(), [&](ExprId p) {
      return p != kEpsilon && exprs_[p].is_nullable;
    });
    for (const ExprId p : parts) {
      if (exprs_[p].kind == ExprKind::kComplement && has(exprs_[p].a)) return kEverything;
    }
    parts.erase(std::remove_if(parts.begin(), parts.end(),
                               [&](ExprId p) {
                                 return p == kEmptySet || (p == kEpsilon && has_nullable) ||
                                        (has_all_text && p != any_text_ && exprs_[p].is_text);
                               }),
                parts.end());
    if (parts.size() < 2) break;
    is_changed = unite_sets(parts);
    if (std::find(parts.begin(), parts.end(), kNoExpr) != parts.end()) return kNoExpr;
    is_changed |= join_counted(parts);
    if (!is_changed) break;
    const std::vector<ExprId> again = std::move(parts);
    parts.clear();
    if (!flatten(ExprKind::kUnion, again, parts)) return kNoExpr;
  }
  if (parts.empty()) return kEmptySet;
  return parts.size() == 1 ? parts[0] : add_many(ExprKind::kUnion, parts);
}

// Complements become one, ¬a ∩ ¬b = ¬(a ∪ b), so that what is excluded is normalized as a union.
ExprId ExprPool::intersect(std::span<const ExprId> given) {
  std::vector<ExprId> parts;
  if (!flatten(ExprKind::kIntersection, given, parts)) return kNoExpr;
  const auto has = [&](ExprId id) { return std::binary_search(parts.begin(), parts.end(), id); };
  if (has(kEmptySet)) return kEmptySet;
  if (has(kEpsilon)) {
    const bool all =
        std::all_of(parts.begin(), parts.end(), [&](ExprId p) { return exprs_[p].is_nullable; });
    return all ? kEpsilon : kEmptySet;
  }
  std::uint32_t min_len = 0, max_len = kUnbounded;
  std::vector<ExprId> kept, excluded;
  ByteSet set = ByteSet::all();
  int n_sets = 0, n_text = 0;
  for (const ExprId p : parts) {
    const Expr& e = exprs_[p];
    min_len = std::max(min_len, e.min_len);
    max_len = std::min(max_len, e.max_len);
    n_text += e.is_text && p != any_text_;
    if (e.kind == ExprKind::kComplement) {
      if (has(e.a)) return kEmptySet;
      excluded.push_back(e.a);
    } else if (e.kind == ExprKind::kBytes) {
      set = set & set_of(e);
      ++n_sets;
    } else if (p != kEverything) {
      kept.push_back(p);
    }
  }
  if (min_len > max_len || set.is_empty()) return kEmptySet;
  if (n_text > 0) kept.erase(std::remove(kept.begin(), kept.end(), any_text_), kept.end());
  if (n_sets > 0) kept.push_back(bytes(set));
  if (!excluded.empty()) {
    const ExprId out = unite(excluded);
    if (out == kNoExpr) return kNoExpr;
    // p ∩ ¬(p ∪ q) = ∅
    const auto outs = exprs_[out].kind == ExprKind::kUnion ? children(exprs_[out])
                                                           : std::span<const ExprId>(&out, 1);
    for (const ExprId p : parts) {
      if (std::binary_search(outs.begin(), outs.end(), p)) return kEmptySet;
    }
    // Nor is any text outside of all text.
    const bool has_all_text = std::binary_search(outs.begin(), outs.end(), any_text_);
    if (has_all_text && n_text > 0) return kEmptySet;
    const ExprId rest = complement(out);
    if (rest == kEmptySet) return kEmptySet;
    if (rest != kEverything) kept.push_back(rest);
  }
  if (std::find(kept.begin(), kept.end(), kNoExpr) != kept.end()) return kNoExpr;
  if (kept.empty()) return kEverything;
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept.size() == 1 ? kept[0] : add_many(ExprKind::kIntersection, kept);
}

namespace {

constexpr int kMaxTreeDepth = 200;
constexpr std::size_t kManyWords = 256;

// The texts from `texts`, ascending and each once, without their first `skip` bytes.
ExprId tree(ExprPool& pool, std::span<const std::string_view> texts, std::size_t skip, int depth) {
  const std::string_view low = texts.front().substr(skip), high = texts.back().substr(skip);
  std::size_t shared = 0;
  while (shared < low.size() && shared < high.size() && low[shared] == high[shared]) {
    ++shared;
  }
  if (texts.size() == 1) return pool.literal(low);
  std::vector<ExprId> parts;
  const std::size_t next = skip + shared;
  std::size_t i = 0;
  if (texts[0].size() == next) {
    parts.push_back(kEpsilon);
    i = 1;
  }
  while (i < texts.size()) {
    std::size_t end = i + 1;
    while (end < texts.size() && texts[end][next] == texts[i][next] && depth < kMaxTreeDepth) {
      ++end;
    }
    parts.push_back(tree(pool, texts.subspan(i, end - i), next, depth + 1));
    i = end;
  }
  return pool.concat(pool.literal(low.substr(0, shared)), pool.unite(parts));
}

}  // namespace

ExprId ExprPool::literals(std::span<const std::string_view> texts) {
  if (texts.empty()) return kEmptySet;
  if (!spend(1 + texts.size() / 4)) return kNoExpr;
  std::vector<std::string_view> sorted(texts.begin(), texts.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  if (sorted.size() < kManyWords) return tree(*this, sorted, 0, 0);
  const auto n = static_cast<std::uint32_t>(sorted.size());
  const Expr all{.kind = ExprKind::kWords, .a = words_id(std::make_shared<WordList>(sorted))};
  return all.a == kUnbounded ? kNoExpr : words_within(all, 0, n, 0);
}

// kUnbounded: out of memory. Its bytes become sets, which tell automata which bytes differ.
std::uint32_t ExprPool::words_id(std::shared_ptr<const WordList> words) {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (words_[i] == words || *words_[i] == *words) return static_cast<std::uint32_t>(i);
  }
  if (!reserve(words->used_bytes())) return kUnbounded;
  bool is_made = true;
  words->bytes().for_each([&](unsigned byte) {
    const ByteSet its = ByteSet::range(byte, byte);
    is_made = is_made && set_id(its) != kUnbounded;
  });
  if (!is_made) return kUnbounded;
  words_bytes_ += words->used_bytes();
  words_.push_back(std::move(words));
  return static_cast<std::uint32_t>(words_.size() - 1);
}

ExprId ExprPool::words_within(const Expr& e, std::uint32_t from, std::uint32_t to,
                              std::uint32_t skip) {
  if (from == to) return kEmptySet;
  if (from + 1 == to && words_of(e).rest(from, skip).empty()) return kEpsilon;
  return add({.kind = ExprKind::kWords, .a = e.a, .b = from, .min = to, .max = skip});
}

ExprId ExprPool::words_behind(const Expr& e, unsigned char byte) {
  const WordList& words = words_of(e);
  const std::uint32_t first = e.is_nullable ? e.b + 1 : e.b;
  const std::uint32_t from = words.lower(first, e.min, e.max, byte);
  if (from == e.min || words.byte(from, e.max) != byte) return kEmptySet;
  return words_within(e, from, words.end_of_byte(from, e.min, e.max), e.max + 1);
}

std::string_view ExprPool::shortest_word(const Expr& e) const noexcept {
  const WordList& words = words_of(e);
  std::uint32_t i = e.b;
  while (words.rest(i, e.max).size() > e.min_len)
    ++i;
  return words.rest(i, e.max);
}

void ExprPool::measure_words(Expr& e) const {
  const WordList& words = words_of(e);
  e.min_len = kUnbounded;
  for (std::uint32_t i = e.b; i < e.min; ++i) {
    const auto length = static_cast<std::uint32_t>(words.rest(i, e.max).size());
    e.min_len = std::min(e.min_len, length);
    e.max_len = std::max(e.max_len, length);
  }
  e.is_nullable = e.min_len == 0;
  e.is_text = (words.bytes() & kAsciiBytes) == words.bytes();
}

}  // namespace wick::regex
