// Keywords that combine schemas, and those that name types and values.
#include <algorithm>

#include "base/strings.h"
#include "grammar/schema/compiler_impl.h"

namespace wick::grammar {

Result<std::vector<FormulaId>> Compiler::list(const Work& work, const Json& value) {
  std::vector<FormulaId> out;
  for (const Json& item : value.items) {
    WICK_TRY(const FormulaId formula, part(work, item));
    out.push_back(formula);
  }
  return out;
}

FormulaId Compiler::none(std::span<const FormulaId> parts) {
  std::vector<FormulaId> out;
  for (const FormulaId part : parts)
    out.push_back(pool_->negate(part));
  return pool_->all_of(out);
}

// One of the first half and none of the second, or the other way: n·log n parts instead of n².
FormulaId Compiler::exactly_one(std::span<const FormulaId> parts) {
  if (parts.empty()) return kNever;
  if (parts.size() == 1) return parts[0];
  const auto low = parts.first(parts.size() / 2), high = parts.subspan(parts.size() / 2);
  return pool_->either(pool_->both(exactly_one(low), none(high)),
                       pool_->both(none(low), exactly_one(high)));
}

FormulaId Compiler::one_of(const Work& work, const Json& list, std::span<const FormulaId> parts) {
  std::vector<Schema> schemas;
  for (const Json& item : list.items)
    schemas.push_back(within(work.schema, item));
  return exactly_one_of(work.schema, schemas, parts);
}

Result<void> Compiler::logic(Work& work) {
  for (const std::string_view key : {"allOf", "anyOf", "oneOf"}) {
    WICK_TRY(const Json* const found, wanted(work, key, Json::Kind::kArray));
    if (found == nullptr) continue;
    if (found->items.empty()) return wrong(work, key, "is empty");
    WICK_TRY(const auto parts, list(work, *found));
    work.parts.push_back(key == "allOf"   ? pool_->all_of(parts)
                         : key == "anyOf" ? pool_->any_of(parts)
                                          : one_of(work, *found, parts));
  }
  if (const Json* const found = work.find("not")) {
    WICK_TRY(const FormulaId formula, part(work, *found));
    work.parts.push_back(pool_->negate(formula));
  }
  const Json* const condition = work.draft >= Draft::k7 ? work.find("if") : nullptr;
  if (condition == nullptr) return {};
  WICK_TRY(const FormulaId when, part(work, *condition));
  FormulaId then = kAlways, otherwise = kAlways;
  if (const Json* const found = work.find("then")) {
    WICK_TRY(then, part(work, *found));
  }
  if (const Json* const found = work.find("else")) {
    WICK_TRY(otherwise, part(work, *found));
  }
  work.parts.push_back(
      pool_->either(pool_->both(when, then), pool_->both(pool_->negate(when), otherwise)));
  return {};
}

Result<FormulaId> Compiler::type_named(const Work& work, const Json& name) {
  if (name.is(Json::Kind::kString)) {
    if (name.text == "string") return pool_->types(kStringType);
    if (name.text == "object") return pool_->types(kObjectType);
    if (name.text == "boolean") return pool_->types(kFalseType | kTrueType);
    if (name.text == "null") return pool_->types(kNullType);
    if (name.text == "array") return pool_->types(kArrayType);
    if (name.text == "number") return pool_->types(kNumberType);
    if (name.text == "integer") {
      const bool may_end_in_zeros = work.draft != Draft::k4;
      return pool_->number(pool_->integer_rule(may_end_in_zeros), false);
    }
  }
  return wrong(work, "type", "names no type");
}

Result<void> Compiler::types(Work& work) {
  const Json* const found = work.find("type");
  if (found == nullptr) return {};
  if (!found->is(Json::Kind::kArray)) {
    WICK_TRY(const FormulaId formula, type_named(work, *found));
    work.parts.push_back(formula);
    return {};
  }
  std::vector<FormulaId> out;
  for (const Json& name : found->items) {
    WICK_TRY(const FormulaId formula, type_named(work, name));
    out.push_back(formula);
  }
  work.parts.push_back(pool_->any_of(out));
  return {};
}

// All strings of an enum are one language and all numbers one rule, for there may be thousands.
Result<void> Compiler::literals(Work& work) {
  if (const Json* const found = work.find("const")) {
    WICK_TRY(const FormulaId formula, literal(work, *found));
    work.parts.push_back(formula);
  }
  WICK_TRY(const Json* const found, wanted(work, "enum", Json::Kind::kArray));
  if (found == nullptr) return {};
  std::vector<FormulaId> out;
  std::vector<std::string_view> texts;
  std::vector<std::pair<Decimal, std::string>> numbers;
  for (const Json& value : found->items) {
    if (value.is(Json::Kind::kString)) {
      texts.push_back(value.text);
    } else if (value.is(Json::Kind::kNumber)) {
      numbers.emplace_back(*parse_decimal(value.text), value.text);
    } else {
      WICK_TRY(const FormulaId formula, literal(work, value));
      out.push_back(formula);
    }
  }
  if (!texts.empty()) out.push_back(pool_->string_in(pool_->exprs().literals(texts)));
  if (!numbers.empty()) {
    std::sort(numbers.begin(), numbers.end(),
              [](const auto& a, const auto& b) { return compare(a.first, b.first) < 0; });
    NumberRule rule{.kind = NumberRule::Kind::kOneOf};
    for (auto& [value, text] : numbers) {
      rule.values.push_back(std::move(value));
      rule.texts.push_back(std::move(text));
    }
    out.push_back(pool_->number(pool_->add_rule(std::move(rule)), false));
  }
  work.parts.push_back(pool_->any_of(out));
  return {};
}

Result<FormulaId> Compiler::literal(const Work& work, const Json& value) {
  std::vector<FormulaId> values;
  for (const Json& item : value.items) {
    WICK_TRY(const FormulaId formula, literal(work, item));
    values.push_back(formula);
  }
  switch (value.kind) {
    case Json::Kind::kNull:
      return pool_->types(kNullType);
    case Json::Kind::kFalse:
      return pool_->types(kFalseType);
    case Json::Kind::kTrue:
      return pool_->types(kTrueType);
    case Json::Kind::kNumber:
      return pool_->one_number(value.text);
    case Json::Kind::kString:
      return pool_->string_in(pool_->exprs().literal(value.text));
    case Json::Kind::kObject:
      return pool_->one_object(texts_of(value.keys), values);
    case Json::Kind::kArray:
      break;
  }
  return pool_->one_array(values);
}

}  // namespace wick::grammar
