// Whether a value may fit two schemas. oneOf with schemas that exclude each other is a plain anyOf,
// without the negation of each in all others. What is found out stands in the schemas themselves:
// types, const and enum, required members, closed objects, `not` of strings and of a member's
// strings; through $ref, allOf, anyOf and oneOf. Beside a oneOf, what stands around it counts, too.
#include <algorithm>

#include "grammar/limits.h"
#include "grammar/schema/compiler_impl.h"

namespace wick::grammar {
namespace {

constexpr int kMaxFactsDepth = 16;   // of $ref and allOf
constexpr int kMaxOverlapDepth = 3;  // of members within members

unsigned type_bits(const Json& name) {
  if (name.text == "null") return kNullType;
  if (name.text == "boolean") return kFalseType | kTrueType;
  if (name.text == "number" || name.text == "integer") return kNumberType;
  if (name.text == "string") return kStringType;
  if (name.text == "array") return kArrayType;
  if (name.text == "object") return kObjectType;
  return kAllTypes;
}

unsigned bits_of(const Json& value) {
  switch (value.kind) {
    case Json::Kind::kNull:
      return kNullType;
    case Json::Kind::kFalse:
      return kFalseType;
    case Json::Kind::kTrue:
      return kTrueType;
    case Json::Kind::kNumber:
      return kNumberType;
    case Json::Kind::kString:
      return kStringType;
    case Json::Kind::kArray:
      return kArrayType;
    case Json::Kind::kObject:
      break;
  }
  return kObjectType;
}

bool share_one(std::span<const std::string_view> a, std::span<const std::string_view> b) {
  auto x = a.begin();
  for (auto y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y) return true;
    if (*x < *y) {
      ++x;
    } else {
      ++y;
    }
  }
  return false;
}

// No other keyword than `keys`, besides those that ask nothing.
bool has_only(const Json& node, std::initializer_list<std::string_view> keys) {
  return node.is(Json::Kind::kObject) &&
         std::all_of(node.keys.begin(), node.keys.end(), [&](std::string_view key) {
           return key == "title" || key == "description" || key == "$comment" ||
                  std::find(keys.begin(), keys.end(), key) != keys.end();
         });
}

}  // namespace

void Compiler::add_values(Facts& facts, std::span<const Json* const> values) const {
  unsigned bits = 0;
  std::vector<std::string_view> strings;
  for (const Json* const value : values) {
    bits |= bits_of(*value);
    if (value->is(Json::Kind::kString)) strings.push_back(value->text);
  }
  facts.types &= bits;
  std::sort(strings.begin(), strings.end());
  if (!facts.strings) {
    facts.strings = std::move(strings);
    return;
  }
  std::vector<std::string_view> common;
  std::set_intersection(facts.strings->begin(), facts.strings->end(), strings.begin(),
                        strings.end(), std::back_inserter(common));
  facts.strings = std::move(common);
}

// What `schema` asks of a value, as far as it is plain to see.
void Compiler::add_facts(Facts& facts, const Schema& schema, int depth) {
  const Json& node = schema.node();
  if (node.is(Json::Kind::kFalse)) facts.types = 0;
  if (!node.is(Json::Kind::kObject) || depth > kMaxFactsDepth) return;
  if (const auto target = referred(schema, "$ref"); target && *target) {
    add_facts(facts, **target, depth + 1);
    if (draft_of(schema) <= Draft::k7) return;
  }
  const Resource& resource = resource_of(schema);
  if (!resource.has_applicators || !resource.has_validation) return;
  if (const Json* const all = node.find("allOf")) {
    for (const Json& item : all->items)
      add_facts(facts, within(schema, item), depth + 1);
  }
  for (const std::string_view key : {"anyOf", "oneOf"}) {
    const Json* const choices = node.find(key);
    if (choices == nullptr || !choices->is(Json::Kind::kArray)) continue;
    facts.choices.emplace_back();
    for (const Json& item : choices->items)
      facts.choices.back().push_back(within(schema, item));
  }
  if (const Json* const type = node.find("type")) {
    unsigned bits = type->is(Json::Kind::kArray) ? 0U : type_bits(*type);
    for (const Json& name : type->items)
      bits |= type_bits(name);
    facts.types &= bits;
  }
  if (const Json* const value = node.find("const")) add_values(facts, std::span(&value, 1));
  if (const Json* const values = node.find("enum")) {
    std::vector<const Json*> all;
    for (const Json& value : values->items)
      all.push_back(&value);
    add_values(facts, all);
  }
  facts.together.push_back(schema);
}

void Compiler::add_members(Facts& facts) {
  if (facts.has_members) return;
  facts.has_members = true;
  for (const Schema& schema : facts.together) {
    const Json& node = schema.node();
    if (const Json* const names = node.find("required")) {
      for (const Json& name : names->items)
        facts.required.insert(name.text);
    }
    const Json* const members = node.find("properties");
    for (std::size_t i = 0; members != nullptr && i < members->keys.size(); ++i)
      facts.members[members->keys[i]].push_back(within(schema, members->items[i]));
    const Json* const others = node.find("additionalProperties");
    if (others != nullptr && others->is(Json::Kind::kFalse)) facts.closed.push_back(schema);
    if (const Json* const found = node.find("not")) facts.refused.push_back(within(schema, *found));
  }
}

// Whether an object of `closed` cannot have the member `name`; false where a pattern cannot be
// read.
bool Compiler::forbids(const Schema& closed, std::string_view name) {
  const Json* const members = closed.node().find("properties");
  if (members != nullptr && members->find(name) != nullptr) return false;
  const Json* const patterns = closed.node().find("patternProperties");
  for (std::size_t i = 0; patterns != nullptr && i < patterns->keys.size(); ++i) {
    const auto names = pattern({closed, draft_of(closed)}, "patternProperties", patterns->keys[i]);
    if (!names) return false;
    pool_->exprs().refuel(kSchemaFuel);
    const auto has = pool_->automaton().matches(*names, name);
    if (!has || *has) return false;
  }
  return true;
}

// Whether all `strings` fit `schema`, which says no more than a type and which values it allows.
bool Compiler::surely_fit(std::span<const std::string_view> strings, const Schema& schema) {
  const Resource& resource = resource_of(schema);
  if (!resource.has_applicators || !resource.has_validation) return false;
  if (!has_only(schema.node(), {"type", "const", "enum"})) return false;
  const Facts& its = facts_of(schema);
  if ((its.types & kStringType) == 0) return false;
  return !its.strings ||
         std::includes(its.strings->begin(), its.strings->end(), strings.begin(), strings.end());
}

// Whether `of` allows no string of `strings`, each of which fits something that it must not.
bool Compiler::refuses(const Facts& of, std::span<const std::string_view> strings) {
  return std::any_of(of.together.begin(), of.together.end(), [&](const Schema& schema) {
    const Json* const found = schema.node().find("not");
    return found != nullptr && surely_fit(strings, within(schema, *found));
  });
}

// Whether each object with these facts fits `schema`, which says no more than that members are
// required and which strings they may be: "not a `type` of these" in a oneOf by `type`.
bool Compiler::surely_fits(const Facts& facts, const Schema& schema) {
  const Json& node = schema.node();
  const Resource& resource = resource_of(schema);
  if (!resource.has_applicators || !resource.has_validation) return false;
  if (!has_only(node, {"properties", "required"})) return false;
  const Json* const required = node.find("required");
  for (std::size_t i = 0; required != nullptr && i < required->items.size(); ++i)
    if (!facts.required.contains(required->items[i].text)) return false;
  const Json* const members = node.find("properties");
  for (std::size_t i = 0; members != nullptr && i < members->keys.size(); ++i) {
    const Json& member = members->items[i];
    const auto its = facts.members.find(members->keys[i]);
    if (its == facts.members.end()) return false;
    const auto fits = [&](const Schema& one) {
      const Facts& value = facts_of(one);
      return value.types == kStringType && value.strings &&
             surely_fit(*value.strings, within(schema, member));
    };
    if (std::none_of(its->second.begin(), its->second.end(), fits)) return false;
  }
  return true;
}

Compiler::Facts& Compiler::facts_of(const Schema& schema) {
  const auto [known, is_new] =
      facts_.try_emplace({schema.at.node, schema.at.resource, schema.scope});
  if (is_new) add_facts(known->second, schema, 0);
  return known->second;
}

// Whether no object fits both.
bool Compiler::excludes(const Facts& has, const Facts& other, const Facts* around, int depth) {
  const auto differ = [&](std::string_view name) {
    for (const Schema& closed : other.closed) {
      if (forbids(closed, name)) return true;
    }
    const auto its = has.members.find(name), others = other.members.find(name);
    if (its == has.members.end() || others == other.members.end()) return false;
    for (const Schema& one : its->second) {
      for (const Schema& two : others->second) {
        if (overlap(one, two, nullptr, depth + 1) == 0) return true;
      }
    }
    return false;
  };
  return std::any_of(has.required.begin(), has.required.end(), differ) ||
         (around != nullptr &&
          std::any_of(around->required.begin(), around->required.end(), differ)) ||
         std::any_of(has.refused.begin(), has.refused.end(),
                     [&](const Schema& schema) { return surely_fits(other, schema); });
}

// The types of which a value may fit both. `around`: what else is asked of it.
unsigned Compiler::overlap(const Schema& x, const Schema& y, const Facts* around, int depth) {
  if (depth > kMaxOverlapDepth || n_overlaps_ >= kMaxOverlaps) return kAllTypes;
  ++n_overlaps_;
  Facts& a = facts_of(x);
  Facts& b = facts_of(y);
  unsigned bits = a.types & b.types & (around == nullptr ? unsigned{kAllTypes} : around->types);
  const bool has_common_string =
      !(a.strings && b.strings && !share_one(*a.strings, *b.strings)) &&
      !(a.strings && refuses(b, *a.strings)) && !(b.strings && refuses(a, *b.strings));
  if (!has_common_string) bits &= ~unsigned{kStringType};
  if ((bits & kObjectType) == 0) return bits;
  // A value that fits both fits one of the choices. Those of `y` come when `x` has none.
  const bool is_first = !a.choices.empty();
  for (const std::vector<Schema>& choices : is_first ? a.choices : b.choices) {
    unsigned any = 0;
    for (const Schema& choice : choices) {
      any |=
          is_first ? overlap(choice, y, around, depth + 1) : overlap(x, choice, around, depth + 1);
      if ((any & bits) == bits) break;
    }
    bits &= any;
  }
  if ((bits & kObjectType) == 0) return bits;
  add_members(a);
  add_members(b);
  return excludes(a, b, around, depth) || excludes(b, a, around, depth)
             ? bits & ~unsigned{kObjectType}
             : bits;
}

// `parts` are the formulas of `schemas`, which stand in the oneOf of `holder`.
FormulaId Compiler::exactly_one_of(const Schema& holder, std::span<const Schema> schemas,
                                   std::span<const FormulaId> parts) {
  const std::size_t n = parts.size();
  Facts& around = facts_of(holder);
  add_members(around);
  unsigned all = 0;
  std::vector<std::vector<FormulaId>> rivals(n);
  std::size_t n_pairs = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = i + 1; k < n; ++k) {
      const unsigned bits = overlap(schemas[i], schemas[k], &around, 0);
      all |= bits;
      if (bits == 0) continue;
      ++n_pairs;
      rivals[i].push_back(parts[k]);
      rivals[k].push_back(parts[i]);
    }
  }
  if (n_pairs == 0) return pool_->any_of(parts);
  FormulaId one = kNever;
  if (n_pairs > 2 * n) {
    one = exactly_one(parts);
  } else {
    std::vector<FormulaId> alone;
    for (std::size_t i = 0; i < n; ++i)
      alone.push_back(pool_->both(parts[i], none(rivals[i])));
    one = pool_->any_of(alone);
  }
  if (all == kAllTypes) return one;
  return pool_->either(pool_->both(pool_->types(all), one),
                       pool_->both(pool_->types(kAllTypes & ~all), pool_->any_of(parts)));
}

}  // namespace wick::grammar
