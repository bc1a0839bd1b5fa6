#include "grammar/schema/formula.h"

#include <algorithm>
#include <utility>

#include "base/mix.h"
#include "base/strings.h"
#include "grammar/limits.h"

namespace wick::grammar {
namespace {

bool same(const Formula& x, const Formula& y) noexcept {
  return x.kind == y.kind && x.is_negative == y.is_negative && x.a == y.a && x.b == y.b &&
         x.c == y.c && x.d == y.d && x.n == y.n;
}

// Room for `n` more. Large ones grow by an eighth: half of the memory of a schema with its states
// is here. Small ones grow by half: moving them would take a good part of the time of compiling.
template <class T>
void make_room(std::vector<T>& in, std::size_t n) {
  constexpr std::size_t kFew = 256, kSmall = 4096;
  if (in.capacity() - in.size() >= n) return;
  const std::size_t more = in.size() < kSmall ? in.size() / 2 : in.size() / 8;
  in.reserve(in.size() + std::max({n, more, kFew}));
}

}  // namespace

FormulaPool::FormulaPool(std::shared_ptr<const regex::ExprPool> exprs)
    : automaton_(exprs == nullptr ? regex::ExprPool() : regex::ExprPool(std::move(exprs))) {
  table_.resize(1024);
  add({.kind = FormulaKind::kNothing});
  add({.kind = FormulaKind::kAnything});
  name_sets_.push_back({});
  add_rule({.kind = NumberRule::Kind::kInteger, .may_end_in_zeros = false});
  add_rule({.kind = NumberRule::Kind::kInteger, .may_end_in_zeros = true});
  text("");
}

std::uint64_t FormulaPool::hash_of(const Formula& f,
                                   std::span<const std::uint32_t> children) const noexcept {
  std::uint64_t h =
      mix_hash(static_cast<std::uint64_t>(f.kind) * 2U + (f.is_negative ? 1U : 0U), f.a);
  h = mix_hash(mix_hash(mix_hash(h, f.b), f.c), f.d);
  for (const std::uint32_t child : children)
    h = mix_hash(h, child);
  return h;
}

void FormulaPool::grow_table() {
  std::vector<std::uint32_t> old(table_.size() * 2);
  table_.swap(old);
  for (const std::uint32_t entry : old) {
    if (entry == 0) continue;
    const Formula& f = formulas_[entry - 1];
    std::size_t at = hash_of(f, children(f)) & (table_.size() - 1);
    while (table_[at] != 0)
      at = (at + 1) & (table_.size() - 1);
    table_[at] = entry;
  }
}

std::size_t FormulaPool::used_bytes() const noexcept {
  constexpr std::size_t kMapEntry = 48;
  return formulas_.size() * sizeof(Formula) + (children_.size() + table_.size()) * 4 + text_bytes_ +
         texts_.used_bytes() + kHashEntryBytes * typed_.size() +
         kMapEntry * (languages_.size() + has_name_.size());
}

ValueType type_of_leaf(FormulaKind kind) noexcept {
  switch (kind) {
    case FormulaKind::kString:
      return kStringType;
    case FormulaKind::kNumber:
      return kNumberType;
    case FormulaKind::kNameAll:
    case FormulaKind::kNameSome:
    case FormulaKind::kNameMost:
    case FormulaKind::kRestNames:
      return kObjectType;
    case FormulaKind::kItemAll:
    case FormulaKind::kItemSome:
    case FormulaKind::kItemMost:
    case FormulaKind::kUnique:
    case FormulaKind::kRestItems:
      return kArrayType;
    default:
      return kAllTypes;
  }
}

void FormulaPool::find_facts(Formula& f, std::span<const std::uint32_t> its) const noexcept {
  const bool is_rest_names = f.kind == FormulaKind::kRestNames;
  const bool is_rest = is_rest_names || f.kind == FormulaKind::kRestItems;
  const bool is_list = f.kind == FormulaKind::kAnd || f.kind == FormulaKind::kOr;
  const bool is_free = f.kind == FormulaKind::kTypes || f.kind == FormulaKind::kSchema;
  f.typed = is_free ? 0 : type_of_leaf(f.kind);
  const bool is_none = f.kind == FormulaKind::kNothing || f.kind == FormulaKind::kOr;
  f.types = is_none ? std::uint8_t{0} : static_cast<std::uint8_t>(type_of_leaf(f.kind));
  if (f.kind == FormulaKind::kTypes) f.types = static_cast<std::uint8_t>(f.a);
  f.may_end = f.kind == FormulaKind::kAnd || !(f.is_negative || f.kind == FormulaKind::kOr);
  unsigned depth = 0;
  const auto look = [&](FormulaId within) {
    if (within < formulas_.size()) depth = std::max(depth, formulas_[within].depth + 1U);
  };
  // A kRestNames asks its first child of members, a kRestItems each third one of items.
  const std::size_t step = is_list ? 1 : is_rest_names ? 2 : 4;
  for (std::size_t i = is_list ? 0 : step; (is_list || is_rest) && i < its.size(); i += step) {
    const Formula& part = formulas_[its[i]];
    f.parts |= part.parts;
    f.typed &= part.typed;
    f.names |= part.names;
    if (f.kind == FormulaKind::kAnd) {
      f.may_end = f.may_end && part.may_end;
      f.types &= part.types;
    } else if (f.kind == FormulaKind::kOr) {
      f.may_end = f.may_end || part.may_end;
      f.types |= part.types;
    }
    look(its[i]);
  }
  if (is_rest) look(its[0]);
  for (std::size_t i = 3; f.kind == FormulaKind::kRestItems && i < its.size(); i += 4)
    look(its[i]);
  if (is_rest) f.parts |= Formula::kRestPart;
  if (f.kind == FormulaKind::kSchema) f.parts |= Formula::kSchemaPart;
  if (f.kind == FormulaKind::kNameSome) f.parts |= Formula::kNamePart;
  // Something must come; others, but for what is unevaluated or equal, have no negative form.
  if (f.kind == FormulaKind::kNothing || f.kind == FormulaKind::kNameSome ||
      f.kind == FormulaKind::kItemSome || f.kind == FormulaKind::kChild)
    f.may_end = false;
  if (type_of_leaf(f.kind) == kArrayType) f.parts |= Formula::kItemPart;
  switch (f.kind) {
    case FormulaKind::kNameAll:
    case FormulaKind::kNameSome:
    case FormulaKind::kNameMost:
      f.names = name_sets_[f.a].is_one() ? name_bit(name_sets_[f.a].text) : ~std::uint64_t{0};
      look(f.b);
      break;
    case FormulaKind::kRestNames:
      f.names = ~std::uint64_t{0};
      break;
    case FormulaKind::kItemAll:
    case FormulaKind::kItemSome:
    case FormulaKind::kItemMost:
      look(f.c);
      break;
    case FormulaKind::kUnique:
      f.parts |= Formula::kUniquePart;
      look(f.c);
      break;
    case FormulaKind::kChild:
      f.parts |= Formula::kChildPart;
      look(f.a);
      break;
    default:
      break;
  }
  f.depth = static_cast<std::uint16_t>(std::min(depth, unsigned{kMaxFormulaDepth} + 1));
}

FormulaId FormulaPool::add(Formula f, std::span<const std::uint32_t> children) {
  f.n = static_cast<std::uint32_t>(children.size());
  std::size_t at = hash_of(f, children) & (table_.size() - 1);
  for (; table_[at] != 0; at = (at + 1) & (table_.size() - 1)) {
    const Formula& known = formulas_[table_[at] - 1];
    if (same(known, f) &&
        std::equal(children.begin(), children.end(), children_.begin() + known.first))
      return table_[at] - 1;
  }
  if (has_failed()) return kNoFormula;
  find_facts(f, children);
  if (used_bytes() + children.size() * 4 > kMaxFormulaBytes) failure_ = Failure::kMemory;
  if (f.depth > kMaxFormulaDepth) failure_ = Failure::kDepth;
  if (has_failed()) return kNoFormula;
  f.first = static_cast<std::uint32_t>(children_.size());
  make_room(children_, children.size());
  children_.insert(children_.end(), children.begin(), children.end());
  make_room(formulas_, 1);
  formulas_.push_back(f);
  const auto id = static_cast<FormulaId>(formulas_.size() - 1);
  table_[at] = id + 1;
  if (formulas_.size() * 2 > table_.size()) grow_table();
  return id;
}

Error FormulaPool::failure() const {
  const auto refused = [](const char* id, std::string what, const char* hint) {
    return Error{ErrorCode::kUnsupported, id, std::move(what), hint};
  };
  switch (failure_ != Failure::kNone ? failure_ : spent_) {
    case Failure::kMemory:
      return refused(
          "schema_memory",
          cat("the schema needs more than ", kMaxFormulaBytes >> 20U, " MiB of obligations"),
          "Split it, or ask for less at once.");
    case Failure::kDepth:
      return refused("schema_memory",
                     cat("the schema's obligations are more than ", kMaxFormulaDepth,
                         " deep within each other"),
                     "Use fewer schemas that only refer to others.");
    case Failure::kFuel:
      return refused("schema_fuel",
                     "the schema asks too much of the document: it takes too many steps",
                     "Split it, or ask for less at once.");
    case Failure::kRegex:
    case Failure::kNone:
      break;
  }
  return automaton_.pool().failure();
}

FormulaId FormulaPool::types(unsigned bits) {
  if (bits == 0) return kNever;
  if (bits == kAllTypes) return kAlways;
  FormulaId& known = types_[bits];
  if (known == 0) {
    const FormulaId made = add({.kind = FormulaKind::kTypes, .a = bits});
    if (made == kNoFormula) return made;
    known = made;
  }
  return known;
}

FormulaId FormulaPool::string_in(regex::ExprId language) {
  if (language == regex::kNoExpr) {
    spent_ = Failure::kRegex;
    return kNoFormula;
  }
  if (language == regex::kEmptySet) return kNever;
  if (language == regex::kEverything) return types(kStringType);
  return add({.kind = FormulaKind::kString, .a = language});
}

FormulaId FormulaPool::number(std::uint32_t rule, bool is_negative) {
  return add({.kind = FormulaKind::kNumber, .is_negative = is_negative, .a = rule});
}

FormulaId FormulaPool::all_named(NameId names, FormulaId of, std::uint32_t order) {
  if (of == kNoFormula || names == kNoFormula) return kNoFormula;
  if (of == kAlways && order == 0) return types(kObjectType);
  return add({.kind = FormulaKind::kNameAll, .a = names, .b = of, .c = order});
}

FormulaId FormulaPool::some_named(NameId names, FormulaId of, std::uint32_t at_least) {
  if (of == kNoFormula || names == kNoFormula) return kNoFormula;
  if (at_least == 0) return types(kObjectType);
  if (of == kNever || (at_least > 1 && name_sets_[names].is_one())) return kNever;
  return add({.kind = FormulaKind::kNameSome, .a = names, .b = of, .c = at_least});
}

FormulaId FormulaPool::most_named(NameId names, FormulaId of, std::uint32_t at_most) {
  if (of == kNoFormula || names == kNoFormula) return kNoFormula;
  if (at_most == 0) return all_named(names, negate(of), 0);
  if (of == kNever || name_sets_[names].is_one()) return types(kObjectType);
  return add({.kind = FormulaKind::kNameMost, .a = names, .b = of, .c = at_most});
}

FormulaId FormulaPool::all_items(std::uint32_t from, std::uint32_t to, FormulaId of) {
  if (of == kNoFormula) return kNoFormula;
  if (of == kAlways || from >= to) return types(kArrayType);
  return add({.kind = FormulaKind::kItemAll, .a = from, .b = to, .c = of});
}

FormulaId FormulaPool::some_items(std::uint32_t from, std::uint32_t to, FormulaId of,
                                  std::uint32_t at_least) {
  if (of == kNoFormula) return kNoFormula;
  if (at_least == 0) return types(kArrayType);
  if (of == kNever || from >= to || (to != kNoEnd && at_least > to - from)) return kNever;
  return add({.kind = FormulaKind::kItemSome, .a = from, .b = to, .c = of, .d = at_least});
}

FormulaId FormulaPool::most_items(std::uint32_t from, std::uint32_t to, FormulaId of,
                                  std::uint32_t at_most) {
  if (of == kNoFormula) return kNoFormula;
  if (of == kNever || from >= to || (to != kNoEnd && at_most >= to - from))
    return types(kArrayType);
  if (at_most == 0) return all_items(from, to, negate(of));
  return add({.kind = FormulaKind::kItemMost, .a = from, .b = to, .c = of, .d = at_most});
}

FormulaId FormulaPool::unique(bool is_negative, FormulaId of) {
  if (of == kNoFormula) return kNoFormula;
  return add({.kind = FormulaKind::kUnique, .is_negative = is_negative, .c = of});
}

FormulaId FormulaPool::one_number(std::string_view text) {
  const auto [known, is_new] = numbers_.try_emplace(this->text(text), kNoFormula);
  if (!is_new) return known->second;
  NumberRule rule{.kind = NumberRule::Kind::kOneOf};
  rule.values.push_back(*parse_decimal(text));
  rule.texts.emplace_back(text);
  return known->second = number(add_rule(std::move(rule)), false);
}

FormulaId FormulaPool::one_object(std::span<const TextId> names,
                                  std::span<const FormulaId> values) {
  std::vector<FormulaId> out = {types(kObjectType)};
  for (std::size_t i = 0; i < names.size(); ++i)
    out.push_back(some_named(one_name(names[i]), values[i], 1));
  out.push_back(all_named(all_names_but({names.begin(), names.end()}), kNever, 0));
  return all_of(out);
}

FormulaId FormulaPool::one_array(std::span<const FormulaId> values) {
  const auto n = static_cast<std::uint32_t>(values.size());
  std::vector<FormulaId> out = {types(kArrayType), some_items(0, kNoEnd, kAlways, n),
                                most_items(0, kNoEnd, kAlways, n)};
  for (std::uint32_t i = 0; i < n; ++i)
    out.push_back(all_items(i, i + 1, values[i]));
  return all_of(out);
}

FormulaId FormulaPool::rest(FormulaKind kind, bool is_negative,
                            std::span<const std::uint32_t> children) {
  const std::vector<std::uint32_t> copy(children.begin(), children.end());
  // Of a kRestItems four follow the first each, two of which are positions, of which kNoEnd is one.
  const bool is_names = kind == FormulaKind::kRestNames;
  for (std::size_t i = 0; i < copy.size(); ++i) {
    const bool is_position = !is_names && i % 4 != 0 && i % 4 != 3;
    if (!is_position && copy[i] == kNoFormula) return kNoFormula;
  }
  if (copy[0] == kAlways && !is_negative)
    return types(kind == FormulaKind::kRestNames ? kObjectType : kArrayType);
  return add({.kind = kind, .is_negative = is_negative}, copy);
}

FormulaId FormulaPool::schema(std::uint32_t id, bool is_negative) {
  return add({.kind = FormulaKind::kSchema, .is_negative = is_negative, .a = id});
}

FormulaId FormulaPool::child(FormulaId of) {
  if (of == kAlways || of == kNever || of == kNoFormula) return of;
  if (const Formula f = at(of); f.kind == FormulaKind::kSchema && f.a < same_schemas_.size())
    of = schema(same_schemas_[f.a], f.is_negative);
  return add({.kind = FormulaKind::kChild, .a = of});
}

FormulaId FormulaPool::both(FormulaId a, FormulaId b) {
  const FormulaId parts[] = {a, b};
  return all_of(parts);
}

FormulaId FormulaPool::either(FormulaId a, FormulaId b) {
  const FormulaId parts[] = {a, b};
  return any_of(parts);
}

// Parts of the same kind are taken apart while the list stays short; false: one part decides.
bool FormulaPool::flatten(FormulaKind kind, std::span<const FormulaId> parts,
                          std::vector<FormulaId>& out) {
  const bool is_and = kind == FormulaKind::kAnd;
  for (const FormulaId part : parts) {
    if (part == (is_and ? kAlways : kNever)) continue;
    if (part == (is_and ? kNever : kAlways)) return false;
    if (part != kNoFormula && formulas_[part].kind == kind && formulas_[part].n < 64) {
      const auto its = children(formulas_[part]);
      out.insert(out.end(), its.begin(), its.end());
    } else {
      out.push_back(part);
    }
  }
  return true;
}

FormulaId FormulaPool::many(FormulaKind kind, std::span<const FormulaId> parts) {
  if (parts.size() == 1) return parts[0];
  std::vector<FormulaId> flat = std::move(flat_);
  flat.clear();
  FormulaId out = kind == FormulaKind::kAnd ? kNever : kAlways;
  if (flatten(kind, parts, flat)) out = joined(kind, flat);
  flat_ = std::move(flat);
  return out;
}

FormulaId FormulaPool::joined(FormulaKind kind, std::vector<FormulaId>& flat) {
  const bool is_and = kind == FormulaKind::kAnd;
  if (!spend(1 + flat.size() / kPartsForStep)) return kNoFormula;
  std::sort(flat.begin(), flat.end());
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (!flat.empty() && flat.back() == kNoFormula) return kNoFormula;
  unsigned bits = is_and ? unsigned{kAllTypes} : 0U;
  std::size_t n_types = 0;
  for (const FormulaId part : flat) {
    const Formula& f = formulas_[part];
    if (f.kind == FormulaKind::kTypes) {
      bits = is_and ? bits & f.a : bits | f.a;
      ++n_types;
    }
    if (f.opposite != kNoFormula && f.opposite > part &&
        std::binary_search(flat.begin(), flat.end(), f.opposite))
      return is_and ? kNever : kAlways;
  }
  if (n_types > 1) {
    std::erase_if(flat, [&](FormulaId id) { return formulas_[id].kind == FormulaKind::kTypes; });
    const FormulaId all = types(bits);
    if (all == (is_and ? kNever : kAlways)) return all;
    if (all != (is_and ? kAlways : kNever)) flat.push_back(all);
    std::sort(flat.begin(), flat.end());
    return joined(kind, flat);
  }
  if (flat.empty()) return is_and ? kAlways : kNever;
  if (flat.size() == 1) return flat[0];
  return add({.kind = kind}, flat);
}

FormulaId FormulaPool::negate(FormulaId of) {
  if (of == kNoFormula) return kNoFormula;
  if (of <= kAlways) return of == kAlways ? kNever : kAlways;
  const Formula f = formulas_[of];
  if (f.opposite != kNoFormula) return f.opposite;
  const auto its = children(f);
  const std::vector<std::uint32_t> copy(its.begin(), its.end());
  const FormulaId out = negated(f, copy);
  if (out != kNoFormula) {
    formulas_[of].opposite = out;
    if (formulas_[out].opposite == kNoFormula) formulas_[out].opposite = of;
  }
  return out;
}

FormulaId FormulaPool::negated(const Formula& f, std::span<const std::uint32_t> its) {
  std::vector<std::uint32_t> duals(its.begin(), its.end());
  switch (f.kind) {
    case FormulaKind::kAnd:
    case FormulaKind::kOr:
      for (std::uint32_t& part : duals)
        part = negate(part);
      return many(f.kind == FormulaKind::kAnd ? FormulaKind::kOr : FormulaKind::kAnd, duals);
    case FormulaKind::kTypes:
      return types(kAllTypes & ~f.a);
    case FormulaKind::kString:
      return if_type(kStringType, string_in(exprs().complement(f.a)));
    case FormulaKind::kNumber:
      return if_type(kNumberType, number(f.a, !f.is_negative));
    case FormulaKind::kNameAll:
      return if_type(kObjectType, some_named(f.a, negate(f.b), 1));
    case FormulaKind::kNameSome:
      return if_type(kObjectType, most_named(f.a, f.b, f.c - 1));
    case FormulaKind::kNameMost:
      return if_type(kObjectType, some_named(f.a, f.b, f.c + 1));
    case FormulaKind::kItemAll:
      return if_type(kArrayType, some_items(f.a, f.b, negate(f.c), 1));
    case FormulaKind::kItemSome:
      return if_type(kArrayType, most_items(f.a, f.b, f.c, f.d - 1));
    case FormulaKind::kItemMost:
      return if_type(kArrayType, some_items(f.a, f.b, f.c, f.d + 1));
    case FormulaKind::kUnique:
      return if_type(kArrayType, unique(!f.is_negative, f.c));
    case FormulaKind::kRestNames:
      return if_type(kObjectType, rest(f.kind, !f.is_negative, its));
    case FormulaKind::kRestItems:
      return if_type(kArrayType, rest(f.kind, !f.is_negative, its));
    case FormulaKind::kSchema:
      return schema(f.a, !f.is_negative);
    case FormulaKind::kChild:
      return child(negate(f.a));
    case FormulaKind::kNothing:
    case FormulaKind::kAnything:
      break;
  }
  return kNoFormula;
}

std::uint32_t FormulaPool::add_rule(NumberRule rule) {
  std::string key = cat(static_cast<unsigned>(rule.kind), rule.may_end_in_zeros ? "z" : "",
                        rule.divisor.value, "e", rule.divisor.scale);
  for (const std::string& text : rule.texts)
    key.append(" ").append(text);
  const auto [known, is_new] =
      rule_ids_.try_emplace(std::move(key), static_cast<std::uint32_t>(rules_.size()));
  if (is_new) rules_.push_back(std::move(rule));
  return known->second;
}

TextId FormulaPool::text(std::string_view text) {
  const std::size_t n = texts_.size();
  const TextId id = texts_.of(text);
  if (texts_.size() > n && used_bytes() > kMaxFormulaBytes) failure_ = Failure::kMemory;
  return id;
}

NameId FormulaPool::one_name(TextId text) {
  if (text >= one_names_.size()) one_names_.resize(texts_.size(), kAnyName);
  NameId& known = one_names_[text];
  if (known == kAnyName) {
    known = static_cast<NameId>(name_sets_.size());
    name_sets_.push_back({.kind = NameSet::Kind::kOne, .text = text, .expr = regex::kNoExpr});
  }
  return known;
}

NameId FormulaPool::all_names_but(std::vector<TextId> names) {
  if (names.empty()) return kAnyName;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto [known, is_new] =
      but_ids_.try_emplace(std::move(names), static_cast<NameId>(name_sets_.size()));
  if (is_new) {
    text_bytes_ += 2 * known->first.size() * sizeof(TextId);
    name_sets_.push_back(
        {.kind = NameSet::Kind::kAllBut, .but = known->first, .expr = regex::kNoExpr});
  }
  return known->second;
}

regex::ExprId FormulaPool::name_expr(NameId id) {
  NameSet& set = name_sets_[id];
  if (set.expr != regex::kNoExpr) return set.expr;
  if (set.kind == NameSet::Kind::kOne) return set.expr = exprs().literal(text_of(set.text));
  std::vector<std::string_view> names;
  for (const TextId name : set.but)
    names.push_back(text_of(name));
  return set.expr = exprs().complement(exprs().literals(names));
}

NameId FormulaPool::names_in(regex::ExprId language) {
  if (language == regex::kNoExpr) return kNoFormula;
  if (language == regex::kEverything) return kAnyName;
  const auto [known, is_new] =
      name_ids_.try_emplace(language, static_cast<NameId>(name_sets_.size()));
  if (is_new) name_sets_.push_back({.expr = language});
  return known->second;
}

NameId FormulaPool::new_names() {
  name_sets_.push_back({});
  return static_cast<NameId>(name_sets_.size() - 1);
}

bool FormulaPool::has_name(NameId names, TextId text) {
  const NameSet& set = name_sets_[names];
  if (set.is_one()) return set.text == text;
  if (set.kind == NameSet::Kind::kAllBut)
    return !std::binary_search(set.but.begin(), set.but.end(), text);
  if (names == kAnyName) return true;
  const std::uint64_t key = (std::uint64_t{names} << 32U) | text;
  if (const auto known = has_name_.find(key); known != has_name_.end()) return known->second;
  if (!spend(1 + text_of(text).size() / kPartsForStep)) return false;
  const auto answer = automaton_.matches(set.expr, text_of(text));
  if (!answer) {
    spent_ = Failure::kRegex;
    return false;
  }
  return has_name_[key] = *answer;
}

void FormulaPool::set_schema(std::uint32_t id, FormulaId formula) {
  if (id >= schemas_.size()) schemas_.resize(id + 1, kNoFormula);
  schemas_[id] = formula;
}

void FormulaPool::find_equal_schemas() {
  same_schemas_.resize(schemas_.size());
  FlatHashMap firsts;
  for (std::uint32_t id = 0; id < schemas_.size(); ++id) {
    const std::uint32_t first = firsts.find(schemas_[id]);
    if (first == FlatHashMap::kNone) firsts.add(schemas_[id], id);
    same_schemas_[id] = first == FlatHashMap::kNone ? id : first;
  }
}

}  // namespace wick::grammar
