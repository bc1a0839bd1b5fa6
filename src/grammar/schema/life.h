// Whether any value fits a formula: what a mask needs to be exact, for a branch that nothing can
// fulfill is dead at once, not at the value's end.
//
// A formula is taken apart into branches (∨ over ∧ of leaves). An object's branch lives if each
// thing that must come can: a member of a free name whose value lives, with all that others ask of
// it; an array's the same with items. Fulfilling one demand after another is complete, because the
// order of members is free, and so is that of items behind the last position that a schema names.
// The work is bounded by fuel; kUnknown says that it was used up.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "grammar/schema/formula.h"
#include "grammar/schema/interned.h"

namespace wick::grammar {

using Life = regex::Liveness;

// The names that an object still may have: not those that came; with an order, of the declared ones
// only those behind `last`.
struct FreeNames {
  CellId came = 0;
  std::uint32_t last = 0;
};

class LifeSearch {
 public:
  LifeSearch(FormulaPool& pool, Cells& cells, bool has_order)
      : pool_(pool), cells_(cells), has_order_(has_order) {}

  // Of an operation that has so many steps of regexes and formulas.
  void refuel(std::uint64_t steps) noexcept { fuel_ = steps / kStepsForOne; }

  Life of_value(FormulaId of);
  // Formulas of of_type(), with kChild for the value in progress.
  Life of_object(FormulaId of, FreeNames names);
  Life of_array(FormulaId of);

  // What the value in progress must be for `of` to live: kChild under ∧ and ∨. kNoFormula
  // where the fuel is used up.
  FormulaId condition(FormulaId of, bool is_array, FreeNames names);

  // The names that a next member may have.
  regex::ExprId next_names(FormulaId of, FreeNames names);

  // `names` behind a member `name` of the object `of`.
  FreeNames behind(FormulaId of, FreeNames names, TextId name);

  // All numbers of a formula over numbers, as they are spelled; kNoExpr where one has no such form.
  regex::ExprId numbers(FormulaId of);

 private:
  using Leaves = std::vector<FormulaId>;
  static constexpr std::uint64_t kStepsForOne = 20;
  static constexpr std::size_t kNamesForOne = 16;
  static constexpr int kMaxDepth = 200;

  // Calls `is_found` for the branches of `of` until it says kLive.
  Life branches(FormulaId of, const std::function<Life(const Leaves&)>& is_found);
  Life expand(Leaves todo, Leaves leaves, const std::function<Life(const Leaves&)>& is_found);
  bool split(FormulaId of, FormulaId& yes, FormulaId& no);
  FormulaId taken(FormulaId demand, TextId name);
  Life object_branch(const Leaves& leaves, FreeNames names);
  Life array_branch(const Leaves& leaves);
  FormulaId children_of(const Leaves& leaves, Leaves& others);
  bool is_free(FormulaId of, FreeNames names, TextId name);
  // One name of each kind that the leaves of `of` tell apart, within `within`; false: too many.
  bool kinds(FormulaId of, NameId within, FreeNames names, std::vector<regex::ExprId>& out);
  void leaf_names(FormulaId of, std::vector<NameId>& out);
  regex::ExprId number_rule(const Formula& f);

  bool spend(std::uint64_t n = 1) noexcept {
    fuel_ -= std::min(fuel_, n);
    return fuel_ != 0;
  }

  FormulaPool& pool_;
  Cells& cells_;
  bool has_order_;
  std::uint64_t fuel_ = 0;
  int depth_ = 0, n_choices_ = 0;
  int open_from_ = 1 << 30;  // the outermost value in progress that an answer leaned on
  std::unordered_map<FormulaId, Life> values_ = {};
  std::unordered_map<FormulaId, int> open_ = {};
  std::map<std::tuple<FormulaId, CellId, std::uint32_t>, Life> objects_ = {};
  std::unordered_map<FormulaId, regex::ExprId> numbers_ = {};
};

}  // namespace wick::grammar
