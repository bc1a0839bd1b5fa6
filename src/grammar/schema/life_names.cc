// The names that members of an object may have: classes of names that no requirement distinguishes,
// and which of them may come next.
#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

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
  if (!kinds(of, kAnyName, names, languages)) return regex::kNoExpr;
  for (const regex::ExprId language : languages) {
    const auto name = pool_.automaton().shortest(language);
    if (!name) return regex::kNoExpr;
    if (!*name) continue;
    const TextId text = pool_.text(**name);
    const Life life = of_object(pool_.behind_name(of, text), behind(of, names, text));
    if (life == Life::kUnknown) return regex::kNoExpr;
    if (life == Life::kLive) good.push_back(language);
  }
  return pool_.exprs().unite(good);
}

}  // namespace wick::grammar
