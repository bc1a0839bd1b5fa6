// Keywords of numbers, strings and arrays.
#include <algorithm>

#include "base/strings.h"
#include "grammar/limits.h"
#include "grammar/schema/compiler_impl.h"
#include "grammar/schema/formats.h"
#include "regex/ecma.h"

namespace wick::grammar {

// minimum with exclusiveMinimum, or their mirror: "at most" is "not above".
Result<void> Compiler::bound(Work& work, std::string_view key, std::string_view exclusive,
                             bool is_low) {
  const auto add = [&](const Json& value, bool is_exclusive) {
    NumberRule rule{.kind = is_exclusive == is_low ? NumberRule::Kind::kAbove
                                                   : NumberRule::Kind::kAtLeast};
    rule.values.push_back(*parse_decimal(value.text));
    rule.texts.emplace_back(value.text);
    const FormulaId formula = pool_->number(pool_->add_rule(std::move(rule)), !is_low);
    work.parts.push_back(pool_->if_type(kNumberType, formula));
  };
  WICK_TRY(const Json* const found, wanted(work, key, Json::Kind::kNumber));
  const Json* const other = work.find(exclusive);
  const bool is_flag = other != nullptr && other->is_boolean();
  if (found != nullptr) add(*found, is_flag && other->is(Json::Kind::kTrue));
  if (other == nullptr || is_flag) return {};
  WICK_TRY(const Json* const limit, wanted(work, exclusive, Json::Kind::kNumber));
  add(*limit, true);
  return {};
}

Result<void> Compiler::numbers(Work& work) {
  WICK_DO(bound(work, "minimum", "exclusiveMinimum", true));
  WICK_DO(bound(work, "maximum", "exclusiveMaximum", false));
  WICK_TRY(const Json* const found, wanted(work, "multipleOf", Json::Kind::kNumber));
  if (found == nullptr) return {};
  const Decimal of = *parse_decimal(found->text);
  if (of.digits.empty() || of.is_negative) return wrong(work, "multipleOf", "is not above 0");
  const auto divisor = divisor_of(of);
  if (!divisor) return refused(work, "multipleOf", "it has more than 18 digits");
  if (options_.for_masks && divisor->value != 1)
    return refused(work, "multipleOf", "masks know powers of ten alone");
  const std::uint32_t rule =
      pool_->add_rule({.kind = NumberRule::Kind::kMultiple, .divisor = *divisor});
  work.parts.push_back(pool_->if_type(kNumberType, pool_->number(rule, false)));
  return {};
}

Result<regex::ExprId> Compiler::pattern(const Work& work, std::string_view key,
                                        std::string_view text) {
  if (const auto known = patterns_.find(text); known != patterns_.end()) return known->second;
  auto parsed = regex::parse_ecma(pool_->exprs(), text);
  pool_->exprs().refuel(kSchemaFuel);
  if (!parsed) {
    Error error = std::move(parsed).error();
    error.message =
        cat("the keyword '", key, "' at '", place_of(work.schema), "': ", error.message);
    return error;
  }
  patterns_.emplace(text, *parsed);
  return *parsed;
}

Result<void> Compiler::strings(Work& work) {
  regex::ExprPool& exprs = pool_->exprs();
  std::vector<regex::ExprId> languages;
  WICK_TRY(const auto min, count(work, "minLength"));
  WICK_TRY(const auto max, count(work, "maxLength"));
  if (min || max) {
    languages.push_back(
        exprs.repeat(exprs.any_character(), min.value_or(0), max ? *max : regex::kUnbounded));
  }
  WICK_TRY(const Json* const found, wanted(work, "pattern", Json::Kind::kString));
  if (found != nullptr) {
    WICK_TRY(const regex::ExprId language, pattern(work, "pattern", found->text));
    languages.push_back(language);
  }
  if (languages.empty()) return {};
  const FormulaId formula = pool_->string_in(exprs.intersect(languages));
  if (formula == kNoFormula)
    return wrap(exprs.failure(), cat("compile '", place_of(work.schema), "'"));
  work.parts.push_back(pool_->if_type(kStringType, formula));
  return {};
}

Result<void> Compiler::formats(Work& work) {
  WICK_TRY(const Json* const found, wanted(work, "format", Json::Kind::kString));
  if (found == nullptr || !options_.asserts_formats) return {};
  auto known = formats_.find(found->text);
  if (known == formats_.end())
    known = formats_.emplace(found->text, format(found->text)).first;
  if (known->second == kNoFormula)
    return wrap(pool_->failure(), cat("compile '", place_of(work.schema), "'"));
  if (known->second != kAlways) work.parts.push_back(known->second);
  return {};
}

// A value that is a text of the format, or no text.
FormulaId Compiler::format(std::string_view name) {
  const auto& shared = format_pool_->languages;
  const auto found = shared.find(name);
  const auto language = found != shared.end() ? std::optional(found->second)
                                              : format_language(pool_->exprs(), name);
  const FormulaId out =
      language ? pool_->if_type(kStringType, pool_->string_in(*language)) : kAlways;
  pool_->exprs().refuel(kSchemaFuel);
  return out;
}

Result<void> Compiler::items(Work& work) {
  std::vector<FormulaId> out = {pool_->types(kArrayType)};
  const auto prefix = [&](const Json& value) -> Result<void> {
    WICK_TRY(const auto parts, list(work, value));
    for (std::uint32_t i = 0; i < parts.size(); ++i)
      out.push_back(pool_->all_items(i, i + 1, parts[i]));
    return {};
  };
  std::uint32_t from = 0;
  WICK_TRY(const Json* const first, wanted(work, "prefixItems", Json::Kind::kArray));
  const Json* rest = work.find("items");
  if (rest != nullptr && rest->is(Json::Kind::kArray)) {  // before 2020-12
    if (first != nullptr) return wrong(work, "items", "is an array beside 'prefixItems'");
    WICK_DO(prefix(*rest));
    from = static_cast<std::uint32_t>(rest->items.size());
    rest = work.find("additionalItems");
  } else if (first != nullptr && work.draft == Draft::k2020) {
    WICK_DO(prefix(*first));
    from = static_cast<std::uint32_t>(first->items.size());
  }
  if (rest != nullptr) {
    WICK_TRY(const FormulaId formula, value_part(work, *rest));
    out.push_back(pool_->all_items(from, kNoEnd, formula));
  }
  if (out.size() > 1) work.parts.push_back(pool_->if_type(kArrayType, pool_->all_of(out)));
  return contained(work);
}

Result<void> Compiler::contained(Work& work) {
  const Json* const found = work.find("contains");
  if (found == nullptr || work.draft == Draft::k4) return {};
  WICK_TRY(const FormulaId of, part(work, *found));
  std::optional<std::uint32_t> min, max;
  if (work.draft >= Draft::k2019 && resource_of(work.schema).has_validation) {
    WICK_TRY(min, count(work, "minContains"));
    WICK_TRY(max, count(work, "maxContains"));
  }
  FormulaId formula = pool_->some_items(0, kNoEnd, of, min.value_or(1));
  if (max) formula = pool_->both(formula, pool_->most_items(0, kNoEnd, of, *max));
  work.parts.push_back(pool_->if_type(kArrayType, formula));
  return {};
}

Result<void> Compiler::arrays(Work& work) {
  std::vector<FormulaId> out;
  WICK_TRY(const auto min, count(work, "minItems"));
  if (min) out.push_back(pool_->some_items(0, kNoEnd, kAlways, *min));
  WICK_TRY(const auto max, count(work, "maxItems"));
  if (max) out.push_back(pool_->most_items(0, kNoEnd, kAlways, *max));
  if (const Json* const unique = work.find("uniqueItems")) {
    if (!unique->is_boolean()) return wrong(work, "uniqueItems", "is no boolean");
    if (unique->is(Json::Kind::kTrue)) out.push_back(pool_->unique(false));
  }
  if (!out.empty()) work.parts.push_back(pool_->if_type(kArrayType, pool_->all_of(out)));
  return {};
}

}  // namespace wick::grammar
