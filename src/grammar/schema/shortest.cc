#include "grammar/schema/shortest.h"

#include <algorithm>
#include <utility>

namespace wick::grammar {

namespace {

bool is_letter_or_digit(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

}  // namespace

void append_spelled(std::string_view text, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
}

std::optional<std::string> ShortestSearch::text_of(regex::ExprId language) {
  regex::Automaton& automaton = pool_.automaton();
  regex::ExprPool& exprs = pool_.exprs();
  const auto any = automaton.shortest(language);
  if (!any || !*any) return std::nullopt;
  if (std::all_of((*any)->begin(), (*any)->end(), is_letter_or_digit)) return **any;
  using regex::ByteSet;
  const ByteSet letters =
      ByteSet::range('0', '9') | ByteSet::range('A', 'Z') | ByteSet::range('a', 'z');
  const regex::ExprId plain = exprs.repeat(exprs.bytes(letters), 0, regex::kUnbounded);
  const regex::ExprId both = exprs.intersect({language, plain});
  std::string spelled;
  append_spelled(**any, spelled);
  if (spelled.empty() || both == regex::kNoExpr) return **any;
  const auto word = automaton.shortest(both);
  return word && *word && (*word)->size() <= spelled.size() ? **word : **any;
}

std::optional<std::string> ShortestSearch::typed_value(FormulaId typed, ValueType type) {
  if (type == kNullType) return "null";
  if (type == kFalseType) return "false";
  if (type == kTrueType) return "true";
  if (type == kArrayType || type == kObjectType) {
    const bool is_array = type == kArrayType;
    auto inner = is_array ? items(typed) : members(typed, {});
    if (!inner) return std::nullopt;
    return (is_array ? "[" : "{") + *inner + (is_array ? "]" : "}");
  }
  regex::ExprPool& exprs = pool_.exprs();
  const regex::ExprId language =
      type == kNumberType ? life_.numbers(typed)
                          : exprs.intersect({pool_.string_language(typed), exprs.any_text()});
  if (language == regex::kNoExpr) return std::nullopt;
  if (type == kNumberType) {
    const auto number = pool_.automaton().shortest(language);
    return number ? *number : std::nullopt;
  }
  const auto text = text_of(language);
  if (!text) return std::nullopt;
  std::string out = "\"";
  append_spelled(*text, out);
  return out + "\"";
}

std::optional<std::string> ShortestSearch::of_value(FormulaId of) {
  if (of == kAlways) return "0";
  if (of == kNever || of == kNoFormula || !spend()) return std::nullopt;
  if (const auto known = values_.find(of); known != values_.end()) return known->second;
  if (!open_.emplace(of, true).second) return std::nullopt;  // a shorter one is not inside itself
  ++depth_;
  std::optional<std::string> best;
  for (const ValueType type :
       {kNumberType, kStringType, kArrayType, kObjectType, kNullType, kTrueType, kFalseType}) {
    if (best && best->size() <= 2) break;
    const FormulaId typed = pool_.of_type(of, type);
    if (typed == kNever || typed == kNoFormula) continue;
    if (type <= kTrueType && typed != kAlways) continue;
    auto text = typed_value(typed, type);
    if (text && (!best || text->size() < best->size())) best = std::move(text);
  }
  --depth_;
  open_.erase(of);
  if (best) values_[of] = *best;
  return best;
}

// A declared order is that of the members, whichever demand found them.
std::string ShortestSearch::join(FormulaId of, std::vector<Member> members) {
  if (has_order_) {
    const auto order = [&](const Member& member) {
      return pool_.order_of(of, member.name) - 1U;  // those without one come last
    };
    std::stable_sort(members.begin(), members.end(),
                     [&](const Member& a, const Member& b) { return order(a) < order(b); });
  }
  std::string out;
  for (const Member& member : members) {
    if (!out.empty()) out += ',';
    out += '"';
    append_spelled(pool_.text_of(member.name), out);
    out += "\":";
    out += member.value;
  }
  return out;
}

std::optional<std::string> ShortestSearch::members(FormulaId of, FreeNames names) {
  auto rest = rest_of(of, false, names);
  if (!rest) return std::nullopt;
  return join(of, std::move(rest->members));
}

std::optional<std::string> ShortestSearch::items(FormulaId of) {
  const auto rest = rest_of(of, true, {});
  if (!rest) return std::nullopt;
  std::string out;
  for (const Member& item : rest->members) {
    if (!out.empty()) out += ',';
    out += item.value;
  }
  return out;
}

ShortestSearch::Found ShortestSearch::rest_of(FormulaId of, bool is_array, FreeNames names) {
  if (of == kAlways) return Rest{.value = "0"};
  if (!spend()) return std::nullopt;
  if (!is_array) names = life_.ordered(of, names);
  FormulaId yes = kNever, no = kNever;
  if (life_.split(of, yes, no)) {
    auto found = rest_of(yes, is_array, names);
    return found ? found : rest_of(no, is_array, names);
  }
  ++depth_;
  Found best;
  int n_choices = 0;
  static_cast<void>(life_.branches(of, [&](const Leaves& leaves) {
    Leaves others;
    const FormulaId child = life_.children_of(leaves, others);
    if (life_.of_value(child) != Life::kLive) return Life::kDead;
    const Life rest = is_array ? life_.array_branch(others) : life_.object_branch(others, names);
    if (rest != Life::kLive) return Life::kDead;
    auto value = of_value(child);
    if (!value) return Life::kDead;
    Found found = is_array ? array_branch(others) : object_branch(others, names);
    if (!found) return Life::kDead;
    found->size += value->size();
    found->value = *std::move(value);
    if (!best || found->size < best->size) best = std::move(found);
    return ++n_choices < kMaxChoices ? Life::kDead : Life::kLive;
  }));
  --depth_;
  return best;
}

// As LifeSearch::object_branch().
ShortestSearch::Found ShortestSearch::object_branch(const Leaves& leaves, FreeNames names) {
  const std::size_t at = life_.demand_of(leaves);
  if (at == leaves.size()) return Rest{};
  if (!spend()) return std::nullopt;
  const FormulaId demand = leaves[at], all = pool_.all_of(leaves);
  Leaves rest = leaves;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  const FormulaId others = pool_.all_of(rest);
  Found best;
  const auto try_name = [&](TextId name) {
    const FormulaId left = pool_.both(life_.taken(demand, name), pool_.behind_name(others, name));
    const FreeNames behind{cells_.add(names.came, name), names.last, names.within};
    if (life_.of_object(left, behind) != Life::kLive) return;
    Found found = rest_of(left, false, behind);
    if (!found) return;
    found->size += pool_.text_of(name).size() + 4;
    if (best && best->size <= found->size) return;
    found->members.insert(found->members.begin(), {name, std::move(found->value)});
    best = std::move(found);
  };
  const Formula f = pool_.at(demand);
  if (f.kind == FormulaKind::kNameSome && pool_.names(f.a).is_one()) {
    const TextId name = pool_.names(f.a).text;
    if (life_.is_free(all, names, name)) try_name(name);
    return best;
  }
  std::vector<regex::ExprId> languages;
  const NameId within = f.kind == FormulaKind::kNameSome ? f.a : kAnyName;
  if (!life_.kinds(all, within, names, languages)) return std::nullopt;
  int n_found = 0;
  for (const regex::ExprId language : languages) {
    const auto name = text_of(language);
    if (!name) continue;
    try_name(pool_.text(*name));
    if (best && ++n_found >= kMaxChoices) break;
  }
  return best;
}

// As LifeSearch::array_branch().
ShortestSearch::Found ShortestSearch::array_branch(const Leaves& leaves) {
  bool is_alike = true, has_most = false;
  const std::size_t at = life_.demand_of_array(leaves, is_alike, has_most);
  if (at == leaves.size()) return Rest{};
  if (!spend()) return std::nullopt;
  if (is_alike) return array_demand(leaves, at, has_most);
  Found found = rest_of(pool_.behind_item(pool_.all_of(leaves)), true, {});
  if (!found) return found;
  found->members.insert(found->members.begin(), {0, std::move(found->value)});
  found->size += 1;
  return found;
}

ShortestSearch::Found ShortestSearch::array_demand(const Leaves& leaves, std::size_t at,
                                                   bool has_most) {
  const Formula demand = pool_.at(leaves[at]);
  Leaves rest = leaves;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  FormulaId taken = kNoFormula;
  std::uint32_t n = 1;  // equal items
  if (demand.kind == FormulaKind::kRestItems) {
    taken = pool_.broken_by_item(leaves[at]);
  } else {
    const std::uint32_t less = has_most ? demand.d - 1 : 0;
    n = demand.d - less;
    taken = pool_.both(pool_.child(demand.c),
                       less == 0 ? kAlways : pool_.some_items(0, kNoEnd, demand.c, less));
  }
  Found found = rest_of(pool_.both(taken, pool_.behind_item(pool_.all_of(rest))), true, {});
  if (!found) return found;
  const std::size_t bytes = n * (found->value.size() + 1);
  if (bytes > kMaxText) return std::nullopt;
  found->size += bytes;
  found->members.insert(found->members.begin(), n, {0, found->value});
  return found;
}

}  // namespace wick::grammar
