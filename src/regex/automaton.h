// The deterministic automaton of the expressions in a pool, built as far as it is walked: a state
// is an expression (what may still follow), and the step by a byte is its derivative. Equal
// expressions are one state, so one automaton serves any number of patterns.
//
// Also the questions about languages: whether one is empty, contains another, its shortest string.
// Expressions without ∩ and ¬ answer by their form; others by a best-first search over states,
// which ends at the operation's fuel with an error ("regex_fuel"), never with a guess.
//
// An Automaton owns its pool and all tables; one thread at a time. Answers that cost a search are
// remembered.
//
//   Automaton automaton;
//   WICK_TRY(const ExprId date, parse_ecma(automaton.pool(), R"(^\d{4}-\d\d$)"));
//   ExprId state = date;
//   for (unsigned char byte : text) state = automaton.step(state, byte);
//   if (automaton.pool().is_nullable(state)) …           // text matches
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "regex/expr.h"

namespace wick::regex {

// All bytes of a set lead to one state; the sets of a state's edges are disjoint, and bytes in none
// lead to kEmptySet.
struct Edge {
  std::uint32_t set;  // index into ExprPool::sets()
  ExprId to;
};

enum class Liveness : std::uint8_t { kUnknown, kLive, kDead };

class Automaton {
 public:
  explicit Automaton(PoolLimits limits = {});

  ExprPool& pool() noexcept { return pool_; }

  const ExprPool& pool() const noexcept { return pool_; }

  // What may follow after `byte`: kEmptySet where nothing does (exactly), kNoExpr where the budget
  // is used up. Within one operation: the caller calls pool().refuel() before a run of steps.
  ExprId step(ExprId state, unsigned char byte) {
    if (state < row_of_.size() && row_of_[state] != 0) {
      const ExprId known = rows_[(row_of_[state] - 1) * n_classes_ + class_of_[byte]];
      if (known != kNoExpr) return known;
    }
    return first_step(state, byte);
  }

  // The derivatives of `state`, valid until the next call of a function of this automaton; those
  // that lead to a state without any string are among them where that is not plain. Nothing where
  // the budget is used up.
  std::optional<std::span<const Edge>> edges(ExprId state);

  // Whether any string is in `state`. kUnknown: the budget is used up.
  Liveness liveness(ExprId state);

  // Each of these is an operation of its own, with its own fuel.
  Result<bool> matches(ExprId language, std::string_view text);
  Result<bool> is_empty(ExprId language);
  Result<bool> contains(ExprId big, ExprId small);
  Result<bool> are_disjoint(ExprId a, ExprId b);
  // The length of the shortest string, in bytes; nothing where there is none.
  Result<std::optional<std::uint32_t>> min_length(ExprId language);
  // One of the shortest strings, always the same one; nothing where there is none.
  Result<std::optional<std::string>> shortest(ExprId language);
  // The bytes that every string of `state` starts with, at most `max_bytes`; `state` moves behind
  // them.
  Result<std::string> forced(ExprId& state, std::size_t max_bytes);

 private:
  struct Range {
    std::uint32_t begin, count;
  };

  static constexpr std::uint32_t kNotYet = kUnbounded;

  bool derive(ExprId id, int depth);
  bool derive_many(ExprId id, const Expr& e, int depth);
  bool combine(ExprKind kind, std::span<const Edge> all, std::size_t n_lists,
               std::vector<Edge>& out);
  bool keep(ExprId id, std::span<const Edge> edges);
  std::vector<Edge> copy_edges(ExprId id) const;
  bool has_edges(ExprId id) const noexcept;
  void forget_edges();
  ExprId first_step(ExprId state, unsigned char byte);
  ExprId derivative(ExprId id, unsigned char byte, int depth);
  ExprId derivative_by_edges(ExprId id, unsigned char byte);
  bool make_row(ExprId state);
  bool refine_classes();
  Liveness liveness(ExprId state, int depth);
  bool split(ExprId state, std::vector<ExprId>& out);
  void remember(ExprId state, Liveness life);
  void count_bytes() noexcept;

  // Best-first search for a nullable state. kLive: found, `path` holds the bytes (where wanted);
  // kDead: there is none; kUnknown: out of budget.
  Liveness search(ExprId from, std::string* path, std::uint32_t* length);

  ExprPool pool_;
  std::vector<Range> edges_of_ = {};  // by expression, as far as it is long
  std::vector<Edge> edges_ = {};
  std::vector<Liveness> life_ = {};         // by expression
  std::vector<std::uint32_t> row_of_ = {};  // by expression; 0: none yet, else 1 + index
  std::vector<ExprId> rows_ = {};           // [row, class]; kNoExpr: not known yet
  std::array<std::uint8_t, 256> class_of_ = {};
  std::size_t n_classes_ = 1;
  std::size_t n_refined_ = 0;  // sets that the classes know
};

}  // namespace wick::regex
