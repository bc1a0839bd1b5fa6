#include "grammar/schema/life.h"

#include <algorithm>
#include <utility>

#include "base/mix.h"
#include "grammar/json_number.h"
#include "grammar/limits.h"

namespace wick::grammar {
namespace {

std::uint32_t hash_of(FormulaId of, FreeNames names) noexcept {
  const std::uint64_t h = mix_hash(mix_hash(0, std::uint64_t{of} << 32U | names.came),
                                   std::uint64_t{names.within} << 32U | names.last);
  return static_cast<std::uint32_t>(h ^ (h >> 32U));
}

// Live if any is, dead if all are.
Life either(Life a, Life b) noexcept {
  if (a == Life::kLive || b == Life::kLive) return Life::kLive;
  return a == Life::kDead && b == Life::kDead ? Life::kDead : Life::kUnknown;
}

}  // namespace

static_assert(FlatHashMap::kNone == kNoFormula && FlatHashMap::kNone == regex::kNoExpr);

std::uint32_t LifeSearch::RestMap::find(FormulaId of, FreeNames names) const {
  const std::uint32_t id = ids_.find(hash_of(of, names), [&](std::uint32_t i) {
    const Entry& entry = entries_[i];
    return entry.of == of && entry.names == names;
  });
  return id == FlatHashMap::kNone ? id : entries_[id].value;
}

// A search may have come to the same entry meanwhile.
void LifeSearch::RestMap::add(FormulaId of, FreeNames names, std::uint32_t value) {
  if (find(of, names) != FlatHashMap::kNone) return;
  ids_.add(hash_of(of, names), static_cast<std::uint32_t>(entries_.size()));
  entries_.push_back({of, names, value});
}

std::size_t LifeSearch::used_bytes() const noexcept {
  return objects_.used_bytes() + next_names_.used_bytes() + conditions_.used_bytes() +
         (orders_.size() + demanded_.size()) * kHashEntryBytes + demanded_lists_.used_bytes() +
         name_kinds_.used_bytes();
}

// The choices of ∨ come last, those with the fewest parts first: by then a leaf may have made a
// choice needless.
Life LifeSearch::expand(Leaves todo, Leaves leaves, Leaves choices, Choices which,
                        const Branch& is_found, const Branch& life_of) {
  bool is_new = leaves.empty() && choices.empty();  // then the parts of one ∧ are new ones
  while (!todo.empty()) {
    if (!spend()) return Life::kUnknown;
    const FormulaId next = todo.back();
    todo.pop_back();
    if (next == kAlways) continue;
    if (next == kNever) return Life::kDead;
    if (next == kNoFormula) return Life::kUnknown;
    const Formula& f = pool_.at(next);
    const auto its = pool_.children(f);
    const bool is_choice = f.kind == FormulaKind::kOr &&
                           (which == Choices::kAll || (f.parts & Formula::kChildPart) != 0);
    Leaves& to = is_choice ? choices : leaves;
    if (f.kind == FormulaKind::kAnd) {
      is_new = is_new && todo.empty() && leaves.empty() && choices.empty();
      leaves.reserve(leaves.size() + its.size());
      todo.insert(todo.end(), its.rbegin(), its.rend());
    } else if (is_new || std::find(to.begin(), to.end(), next) == to.end()) {
      to.push_back(next);
    }
  }
  std::erase_if(choices, [&](FormulaId choice) { return is_met(choice, leaves); });
  if (choices.empty()) return is_found(leaves);
  const auto least = std::min_element(choices.begin(), choices.end(), [&](auto a, auto b) {
    return pool_.at(a).n < pool_.at(b).n;
  });
  const auto its = pool_.children(pool_.at(*least));
  const Leaves parts(its.begin(), its.end());
  choices.erase(least);
  Life life = Life::kDead;
  for (const FormulaId part : parts) {
    if (n_choices_ >= kMaxBranchDepth) return Life::kUnknown;
    ++n_choices_;
    life = either(life, expand({part}, leaves, choices, which, is_found, life_of));
    --n_choices_;
    if (life == Life::kLive) return life;
    if (part == parts.front() && life_of && life_of(leaves) == Life::kDead) return Life::kDead;
  }
  return life;
}

Life LifeSearch::branches(FormulaId of, const Branch& is_found, Choices which) {
  return live_branches(of, is_found, nullptr, which);
}

Life LifeSearch::live_branches(FormulaId of, const Branch& is_found, const Branch& life_of,
                               Choices which) {
  if (of == kNever) return Life::kDead;
  return expand({of}, {}, {}, which, is_found, life_of);
}

// Values in values: an answer "dead" that leaned on a value that is still open is not kept.
Life LifeSearch::of_value(FormulaId of) {
  if (of <= kAlways) return of == kAlways ? Life::kLive : Life::kDead;
  if (of == kNoFormula || !spend()) return Life::kUnknown;
  if (const std::uint32_t known = values_.find(of); known != FlatHashMap::kNone)
    return static_cast<Life>(known);
  for (const Open& open : open_) {
    if (open.of != of) continue;
    open_from_ = std::min(open_from_, open.depth);
    return Life::kDead;
  }
  if (depth_ >= kMaxDepth) return Life::kUnknown;
  const int outer = open_from_;
  open_from_ = 1 << 30;
  open_.push_back({of, depth_++});
  Life life = Life::kDead;
  const unsigned types = pool_.types_of(of);
  for (const ValueType type : kValueTypes) {
    if ((types & type) == 0) continue;
    const FormulaId typed = pool_.of_type(of, type);
    if (typed == kNever) continue;
    Life its = Life::kUnknown;
    if (typed == kAlways || type <= kTrueType) {
      its = typed == kAlways ? Life::kLive : Life::kDead;
    } else if (type == kStringType || type == kNumberType) {
      regex::ExprPool& exprs = pool_.exprs();
      const regex::ExprId language =
          type == kNumberType ? numbers(typed)
                              : exprs.intersect({pool_.string_language(typed), exprs.any_text()});
      if (language != regex::kNoExpr) its = pool_.automaton().liveness(language);
    } else {
      its = type == kArrayType ? of_array(typed) : of_object(typed, {});
    }
    life = either(life, its);
    if (life == Life::kLive) break;
  }
  open_.pop_back();
  --depth_;
  const bool leaned = open_from_ < depth_;
  if (life == Life::kLive || (life == Life::kDead && !leaned))
    values_.add(of, static_cast<std::uint32_t>(life));
  open_from_ = std::min(outer, leaned ? open_from_ : outer);
  return life;
}

// The part of a branch that speaks of the value in progress.
FormulaId LifeSearch::children_of(const Leaves& leaves, Leaves& others) {
  Leaves children;
  others.reserve(leaves.size());
  for (const FormulaId leaf : leaves) {
    const Formula& f = pool_.at(leaf);
    if (f.kind == FormulaKind::kChild) {
      children.push_back(f.a);
    } else {
      others.push_back(leaf);
    }
  }
  return pool_.all_of(children);
}

// What is unevaluated may hang on the value in progress: then it answers yes, or it answers no.
bool LifeSearch::split(FormulaId of, FormulaId& yes, FormulaId& no) {
  const FormulaId question = pool_.open_question(of);
  if (question == kNoFormula) return false;
  const FormulaId opposite = pool_.negate(question);
  const auto where = [&](bool is_yes) {
    const FormulaId rest = pool_.resolve(of, [&](FormulaId asked) {
      if (asked != question && asked != opposite) return pool_.child(asked);
      return (asked == question) == is_yes ? kAlways : kNever;
    });
    return pool_.both(pool_.child(is_yes ? question : opposite), rest);
  };
  yes = where(true);
  no = where(false);
  return true;
}

Life LifeSearch::of_object(FormulaId of, FreeNames names) {
  if (of == kAlways) return Life::kLive;
  names = ordered(of, names);
  if (const std::uint32_t known = objects_.find(of, names); known != FlatHashMap::kNone)
    return static_cast<Life>(known);
  if (!spend()) return Life::kUnknown;
  FormulaId yes = kNever, no = kNever;
  if (split(of, yes, no)) {
    const Life life = of_object(yes, names);
    return life == Life::kLive ? life : either(life, of_object(no, names));
  }
  const int outer = open_from_;
  open_from_ = 1 << 30;
  const Branch life_of = [&](const Leaves& leaves) {
    Leaves others;
    const Life child = of_value(children_of(leaves, others));
    return child == Life::kLive ? object_branch(others, names) : child;
  };
  const Life life = live_branches(without_dead_branches(of, false, names), life_of, life_of);
  if (life == Life::kLive || (life == Life::kDead && open_from_ == 1 << 30))
    objects_.add(of, names, static_cast<std::uint32_t>(life));
  open_from_ = std::min(outer, open_from_);
  return life;
}

// A demand for one name comes first, for it leaves no choice.
std::size_t LifeSearch::demand_of(const Leaves& leaves) const {
  std::size_t at = leaves.size();
  bool is_one = false;
  for (std::size_t i = 0; i < leaves.size() && !is_one; ++i) {
    const Formula& f = pool_.at(leaves[i]);
    const bool is_broken_rest = f.kind == FormulaKind::kRestNames && f.is_negative;
    if (f.kind == FormulaKind::kNameSome || is_broken_rest) at = i;
    is_one = f.kind == FormulaKind::kNameSome && pool_.names(f.a).is_one();
  }
  return at;
}

// Where nothing bounds the number of members, one more member harms no other demand, and each is
// decided alone. Nothing where the demands have to do with each other.
std::optional<Life> LifeSearch::demands_alone(const Leaves& leaves, FreeNames names) {
  Leaves rest, others, bounds, sets;
  const std::vector<Asked> asked = asked_of(leaves, rest);
  for (const FormulaId leaf : rest) {
    const Formula& f = pool_.at(leaf);
    if (f.kind == FormulaKind::kNameSome) {
      others.push_back(leaf);
    } else if (f.kind == FormulaKind::kNameMost && f.b == kAlways) {
      bounds.push_back(leaf);
    } else if (f.kind == FormulaKind::kNameAll) {
      sets.push_back(leaf);
    } else {
      return std::nullopt;
    }
  }
  if (!bounds.empty() && !others.empty()) return std::nullopt;
  for (const FormulaId leaf : bounds) {
    const Formula f = pool_.at(leaf);
    const auto is_in = [&](const Asked& one) {
      return one.is_wanted && pool_.has_name(f.a, one.name);
    };
    if (std::count_if(asked.begin(), asked.end(), is_in) > static_cast<std::ptrdiff_t>(f.c))
      return Life::kDead;
  }
  for (const Asked& one : asked) {
    if (!one.is_wanted) continue;
    if (!spend()) return Life::kUnknown;
    const std::uint32_t order =
        names.within == kNoFormula ? one.order : order_within(names.within, one.name);
    if (!is_free(names, one.name, order)) return Life::kDead;
    const Life life = of_value(value_of(sets, one.name, {one.value}));
    if (life != Life::kLive) return life;
  }
  for (const FormulaId leaf : others) {
    const bool is_met = (others.size() == 1 && pool_.at(leaf).c == 1)
                            ? has_other(leaves, leaf, names, false)
                            : has_other(leaves, leaf, names, true);
    if (!is_met) return std::nullopt;
  }
  return Life::kLive;
}

// What the leaves ask of the value of a member `name`, and `values`.
FormulaId LifeSearch::value_of(const Leaves& leaves, TextId name, Leaves values) {
  for (const FormulaId leaf : leaves) {
    const Formula f = pool_.at(leaf);
    if (f.kind == FormulaKind::kNameAll && pool_.has_name(f.a, name)) values.push_back(f.b);
  }
  return pool_.all_of(values);
}

// Whether there is a free name for the demand `leaf` that no other demand needs; or `has_many`.
bool LifeSearch::has_other(const Leaves& leaves, FormulaId leaf, FreeNames names, bool has_many) {
  const Formula demand = pool_.at(leaf);
  std::vector<regex::ExprId> languages;
  if (!kinds(pool_.all_of(leaves), demand.a, names, languages)) return false;
  const auto is_wanted = [&](TextId name) {
    return std::any_of(leaves.begin(), leaves.end(), [&](FormulaId other) {
      const Formula& f = pool_.at(other);
      return f.kind == FormulaKind::kNameSome && pool_.names(f.a).is_one() &&
             pool_.names(f.a).text == name;
    });
  };
  for (const regex::ExprId language : languages) {
    const auto shortest = pool_.automaton().shortest(language);
    if (!shortest || !*shortest) continue;
    const TextId name = pool_.text(**shortest);
    if (is_wanted(name) || (has_many && !is_large(language, **shortest))) continue;
    if (of_value(value_of(leaves, name, {demand.b})) == Life::kLive) return true;
  }
  return false;
}

// More texts than any schema counts: `text` with ten digits or letters behind it.
bool LifeSearch::is_large(regex::ExprId language, std::string_view text) {
  const auto [known, is_new] = large_.try_emplace(language, false);
  if (!is_new) return known->second;
  regex::ExprPool& exprs = pool_.exprs();
  for (const auto& [first, last] : {std::pair('0', '9'), std::pair('a', 'z')}) {
    const regex::ExprId many = exprs.concat(
        exprs.literal(text),
        exprs.repeat(exprs.bytes(regex::ByteSet::range(static_cast<unsigned char>(first),
                                                       static_cast<unsigned char>(last))),
                     10, 10));
    const auto has_all = pool_.automaton().contains(language, many);
    if (has_all && *has_all) return large_[language] = true;
  }
  return false;
}

// Takes one demand, tries each kind of name for it, and goes on with what is left.
Life LifeSearch::object_branch(const Leaves& leaves, FreeNames names) {
  const std::size_t at = demand_of(leaves);
  if (at == leaves.size()) return Life::kLive;
  if (const auto alone = demands_alone(leaves, names)) return *alone;
  const Formula& wanted = pool_.at(leaves[at]);
  const bool is_one = wanted.kind == FormulaKind::kNameSome && pool_.names(wanted.a).is_one();
  if (depth_ >= kMaxDepth) return Life::kUnknown;
  const FormulaId demand = leaves[at], all = pool_.all_of(leaves);
  Leaves rest = leaves;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  const FormulaId others = pool_.all_of(rest);
  const auto try_name = [&](TextId name) {
    // Order binds only which names are free: a set of free names can always be put in order.
    return of_object(pool_.both(taken(demand, name), pool_.behind_name(others, name)),
                     {cells_.add(names.came, name), names.last, names.within});
  };
  ++depth_;
  Life life = Life::kDead;
  if (is_one) {
    const TextId name = pool_.names(pool_.at(demand).a).text;
    if (is_free(all, names, name)) life = try_name(name);
  } else {
    const Formula& f = pool_.at(demand);
    std::vector<regex::ExprId> languages;
    if (!kinds(all, f.kind == FormulaKind::kNameSome ? f.a : kAnyName, names, languages))
      life = Life::kUnknown;
    for (const regex::ExprId language : languages) {
      const auto name = pool_.automaton().shortest(language);
      if (!name) life = either(life, Life::kUnknown);
      if (name && *name) life = either(life, try_name(pool_.text(**name)));
      if (life == Life::kLive) break;
    }
  }
  --depth_;
  return life;
}

// What is left of a demand that the member `name` is taken for, with what that asks of its value.
FormulaId LifeSearch::taken(FormulaId demand, TextId name) {
  const Formula f = pool_.at(demand);
  if (f.kind == FormulaKind::kRestNames) return pool_.broken_by_name(demand, name);
  return pool_.both(pool_.child(f.b), f.c > 1 ? pool_.some_named(f.a, f.b, f.c - 1) : kAlways);
}

Life LifeSearch::of_array(FormulaId of) {
  if (of == kAlways) return Life::kLive;
  if (!spend()) return Life::kUnknown;
  FormulaId yes = kNever, no = kNever;
  if (split(of, yes, no)) {
    const Life life = of_array(yes);
    return life == Life::kLive ? life : either(life, of_array(no));
  }
  const Branch life_of = [&](const Leaves& leaves) {
    Leaves others;
    const FormulaId item = children_of(leaves, others);
    const Life child = of_value(item);
    if (child != Life::kLive) return child;
    return item == kAlways ? array_branch(others) : of_value(pool_.both(item, item_before(others)));
  };
  return live_branches(without_dead_branches(of, true, {}), life_of, life_of);
}

std::size_t LifeSearch::demand_of_array(const Leaves& leaves, bool& is_alike,
                                        bool& has_most) const {
  std::size_t at = leaves.size();
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const Formula& f = pool_.at(leaves[i]);
    if (f.kind == FormulaKind::kUnique) continue;
    if (f.kind == FormulaKind::kRestItems) {
      const auto its = pool_.children(f);
      for (std::size_t k = 1; k < its.size(); k += 4)
        is_alike = is_alike && its[k] == 0 && (its[k + 1] == kNoEnd || its[k + 1] == 0);
      if (f.is_negative) at = i;
      continue;
    }
    is_alike = is_alike && f.a == 0 && f.b == kNoEnd;
    has_most = has_most || f.kind == FormulaKind::kItemMost;
    if (f.kind == FormulaKind::kItemSome) at = i;
  }
  return at;
}

FormulaId LifeSearch::behind_demand(const Leaves& leaves, std::size_t at, std::uint32_t n_left) {
  const Formula demand = pool_.at(leaves[at]);
  Leaves rest = leaves;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  FormulaId taken = kNoFormula;
  if (demand.kind == FormulaKind::kRestItems) {
    taken = pool_.broken_by_item(leaves[at]);
  } else {
    taken = pool_.both(pool_.child(demand.c),
                       n_left == 0 ? kAlways : pool_.some_items(0, kNoEnd, demand.c, n_left));
  }
  return pool_.both(taken, pool_.behind_item(pool_.all_of(rest)));
}

// Behind the last position that is named all items are alike, and a demand can be taken at once;
// before it an item simply comes.
Life LifeSearch::array_branch(const Leaves& leaves) {
  if (unique_of(leaves, true) < leaves.size()) return equal_branch(leaves, nullptr);
  if (Leaves chosen; unique_of(leaves, false) < leaves.size())
    return distinct_branch(leaves, chosen);
  bool is_alike = true, has_most = false;
  const std::size_t at = demand_of_array(leaves, is_alike, has_most);
  if (at == leaves.size()) return Life::kLive;
  if (depth_ >= kMaxDepth) return Life::kUnknown;
  const Formula demand = pool_.at(leaves[at]);
  ++depth_;
  Life life = Life::kUnknown;
  if (is_alike) {
    // Without an upper bound one item may come as often as it is wanted.
    life = of_array(behind_demand(leaves, at, has_most ? demand.d - 1 : 0));
  } else {
    life = of_array(pool_.behind_item(pool_.all_of(leaves)));
  }
  --depth_;
  return life;
}

FormulaId LifeSearch::condition(FormulaId of, bool is_array, FreeNames names) {
  names = ordered(of, names);
  if (const FormulaId known = conditions_.find(of, names); known != kNoFormula) return known;
  const FormulaId out = new_condition(of, is_array, names);
  if (out != kNoFormula) conditions_.add(of, names, out);
  return out;
}

FormulaId LifeSearch::new_condition(FormulaId of, bool is_array, FreeNames names) {
  std::vector<FormulaId> asked;
  pool_.children_asked(of, asked);
  if (asked.empty()) {
    const Life life = is_array ? of_array(of) : of_object(of, names);
    return life == Life::kUnknown ? kNoFormula : life == Life::kLive ? kAlways : kNever;
  }
  if (!spend()) return kNoFormula;
  FormulaId yes = kNever, no = kNever;
  if (split(of, yes, no)) {
    return pool_.either(condition(yes, is_array, names), condition(no, is_array, names));
  }
  of = without_dead_branches(of, is_array, names);
  // Where all else can be fulfilled at once, nothing depends on which branch is taken. Hundreds of
  // kinds of objects are made to exclude each other.
  std::vector<FormulaId> out;
  const auto value_before = [&](const Leaves& others) {
    if (is_array) return item_before(others);
    const bool has_choices = std::any_of(others.begin(), others.end(), [&](FormulaId leaf) {
      return pool_.at(leaf).kind == FormulaKind::kOr;
    });
    const Life life = has_choices ? of_object(pool_.all_of(others), names)
                                  : object_branch(others, names);
    return life == Life::kUnknown ? kNoFormula : life == Life::kLive ? kAlways : kNever;
  };
  if (!has_many_choices(of)) {
    Leaves everything;
    pool_.leaves_besides(of, everything);
    if (value_before(everything) == kAlways) return pool_.children_alone(of);
  }
  bool is_unknown = false;
  const Choices which = is_array ? Choices::kAll : Choices::kAsking;
  std::vector<Leaves> enough;  // what branches ask of the value if they ask nothing else
  const auto asks_of = [&](const Leaves& leaves, Leaves& others) {
    Leaves asks;
    for (const FormulaId leaf : leaves)
      (pool_.at(leaf).kind == FormulaKind::kChild ? asks : others).push_back(leaf);
    std::sort(asks.begin(), asks.end());
    return asks;
  };
  // Branches that ask more than another are of no use.
  const Branch life_of = [&](const Leaves& leaves) {
    Leaves others;
    const Leaves asks = asks_of(leaves, others);
    const bool asks_more = std::any_of(enough.begin(), enough.end(), [&](const Leaves& less) {
      return std::includes(asks.begin(), asks.end(), less.begin(), less.end());
    });
    return asks_more || value_before(others) == kNever ? Life::kDead : Life::kUnknown;
  };
  const Branch is_found = [&](const Leaves& leaves) {
    Leaves others;
    Leaves asks = asks_of(leaves, others);
    const FormulaId before = value_before(others);
    if (before == kNoFormula) is_unknown = true;
    const FormulaId children = pool_.both(pool_.all_of(asks), pool_.child(before));
    if (!is_unknown && children != kNever) out.push_back(children);
    if (before == kAlways) enough.push_back(std::move(asks));
    const bool is_enough = is_unknown || children == kAlways;
    return is_enough ? Life::kLive : Life::kDead;
  };
  const Life all = live_branches(of, is_found, life_of, which);
  if (is_unknown || all == Life::kUnknown) return kNoFormula;
  return pool_.any_of(out);
}

// Integers are spelled without a point, for readers that take 1.0 for a fraction. Multiples of
// powers of ten have a regular spelling that is small; others have not.
regex::ExprId LifeSearch::number_rule(const Formula& f) {
  regex::ExprPool& exprs = pool_.exprs();
  const NumberRule& rule = pool_.rule(f.a);
  const auto or_none = [](Result<regex::ExprId> made) { return made ? *made : regex::kNoExpr; };
  switch (rule.kind) {
    case NumberRule::Kind::kInteger:
      return or_none(json_number(
          exprs, {.is_integer = true, .may_end_in_zeros = rule.may_end_in_zeros && f.is_negative}));
    case NumberRule::Kind::kAtLeast:
    case NumberRule::Kind::kAbove:
      return or_none(json_number(
          exprs, {.low = NumberBound{rule.texts[0], rule.kind == NumberRule::Kind::kAbove}}));
    case NumberRule::Kind::kMultiple: {
      if (rule.divisor.value != 1 || std::abs(rule.divisor.scale) > kMaxBoundDigits) break;
      const auto scale = static_cast<std::uint32_t>(std::abs(rule.divisor.scale));
      const regex::ExprId digit = exprs.bytes(regex::ByteSet::range('0', '9'));
      const regex::ExprId zeros = exprs.repeat(exprs.literal("0"), 0, regex::kUnbounded);
      const regex::ExprId point = exprs.literal("."), sign = exprs.repeat(exprs.literal("-"), 0, 1);
      const regex::ExprId end = exprs.repeat(exprs.concat({point, zeros}), 0, 1);
      const regex::ExprId digits = exprs.repeat(digit, 0, regex::kUnbounded);
      if (rule.divisor.scale < 0) {
        const regex::ExprId whole =
            exprs.concat({digits, exprs.repeat(exprs.literal("0"), scale, scale)});
        return exprs.concat({sign, exprs.unite({whole, zeros}), end});
      }
      const regex::ExprId fraction = exprs.concat({point, exprs.repeat(digit, 0, scale), zeros});
      return exprs.concat({sign, digits, exprs.repeat(fraction, 0, 1)});
    }
    case NumberRule::Kind::kOneOf: {
      std::vector<regex::ExprId> parts;
      for (const std::string& text : rule.texts)
        parts.push_back(or_none(json_number_equal(exprs, text)));
      return exprs.unite(parts);
    }
  }
  return regex::kNoExpr;
}

// Spelled without exponents, for they have no order that a small automaton knows.
regex::ExprId LifeSearch::numbers(FormulaId of) {
  if (of == kNever) return regex::kEmptySet;
  if (of == kNoFormula) return regex::kNoExpr;
  if (const auto known = numbers_.find(of); known != numbers_.end()) return known->second;
  regex::ExprPool& exprs = pool_.exprs();
  const regex::ExprId digit = exprs.bytes(regex::ByteSet::range('0', '9'));
  const regex::ExprId whole = exprs.concat(exprs.bytes(regex::ByteSet::range('1', '9')),
                                           exprs.repeat(digit, 0, kMaxNumberDigits - 1));
  const regex::ExprId fraction =
      exprs.concat(exprs.literal("."), exprs.repeat(digit, 1, kMaxNumberDigits));
  const regex::ExprId integer = exprs.concat(exprs.repeat(exprs.literal("-"), 0, 1),
                                             exprs.unite({exprs.literal("0"), whole}));
  const regex::ExprId plain = exprs.concat(integer, exprs.repeat(fraction, 0, 1));
  regex::ExprId out = plain;
  if (of != kAlways) {
    const Formula f = pool_.at(of);
    const bool is_number = f.kind == FormulaKind::kNumber;
    if (is_number && pool_.rule(f.a).kind == NumberRule::Kind::kInteger && !f.is_negative) {
      out = integer;  // without a search for what ∩ leaves
    } else if (is_number) {
      const regex::ExprId its = number_rule(f);
      out = f.is_negative ? exprs.minus(plain, its) : exprs.intersect({plain, its});
    } else {
      const auto its = pool_.children(f);
      std::vector<std::uint32_t> parts(its.begin(), its.end());
      for (std::uint32_t& part : parts)
        part = numbers(part);
      out = f.kind == FormulaKind::kAnd ? exprs.intersect(parts) : exprs.unite(parts);
    }
  }
  if (out != regex::kNoExpr) numbers_[of] = out;
  return out;
}

}  // namespace wick::grammar
