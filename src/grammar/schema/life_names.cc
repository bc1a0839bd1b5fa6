// The names that members of an object may have: classes of names that no requirement distinguishes,
// and which of them may come next.
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
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

// All names but some of `known`.
bool LifeSearch::is_all_but(NameId set, const std::vector<TextId>& known) const {
  const NameSet& its = pool_.names(set);
  return its.kind == NameSet::Kind::kAllBut &&
         std::includes(known.begin(), known.end(), its.but.begin(), its.but.end());
}

// No member may have another name than those of `known`.
bool LifeSearch::forbids_others(FormulaId of, const std::vector<TextId>& known) const {
  const Formula& f = pool_.at(of);
  const auto forbids = [&](FormulaId leaf) {
    const Formula& its = pool_.at(leaf);
    return its.kind == FormulaKind::kNameAll && its.b == kNever && is_all_but(its.a, known);
  };
  if (f.kind != FormulaKind::kAnd) return forbids(of);
  const auto its = pool_.children(f);
  return std::any_of(its.begin(), its.end(), forbids);
}

bool LifeSearch::kinds(FormulaId of, NameId within, FreeNames names,
                       std::vector<regex::ExprId>& out) {
  constexpr std::size_t kMaxKinds = 256;
  regex::ExprPool& exprs = pool_.exprs();
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
  if (forbids_others(of, known)) return true;
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
  const auto key = std::make_tuple(of, names.came, names.last);
  if (const auto known = next_names_.find(key); known != next_names_.end()) return known->second;
  const regex::ExprId out = new_next_names(of, names);
  if (out != regex::kNoExpr) next_names_[key] = out;
  return out;
}

regex::ExprId LifeSearch::new_next_names(FormulaId of, FreeNames names) {
  std::vector<regex::ExprId> languages, good;
  std::vector<TextId> next;
  if (!kinds(of, kAnyName, names, languages)) return regex::kNoExpr;
  for (const regex::ExprId language : languages) {
    const auto name = pool_.automaton().shortest(language);
    if (!name) return regex::kNoExpr;
    if (!*name) continue;
    good.push_back(language);
    next.push_back(pool_.text(**name));
  }
  const auto known = lives_behind(of, names, next);
  std::size_t n_good = 0;
  for (std::size_t i = 0; i < next.size(); ++i) {
    const Life life = known ? (*known)[i]
                            : of_object(pool_.behind_name(of, next[i]), behind(of, names, next[i]));
    if (life == Life::kUnknown) return regex::kNoExpr;
    if (life == Life::kLive) good[n_good++] = good[i];
  }
  good.resize(n_good);
  return pool_.exprs().unite(good);
}

// Where leaves only speak of the values of names, and demand single names, a next name has to have
// a live value and leave the demanded names free: no formula is made for what is behind it. An
// object of n members asks this n times, about up to n names.
std::optional<std::vector<Life>> LifeSearch::lives_behind(FormulaId of, FreeNames names,
                                                          const std::vector<TextId>& next) {
  const Formula f = pool_.at(of);
  Leaves leaves = {of};
  const auto its = pool_.children(f);
  if (f.kind == FormulaKind::kAnd) leaves.assign(its.begin(), its.end());
  std::unordered_map<TextId, Declared> declared;
  std::map<TextId, Leaves> wanted;
  Leaves sets;
  for (const FormulaId leaf : leaves) {
    const Formula& part = pool_.at(leaf);
    const bool is_all = part.kind == FormulaKind::kNameAll;
    if (!is_all && (part.kind != FormulaKind::kNameSome || part.c != 1)) return std::nullopt;
    const bool is_one = pool_.names(part.a).is_one();
    if (!is_all && is_one) {
      wanted[pool_.names(part.a).text].push_back(part.b);
    } else if (is_one) {
      Declared& one = declared[pool_.names(part.a).text];
      one.values.push_back(part.b);
      if (part.c != 0) one.order = one.order == 0 ? part.c : std::min(one.order, part.c);
    } else if (is_all) {
      sets.push_back(leaf);
    } else {
      return std::nullopt;
    }
  }
  const auto life_of = [&](TextId name) {
    Leaves values = declared[name].values;
    if (const auto asked = wanted.find(name); asked != wanted.end())
      values.insert(values.end(), asked->second.begin(), asked->second.end());
    return of_value(value_of(sets, name, std::move(values)));
  };
  Life all = Life::kLive;  // the demanded ones
  for (const auto& [name, values] : wanted) {
    if (all == Life::kLive) all = life_of(name);
  }
  std::vector<Life> out;
  for (const TextId name : next) {
    if (!spend(1 + wanted.size() / kNamesForOne)) return std::nullopt;
    const std::uint32_t order = declared[name].order;
    FreeNames then = names;
    if (has_order_) then.last = order == 0 ? kNoEnd : std::max(order, names.last);
    const bool has_all = std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) {
      return one.first == name || is_free(then, one.first, declared[one.first].order);
    });
    out.push_back(!has_all ? Life::kDead : all != Life::kLive ? all : life_of(name));
  }
  return out;
}

}  // namespace wick::grammar
