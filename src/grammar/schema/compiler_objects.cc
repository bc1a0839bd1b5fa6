// Keywords of objects.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "grammar/schema/compiler_impl.h"

namespace wick::grammar {
namespace {

constexpr int kMaxDeclareDepth = 100;  // deeper properties come in the order of the compiler

}  // namespace

FormulaId Compiler::has_name(std::string_view name) {
  return pool_->some_named(pool_->one_name(pool_->text(name)), kAlways, 1);
}

std::vector<TextId> Compiler::texts_of(std::span<const std::string_view> names) {
  std::vector<TextId> out;
  for (const std::string_view name : names)
    out.push_back(pool_->text(name));
  return out;
}

// The names that properties and patternProperties speak of.
Result<regex::ExprId> Compiler::known_names(const Work& work) {
  std::vector<regex::ExprId> out;
  WICK_TRY(const Json* const named, wanted(work, "properties", Json::Kind::kObject));
  if (named != nullptr) {
    out.push_back(pool_->exprs().literals(named->keys));
  }
  WICK_TRY(const Json* const patterns, wanted(work, "patternProperties", Json::Kind::kObject));
  if (patterns != nullptr) {
    for (const std::string_view key : patterns->keys) {
      WICK_TRY(const regex::ExprId names, pattern(work, "patternProperties", key));
      out.push_back(names);
    }
  }
  return pool_->exprs().unite(out);
}

// Numbers the properties of `schema` and of all schemas that it consists of for the same value, in
// the order of the text: those of an allOf's first part come first, also through $ref.
void Compiler::declare(const Schema& schema, int depth) {
  const Json& node = schema.node();
  if (!node.is(Json::Kind::kObject) || depth > kMaxDeclareDepth) return;
  if (declared_.find(declared_key(node)) != FlatMap::kNone) return;
  declared_.add(declared_key(node), 0);
  const bool is_alone = node.find("$ref") != nullptr && draft_of(schema) <= Draft::k7;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string_view key = node.keys[i];
    const Json& value = node.items[i];
    if (key == "$ref") {
      const auto target = referred(schema, key);
      if (target && *target) declare(**target, depth + 1);
    } else if (is_alone) {
      continue;
    } else if (key == "properties") {
      declared_.add(declared_key(value), n_declared_ + 1);
      n_declared_ += static_cast<std::uint32_t>(value.keys.size());
    } else if (key == "allOf" || key == "anyOf" || key == "oneOf" || key == "dependentSchemas") {
      for (const Json& part : value.items)
        declare(within(schema, part), depth + 1);
    } else if (key == "if" || key == "then" || key == "else") {
      declare(within(schema, value), depth + 1);
    }
  }
}

Result<void> Compiler::properties(Work& work) {
  std::vector<FormulaId> out = {pool_->types(kObjectType)};
  std::vector<TextId> texts;
  WICK_TRY(const Json* const named, wanted(work, "properties", Json::Kind::kObject));
  if (named != nullptr) {
    out.reserve(named->keys.size() + 4);
    texts.reserve(named->keys.size());
    const std::uint32_t first = declared_.find(declared_key(*named));  // formula_of() declares all
    for (std::size_t i = 0; i < named->keys.size(); ++i) {
      WICK_TRY(const FormulaId of, value_part(work, named->items[i]));
      texts.push_back(pool_->text(named->keys[i]));
      const NameId name = pool_->one_name(texts.back());
      out.push_back(pool_->all_named(name, of, first + static_cast<std::uint32_t>(i)));
    }
  }
  WICK_TRY(const Json* const patterns, wanted(work, "patternProperties", Json::Kind::kObject));
  if (patterns != nullptr) {
    for (std::size_t i = 0; i < patterns->keys.size(); ++i) {
      const std::string_view key = patterns->keys[i];
      WICK_TRY(const regex::ExprId names, pattern(work, "patternProperties", key));
      WICK_TRY(const FormulaId of, value_part(work, patterns->items[i]));
      out.push_back(pool_->all_named(pool_->names_in(names), of, 0));
    }
  }
  if (const Json* const others = work.find("additionalProperties")) {
    WICK_TRY(const FormulaId of, value_part(work, *others));
    NameId names = kAnyName;
    if (patterns != nullptr && !patterns->keys.empty()) {
      WICK_TRY(const regex::ExprId known, known_names(work));
      names = pool_->names_in(pool_->exprs().complement(known));
    } else if (named != nullptr) {
      names = pool_->all_names_but(std::move(texts));
    }
    out.push_back(pool_->all_named(names, of, 0));
  }
  const Json* const names = work.draft == Draft::k4 ? nullptr : work.find("propertyNames");
  if (names != nullptr) {
    WICK_TRY(const FormulaId of, part(work, *names));
    const NameId wrong_names = pool_->new_names();
    names_to_fill_.emplace_back(wrong_names, of);
    out.push_back(pool_->all_named(wrong_names, kNever, 0));
  }
  if (out.size() > 1) work.parts.push_back(pool_->if_type(kObjectType, pool_->all_of(out)));
  return dependencies(work);
}

Result<FormulaId> Compiler::required(const Work& work, std::string_view key, const Json& names) {
  std::vector<FormulaId> out = {pool_->types(kObjectType)};
  out.reserve(names.items.size() + 1);
  for (const Json& name : names.items) {
    if (!name.is(Json::Kind::kString)) return wrong(work, key, "holds what is no name");
    out.push_back(has_name(name.text));
  }
  return pool_->all_of(out);
}

Result<void> Compiler::dependency(Work& work, std::string_view key, std::string_view name,
                                  const Json& value) {
  FormulaId then = kAlways;
  if (value.is(Json::Kind::kArray)) {
    if (!resource_of(work.schema).has_validation) return {};
    WICK_TRY(then, required(work, key, value));
  } else {
    WICK_TRY(then, part(work, value));
  }
  const FormulaId absent = pool_->negate(has_name(name));
  work.parts.push_back(pool_->either(absent, then));
  return {};
}

Result<void> Compiler::dependencies(Work& work) {
  for (const std::string_view key : {"dependencies", "dependentRequired", "dependentSchemas"}) {
    if (key != "dependencies" && work.draft < Draft::k2019) continue;
    WICK_TRY(const Json* const found, wanted(work, key, Json::Kind::kObject));
    if (found == nullptr) continue;
    for (std::size_t i = 0; i < found->keys.size(); ++i) {
      const bool is_list = found->items[i].is(Json::Kind::kArray);
      if (is_list ? key == "dependentSchemas" : key == "dependentRequired")
        return wrong(work, key, cat("is wrong for '", printable(found->keys[i], 100), "'"));
      WICK_DO(dependency(work, key, found->keys[i], found->items[i]));
    }
  }
  return {};
}

Result<void> Compiler::objects(Work& work) {
  std::vector<FormulaId> out;
  WICK_TRY(const Json* const names, wanted(work, "required", Json::Kind::kArray));
  if (names != nullptr) {
    WICK_TRY(const FormulaId formula, required(work, "required", *names));
    out.push_back(formula);
  }
  WICK_TRY(const auto min, count(work, "minProperties"));
  if (min) out.push_back(pool_->some_named(kAnyName, kAlways, *min));
  WICK_TRY(const auto max, count(work, "maxProperties"));
  if (max) out.push_back(pool_->most_named(kAnyName, kAlways, *max));
  if (!out.empty()) work.parts.push_back(pool_->if_type(kObjectType, pool_->all_of(out)));
  return {};
}

}  // namespace wick::grammar
