// The deterministic automaton of the expressions in a pool. It is built lazily: only visited states
// exist. A state is an expression, the language of the strings that may still follow; the
// transition by a byte is the derivative. Equal expressions are one state, so one automaton serves
// any number of patterns.
//
// It also decides whether a language is empty or contains another language, and finds its shortest
// string. For expressions without ∩ and ¬ the answer follows from the syntax. For others a
// best-first search over states finds it. A search that uses up the fuel (steps) of its operation
// is the error "regex_fuel"; the answer is never a guess.
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
  explicit Automaton(ExprPool pool);

  ExprPool& pool() noexcept { return pool_; }

  const ExprPool& pool() const noexcept { return pool_; }

  // The state after `byte`: kEmptySet if and only if no string continues so; kNoExpr if the budget
  // is used up. All steps after one pool().refuel() are one operation and share its fuel.
  ExprId step(ExprId state, unsigned char byte) {
    if (state < row_of_.size() && row_of_[state] != 0) {
      const ExprId known = rows_[(row_of_[state] - 1) * n_classes_ + class_of_[byte]];
      if (known != kNoExpr) return known;
    }
    return first_step(state, byte);
  }

  // The derivatives of `state`, valid until the next call of a function of this automaton; they may
  // include edges to an empty language that the syntax does not show. Nothing if the budget is used
  // up.
  std::optional<std::span<const Edge>> edges(ExprId state);

  // Whether any string is in `state`. kUnknown: the budget is used up.
  Liveness liveness(ExprId state);

  // What another automaton found of the first expressions of an equal pool.
  void learn(std::span<const Liveness> lives) {
    life_.assign(lives.begin(), lives.end());
    count_bytes();
  }

  // Each of these is an operation of its own, with its own fuel.
  Result<bool> matches(ExprId language, std::string_view text);
  Result<bool> is_empty(ExprId language);
  Result<bool> contains(ExprId big, ExprId small);
  Result<bool> are_disjoint(ExprId a, ExprId b);
  // The length of the shortest string, in bytes; nothing where there is none.
  Result<std::optional<std::uint32_t>> min_length(ExprId language);
  // One of the shortest strings, always the same one; nothing where there is none.
  Result<std::optional<std::string>> shortest(ExprId language);
  // The `n` shortest strings, always the same ones; fewer where the language has no more.
  Result<std::vector<std::string>> shortest_strings(ExprId language, std::size_t n);
  // The bytes that every string of `state` starts with, at most `max_bytes`; `state` becomes the
  // state after them.
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
  Liveness liveness_of_sequence(ExprId state, int depth);
  bool split(ExprId state, std::vector<ExprId>& out);
  void remember(ExprId state, Liveness life);
  void count_bytes() noexcept;

  // Best-first search for a nullable state. kLive: found, `path` holds the bytes (where wanted);
  // kDead: there is none; kUnknown: out of budget.
  Liveness search(ExprId from, std::string* path, std::uint32_t* length);

  unsigned first_of_shortest(ExprId id) const;
  void append_shortest(ExprId id, std::string& out) const;

  ExprPool pool_;
  std::vector<Range> edges_of_ = {};  // by expression; may be shorter than the pool
  std::vector<Edge> edges_ = {};
  std::vector<Liveness> life_ = {};         // by expression
  std::vector<std::uint32_t> row_of_ = {};  // by expression; 0: none yet, else 1 + index
  std::vector<ExprId> rows_ = {};           // [row, class]; kNoExpr: not known yet
  std::array<std::uint8_t, 256> class_of_ = {};
  std::size_t n_classes_ = 1;
  std::size_t n_refined_ = 0;  // sets that the classes know
};

}  // namespace wick::regex
