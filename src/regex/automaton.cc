// Walking: rows of the transition table, and the operations on whole strings.
#include "regex/automaton.h"

#include <algorithm>

namespace wick::regex {
namespace {

constexpr std::size_t kMaxRowCells = 1U << 19U;  // 2 MiB of rows; then they are made anew

constexpr std::size_t kManyParts = 16;

}  // namespace

// The classes of bytes that no set tells apart. True if they changed: all rows are then void.
bool Automaton::refine_classes() {
  const auto sets = pool_.sets();
  if (n_refined_ == sets.size()) return false;
  const std::size_t before = n_classes_;
  for (; n_refined_ < sets.size() && n_classes_ < 256; ++n_refined_) {
    std::array<std::int16_t, 512> renamed;
    renamed.fill(-1);
    std::size_t n = 0;
    for (unsigned b = 0; b < 256; ++b) {
      const std::size_t key = class_of_[b] * 2U + (sets[n_refined_].has(b) ? 1U : 0U);
      if (renamed[key] < 0) renamed[key] = static_cast<std::int16_t>(n++);
      class_of_[b] = static_cast<std::uint8_t>(renamed[key]);
    }
    n_classes_ = n;
  }
  n_refined_ = sets.size();
  if (n_classes_ == before) return false;
  rows_.clear();
  row_of_.clear();
  return true;
}

// The derivative by one byte. A step needs only this one, and a counter before a large class would
// otherwise make an expression for each edge of the class, at each count.
ExprId Automaton::derivative(ExprId id, unsigned char byte, int depth) {
  if (id == kNoExpr || depth > kMaxDerivativeDepth || !pool_.spend(1)) return kNoExpr;
  const Expr e = pool_.at(id);
  switch (e.kind) {
    case ExprKind::kNothing:
    case ExprKind::kEmptyText:
      return kEmptySet;
    case ExprKind::kBytes:
      return pool_.sets()[e.a].has(byte) ? kEpsilon : kEmptySet;
    case ExprKind::kConcat: {
      const ExprId first = pool_.concat(derivative(e.a, byte, depth + 1), e.b);
      if (!pool_.is_nullable(e.a)) return first;
      return pool_.unite({first, derivative(e.b, byte, depth + 1)});
    }
    case ExprKind::kRepeat: {
      const ExprId first = derivative(e.a, byte, depth + 1);
      if (first == kEmptySet) return kEmptySet;
      const std::uint32_t min = e.min == 0 ? 0 : e.min - 1;
      const std::uint32_t max = e.max == kUnbounded ? kUnbounded : e.max - 1;
      return pool_.concat(first, pool_.repeat(e.a, min, max));
    }
    case ExprKind::kComplement:
      return pool_.complement(derivative(e.a, byte, depth + 1));
    case ExprKind::kWords:
      return pool_.words_behind(e, byte);
    case ExprKind::kUnion:
    case ExprKind::kIntersection:
      break;
  }
  if (e.b > kManyParts) return derivative_by_edges(id, byte);
  const bool is_union = e.kind == ExprKind::kUnion;
  std::array<ExprId, kManyParts> parts = {};
  std::size_t n = 0;
  for (std::uint32_t i = 0; i < e.b; ++i) {
    const ExprId part = derivative(pool_.children(e)[i], byte, depth + 1);
    if (part == kEmptySet && is_union) continue;
    parts[n++] = part;
    if (part == kEmptySet || part == kNoExpr) return part;
  }
  const std::span<const ExprId> all(parts.data(), n);
  return is_union ? pool_.unite(all) : pool_.intersect(all);
}

// Unions of thousands of literals: all bytes at once cost what one would.
ExprId Automaton::derivative_by_edges(ExprId id, unsigned char byte) {
  const auto its = edges(id);
  if (!its) return kNoExpr;
  for (const Edge& edge : *its) {
    if (pool_.sets()[edge.set].has(byte)) return edge.to;
  }
  return kEmptySet;
}

// A row for `state` whose cells are not known yet; false: out of memory.
bool Automaton::make_row(ExprId state) {
  if (rows_.size() + n_classes_ > kMaxRowCells) {
    rows_.clear();
    row_of_.clear();
  }
  if (state >= row_of_.size()) {
    const std::size_t size = std::max<std::size_t>(pool_.size() + pool_.size() / 4, state + 1);
    if (!pool_.reserve(size * sizeof(ExprId))) return false;
    row_of_.resize(size);
  }
  const bool grows = n_classes_ > rows_.capacity() - rows_.size();
  if (grows && !pool_.reserve(2 * rows_.capacity() * sizeof(ExprId))) return false;
  rows_.resize(rows_.size() + n_classes_, kNoExpr);
  row_of_[state] = static_cast<std::uint32_t>(rows_.size() / n_classes_);
  count_bytes();
  return true;
}

ExprId Automaton::first_step(ExprId state, unsigned char byte) {
  if (state == kNoExpr) return kNoExpr;
  ExprId to = derivative(state, byte, 0);
  const Liveness life = liveness(to);
  if (life == Liveness::kUnknown) return kNoExpr;
  if (life == Liveness::kDead) to = kEmptySet;
  refine_classes();
  const bool has_row = state < row_of_.size() && row_of_[state] != 0;
  if (!has_row && !make_row(state)) return kNoExpr;
  return rows_[(row_of_[state] - 1) * n_classes_ + class_of_[byte]] = to;
}

Result<bool> Automaton::matches(ExprId language, std::string_view text) {
  pool_.refuel(pool_.full_fuel() + kFuelForByte * text.size());
  for (const char c : text) {
    language = step(language, static_cast<unsigned char>(c));
    if (language == kNoExpr) return pool_.failure();
    if (language == kEmptySet) return false;
  }
  if (language == kNoExpr) return pool_.failure();
  return pool_.is_nullable(language);
}

Result<bool> Automaton::is_empty(ExprId language) {
  pool_.refuel();
  const Liveness life = liveness(language);
  if (life == Liveness::kUnknown) return pool_.failure();
  return life == Liveness::kDead;
}

Result<bool> Automaton::contains(ExprId big, ExprId small) {
  pool_.refuel();
  const ExprId rest = pool_.minus(small, big);
  if (rest == kNoExpr) return pool_.failure();
  return is_empty(rest);
}

Result<bool> Automaton::are_disjoint(ExprId a, ExprId b) {
  pool_.refuel();
  const ExprId both = pool_.intersect({a, b});
  if (both == kNoExpr) return pool_.failure();
  return is_empty(both);
}

Result<std::string> Automaton::forced(ExprId& state, std::size_t max_bytes) {
  pool_.refuel();
  std::string out;
  while (out.size() < max_bytes && !pool_.is_nullable(state)) {
    const auto its = edges(state);
    if (!its) return pool_.failure();
    ByteSet next;
    for (const Edge& edge : std::vector<Edge>(its->begin(), its->end())) {
      const Liveness life = liveness(edge.to);
      if (life == Liveness::kUnknown) return pool_.failure();
      if (life == Liveness::kLive) next = next | pool_.sets()[edge.set];
    }
    if (next.count() != 1) break;
    const auto byte = static_cast<unsigned char>(next.first());
    state = step(state, byte);
    if (state == kNoExpr) return pool_.failure();
    out.push_back(static_cast<char>(byte));
  }
  return out;
}

}  // namespace wick::regex
