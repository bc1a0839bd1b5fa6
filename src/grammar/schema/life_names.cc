// The names that members of an object may have: classes of names that no requirement distinguishes,
// and which of them may come next.
#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "grammar/schema/life.h"

namespace wick::grammar {

void LifeSearch::leaf_names(FormulaId of, std::vector<NameId>& out) {
  std::vector<FormulaId> open = {of};
  std::unordered_set<FormulaId> seen;
  while (!open.empty()) {
    const FormulaId next = open.back();
    open.pop_back();
    if (next == kNoFormula || !seen.insert(next).second) continue;
    const Formula& f = pool_.at(next);
    const auto its = pool_.children(f);
    if (f.kind == FormulaKind::kAnd || f.kind == FormulaKind::kOr) {
      open.insert(open.end(), its.begin(), its.end());
    } else if (f.kind == FormulaKind::kRestNames) {
      for (std::size_t i = 1; i < its.size(); i += 2) {
        out.push_back(its[i]);
        open.push_back(its[i + 1]);
      }
    } else if (f.kind == FormulaKind::kNameAll || f.kind == FormulaKind::kNameSome ||
               f.kind == FormulaKind::kNameMost) {
      out.push_back(f.a);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

// The single names that `of` demands of an object, each with its place in the declared order;
// nothing where they are many, or where it has other demands, which any name may meet. Behind a
// member no others come to these.
std::optional<ListId> LifeSearch::demanded_names(FormulaId of) {
  constexpr unsigned kOthers = Formula::kRestPart | Formula::kSchemaPart;
  const unsigned parts = pool_.at(of).parts;
  if ((parts & kOthers) != 0) return std::nullopt;
  if ((parts & Formula::kNamePart) == 0) return ListId{0};
  constexpr ListId kOther = FlatHashMap::kNone - 1;
  ListId its = demanded_.find(of);
  if (its == FlatHashMap::kNone) {
    its = new_demanded_names(of).value_or(kOther);
    demanded_.add(of, its);
  }
  return its == kOther ? std::nullopt : std::optional(its);
}

std::optional<ListId> LifeSearch::new_demanded_names(FormulaId of) {
  constexpr std::size_t kFew = 16;
  std::vector<FormulaId> open = {of};
  std::unordered_set<FormulaId> seen;
  std::vector<TextId> names;
  while (!open.empty()) {
    const FormulaId next = open.back();
    open.pop_back();
    const Formula& f = pool_.at(next);
    if ((f.parts & Formula::kNamePart) == 0) continue;
    if (f.kind != FormulaKind::kNameSome) {
      const auto its = pool_.children(f);
      if (seen.insert(next).second) open.insert(open.end(), its.begin(), its.end());
      continue;
    }
    const TextId name = pool_.names(f.a).text;
    if (!pool_.names(f.a).is_one()) return std::nullopt;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    if (names.size() > kFew) return std::nullopt;
  }
  std::sort(names.begin(), names.end());
  std::vector<std::uint32_t> out;
  for (const TextId name : names) {
    out.push_back(name);
    out.push_back(has_order_ ? pool_.order_of(of, name) : 0);
  }
  return demanded_lists_.of(out);
}

// Of the names only this matters: which members that are demanded can no longer come. Behind a name
// the order only grows when a branch is over, so what is live by it stays so.
FreeNames LifeSearch::ordered(FormulaId of, FreeNames names) {
  if (of == kNoFormula) return names;
  const std::optional<ListId> demanded = demanded_names(of);
  if (!demanded) return with_order(of, names);
  FreeNames out;
  if (names.came == 0 && names.last == 0) return out;
  const std::span<const std::uint32_t> its = demanded_lists_.at(*demanded);
  for (std::size_t i = 0; i < its.size(); i += 2) {
    const bool is_within = names.last != 0 && names.within != kNoFormula;
    const std::uint32_t order = is_within ? order_within(names.within, its[i]) : its[i + 1];
    if (!is_free(names, its[i], order)) out.came = cells_.add(out.came, its[i]);
  }
  return out;
}

// With the order of `of` where a branch of it may say another.
FreeNames LifeSearch::with_order(FormulaId of, FreeNames names) const {
  if (!has_order_ || names.last == 0 || names.within != kNoFormula) return names;
  const Formula& f = pool_.at(of);
  const auto its = pool_.children(f);
  const bool has_branches =
      f.kind == FormulaKind::kOr ||
      (f.kind == FormulaKind::kAnd && std::any_of(its.begin(), its.end(), [&](FormulaId part) {
         return pool_.at(part).kind == FormulaKind::kOr;
       }));
  if (has_branches) names.within = of;
  return names;
}

std::uint32_t LifeSearch::order_within(FormulaId of, TextId name) {
  const auto [at, is_new] = orders_.try_emplace(std::uint64_t{of} << 32U | name, 0);
  if (is_new) at->second = pool_.order_of(of, name);
  return at->second;
}

bool LifeSearch::is_free(FormulaId of, FreeNames names, TextId name) {
  const bool is_bound = has_order_ && names.last != 0;
  if (is_bound && names.within != kNoFormula) of = names.within;
  return is_free(names, name, is_bound ? order_within(of, name) : 0);
}

bool LifeSearch::is_free(FreeNames names, TextId name, std::uint32_t order) {
  if (cells_.has(names.came, name)) return false;
  return !has_order_ || names.last == 0 || order == 0 ||
         (names.last != kNoEnd && order > names.last);
}

FreeNames LifeSearch::behind(FormulaId of, FreeNames names, TextId name) {
  FreeNames out{.came = cells_.add(names.came, name)};
  if (!has_order_) return out;
  const std::uint32_t order = pool_.order_of(of, name);
  out.last = order == 0 ? kNoEnd : std::max(order, names.last);
  return out;
}

// All names but some of `known`.
bool LifeSearch::is_all_but(NameId set, const std::vector<TextId>& known) const {
  const NameSet& its = pool_.names(set);
  return its.kind == NameSet::Kind::kAllBut &&
         std::all_of(its.but.begin(), its.but.end(), [&](TextId name) {
           return std::binary_search(known.begin(), known.end(), name);
         });
}

void LifeSearch::names_told_apart(std::span<const FormulaId> formulas,
                                  std::vector<TextId>& single, std::vector<NameId>& sets) {
  for (const FormulaId of : formulas)
    leaf_names(of, sets);
  for (const NameId set : sets) {
    if (pool_.names(set).is_one()) single.push_back(pool_.names(set).text);
  }
  std::sort(single.begin(), single.end());
  single.erase(std::unique(single.begin(), single.end()), single.end());
  std::erase_if(sets, [&](NameId set) {
    return set == kAnyName || pool_.names(set).is_one() || is_all_but(set, single);
  });
}

// The parts of ∧; long ones stand within others.
LifeSearch::Leaves LifeSearch::parts_of(FormulaId of) const {
  Leaves out, open = {of};
  while (!open.empty()) {
    const FormulaId next = open.back();
    open.pop_back();
    const Formula& f = pool_.at(next);
    const auto its = pool_.children(f);
    if (f.kind == FormulaKind::kAnd) {
      open.insert(open.end(), its.begin(), its.end());
    } else if (next != kAlways) {
      out.push_back(next);
    }
  }
  return out;
}

// No member may have another name than those of `known`.
bool LifeSearch::forbids_others(const Leaves& leaves, const std::vector<TextId>& known) const {
  return std::any_of(leaves.begin(), leaves.end(), [&](FormulaId leaf) {
    const Formula& its = pool_.at(leaf);
    return its.kind == FormulaKind::kNameAll && its.b == kNever && is_all_but(its.a, known);
  });
}

bool LifeSearch::kinds(FormulaId of, NameId within, FreeNames names,
                       std::vector<regex::ExprId>& out) {
  std::vector<NameId> sets;
  leaf_names(of, sets);
  std::vector<TextId> known;
  for (const NameId set : sets) {
    if (!pool_.names(set).is_one()) continue;
    const TextId name = pool_.names(set).text;
    known.push_back(name);
    if (pool_.has_name(within, name) && is_free(of, names, name))
      out.push_back(pool_.name_expr(set));
  }
  for (CellId at = names.came; at != 0; at = cells_.before(at))
    known.push_back(cells_.item(at));
  if (!spend(1 + known.size() / kNamesForOne)) return false;
  std::sort(known.begin(), known.end());
  return forbids_others(parts_of(of), known) || other_kinds(sets, known, within, out);
}

// Of the names besides `known`.
bool LifeSearch::other_kinds(std::span<const NameId> sets, const std::vector<TextId>& known,
                             NameId within, std::vector<regex::ExprId>& out) {
  constexpr std::size_t kMaxKinds = 256;
  regex::ExprPool& exprs = pool_.exprs();
  std::vector<std::string_view> literals;
  for (const TextId name : known)
    literals.push_back(pool_.text_of(name));
  std::vector<regex::ExprId> rest = {exprs.intersect(
      {pool_.name_expr(within), exprs.any_text(), exprs.complement(exprs.literals(literals))})};
  for (const NameId set : sets) {
    if (pool_.names(set).is_one() || set == kAnyName || is_all_but(set, known)) continue;
    std::vector<regex::ExprId> parts;
    for (const regex::ExprId kind : rest) {
      for (const regex::ExprId part : {exprs.intersect({kind, pool_.name_expr(set)}),
                                       exprs.minus(kind, pool_.name_expr(set))}) {
        const Life life =
            part == regex::kNoExpr ? Life::kUnknown : pool_.automaton().liveness(part);
        if (life == Life::kUnknown) return false;
        if (life == Life::kLive) parts.push_back(part);
      }
    }
    rest = std::move(parts);
    if (rest.size() > kMaxKinds) return false;
  }
  out.insert(out.end(), rest.begin(), rest.end());
  return true;
}

regex::ExprId LifeSearch::next_names(FormulaId of, FreeNames names) {
  if (const regex::ExprId known = next_names_.find(of, names); known != regex::kNoExpr)
    return known;
  const regex::ExprId out = new_next_names(of, names);
  if (out != regex::kNoExpr) next_names_.add(of, names, out);
  return out;
}

regex::ExprId LifeSearch::new_next_names(FormulaId of, FreeNames names) {
  if (const auto simple = simple_next_names(of, names)) return *simple;
  if (const auto of_choices = choice_next_names(of, names)) return *of_choices;
  std::vector<regex::ExprId> languages, good;
  if (!kinds(of, kAnyName, names, languages)) return regex::kNoExpr;
  for (const regex::ExprId language : languages) {
    const auto name = pool_.automaton().shortest(language);
    if (!name) return regex::kNoExpr;
    if (!*name) continue;
    const TextId next = pool_.text(**name);
    const Life life = of_object(pool_.behind_name(of, next), behind(of, names, next));
    if (life == Life::kUnknown) return regex::kNoExpr;
    if (life == Life::kLive) good.push_back(language);
  }
  return pool_.exprs().unite(good);
}

// What the leaves ask of single names, ascending by name; other leaves go to `others`.
std::vector<LifeSearch::Asked> LifeSearch::asked_of(const Leaves& leaves, Leaves& others) {
  std::vector<std::pair<TextId, FormulaId>> found;
  found.reserve(leaves.size());
  for (const FormulaId leaf : leaves) {
    const Formula& f = pool_.at(leaf);
    const bool is_member = f.kind == FormulaKind::kNameAll || f.kind == FormulaKind::kNameSome;
    if (is_member && pool_.names(f.a).is_one()) {
      found.emplace_back(pool_.names(f.a).text, leaf);
    } else {
      others.push_back(leaf);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<Asked> out;
  out.reserve(found.size());
  Leaves values;
  for (std::size_t i = 0; i < found.size();) {
    Asked its{.name = found[i].first};
    values.clear();
    for (; i < found.size() && found[i].first == its.name; ++i) {
      const Formula& f = pool_.at(found[i].second);
      its.set = f.a;
      values.push_back(f.b);
      if (f.kind == FormulaKind::kNameSome) {
        its.is_wanted = true;
      } else if (f.c != 0) {
        its.order = its.order == 0 ? f.c : std::min(its.order, f.c);
      }
    }
    its.value = pool_.all_of(values);
    out.push_back(its);
  }
  return out;
}

// Whether all wanted members but the next are free behind the next one, none of which has come. An
// object of n members asks this n times, about up to n names.
class LifeSearch::WantedOrder {
 public:
  explicit WantedOrder(std::span<const Asked> asked) {
    for (const Asked& one : asked) {
      if (!one.is_wanted || one.order == 0) continue;
      if (first_ == nullptr || one.order < first_->order) {
        second_ = first_ == nullptr ? kNoEnd : first_->order;
        first_ = &one;
      } else {
        second_ = std::min(second_, one.order);
      }
    }
  }

  // `last`: the place of the next one in the order, as in FreeNames.
  bool is_free_behind(const Asked* next, std::uint32_t last) const noexcept {
    if (first_ == nullptr) return true;
    const std::uint32_t order = next == first_ ? second_ : first_->order;
    return order == kNoEnd || (last != kNoEnd && order > last);
  }

 private:
  const Asked* first_ = nullptr;
  std::uint32_t second_ = kNoEnd;  // kNoEnd: none
};

// Where leaves only speak of the values of names, and demand single names, a next name has to have
// a live value and leave the demanded names free: no formula is made for what is behind it.
// Nothing where that is not so.
std::optional<regex::ExprId> LifeSearch::simple_next_names(FormulaId of, FreeNames names) {
  Leaves others;
  const std::vector<Asked> asked = asked_of(parts_of(of), others);
  const bool is_simple = std::all_of(others.begin(), others.end(), [&](FormulaId leaf) {
    return pool_.at(leaf).kind == FormulaKind::kNameAll;
  });
  if (!is_simple || !spend(1 + asked.size() / kNamesForOne)) return std::nullopt;
  const auto value_life = [&](TextId name, FormulaId value) {
    return of_value(value_of(others, name, {value}));
  };
  bool has_come = false;
  Life wanted = Life::kLive;
  for (const Asked& one : asked) {
    if (!one.is_wanted) continue;
    has_come = has_come || cells_.has(names.came, one.name);
    if (wanted == Life::kLive) wanted = value_life(one.name, one.value);
  }
  if (has_come || wanted == Life::kDead) return regex::kEmptySet;
  if (wanted == Life::kUnknown) return regex::kNoExpr;
  const WantedOrder order(asked);
  std::vector<regex::ExprId> good;
  for (const Asked& one : asked) {
    const std::uint32_t last = one.order == 0 ? kNoEnd : std::max(one.order, names.last);
    if (has_order_ && !order.is_free_behind(&one, last)) continue;
    if (!is_free(names, one.name, one.order)) continue;
    const Life life = value_life(one.name, one.value);
    if (life == Life::kUnknown) return regex::kNoExpr;
    if (life == Life::kLive) good.push_back(pool_.name_expr(one.set));
  }
  if (has_order_ && !order.is_free_behind(nullptr, kNoEnd)) return pool_.exprs().unite(good);
  return with_other_names(names, asked, others, good);
}

// `good`, and the names that no leaf speaks of alone. What comes behind these is free.
std::optional<regex::ExprId> LifeSearch::with_other_names(FreeNames names,
                                                          std::span<const Asked> asked,
                                                          const Leaves& others,
                                                          std::vector<regex::ExprId>& good) {
  std::vector<TextId> known;
  for (const Asked& one : asked)
    known.push_back(one.name);
  for (CellId at = names.came; at != 0; at = cells_.before(at))
    known.push_back(cells_.item(at));
  std::sort(known.begin(), known.end());
  if (forbids_others(others, known)) return pool_.exprs().unite(good);
  std::vector<NameId> sets;
  for (const FormulaId leaf : others) {
    const NameId set = pool_.at(leaf).a;
    if (set != kAnyName && !is_all_but(set, known)) sets.push_back(set);
  }
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  if (const auto* const kinds = kinds_of(sets)) {
    good.push_back(names_of_kinds(*kinds, sets, known, others));
    return pool_.exprs().unite(good);
  }
  std::vector<regex::ExprId> languages;
  if (!other_kinds(sets, known, kAnyName, languages)) return regex::kNoExpr;
  for (const regex::ExprId language : languages) {
    const auto name = pool_.automaton().shortest(language);
    if (!name) return regex::kNoExpr;
    if (!*name) continue;
    const Life life = of_value(value_of(others, pool_.text(**name), {}));
    if (life == Life::kUnknown) return regex::kNoExpr;
    if (life == Life::kLive) good.push_back(language);
  }
  return pool_.exprs().unite(good);
}

// The kinds of names that `sets` tell apart; null where these are too many or too large.
const std::vector<NameKinds::Kind>* LifeSearch::kinds_of(std::span<const NameId> sets) {
  if (sets.size() > NameKinds::kMaxSets) return nullptr;
  return name_kinds_.of(pool_.automaton(), exprs_of(sets));
}

std::vector<regex::ExprId> LifeSearch::exprs_of(std::span<const NameId> sets) {
  std::vector<regex::ExprId> out;
  for (const NameId set : sets)
    out.push_back(pool_.name_expr(set));
  return out;
}

// The names besides `known` with a live value by `leaves`, which speak of `sets` and all names.
regex::ExprId LifeSearch::names_of_kinds(std::span<const NameKinds::Kind> kinds,
                                         std::span<const NameId> sets,
                                         const std::vector<TextId>& known, const Leaves& leaves) {
  std::vector<NameKinds::Judged> judged;
  for (const NameKinds::Kind kind : kinds) {
    Leaves values;
    for (const FormulaId leaf : leaves) {
      const Formula& f = pool_.at(leaf);
      const auto at = std::lower_bound(sets.begin(), sets.end(), f.a);
      const bool is_asked = at != sets.end() && *at == f.a;
      if (!is_asked || NameKinds::has(kind, at - sets.begin())) values.push_back(f.b);
    }
    const Life life = of_value(pool_.all_of(values));
    if (life == Life::kUnknown) return regex::kNoExpr;
    judged.push_back({.kind = kind, .is_good = life == Life::kLive});
  }
  regex::ExprPool& exprs = pool_.exprs();
  const regex::ExprId good = NameKinds::united(exprs, exprs_of(sets), judged);
  std::vector<std::string_view> literals;
  for (const TextId name : known)
    literals.push_back(pool_.text_of(name));
  return exprs.intersect({good, exprs.any_text(), exprs.complement(exprs.literals(literals))});
}

}  // namespace wick::grammar
