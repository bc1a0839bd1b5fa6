#include "grammar/near_form.h"

#include <algorithm>
#include <vector>

#include "grammar/limits.h"

namespace wick::grammar {

using regex::Expr;
using regex::ExprId;
using regex::ExprKind;
using regex::ExprPool;

namespace {

// Problem: r{0,300} gives 300 states, each with a mask of its own, though a token of at most n
// bytes cannot tell r{0,200} from r{0,201}. Where r holds at least one byte, n bytes begin at most
// n + 1 repetitions: a minimum above n is not reached, so any other above n does as well, and a
// maximum above n does not bind, so it may be unbounded. That is exact for what stands in
// concatenations and unions, where a state is dead only if it has no form (Expr::is_positive);
// under ∩ and ¬ counters stay as they are.
class Clamp {
 public:
  Clamp(ExprPool& pool, std::uint32_t n) : pool_(pool), n_(n) {}

  ExprId clamp(ExprId id) {
    if (id == regex::kNoExpr || ++parts_ > kMaxClampedParts) return id;
    const Expr e = pool_.at(id);
    if (e.kind == ExprKind::kRepeat && pool_.at(e.a).min_len > 0) {
      const std::uint32_t max = e.max > n_ ? regex::kUnbounded : e.max;
      return pool_.repeat(e.a, std::min(e.min, n_ + 1), max);
    }
    if (e.kind == ExprKind::kConcat) {
      // From the tail on, so that the parts stay in their order.
      const ExprId tail = clamp(e.b);
      return pool_.concat(clamp(e.a), tail);
    }
    if (e.kind == ExprKind::kUnion) {
      const auto its = pool_.children(e);
      std::vector<ExprId> parts(its.begin(), its.end());
      for (ExprId& part : parts) {
        part = clamp(part);
      }
      return pool_.unite(parts);
    }
    return id;
  }

 private:
  ExprPool& pool_;
  std::uint32_t n_;
  std::size_t parts_ = 0;
};

}  // namespace

ExprId near_form(ExprPool& pool, ExprId state, std::size_t max_bytes) {
  if (state == regex::kNoExpr || !pool.at(state).is_positive) return state;
  const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(max_bytes, regex::kMaxCount - 1));
  const ExprId near = Clamp(pool, n).clamp(state);
  return near == regex::kNoExpr ? state : near;
}

}  // namespace wick::grammar
