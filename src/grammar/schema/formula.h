// Requirements on a JSON value, as hash-consed boolean formulas over simple conditions (leaves).
// Equal formulas have equal ids; constructors simplify. Negation is pushed to the leaves, so a
// formula is monotone in its leaves, and every leaf has a dual.
//
// A formula is about one value, or about the rest of a value: an object after some of its members,
// an array after some of its items (formula_steps.cc computes this). While the value of a member or
// item is read, the requirements on it are kChild leaves in the formula of its object or array.
//
// A FormulaPool owns its formulas and the expressions they use. One thread at a time. Memory and
// depth are bounded, and so is the work between two calls of refuel(). Beyond a bound constructors
// return kNoFormula, has_failed() is true, and failure() has the error. A failure is never cached
// as a result: after refuel() the same call may succeed.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "grammar/flat_map.h"
#include "grammar/limits.h"
#include "grammar/schema/decimal.h"
#include "grammar/schema/interned.h"
#include "regex/automaton.h"

namespace wick::grammar {

using FormulaId = std::uint32_t;
using NameId = std::uint32_t;  // a set of property names
using TextId = std::uint32_t;  // a string

inline constexpr FormulaId kNever = 0, kAlways = 1;
inline constexpr FormulaId kNoFormula = ~FormulaId{0};
inline constexpr NameId kAnyName = 0;
inline constexpr std::uint32_t kNoEnd = ~std::uint32_t{0};  // of a range of items

// Types of JSON values, true and false apart, as bits.
enum ValueType : std::uint8_t {
  kNullType = 1,
  kFalseType = 2,
  kTrueType = 4,
  kNumberType = 8,
  kStringType = 16,
  kArrayType = 32,
  kObjectType = 64,
  kAllTypes = 127,
};
inline constexpr ValueType kValueTypes[] = {kNullType,   kFalseType, kTrueType,  kNumberType,
                                            kStringType, kArrayType, kObjectType};

enum class FormulaKind : std::uint8_t {
  kNothing,
  kAnything,
  kAnd,       // children
  kOr,        // children
  kTypes,     // a: bits of ValueType
  kString,    // a string in the expression a
  kNumber,    // a number that keeps rule a, or not where is_negative
  kNameAll,   // an object: each member whose name is in a has a value of formula b; c: the order
  kNameSome,  // …: at least c members whose name is in a have a value of formula b
  kNameMost,  // …: at most c
  kItemAll,   // an array: each item from index a to before b is of formula c
  kItemSome,  // …: at least d of them are
  kItemMost,  // …: at most d
  // An array whose items differ from each other and are of formula c; where is_negative one item is
  // equal to another, or is not of formula c.
  kUnique,
  // An object: each member fulfills the first child, or is evaluated. The other children are pairs:
  // a set of names, and the formula of this object under which they are evaluated. is_negative:
  // some member does not.
  kRestNames,
  // An array: the same for items. The other children are groups of four: from, to, a formula of the
  // item, a formula of this array.
  kRestItems,
  kSchema,  // schema a (see `expand`), not where is_negative
  kChild,   // the value that is being read is of formula a
};

struct Formula {
  // Kinds of leaves in the formula; leaves of members' and items' formulas do not count.
  enum Part : std::uint8_t {
    kChildPart = 1,
    kUniquePart = 2,
    kRestPart = 4,
    kItemPart = 8,
    kSchemaPart = 16,
    kNamePart = 32,  // kNameSome
  };

  FormulaKind kind = FormulaKind::kNothing;
  bool is_negative = false;
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  std::uint32_t first = 0, n = 0;  // children
  // Derived from the fields above by FormulaPool::add().
  bool may_end = false;             // an object or array that is asked for it may end here
  std::uint8_t parts = 0;           // bits of Part
  std::uint8_t typed = 0;           // the types for which of_type() is the formula itself
  std::uint8_t types = 0;           // all but these are kNever in of_type()
  std::uint16_t depth = 0;          // of formulas within formulas
  FormulaId opposite = kNoFormula;  // once negate() was asked
  std::uint64_t names = 0;          // name_bit() of each name that it may speak of
};

// The type that a leaf constrains; kAllTypes for other kinds.
ValueType type_of_leaf(FormulaKind kind) noexcept;

constexpr std::uint64_t name_bit(TextId name) noexcept {
  return std::uint64_t{1} << ((name * 0x9E3779B1U) >> 26U);
}

// About a number's value.
struct NumberRule {
  enum class Kind : std::uint8_t { kInteger, kAtLeast, kAbove, kMultiple, kOneOf } kind = {};
  bool may_end_in_zeros = true;         // kInteger: 1.0 is one
  std::vector<Decimal> values = {};     // ascending
  std::vector<std::string> texts = {};  // their spellings
  Divisor divisor = {};
};

struct NameSet {
  enum class Kind : std::uint8_t { kOne, kAllBut, kExpr };

  Kind kind = Kind::kExpr;
  TextId text = 0;                          // kOne
  std::vector<TextId> but = {};             // kAllBut: ascending
  regex::ExprId expr = regex::kEverything;  // others: kNoExpr until name_expr() was asked

  bool is_one() const noexcept { return kind == Kind::kOne; }
};

class FormulaPool {
 public:
  // It begins with the expressions of `exprs`, if that is not null.
  explicit FormulaPool(std::shared_ptr<const regex::ExprPool> exprs = nullptr);

  FormulaId types(unsigned bits);
  FormulaId string_in(regex::ExprId language);
  FormulaId number(std::uint32_t rule, bool is_negative);
  FormulaId all_named(NameId names, FormulaId of, std::uint32_t order);
  FormulaId some_named(NameId names, FormulaId of, std::uint32_t at_least);
  FormulaId most_named(NameId names, FormulaId of, std::uint32_t at_most);
  FormulaId all_items(std::uint32_t from, std::uint32_t to, FormulaId of);
  FormulaId some_items(std::uint32_t from, std::uint32_t to, FormulaId of, std::uint32_t at_least);
  FormulaId most_items(std::uint32_t from, std::uint32_t to, FormulaId of, std::uint32_t at_most);
  FormulaId unique(bool is_negative, FormulaId of = kAlways);
  // kRestNames or kRestItems.
  FormulaId rest(FormulaKind kind, bool is_negative, std::span<const std::uint32_t> children);
  FormulaId schema(std::uint32_t id, bool is_negative);
  FormulaId child(FormulaId of);

  FormulaId all_of(std::span<const FormulaId> parts) { return many(FormulaKind::kAnd, parts); }

  FormulaId any_of(std::span<const FormulaId> parts) { return many(FormulaKind::kOr, parts); }

  FormulaId both(FormulaId a, FormulaId b);
  FormulaId either(FormulaId a, FormulaId b);
  FormulaId negate(FormulaId of);

  // Requires `of` of values whose type is in `bits`, nothing of others.
  FormulaId if_type(unsigned bits, FormulaId of) { return either(types(kAllTypes & ~bits), of); }

  std::uint32_t add_rule(NumberRule rule);

  // Exactly this value. `text` is how JSON spells the number.
  FormulaId one_number(std::string_view text);
  FormulaId one_object(std::span<const TextId> names, std::span<const FormulaId> values);
  FormulaId one_array(std::span<const FormulaId> values);

  std::uint32_t integer_rule(bool may_end_in_zeros) const noexcept { return may_end_in_zeros; }

  NameId one_name(TextId text);
  NameId names_in(regex::ExprId language);
  NameId all_names_but(std::vector<TextId> names);
  // A set of names that set_names() defines later, before its first use.
  NameId new_names();

  void set_names(NameId id, regex::ExprId language) { name_sets_[id].expr = language; }

  TextId text(std::string_view text);

  const Formula& at(FormulaId id) const noexcept { return formulas_[id]; }

  std::span<const std::uint32_t> children(const Formula& f) const noexcept {
    return {children_.data() + f.first, f.n};
  }

  const NumberRule& rule(std::uint32_t id) const noexcept { return rules_[id]; }

  const NameSet& names(NameId id) const noexcept { return name_sets_[id]; }

  regex::ExprId name_expr(NameId id);

  const std::string& text_of(TextId id) const noexcept { return texts_.at(id); }

  bool has_name(NameId names, TextId text);

  // The formula of schema `id`; set once, by the compiler.
  void set_schema(std::uint32_t id, FormulaId formula);

  FormulaId schema_formula(std::uint32_t id) const noexcept { return schemas_[id]; }

  // Once all are set: those of one formula are taken for one.
  void find_equal_schemas();

  // `of` for a value of this one type: the result has only leaves of this type, and no kSchema.
  FormulaId of_type(FormulaId of, ValueType type);
  // Of all other types than these bits of ValueType it is kNever.
  unsigned types_of(FormulaId of) const noexcept;
  // One expression for a formula over strings, which of_type() made.
  regex::ExprId string_language(FormulaId of);

  // The formula of the rest of an object or array, after one member or item; `of` comes from
  // of_type(). The requirements on the member's or item's value are kChild leaves in the result.
  FormulaId behind_name(FormulaId of, TextId name);
  FormulaId behind_item(FormulaId of);
  // The same of each in a list. What they have in common is looked at once.
  void behind_name(std::span<FormulaId> each, TextId name);
  void behind_item(std::span<FormulaId> each);
  // The requirement on the next member or item under which it fulfills `of`, a negative kRestNames
  // or kRestItems.
  FormulaId broken_by_name(FormulaId of, TextId name);
  FormulaId broken_by_item(FormulaId of);
  // A kChild formula inside a condition of a kRestNames or kRestItems; kNoFormula if there is none.
  FormulaId open_question(FormulaId of);
  // `of` with each kChild replaced by its result.
  FormulaId resolve(FormulaId of, const std::function<FormulaId(FormulaId)>& became);
  void resolve(std::span<FormulaId> each, const std::function<FormulaId(FormulaId)>& became);
  // All leaves but kChild, appended.
  void leaves_besides(FormulaId of, std::vector<FormulaId>& out);
  // `of` where everything but kChild is fulfilled.
  FormulaId children_alone(FormulaId of);
  // The first place of `name` in the declared orders of `each`; 0 if none declares it.
  std::uint32_t order_of(std::span<const FormulaId> each, TextId name);

  std::uint32_t order_of(FormulaId of, TextId name) { return order_of(std::span(&of, 1), name); }

  // The parts of each ∨ in `of`, a ∨ or an ∧, together: fewer when some branch is over.
  std::size_t n_branches(FormulaId of) const noexcept;
  // `of` for an array in which two equal items have come.
  FormulaId with_duplicate(FormulaId of);
  // `of` for an array behind an item of formula `item`: no item that follows may be one, nor, where
  // `is_asked`, the one in progress.
  FormulaId without_value(FormulaId of, FormulaId item, bool is_asked);
  // Appends the kChild formulas in `each`, each once.
  void children_asked(std::span<const FormulaId> each, std::vector<FormulaId>& out);

  void children_asked(FormulaId of, std::vector<FormulaId>& out) {
    children_asked(std::span(&of, 1), out);
  }

  // Evaluates `of`; `leaf` evaluates its leaves. False for kNoFormula.
  bool holds(FormulaId of, const std::function<bool(const Formula&)>& leaf);

  // The object or array may end here.
  bool may_end(FormulaId of) const noexcept { return of != kNoFormula && at(of).may_end; }

  bool has_unique(FormulaId of) const noexcept;

  regex::Automaton& automaton() noexcept { return automaton_; }

  regex::ExprPool& exprs() noexcept { return automaton_.pool(); }

  const regex::ExprPool& exprs() const noexcept { return automaton_.pool(); }

  std::size_t size() const noexcept { return formulas_.size(); }

  std::size_t used_bytes() const noexcept;
  Error failure() const;

  bool has_failed() const noexcept {
    return failure_ != Failure::kNone || spent_ != Failure::kNone;
  }

  // A new operation begins: it may visit `fuel` formulas.
  void refuel(std::uint64_t fuel) noexcept {
    fuel_ = fuel;
    spent_ = Failure::kNone;
  }

  bool spend(std::uint64_t visits) noexcept {
    if (fuel_ < visits) {
      fuel_ = 0;
      spent_ = Failure::kFuel;
      return false;
    }
    fuel_ -= visits;
    return true;
  }

 private:
  friend class Steps;
  enum class Failure : std::uint8_t { kNone, kMemory, kDepth, kFuel, kRegex };

  FormulaId add(Formula f, std::span<const std::uint32_t> children = {});
  FormulaId many(FormulaKind kind, std::span<const FormulaId> parts);
  FormulaId joined(FormulaKind kind, std::vector<FormulaId>& flat);
  bool flatten(FormulaKind kind, std::span<const FormulaId> parts, std::vector<FormulaId>& out);
  FormulaId negated(const Formula& f, std::span<const std::uint32_t> children);
  FormulaId typed(FormulaId of, ValueType type, int depth);
  FormulaId typed_anew(const Formula& f, ValueType type, int depth);
  std::uint64_t hash_of(const Formula& f, std::span<const std::uint32_t> children) const noexcept;
  void grow_table();
  void find_facts(Formula& f, std::span<const std::uint32_t> children) const noexcept;

  regex::Automaton automaton_;
  std::vector<Formula> formulas_ = {};
  std::vector<std::uint32_t> children_ = {};
  std::vector<std::uint32_t> table_ = {};  // open addressing over formulas_, id + 1
  std::vector<FormulaId> flat_ = {};       // of many(): a list for each call would cost more
  std::vector<FormulaId> parts_ = {};      // of the formulas that typed() is within
  std::array<FormulaId, kAllTypes> types_ = {};  // of types(); 0: not yet
  std::vector<NumberRule> rules_ = {};
  std::unordered_map<std::string, std::uint32_t> rule_ids_ = {};  // by their spelling
  std::vector<NameSet> name_sets_ = {};
  TextTable texts_ = {};
  std::vector<NameId> one_names_ = {};  // by text; kAnyName: none yet
  std::unordered_map<regex::ExprId, NameId> name_ids_ = {};
  std::map<std::vector<TextId>, NameId> but_ids_ = {};  // of all_names_but()
  FlatHashMap typed_ = {};                              // by id * 128 + type
  std::unordered_map<FormulaId, regex::ExprId> languages_ = {};
  std::unordered_map<std::uint64_t, bool> has_name_ = {};
  std::unordered_map<TextId, FormulaId> numbers_ = {};  // of one_number()
  std::vector<FormulaId> schemas_ = {};
  std::vector<std::uint32_t> same_schemas_ = {};  // the first schema of the same formula
  std::size_t text_bytes_ = 0;
  std::uint64_t fuel_ = ~std::uint64_t{0};
  Failure failure_ = Failure::kNone;  // for good
  Failure spent_ = Failure::kNone;    // until refuel()
};

}  // namespace wick::grammar
