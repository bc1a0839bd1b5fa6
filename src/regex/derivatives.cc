// Derivatives, all bytes at once. For each expression we compute its edges: disjoint sets of bytes,
// each with what may follow (Brzozowski's derivative; Owens, Reppy, Turon, "Regular-expression
// derivatives re-examined", for the sets):
//
//   ∂(S)      = S → ε                      ∂(x·y)    = ∂(x)·y ∪ (∂(y) if x is nullable)
//   ∂(r{m,n}) = ∂(r)·r{m-1,n-1}            ∂(¬x)     = ¬∂(x), and ¬∅ for all other bytes
//   ∂(x ∪ y), ∂(x ∩ y): edge by edge over the common refinement of their sets
//
// The rule for counters holds since a nullable r has m = 0 (ExprPool::repeat sees to that). Edges
// are remembered for each expression until their table is full; the cost of a state is then that of
// joining the edges of its parts.
#include <algorithm>
#include <utility>

#include "regex/automaton.h"

namespace wick::regex {
namespace {

constexpr std::size_t kMaxKeptEdges = 128U << 10U;  // 1 MiB

}  // namespace

Automaton::Automaton(PoolLimits limits) : pool_(limits) {}

Automaton::Automaton(ExprPool pool) : pool_(std::move(pool)) {}

bool Automaton::has_edges(ExprId id) const noexcept {
  return id < edges_of_.size() && edges_of_[id].count != kNotYet;
}

std::vector<Edge> Automaton::copy_edges(ExprId id) const {
  const Range r = edges_of_[id];
  return {edges_.begin() + r.begin, edges_.begin() + r.begin + r.count};
}

void Automaton::count_bytes() noexcept {
  pool_.set_bytes_beside(edges_of_.capacity() * sizeof(Range) + edges_.capacity() * sizeof(Edge) +
                         life_.capacity() + row_of_.capacity() * sizeof(row_of_[0]) +
                         rows_.capacity() * sizeof(ExprId));
}

void Automaton::forget_edges() {
  edges_.clear();
  edges_of_.clear();
}

std::optional<std::span<const Edge>> Automaton::edges(ExprId state) {
  if (state == kNoExpr) return std::nullopt;
  if (!has_edges(state)) {
    if (edges_.size() > kMaxKeptEdges) forget_edges();
    if (!derive(state, 0)) return std::nullopt;
  }
  const Range r = edges_of_[state];
  return std::span<const Edge>(edges_.data() + r.begin, r.count);
}

bool Automaton::keep(ExprId id, std::span<const Edge> edges) {
  if (id >= edges_of_.size()) {
    const std::size_t size = pool_.size() + pool_.size() / 4;
    if (!pool_.reserve(size * sizeof(Range))) return false;
    edges_of_.resize(size, {0, kNotYet});
  }
  edges_of_[id] = {static_cast<std::uint32_t>(edges_.size()),
                   static_cast<std::uint32_t>(edges.size())};
  const bool grows = edges.size() > edges_.capacity() - edges_.size();
  if (grows && !pool_.reserve(2 * edges_.capacity() * sizeof(Edge))) return false;
  edges_.insert(edges_.end(), edges.begin(), edges.end());
  count_bytes();
  return pool_.spend(1 + edges.size());
}

bool Automaton::derive(ExprId id, int depth) {
  if (id == kNoExpr || depth > kMaxDerivativeDepth || !pool_.spend(1)) return false;
  if (has_edges(id)) return true;
  const Expr e = pool_.at(id);
  std::vector<Edge> out;
  switch (e.kind) {
    case ExprKind::kNothing:
    case ExprKind::kEmptyText:
      break;
    case ExprKind::kBytes:
      out.push_back({e.a, kEpsilon});
      break;
    case ExprKind::kRepeat: {
      if (!derive(e.a, depth + 1)) return false;
      const std::uint32_t min = e.min == 0 ? 0 : e.min - 1;
      const ExprId rest = pool_.repeat(e.a, min, e.max == kUnbounded ? kUnbounded : e.max - 1);
      out = copy_edges(e.a);
      for (Edge& edge : out) {
        edge.to = pool_.concat(edge.to, rest);
      }
      break;
    }
    case ExprKind::kComplement: {
      if (!derive(e.a, depth + 1)) return false;
      ByteSet others = ByteSet::all();
      for (const Edge& edge : copy_edges(e.a)) {
        others = others & ~pool_.sets()[edge.set];
        const ExprId to = pool_.complement(edge.to);
        if (to != kEmptySet) out.push_back({edge.set, to});
      }
      if (!others.is_empty()) out.push_back({pool_.set_id(others), kEverything});
      break;
    }
    case ExprKind::kWords: {
      const std::uint32_t first = e.is_nullable ? e.b + 1 : e.b;
      for (std::uint32_t from = first, to = first; from < e.min; from = to) {
        to = pool_.words_of(e).end_of_byte(from, e.min, e.max);
        const unsigned char byte = pool_.words_of(e).byte(from, e.max);
        out.push_back({pool_.set_id(ByteSet::range(byte, byte)),
                       pool_.words_within(e, from, to, e.max + 1)});
      }
      break;
    }
    case ExprKind::kConcat:
    case ExprKind::kUnion:
    case ExprKind::kIntersection:
      return derive_many(id, e, depth);
  }
  const bool failed = std::any_of(out.begin(), out.end(), [](const Edge& edge) {
    return edge.to == kNoExpr || edge.set == kUnbounded;
  });
  return !failed && keep(id, out);
}

bool Automaton::derive_many(ExprId id, const Expr& e, int depth) {
  std::vector<Edge> all, out;
  const auto append = [&](ExprId part) {
    if (!derive(part, depth + 1)) return false;
    const Range r = edges_of_[part];
    all.reserve(all.size() + r.count);
    for (std::uint32_t i = 0; i < r.count; ++i) {
      all.push_back(edges_[r.begin + i]);
    }
    return true;
  };
  if (e.kind == ExprKind::kConcat) {
    if (!append(e.a)) return false;
    for (Edge& edge : all) {
      edge.to = pool_.concat(edge.to, e.b);
      if (edge.to == kNoExpr) return false;
    }
    if (!pool_.is_nullable(e.a)) return keep(id, all);
    return append(e.b) && combine(ExprKind::kUnion, all, 2, out) && keep(id, out);
  }
  const auto its_children = pool_.children(e);
  const std::vector<ExprId> parts(its_children.begin(), its_children.end());
  for (const ExprId part : parts) {
    if (!append(part)) return false;
  }
  return combine(e.kind, all, parts.size(), out) && keep(id, out);
}

namespace {

// The coarsest partition of the bytes in which each of some sets is a union of classes.
class Partition {
 public:
  void split(const ByteSet& by) {
    std::array<std::uint16_t, 256> inside = {}, split_to = {};
    by.for_each([&](unsigned b) { ++inside[class_of_[b]]; });
    by.for_each([&](unsigned b) {
      const unsigned old = class_of_[b];
      if (inside[old] == size_[old]) return;
      if (split_to[old] == 0) {
        split_to[old] = static_cast<std::uint16_t>(n_);
        size_[n_++] = 0;
      }
      const unsigned into = split_to[old];
      class_of_[b] = static_cast<std::uint8_t>(into);
      ++size_[into];
    });
    for (unsigned c = 0; c < n_; ++c) {
      if (split_to[c] != 0) {
        size_[c] = static_cast<std::uint16_t>(size_[c] - inside[c]);
      }
    }
  }

  unsigned size() const noexcept { return n_; }

  unsigned class_of(unsigned byte) const noexcept { return class_of_[byte]; }

 private:
  std::array<std::uint8_t, 256> class_of_ = {};
  std::array<std::uint16_t, 257> size_ = {256};
  unsigned n_ = 1;
};

}  // namespace

// `all` holds the edges of `n_lists` expressions, each list with disjoint sets. Their union or
// intersection: for each class of the common partition, that of what the lists lead to.
bool Automaton::combine(ExprKind kind, std::span<const Edge> all, std::size_t n_lists,
                        std::vector<Edge>& out) {
  std::vector<std::uint32_t> sets;
  for (const Edge& edge : all) {
    sets.push_back(edge.set);
  }
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  if (!pool_.spend(all.size() + sets.size() * 4)) return false;
  Partition partition;
  for (const std::uint32_t s : sets) {
    partition.split(pool_.sets()[s]);
  }
  std::vector<ByteSet> members(partition.size());
  ByteSet firsts;
  for (unsigned b = 0; b < 256; ++b) {
    ByteSet& its = members[partition.class_of(b)];
    if (its.is_empty()) firsts.add(b);
    its.add(b);
  }
  std::vector<std::vector<ExprId>> targets(partition.size());
  for (const Edge& edge : all) {
    (pool_.sets()[edge.set] & firsts).for_each([&](unsigned b) {
      targets[partition.class_of(b)].push_back(edge.to);
    });
  }
  std::vector<std::pair<ExprId, unsigned>> reached;
  for (unsigned c = 0; c < partition.size(); ++c) {
    if (targets[c].empty()) continue;
    if (kind == ExprKind::kIntersection && targets[c].size() < n_lists) continue;
    const ExprId to =
        kind == ExprKind::kUnion ? pool_.unite(targets[c]) : pool_.intersect(targets[c]);
    if (to == kNoExpr) return false;
    if (to != kEmptySet) reached.emplace_back(to, c);
  }
  std::sort(reached.begin(), reached.end());
  for (std::size_t i = 0; i < reached.size();) {
    ByteSet set;
    std::size_t end = i;
    for (; end < reached.size() && reached[end].first == reached[i].first; ++end) {
      set = set | members[reached[end].second];
    }
    const std::uint32_t id = pool_.set_id(set);
    if (id == kUnbounded) return false;
    out.push_back({id, reached[i].first});
    i = end;
  }
  return true;
}

}  // namespace wick::regex
