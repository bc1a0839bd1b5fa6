#include "grammar/schema/name_kinds.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace wick::grammar {
namespace {

using regex::ByteSet;
using regex::ExprId;
using Kind = NameKinds::Kind;

constexpr std::size_t kMaxStates = 512;  // of all automata together
constexpr std::size_t kMaxKinds = 256;

// The automata of some expressions side by side, the first of which all texts must match.
class Product {
 public:
  enum class Outcome : std::uint8_t { kFound, kTooLarge, kNoFuel };

  explicit Product(regex::Automaton& automaton) : automaton_(automaton) {}

  Outcome find(std::vector<ExprId> start) {
    add(std::move(start));
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (!visit(*states_[i])) return Outcome::kNoFuel;
      if (states_.size() > kMaxStates || kinds_.size() > kMaxKinds) return Outcome::kTooLarge;
    }
    return Outcome::kFound;
  }

  std::vector<Kind> kinds() const { return {kinds_.begin(), kinds_.end()}; }

 private:
  struct Way {
    ByteSet bytes;
    ExprId to;
  };

  void add(std::vector<ExprId> state) {
    const auto [at, is_new] = seen_.insert(std::move(state));
    if (is_new) states_.push_back(&*at);
  }

  // False: out of fuel.
  bool visit(const std::vector<ExprId>& state) {
    regex::ExprPool& pool = automaton_.pool();
    if (pool.is_nullable(state[0])) {
      Kind kind = 0;
      for (std::size_t i = 1; i < state.size(); ++i)
        kind |= Kind{pool.is_nullable(state[i]) ? 1U : 0U} << (i - 1);
      kinds_.insert(kind);
    }
    return step(state, 0, ByteSet::all(), {});
  }

  // `to`: where the automata before the i-th go by each of `bytes`.
  bool step(const std::vector<ExprId>& state, std::size_t i, const ByteSet& bytes,
            std::vector<ExprId> to) {
    if (i == state.size()) {
      add(std::move(to));
      return true;
    }
    const std::vector<Way>* const ways = ways_from(state[i]);
    if (ways == nullptr || !automaton_.pool().spend(1 + ways->size())) return false;
    to.push_back(regex::kEmptySet);
    ByteSet others = bytes;
    for (const Way& way : *ways) {
      const ByteSet both = bytes & way.bytes;
      if (both.is_empty()) continue;
      others = others & ~way.bytes;
      to.back() = way.to;
      if (!step(state, i + 1, both, to)) return false;
    }
    if (i == 0 || others.is_empty()) return true;
    to.back() = regex::kEmptySet;
    return step(state, i + 1, others, std::move(to));
  }

  // To states that are live. Null: out of fuel.
  const std::vector<Way>* ways_from(ExprId state) {
    if (const auto known = ways_.find(state); known != ways_.end()) return &known->second;
    const auto edges = automaton_.edges(state);
    if (!edges) return nullptr;
    std::vector<Way> out;
    for (const regex::Edge& edge : *edges)
      out.push_back({automaton_.pool().sets()[edge.set], edge.to});
    bool is_known = true;
    std::erase_if(out, [&](const Way& way) {
      const regex::Liveness life = automaton_.liveness(way.to);
      is_known = is_known && life != regex::Liveness::kUnknown;
      return life == regex::Liveness::kDead;
    });
    return is_known ? &(ways_[state] = std::move(out)) : nullptr;
  }

  regex::Automaton& automaton_;
  std::set<std::vector<ExprId>> seen_ = {};
  std::vector<const std::vector<ExprId>*> states_ = {};
  std::set<Kind> kinds_ = {};
  std::unordered_map<ExprId, std::vector<Way>> ways_ = {};
};

}  // namespace

const std::vector<Kind>* NameKinds::of(regex::Automaton& automaton,
                                       std::span<const ExprId> sets) {
  std::vector<ExprId> key(sets.begin(), sets.end());
  if (const auto known = known_.find(key); known != known_.end())
    return known->second ? &*known->second : nullptr;
  std::vector<ExprId> start = {automaton.pool().any_text()};
  for (const ExprId set : sets) {
    const regex::Liveness life = automaton.liveness(set);
    if (life == regex::Liveness::kUnknown) return nullptr;
    start.push_back(life == regex::Liveness::kLive ? set : regex::kEmptySet);
  }
  Product product(automaton);
  const Product::Outcome outcome = product.find(std::move(start));
  if (outcome == Product::Outcome::kNoFuel) return nullptr;
  std::optional<std::vector<Kind>> found;
  if (outcome == Product::Outcome::kFound) found = product.kinds();
  n_bytes_ += 100 + key.size() * sizeof(ExprId) + (found ? found->size() * sizeof(Kind) : 0);
  const auto& kept = known_[std::move(key)] = std::move(found);
  return kept ? &*kept : nullptr;
}

// By one set after the other, until all kinds that are left are good, or none is.
ExprId NameKinds::united(regex::ExprPool& pool, std::span<const ExprId> sets,
                         std::span<const Judged> kinds) {
  const auto is_good = [](const Judged& its) { return its.is_good; };
  if (std::none_of(kinds.begin(), kinds.end(), is_good)) return regex::kEmptySet;
  if (std::all_of(kinds.begin(), kinds.end(), is_good)) return regex::kEverything;
  std::vector<Judged> inside, outside;
  for (const Judged& its : kinds)
    (has(its.kind, 0) ? inside : outside).push_back({its.kind >> 1U, its.is_good});
  const std::span<const ExprId> others = sets.subspan(1);
  const ExprId in = united(pool, others, inside), out = united(pool, others, outside);
  if (in == out) return in;
  // s ∪ (x − s) = s ∪ x, and the same for what is outside of s.
  const ExprId set = sets[0], rest = pool.complement(set);
  if (in == regex::kEverything) return pool.unite({set, out});
  if (out == regex::kEverything) return pool.unite({rest, in});
  return pool.unite({pool.intersect({set, in}), pool.intersect({rest, out})});
}

}  // namespace wick::grammar
