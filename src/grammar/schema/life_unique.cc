// Arrays whose items differ (uniqueItems), and those of which two are equal.
//
// A kUnique says which values may still come. Where items are demanded, distinct values must be
// found for them. An item that may have more values than all the items that are demanded never
// stands in the way of another: one that no other takes is left for it. Of an item with few values
// each is tried. So a value that comes before them harms only if it is one that was found, and if
// without it no others are found.
#include <algorithm>
#include <iterator>

#include "grammar/limits.h"
#include "grammar/schema/life.h"

namespace wick::grammar {
namespace {

bool is_unique(const Formula& f, bool is_negative) noexcept {
  return f.kind == FormulaKind::kUnique && f.is_negative == is_negative;
}

}  // namespace

std::size_t LifeSearch::unique_of(const Leaves& leaves, bool is_negative) const {
  const auto found = std::find_if(leaves.begin(), leaves.end(), [&](FormulaId leaf) {
    return is_unique(pool_.at(leaf), is_negative);
  });
  return static_cast<std::size_t>(found - leaves.begin());
}

// At most as many items are needed to fulfill `leaves`.
std::size_t LifeSearch::n_demanded(const Leaves& leaves) const {
  std::size_t n = 0, last = 0;
  const auto place = [&](std::uint32_t at) {
    if (at != kNoEnd) last = std::max<std::size_t>(last, at);
  };
  for (const FormulaId leaf : leaves) {
    const Formula& f = pool_.at(leaf);
    if (f.kind == FormulaKind::kItemSome) n += f.d;
    if (f.kind == FormulaKind::kRestItems) {
      n += f.is_negative ? 1 : 0;
      const auto its = pool_.children(f);
      for (std::size_t i = 1; i < its.size(); i += 4) {
        place(its[i]);
        place(its[i + 1]);
      }
    } else if (f.kind != FormulaKind::kUnique) {
      place(f.a);
      place(f.b);
    }
  }
  return n + last;
}

// How many items are demanded where nothing else is counted but how many there may be: 0 where not.
std::size_t LifeSearch::n_alike(const Leaves& leaves) const {
  std::size_t n = 0, most = ~std::size_t{0};
  for (const FormulaId leaf : leaves) {
    const Formula& f = pool_.at(leaf);
    const bool is_demand = f.kind == FormulaKind::kItemSome;
    if (f.kind == FormulaKind::kRestItems || (is_demand && n != 0)) return 0;
    if (!is_demand && f.kind != FormulaKind::kItemMost) continue;
    if (f.c != kAlways || f.a != 0 || f.b != kNoEnd) return 0;
    if (is_demand) {
      n = f.d;
    } else {
      most = std::min<std::size_t>(most, f.d);
    }
  }
  return n <= most ? n : 0;
}

// The texts of `language`, `n` of them or all: they may be asked for again, and for more of them.
bool LifeSearch::find_texts(regex::ExprId language, bool is_number, std::size_t n, Texts& its) {
  regex::ExprPool& exprs = pool_.exprs();
  if (!spend(kStepsForText)) return false;
  const std::size_t n_wanted = 2 * n;
  const auto texts = pool_.automaton().shortest_strings(language, n_wanted);
  if (!spend((exprs.full_fuel() - exprs.fuel()) / kStepsForOne) || !texts) return false;
  its.found.clear();
  for (const std::string& text : *texts)
    its.found.push_back(is_number ? pool_.one_number(text) : pool_.string_in(exprs.literal(text)));
  its.is_all = texts->size() < n_wanted;
  return true;
}

LifeSearch::Plenty LifeSearch::texts(regex::ExprId language, bool is_number, std::size_t n,
                                     Leaves& out) {
  if (out.size() >= n) return Plenty::kPlenty;
  if (language == regex::kNoExpr) return Plenty::kUnknown;
  auto& known = is_number ? number_texts_ : string_texts_;
  Texts& its = known[language];
  if (!its.is_all && its.found.empty()) {
    if (!spend(kStepsForText)) return Plenty::kUnknown;
    const auto first = pool_.automaton().shortest(language);
    if (!first) return Plenty::kUnknown;
    its.is_all = !*first;
    its.is_plenty = *first && is_large(language, is_number ? "1" : **first);
  }
  if (its.is_plenty) return Plenty::kPlenty;
  const std::size_t n_more = std::min(n, kMaxDistinctValues + 1) - out.size();
  if (n_more > its.found.size() && !its.is_all && !find_texts(language, is_number, n_more, its))
    return Plenty::kUnknown;
  const std::size_t n_taken = std::min(n_more, its.found.size());
  if (out.size() + n_taken > kMaxDistinctValues) return Plenty::kUnknown;
  std::copy_n(its.found.begin(), n_taken, std::back_inserter(out));
  return n_taken == n_more ? Plenty::kPlenty : Plenty::kFew;
}

// One spelling of each value.
regex::ExprId LifeSearch::spelled_once(regex::ExprId numbers) {
  regex::ExprPool& exprs = pool_.exprs();
  const regex::ExprId digits =
      exprs.repeat(exprs.bytes(regex::ByteSet::range('0', '9')), 0, regex::kUnbounded);
  const regex::ExprId ends_in_zero =
      exprs.concat({regex::kEverything, exprs.literal("."), digits, exprs.literal("0")});
  return exprs.minus(numbers, exprs.unite({ends_in_zero, exprs.literal("-0")}));
}

// Values of `of`: `n` or more (kPlenty), or those in `out` alone (kFew).
LifeSearch::Plenty LifeSearch::values(FormulaId of, std::size_t n, Leaves& out) {
  if (of == kNoFormula) return Plenty::kUnknown;
  bool is_unknown = false;
  const unsigned types = pool_.types_of(of);
  for (const ValueType type : kValueTypes) {
    if ((types & type) == 0) continue;
    const FormulaId typed = pool_.of_type(of, type);
    if (typed == kNever) continue;
    if (typed == kNoFormula) return Plenty::kUnknown;
    Plenty its = Plenty::kFew;
    if (type <= kTrueType) {
      if (typed == kAlways) out.push_back(pool_.types(type));
    } else if (type == kNumberType) {
      its = texts(spelled_once(numbers(typed)), true, n, out);
    } else if (type == kStringType) {
      const regex::ExprId language = pool_.string_language(typed);
      its = texts(pool_.exprs().intersect({language, pool_.exprs().any_text()}), false, n, out);
    } else {
      its = nested_values(typed, type == kArrayType, n);
    }
    if (its == Plenty::kPlenty || out.size() >= n) return Plenty::kPlenty;
    is_unknown = is_unknown || its == Plenty::kUnknown;
  }
  return is_unknown ? Plenty::kUnknown : Plenty::kFew;
}

// Objects and arrays are not counted: plenty is found where one name or value leaves plenty of
// choice.
LifeSearch::Plenty LifeSearch::nested_values(FormulaId typed, bool is_array, std::size_t n) {
  if (depth_ >= kMaxDepth || !spend()) return Plenty::kUnknown;
  ++depth_;
  bool has_plenty = false;
  const auto looked_at = [&](FormulaId rest, const auto& life_of) {
    branches(rest, [&](const Leaves& leaves) {
      Leaves others, ignored;
      const FormulaId first = children_of(leaves, others);
      has_plenty = has_plenty ||
                   (values(first, n, ignored) == Plenty::kPlenty && life_of(others) == Life::kLive);
      return has_plenty ? Life::kLive : Life::kDead;
    });
  };
  const Life life = is_array ? of_array(typed) : of_object(typed, {});
  if (life == Life::kLive && is_array) {
    looked_at(pool_.behind_item(typed), [&](const Leaves& others) {
      return unique_of(others, false) < others.size() && n_demanded(others) > 0
                 ? Life::kUnknown
                 : array_branch(others);
    });
  } else if (life == Life::kLive) {
    std::vector<regex::ExprId> languages;
    if (!kinds(typed, kAnyName, {}, languages)) languages.clear();
    for (std::size_t i = 0; i < languages.size() && !has_plenty; ++i) {
      const auto name = pool_.automaton().shortest(languages[i]);
      if (!name || !*name) continue;
      const TextId text = pool_.text(**name);
      const FormulaId rest = pool_.behind_name(typed, text);
      const FreeNames names{.came = cells_.add(0, text)};
      has_plenty = is_large(languages[i], **name) && of_object(rest, names) == Life::kLive;
      if (!has_plenty)
        looked_at(rest, [&](const Leaves& others) { return object_branch(others, names); });
    }
  }
  --depth_;
  if (has_plenty) return Plenty::kPlenty;
  return life == Life::kDead ? Plenty::kFew : Plenty::kUnknown;
}

LifeSearch::Leaves LifeSearch::without_value(const Leaves& leaves, FormulaId value) {
  Leaves out = leaves;
  for (FormulaId& leaf : out)
    leaf = pool_.without_value(leaf, value, false);
  return out;
}

// Whether `n` distinct items can come that are all as the one of `next`; `chosen` as below.
Life LifeSearch::distinct_values(FormulaId next, std::size_t n, Leaves& chosen) {
  Leaves found;
  const Life life = branches(next, [&](const Leaves& branch) {
    Leaves others, its;
    const FormulaId item = children_of(branch, others);
    if (const Life alone = of_value(item); alone != Life::kLive) return alone;
    const Plenty plenty = values(item, n + 1, its);
    if (plenty == Plenty::kPlenty) return Life::kLive;
    for (const FormulaId value : its)
      if (std::find(found.begin(), found.end(), value) == found.end()) found.push_back(value);
    if (found.size() > n) return Life::kLive;  // then each of them can be spared
    return plenty == Plenty::kFew ? Life::kDead : Life::kUnknown;
  });
  if (life == Life::kLive || found.size() < n) return life;
  chosen.insert(chosen.end(), found.begin(), found.end());
  return Life::kLive;
}

// Whether distinct items can fulfill `leaves`. `chosen`: values of them, without which others may
// not be found.
Life LifeSearch::distinct_branch(const Leaves& leaves, Leaves& chosen) {
  bool is_alike = true, has_most = false;
  const std::size_t at = demand_of_array(leaves, is_alike, has_most);
  if (at == leaves.size()) return Life::kLive;
  if (depth_ >= kMaxDepth || !spend()) return Life::kUnknown;
  const FormulaId next = is_alike ? behind_demand(leaves, at, pool_.at(leaves[at]).d - 1)
                                  : pool_.behind_item(pool_.all_of(leaves));
  ++depth_;
  const std::size_t n_wanted = is_alike ? n_alike(leaves) : 0;
  const auto one_by_one = [&](const Leaves& branch) {
    Leaves others, its;
    const FormulaId item = children_of(branch, others);
    if (const Life alone = of_value(item); alone != Life::kLive) return alone;
    const Plenty plenty = values(item, n_demanded(others) + 2, its);
    if (plenty == Plenty::kPlenty) return distinct_branch(others, chosen);
    Life out = plenty == Plenty::kUnknown ? Life::kUnknown : Life::kDead;
    for (const FormulaId value : its) {
      const std::size_t n = chosen.size();
      const Life behind = distinct_branch(without_value(others, value), chosen);
      if (behind == Life::kLive) {
        chosen.push_back(value);
        return behind;
      }
      chosen.resize(n);
      if (behind == Life::kUnknown) out = behind;
    }
    return out;
  };
  const Life life =
      n_wanted > 0 ? distinct_values(next, n_wanted, chosen) : branches(next, one_by_one);
  --depth_;
  return life;
}

// An equal pair: an item that has come and one that comes, or two that come.
Life LifeSearch::equal_branch(const Leaves& leaves, Leaves* seconds) {
  bool is_alike = true, has_most = false;
  demand_of_array(leaves, is_alike, has_most);
  if (unique_of(leaves, false) < leaves.size()) return Life::kDead;
  const std::size_t at = unique_of(leaves, true);
  const FormulaId came = pool_.negate(pool_.at(leaves[at]).c);
  Leaves rest = leaves;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  if (unique_of(rest, true) < rest.size() || depth_ >= kMaxDepth) return Life::kUnknown;
  const FormulaId behind = pool_.behind_item(pool_.all_of(rest));
  ++depth_;
  Life life = of_array(pool_.both(behind, pool_.child(came)));
  if (life != Life::kLive) {
    const Life pair = branches(behind, [&](const Leaves& first) {
      Leaves others;
      const FormulaId item = children_of(first, others);
      if (seconds != nullptr && array_branch(others) == Life::kLive) seconds->push_back(item);
      const FormulaId second = pool_.behind_item(pool_.all_of(others));
      return of_array(pool_.both(second, pool_.child(item)));
    });
    life = pair == Life::kDead ? life : pair;
  }
  --depth_;
  return life == Life::kDead && !is_alike ? Life::kUnknown : life;
}

// Strings alone leave so much choice for the next item of the array `of`, which may also end, that
// it matters to none that one more value may not come.
bool LifeSearch::has_room(FormulaId of) {
  const auto [at, is_new] = rooms_.try_emplace(of, false);
  if (!is_new || !pool_.may_end(of)) return at->second;
  const FormulaId next = condition(pool_.behind_item(of), true, {});
  if (next == kNoFormula) return false;
  const FormulaId value = pool_.resolve(next, [](FormulaId question) { return question; });
  const FormulaId typed = pool_.of_type(value, kStringType);
  Leaves ignored;
  const regex::ExprId language =
      pool_.exprs().intersect({pool_.string_language(typed), pool_.exprs().any_text()});
  return rooms_[of] = texts(language, false, 3, ignored) == Plenty::kPlenty;
}

// What a value must be that is an item before those that `others` speak of.
FormulaId LifeSearch::item_before(const Leaves& others) {
  const auto by_life = [](Life life) {
    return life == Life::kUnknown ? kNoFormula : life == Life::kLive ? kAlways : kNever;
  };
  if (unique_of(others, true) < others.size()) {
    Leaves seconds;
    const Life life = equal_branch(others, &seconds);
    if (life != Life::kDead || seconds.empty()) return by_life(life);
    return pool_.any_of(seconds);  // the second of a pair is equal to it
  }
  if (unique_of(others, false) == others.size() || n_demanded(others) == 0)
    return by_life(array_branch(others));
  Leaves chosen, ignored, harmless;
  const Life life = distinct_branch(others, chosen);
  if (life != Life::kLive) return by_life(life);
  for (const FormulaId value : chosen) {
    const Life without = distinct_branch(without_value(others, value), ignored);
    if (without == Life::kUnknown) return kNoFormula;
    if (without == Life::kDead) harmless.push_back(pool_.negate(value));
  }
  return pool_.all_of(harmless);
}

// Whether one of the parts of a ∨ is in `leaves`; false where that takes too long to see.
bool LifeSearch::is_met(FormulaId choice, const Leaves& leaves) const {
  constexpr std::size_t kMaxPairs = 4096;
  const auto its = pool_.children(pool_.at(choice));
  return its.size() * leaves.size() <= kMaxPairs &&
         std::any_of(its.begin(), its.end(), [&](FormulaId part) {
           return std::find(leaves.begin(), leaves.end(), part) != leaves.end();
         });
}

// `of` without those branches of an ∨ that are dead beside the other leaves: of many values that
// may not come again there are many ∨, and their branches would be tried in all combinations.
FormulaId LifeSearch::without_dead_branches(FormulaId of, bool is_array, FreeNames names) {
  constexpr std::ptrdiff_t kFew = 3;
  if (of == kNoFormula || pool_.at(of).kind != FormulaKind::kAnd) return of;
  Leaves parts = parts_of(of);
  const auto first = std::stable_partition(parts.begin(), parts.end(), [&](FormulaId part) {
    return pool_.at(part).kind != FormulaKind::kOr;
  });
  if (parts.end() - first < kFew) return of;
  const FormulaId alone = pool_.all_of(Leaves(parts.begin(), first));
  for (auto part = first; part != parts.end(); ++part) {
    const auto choices = pool_.children(pool_.at(*part));
    Leaves live(choices.begin(), choices.end());
    std::erase_if(live, [&](FormulaId choice) {
      if (pool_.at(choice).kind == FormulaKind::kChild) return false;
      const FormulaId both = pool_.both(alone, choice);
      return (is_array ? of_array(both) : of_object(both, names)) == Life::kDead;
    });
    *part = pool_.any_of(live);
  }
  return pool_.all_of(parts);
}

}  // namespace wick::grammar
