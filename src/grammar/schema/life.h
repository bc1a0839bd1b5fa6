// Satisfiability: whether any value fulfills a formula. Exact masks need it, because a text that no
// value can complete must be dead at once, not at the value's end.
//
// A formula is taken apart into branches (∨ over ∧ of leaves). A branch of an object is live if
// each required member can come: one with a free name and a live value that also fulfills the other
// leaves. Arrays: the same for items. Fulfilling one demand after another is complete, because the
// order of members is free, and so is that of items behind the last position that a schema names.
// The work is bounded by fuel; kUnknown says that it was used up.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammar/flat_map.h"
#include "grammar/schema/formula.h"
#include "grammar/schema/interned.h"
#include "grammar/schema/name_kinds.h"

namespace wick::grammar {

using Life = regex::Liveness;

// The names that the next members of an object may have: names that have not come yet; with a
// declared order, no declared name at or before `last`. The order is that of `within` where this is
// set: a branch of a oneOf may declare a name later than another branch, and documents are bound by
// the first place as long as both are open.
struct FreeNames {
  CellId came = 0;
  std::uint32_t last = 0;
  FormulaId within = kNoFormula;

  friend bool operator==(const FreeNames&, const FreeNames&) = default;
};

class LifeSearch {
 public:
  LifeSearch(FormulaPool& pool, Cells& cells, bool has_order)
      : pool_(pool), cells_(cells), has_order_(has_order) {
    demanded_lists_.of({});
  }

  // Sets the fuel of an operation, in steps of regexes and formulas.
  void refuel(std::uint64_t steps) noexcept { fuel_ = steps / kStepsForOne; }

  Life of_value(FormulaId of);
  std::size_t used_bytes() const noexcept;  // about

  // Formulas of of_type(), with kChild for the value in progress.
  Life of_object(FormulaId of, FreeNames names);
  Life of_array(FormulaId of);

  // The condition on the value in progress under which `of` is live: kChild leaves under ∧ and ∨.
  // kNoFormula if the fuel is used up.
  FormulaId condition(FormulaId of, bool is_array, FreeNames names);

  // The names that a next member may have.
  regex::ExprId next_names(FormulaId of, FreeNames names);

  // The single names that formulas of an object speak of, and the sets by which they tell other
  // names apart.
  void names_told_apart(std::span<const FormulaId> formulas, std::vector<TextId>& single,
                        std::vector<NameId>& sets);

  // `names` behind a member `name` of the object `of`.
  FreeNames behind(FormulaId of, FreeNames names, TextId name);

  bool has_room(FormulaId of);

  bool has_many_choices(FormulaId of) const noexcept {
    return pool_.at(of).kind == FormulaKind::kOr && pool_.at(of).n >= kManyChoices;
  }

  // Makes what objects of hundreds of kinds need at once, their formulas and the names that they
  // may begin with: in the first mask within one this would take most of the time.
  void prepare_choices();

  // All numbers of a formula over numbers, as they are spelled; kNoExpr where one has no such form.
  regex::ExprId numbers(FormulaId of);

 private:
  friend class ShortestSearch;  // walks the same choices
  using Leaves = std::vector<FormulaId>;

  // Numbers by the formula of an object's rest and its names.
  class RestMap {
   public:
    std::uint32_t find(FormulaId of, FreeNames names) const;  // kNone
    void add(FormulaId of, FreeNames names, std::uint32_t value);

    std::size_t used_bytes() const noexcept {
      return entries_.size() * (sizeof(Entry) + kHashEntryBytes);
    }

   private:
    struct Entry {
      FormulaId of;
      FreeNames names;
      std::uint32_t value;
    };

    FlatHashMap ids_ = {};
    std::deque<Entry> entries_ = {};
  };

  // What the leaves ask of a member of one name.
  struct Asked {
    TextId name = 0;
    NameId set = 0;           // this name alone
    std::uint32_t order = 0;  // 0: not declared
    bool is_wanted = false;
    FormulaId value = kAlways;
  };

  class WantedOrder;     // life_names.cc
  class NamesOfChoices;  // life_choices.cc

  static constexpr std::uint64_t kStepsForOne = 20;
  static constexpr std::size_t kNamesForOne = 16;
  static constexpr std::uint32_t kManyChoices = 128;
  static constexpr std::uint64_t kStepsForText = 100;
  static constexpr int kMaxDepth = 200;

  // The ∨ that branches() takes apart; others stay leaves.
  enum class Choices : std::uint8_t { kAll, kAsking /* about the value in progress */ };

  using Branch = std::function<Life(const Leaves&)>;

  // Calls `is_found` for the branches of `of` until it says kLive.
  Life branches(FormulaId of, const Branch& is_found, Choices which = Choices::kAll);
  // The same, but not for branches that share leaves which are dead by `life_of`.
  Life live_branches(FormulaId of, const Branch& is_found, const Branch& life_of,
                     Choices which = Choices::kAll);
  Life expand(Leaves todo, Leaves leaves, Leaves choices, Choices which, const Branch& is_found,
              const Branch& life_of);
  bool is_met(FormulaId choice, const Leaves& leaves) const;
  bool split(FormulaId of, FormulaId& yes, FormulaId& no);
  FormulaId taken(FormulaId demand, TextId name);
  // The leaf that asks for a member or item; leaves.size() where none does.
  std::size_t demand_of(const Leaves& leaves) const;
  std::size_t demand_of_array(const Leaves& leaves, bool& is_alike, bool& has_most) const;
  // `leaves` behind an item that takes the demand at `at`, alike for all positions; of a kItemSome,
  // `n_left` more are wanted then.
  FormulaId behind_demand(const Leaves& leaves, std::size_t at, std::uint32_t n_left);
  Life object_branch(const Leaves& leaves, FreeNames names);
  std::optional<Life> demands_alone(const Leaves& leaves, FreeNames names);
  FormulaId value_of(const Leaves& leaves, TextId name, Leaves values);
  bool has_other(const Leaves& leaves, FormulaId leaf, FreeNames names, bool has_many);
  bool is_large(regex::ExprId language, std::string_view text);
  Life array_branch(const Leaves& leaves);

  // Distinct and equal items (life_unique.cc).
  enum class Plenty : std::uint8_t { kFew, kPlenty, kUnknown };
  std::size_t unique_of(const Leaves& leaves, bool is_negative) const;
  std::size_t n_demanded(const Leaves& leaves) const;
  std::size_t n_alike(const Leaves& leaves) const;

  // Texts of a language as values, the shortest first.
  struct Texts {
    Leaves found = {};
    bool is_all = false, is_plenty = false;
  };

  bool find_texts(regex::ExprId language, bool is_number, std::size_t n, Texts& its);
  Plenty texts(regex::ExprId language, bool is_number, std::size_t n, Leaves& out);
  regex::ExprId spelled_once(regex::ExprId numbers);
  Plenty values(FormulaId of, std::size_t n, Leaves& out);
  Plenty nested_values(FormulaId typed, bool is_array, std::size_t n);
  Leaves without_value(const Leaves& leaves, FormulaId value);
  Life distinct_values(FormulaId next, std::size_t n, Leaves& chosen);
  Life distinct_branch(const Leaves& leaves, Leaves& chosen);
  Life equal_branch(const Leaves& leaves, Leaves* seconds);
  FormulaId item_before(const Leaves& others);
  FormulaId without_dead_branches(FormulaId of, bool is_array, FreeNames names);

  FormulaId children_of(const Leaves& leaves, Leaves& others);
  FreeNames ordered(FormulaId of, FreeNames names);
  FreeNames with_order(FormulaId of, FreeNames names) const;
  std::optional<ListId> demanded_names(FormulaId of);
  std::optional<ListId> new_demanded_names(FormulaId of);
  std::uint32_t order_within(FormulaId of, TextId name);
  bool is_free(FormulaId of, FreeNames names, TextId name);
  bool is_free(FreeNames names, TextId name, std::uint32_t order);
  FormulaId new_condition(FormulaId of, bool is_array, FreeNames names);
  // The classes of names in `within` that the leaves of `of` distinguish. False: too many.
  bool kinds(FormulaId of, NameId within, FreeNames names, std::vector<regex::ExprId>& out);
  bool other_kinds(std::span<const NameId> sets, const std::vector<TextId>& known, NameId within,
                   std::vector<regex::ExprId>& out);
  bool is_all_but(NameId set, const std::vector<TextId>& known) const;
  Leaves parts_of(FormulaId of) const;
  bool forbids_others(const Leaves& leaves, const std::vector<TextId>& known) const;
  void leaf_names(FormulaId of, std::vector<NameId>& out);
  regex::ExprId number_rule(const Formula& f);
  regex::ExprId new_next_names(FormulaId of, FreeNames names);
  std::optional<regex::ExprId> simple_next_names(FormulaId of, FreeNames names);
  std::vector<TextId> prepare_values(FormulaId of);
  // Of an ∨ of many; nothing where it is none (life_choices.cc).
  std::optional<regex::ExprId> choice_next_names(FormulaId of, FreeNames names);
  std::optional<regex::ExprId> with_other_names(FreeNames names, std::span<const Asked> asked,
                                                const Leaves& others,
                                                std::vector<regex::ExprId>& good);
  const std::vector<NameKinds::Kind>* kinds_of(std::span<const NameId> sets);
  std::vector<regex::ExprId> exprs_of(std::span<const NameId> sets);
  regex::ExprId names_of_kinds(std::span<const NameKinds::Kind> kinds,
                               std::span<const NameId> sets, const std::vector<TextId>& known,
                               const Leaves& leaves);
  std::vector<Asked> asked_of(const Leaves& leaves, Leaves& others);

  bool spend(std::uint64_t n = 1) noexcept {
    fuel_ -= std::min(fuel_, n);
    return fuel_ != 0;
  }

  FormulaPool& pool_;
  Cells& cells_;
  bool has_order_;
  std::uint64_t fuel_ = 0;
  int depth_ = 0, n_choices_ = 0;
  int open_from_ = 1 << 30;  // the outermost open value that a result depends on
  FlatHashMap values_ = {};  // of of_value()

  struct Open {
    FormulaId of;
    int depth;
  };

  std::vector<Open> open_ = {};  // at most kMaxDepth
  RestMap objects_ = {}, next_names_ = {}, conditions_ = {};
  std::unordered_map<std::uint64_t, std::uint32_t> orders_ = {};  // of order_within()
  FlatHashMap demanded_ = {};                                     // of demanded_names(), by formula
  Lists demanded_lists_ = {};                                     // the first is empty
  NameKinds name_kinds_ = {};
  std::unordered_map<FormulaId, regex::ExprId> numbers_ = {};
  std::unordered_map<FormulaId, bool> rooms_ = {};
  std::unordered_map<regex::ExprId, bool> large_ = {};
  std::unordered_map<regex::ExprId, Texts> string_texts_ = {}, number_texts_ = {};
};

}  // namespace wick::grammar
