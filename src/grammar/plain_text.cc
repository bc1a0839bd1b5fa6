#include "grammar/plain_text.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "grammar/limits.h"

namespace wick::grammar {
namespace {

using regex::ByteSet;
using regex::Edge;
using regex::ExprId;

// Places within a character of UTF-8 (Unicode 15, table 3-7): how many bytes must follow, and
// whether the next is of a narrower range.
enum CharPlace : std::uint8_t {
  kBoundary,
  kOne,
  kTwo,
  kThree,
  kAfterE0,
  kAfterED,
  kAfterF0,
  kAfterF4
};

struct Way {
  ByteSet bytes;
  CharPlace to;
};

constexpr ByteSet plain_ascii() noexcept {
  ByteSet set;
  for (unsigned byte = 0; byte < 0x80; ++byte) {
    if (is_plain_byte(static_cast<unsigned char>(byte))) set.add(byte);
  }
  return set;
}

constexpr ByteSet kContinuation = ByteSet::range(0x80, 0xBF);
constexpr Way kFromBoundary[] = {{plain_ascii(), kBoundary},
                                 {ByteSet::range(0xC2, 0xDF), kOne},
                                 {ByteSet::range(0xE0, 0xE0), kAfterE0},
                                 {ByteSet::range(0xE1, 0xEC) | ByteSet::range(0xEE, 0xEF), kTwo},
                                 {ByteSet::range(0xED, 0xED), kAfterED},
                                 {ByteSet::range(0xF0, 0xF0), kAfterF0},
                                 {ByteSet::range(0xF1, 0xF3), kThree},
                                 {ByteSet::range(0xF4, 0xF4), kAfterF4}};
constexpr Way kWithin[] = {{kContinuation, kBoundary},
                           {kContinuation, kOne},
                           {kContinuation, kTwo},
                           {ByteSet::range(0xA0, 0xBF), kOne},
                           {ByteSet::range(0x80, 0x9F), kOne},
                           {ByteSet::range(0x90, 0xBF), kTwo},
                           {ByteSet::range(0x80, 0x8F), kTwo}};  // from kOne on

std::span<const Way> ways(std::uint32_t place) noexcept {
  return place == kBoundary ? std::span(kFromBoundary) : std::span(kWithin).subspan(place - 1, 1);
}

// The place behind `bytes`; nothing if they are not plain.
std::optional<CharPlace> place_behind(std::string_view bytes) noexcept {
  CharPlace place = kBoundary;
  for (const char c : bytes) {
    const auto all = ways(place);
    const auto way = std::find_if(all.begin(), all.end(), [&](const Way& w) {
      return w.bytes.has(static_cast<unsigned char>(c));
    });
    if (way == all.end()) return std::nullopt;
    place = way->to;
  }
  return place;
}

// All strings but finitely many.
bool is_exclusion(const regex::ExprPool& pool, ExprId id) noexcept {
  const regex::Expr& e = pool.at(id);
  return e.kind == regex::ExprKind::kComplement && pool.at(e.a).max_len != regex::kUnbounded;
}

}  // namespace

bool is_plain_text(std::string_view bytes) noexcept {
  return place_behind(bytes).has_value();
}

bool is_whole_plain_text(std::string_view bytes) noexcept {
  return place_behind(bytes) == kBoundary;
}

int PlainReach::of(regex::Automaton& automaton, ExprId state) {
  if (known_.size() > kMaxPlainStates) known_.clear();
  int reach = 0;
  for (int n = 8; n <= kFarthest && is_alive_after(automaton, state, kBoundary, n); n *= 2)
    reach = n;
  return reach;
}

bool PlainReach::is_alive_after(regex::Automaton& automaton, ExprId state, std::uint32_t place,
                                int n_bytes) {
  if (state == regex::kEmptySet || state == regex::kNoExpr) return false;
  if (automaton.liveness(state) != regex::Liveness::kLive) return false;
  if (n_bytes == 0) return true;
  const std::uint64_t key = (std::uint64_t{state} << 8U) | place;
  if (const Known known = known_[key]; known.alive >= n_bytes || known.dead <= n_bytes)
    return known.alive >= n_bytes;
  const auto found = automaton.edges(state);
  if (!found || !automaton.pool().spend(1 + found->size())) return false;
  const std::vector<Edge> edges(found->begin(),
                                found->end());  // edges() of another state moves them
  const bool is_alive = [&] {
    for (const Way& way : ways(place)) {
      ByteSet missing = way.bytes;
      for (const Edge& edge : edges) {
        const ByteSet set = automaton.pool().sets()[edge.set];
        if ((set & way.bytes).is_empty()) continue;
        if (!is_alive_after(automaton, edge.to, way.to, n_bytes - 1)) return false;
        missing = missing & ~set;
      }
      if (!missing.is_empty()) return false;
    }
    return true;
  }();
  Known& known = known_[key];
  if (is_alive) {
    known.alive = std::max(known.alive, n_bytes);
  } else {
    known.dead = std::min(known.dead, n_bytes);
  }
  return is_alive;
}

ExprId Exclusions::without(regex::Automaton& automaton, ExprId state) {
  regex::ExprPool& pool = automaton.pool();
  const regex::Expr its = pool.at(state);
  if (its.kind != regex::ExprKind::kIntersection) return state;
  const auto children = pool.children(its);
  std::vector<ExprId> kept;
  std::copy_if(children.begin(), children.end(), std::back_inserter(kept),
               [&](ExprId child) { return !is_exclusion(pool, child); });
  if (kept.size() == children.size()) return state;
  const ExprId out = pool.intersect(kept);
  return out != regex::kNoExpr && goes_on(automaton, out) ? out : state;
}

ExprId Exclusions::added(regex::Automaton& automaton, ExprId state, ExprId without) {
  regex::ExprPool& pool = automaton.pool();
  if (state == without) return regex::kEmptySet;
  std::vector<ExprId> out;
  for (const ExprId child : pool.children(pool.at(state))) {
    if (is_exclusion(pool, child)) out.push_back(pool.at(child).a);
  }
  return pool.unite(out);
}

// Then the language of each live state is infinite, for there are finitely many, and it is not
// empty without some strings either.
bool Exclusions::goes_on(regex::Automaton& automaton, ExprId state) {
  constexpr std::size_t kMaxStates = 500;
  if (automaton.pool().at(state).max_len != regex::kUnbounded) return false;
  if (goes_on_.size() > kMaxPlainStates) goes_on_.clear();
  if (const auto known = goes_on_.find(state); known != goes_on_.end()) return known->second;
  std::vector<ExprId> states = {state};
  std::unordered_set<ExprId> seen = {state};
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (const auto known = goes_on_.find(states[i]); known != goes_on_.end() && known->second)
      continue;
    const auto edges = automaton.edges(states[i]);
    if (!edges || states.size() > kMaxStates || !automaton.pool().spend(1 + edges->size()))
      return goes_on_[state] = false;
    std::vector<ExprId> next;
    for (const Edge& edge : *edges)
      next.push_back(edge.to);
    bool has_next = false;
    for (const ExprId to : next) {
      const regex::Liveness life = automaton.liveness(to);
      if (life == regex::Liveness::kUnknown) return goes_on_[state] = false;
      if (life == regex::Liveness::kDead) continue;
      has_next = true;
      if (seen.insert(to).second) states.push_back(to);
    }
    if (!has_next) return goes_on_[state] = false;
  }
  for (const ExprId its : states)
    goes_on_[its] = true;
  return true;
}

}  // namespace wick::grammar
