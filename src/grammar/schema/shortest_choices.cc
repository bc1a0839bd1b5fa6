// The choices of the search for the shortest value: the same ones that LifeSearch walks.
#include <algorithm>
#include <array>
#include <utility>

#include "grammar/schema/shortest.h"

namespace wick::grammar {

namespace {

bool is_letter_or_digit(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

std::size_t spelled_bytes(std::string_view text) {
  std::string spelled;
  append_spelled(text, spelled);
  return spelled.size();
}

// Of a member besides its name and value: quotes, a colon, a comma; of an item: a comma.
constexpr std::size_t kMemberBytes = 4, kItemBytes = 1;

}  // namespace

std::optional<std::string> ShortestSearch::text_of(regex::ExprId language) {
  regex::Automaton& automaton = pool_.automaton();
  regex::ExprPool& exprs = pool_.exprs();
  const auto any = automaton.shortest(language);
  if (!any) is_cut_ = true;
  if (!any || !*any) return std::nullopt;
  if (std::all_of((*any)->begin(), (*any)->end(), is_letter_or_digit)) return **any;
  using regex::ByteSet;
  const ByteSet letters =
      ByteSet::range('0', '9') | ByteSet::range('A', 'Z') | ByteSet::range('a', 'z');
  const regex::ExprId plain = exprs.repeat(exprs.bytes(letters), 0, regex::kUnbounded);
  const regex::ExprId both = exprs.intersect({language, plain});
  const std::size_t n_spelled = spelled_bytes(**any);
  if (n_spelled == 0 || both == regex::kNoExpr) return **any;
  const auto word = automaton.shortest(both);
  return word && *word && (*word)->size() <= n_spelled ? **word : **any;
}

// Of the members that must come: those with names of their own, or as many as one leaf counts.
ShortestSearch::Cost ShortestSearch::least_of(const Goal& goal) const {
  if (goal.kind == Kind::kValue) return 1;
  if (goal.kind == Kind::kArray || goal.of == kNoFormula) return goal.n_first;
  Cost of_names = 0, of_counts = 0;
  for (const FormulaId leaf : life_.parts_of(goal.of)) {
    const Formula& f = leaf == kNoFormula ? pool_.at(kNever) : pool_.at(leaf);
    if (f.kind != FormulaKind::kNameSome) continue;
    if (pool_.names(f.a).is_one()) {
      of_names += pool_.text_of(pool_.names(f.a).text).size() + kMemberBytes + 1;
    } else {
      of_counts = std::max(of_counts, Cost{f.c} * (kMemberBytes + 1));
    }
  }
  return goal.n_first + std::max(of_names, of_counts);
}

bool ShortestSearch::expand(NodeId id) {
  if (nodes_[id].is_expanded) return true;
  if (!spend()) return false;
  nodes_[id].is_expanded = true;
  if (nodes_[id].goal.kind == Kind::kValue) {
    expand_value(id);
  } else {
    expand_rest(id);
  }
  Node& node = nodes_[id];
  Cost least = kNoCost;
  for (const Choice& choice : node.choices)
    least = std::min(least, lower_bound(node, choice));
  node.lower = std::max(node.lower, least);
  return true;
}

std::optional<std::string> ShortestSearch::scalar(FormulaId typed, ValueType type) {
  if (type <= kTrueType) {
    if (typed != kAlways) return std::nullopt;
    return type == kNullType ? "null" : type == kFalseType ? "false" : "true";
  }
  regex::ExprPool& exprs = pool_.exprs();
  const regex::ExprId language =
      type == kNumberType ? life_.numbers(typed)
                          : exprs.intersect({pool_.string_language(typed), exprs.any_text()});
  if (language == regex::kNoExpr) is_cut_ = true;
  if (language == regex::kNoExpr) return std::nullopt;
  if (type == kNumberType) {
    const auto number = pool_.automaton().shortest(language);
    if (!number) is_cut_ = true;
    return number ? *number : std::nullopt;
  }
  const auto text = text_of(language);
  if (!text) return std::nullopt;
  std::string out = "\"";
  append_spelled(*text, out);
  return out + "\"";
}

void ShortestSearch::expand_value(NodeId id) {
  const FormulaId of = nodes_[id].goal.of;
  if (of == kAlways) return add(id, {.bytes = 1, .text = "0"});
  if (of == kNoFormula) is_cut_ = true;
  if (of == kNever || of == kNoFormula) return;
  const unsigned types = pool_.types_of(of);
  constexpr std::array kOrder = {kNumberType, kStringType, kNullType,  kTrueType,
                                 kFalseType,  kArrayType,  kObjectType};
  for (const ValueType type : kOrder) {
    if ((types & type) == 0) continue;
    if (nodes_[id].cost <= 2) return;  // of the types that follow, none has a shorter value
    const FormulaId typed = pool_.of_type(of, type);
    if (typed == kNoFormula) is_cut_ = true;
    if (typed == kNever || typed == kNoFormula) continue;
    if (type == kArrayType || type == kObjectType) {
      const NodeId rest =
          node_of({.of = typed, .kind = type == kArrayType ? Kind::kArray : Kind::kObject});
      if (!expand(rest)) is_cut_ = true;
      add(id, {.parts = {{.node = rest}}});
    } else if (auto text = scalar(typed, type)) {
      const Cost bytes = text->size();
      add(id, {.bytes = bytes, .text = *std::move(text)});
    }
  }
}

// Its commas and names besides.
void ShortestSearch::add_part(Choice& choice, const Part& part) {
  if (part.name != kNoName)
    choice.bytes += spelled_bytes(pool_.text_of(part.name)) + kMemberBytes - kItemBytes;
  if (nodes_[part.node].goal.kind == Kind::kValue) choice.bytes += Cost{part.n} * kItemBytes;
  choice.parts.push_back(part);
}

// Whether the leaves of a rest, besides its branches, are dead: choices in one ∨ after another are
// exponentially many, and in most schemas each ∨ has few that agree with the leaves.
bool ShortestSearch::contradicts_itself(FormulaId of, const Goal& goal) {
  if (of == kNoFormula || of == kNever) return of == kNever;
  Leaves leaves = life_.parts_of(of);
  const auto n_branches = std::erase_if(leaves, [&](FormulaId leaf) {
    return leaf == kNoFormula || pool_.at(leaf).kind == FormulaKind::kOr;
  });
  if (n_branches == 0) return false;  // the search will see
  const FormulaId alone = pool_.all_of(leaves);
  const Life life =
      goal.kind == Kind::kArray ? life_.of_array(alone) : life_.of_object(alone, goal.names);
  return life == Life::kDead;
}

void ShortestSearch::expand_rest(NodeId id) {
  const Goal goal = nodes_[id].goal;
  const auto add_rest = [&](FormulaId of) {
    if (of == kNoFormula) is_cut_ = true;
    if (of == kNever || of == kNoFormula) return;
    Goal next = goal;
    next.of = of;
    if (goal.kind == Kind::kObject) next.names = life_.ordered(of, goal.names);
    add(id, {.parts = {{.node = node_of(next)}}});
  };
  FormulaId yes = kNever, no = kNever;
  if (life_.split(goal.of, yes, no)) {
    add_rest(yes);
    add_rest(no);
    return;
  }
  Leaves leaves = life_.parts_of(goal.of);
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  if (!leaves.empty() && leaves.back() == kNoFormula) is_cut_ = true;
  if (!leaves.empty() && (leaves.front() == kNever || leaves.back() == kNoFormula)) return;
  const auto branches = std::find_if(leaves.begin(), leaves.end(), [&](FormulaId leaf) {
    return pool_.at(leaf).kind == FormulaKind::kOr;
  });
  if (branches != leaves.end()) {
    const auto its = pool_.children(pool_.at(*branches));
    for (const FormulaId branch : Leaves(its.begin(), its.end())) {
      *branches = branch;
      const FormulaId of = pool_.all_of(leaves);
      if (!contradicts_itself(of, goal)) add_rest(of);
    }
    return;
  }
  Leaves others;
  const FormulaId first = life_.children_of(leaves, others);
  Choice choice;
  if (goal.n_first > 0) {
    if (first == kNoFormula) is_cut_ = true;
    if (first == kNever || first == kNoFormula) return;
    add_part(choice, {.node = node_of({.of = first}), .n = goal.n_first});
  }
  if (goal.kind == Kind::kArray) {
    array_choices(id, std::move(choice), others);
  } else {
    object_choices(id, choice, others, goal.names);
  }
}

// As LifeSearch::demands_alone(): where leaves ask for single names and nothing else makes a member
// come, exactly these come, and each has the shortest of its values. False where that is not so.
bool ShortestSearch::members_alone(NodeId id, const Choice& begun, const Leaves& leaves,
                                   FreeNames names) {
  Leaves others, sets;
  const auto asked = life_.asked_of(leaves, others);
  if (!spend(1 + asked.size() / kPartsForStep)) return true;
  bool may_be = true;
  for (const FormulaId leaf : others) {
    const Formula f = pool_.at(leaf);
    if (f.kind == FormulaKind::kNameAll) {
      sets.push_back(leaf);
      continue;
    }
    const bool is_count =
        (f.kind == FormulaKind::kNameSome || f.kind == FormulaKind::kNameMost) && f.b == kAlways;
    if (!is_count) return false;
    const auto n = std::count_if(asked.begin(), asked.end(), [&](const auto& one) {
      return one.is_wanted && pool_.has_name(f.a, one.name);
    });
    if (f.kind == FormulaKind::kNameSome && n < static_cast<std::ptrdiff_t>(f.c)) return false;
    if (f.kind == FormulaKind::kNameMost && n > static_cast<std::ptrdiff_t>(f.c)) may_be = false;
  }
  Choice choice = begun;
  for (const auto& one : asked) {
    if (!one.is_wanted) continue;
    const std::uint32_t order =
        names.within == kNoFormula ? one.order : life_.order_within(names.within, one.name);
    const FormulaId value = life_.value_of(sets, one.name, {one.value});
    if (value == kNoFormula) is_cut_ = true;
    may_be =
        may_be && value != kNever && value != kNoFormula && life_.is_free(names, one.name, order);
    if (!may_be) return true;
    add_part(choice, {.node = node_of({.of = value}), .name = one.name});
  }
  if (may_be) add(id, std::move(choice));
  return true;
}

// As LifeSearch::object_branch().
void ShortestSearch::object_choices(NodeId id, const Choice& begun, const Leaves& leaves,
                                    FreeNames names) {
  const std::size_t at = life_.demand_of(leaves);
  if (at == leaves.size()) return add(id, begun);
  if (members_alone(id, begun, leaves, names)) return;
  const FormulaId demand = leaves[at], all = pool_.all_of(leaves);
  Leaves rest = leaves;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  const FormulaId others = pool_.all_of(rest);
  const auto add_name = [&](TextId name) {
    const FormulaId left = pool_.both(life_.taken(demand, name), pool_.behind_name(others, name));
    if (left == kNoFormula) is_cut_ = true;
    if (left == kNever || left == kNoFormula) return;
    const FreeNames behind =
        life_.ordered(left, {cells_.add(names.came, name), names.last, names.within});
    Choice choice = begun;
    add_part(choice,
             {.node = node_of({.of = left, .kind = Kind::kObject, .n_first = 1, .names = behind}),
              .name = name});
    add(id, std::move(choice));
  };
  const Formula f = pool_.at(demand);
  if (f.kind == FormulaKind::kNameSome && pool_.names(f.a).is_one()) {
    const TextId name = pool_.names(f.a).text;
    if (life_.is_free(all, names, name)) add_name(name);
    return;
  }
  // The other names are an expression of all that have come.
  std::size_t n_come = 0;
  for (CellId name = names.came; name != 0; name = cells_.before(name))
    ++n_come;
  if (!spend(1 + n_come / kPartsForStep)) return;
  std::vector<regex::ExprId> languages;
  const NameId within = f.kind == FormulaKind::kNameSome ? f.a : kAnyName;
  if (!life_.kinds(all, within, names, languages)) is_cut_ = true;
  for (const regex::ExprId language : languages) {
    if (!spend()) return;
    if (const auto name = text_of(language)) add_name(pool_.text(*name));
  }
}

// As LifeSearch::array_branch(). A demand for n items is fulfilled by n equal ones where no other
// leaf counts items.
void ShortestSearch::array_choices(NodeId id, Choice begun, const Leaves& leaves) {
  bool is_alike = true, has_most = false;
  const std::size_t at = life_.demand_of_array(leaves, is_alike, has_most);
  std::size_t n_demands = 0;
  std::uint64_t n_wanted = 0;
  std::uint32_t most = kNoEnd;
  bool is_unique = false;
  for (const FormulaId leaf : leaves) {
    const Formula& f = pool_.at(leaf);
    if (f.kind == FormulaKind::kUnique) is_unique = !f.is_negative;
    if (f.kind == FormulaKind::kUnique && f.is_negative) {
      is_cut_ = true;  // the search cannot tell items apart
      return;
    }
    if (f.kind == FormulaKind::kItemSome) n_wanted += f.d;
    if (f.kind == FormulaKind::kItemSome || (f.kind == FormulaKind::kRestItems && f.is_negative))
      ++n_demands;
    if (f.kind == FormulaKind::kItemMost) most = f.c == kAlways ? std::min(most, f.d) : 0;
  }
  if (at == leaves.size()) return add(id, std::move(begun));
  // Items that must differ cost as much as equal ones here; which they are is seen as they come.
  if (is_unique && n_wanted > 1) {
    const Life life = life_.array_branch(leaves);
    if (life == Life::kUnknown) is_cut_ = true;
    if (life != Life::kLive) return;
  }
  Goal next{.kind = Kind::kArray, .n_first = 1};
  if (!is_alike) {
    next.of = pool_.behind_item(pool_.all_of(leaves));
  } else {
    const Formula demand = pool_.at(leaves[at]);
    const bool are_equal =
        demand.kind != FormulaKind::kRestItems && n_demands == 1 && n_wanted <= most;
    if (are_equal) next.n_first = demand.d;
    next.of = life_.behind_demand(leaves, at, are_equal ? 0 : demand.d - 1);
  }
  if (next.of == kNoFormula) is_cut_ = true;
  if (next.of == kNever || next.of == kNoFormula) return;
  add_part(begun, {.node = node_of(next)});
  add(id, std::move(begun));
}

}  // namespace wick::grammar
