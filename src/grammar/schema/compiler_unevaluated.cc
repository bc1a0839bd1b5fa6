// unevaluatedProperties and unevaluatedItems ask about each member that no schema beside them, or
// in a branch beside them that holds, speaks of. Whether a branch holds is a formula over the same
// object, so what remains is a list: these names are evaluated if this formula holds. A branch that
// must hold anyway needs no condition; one that fails evaluates nothing.
#include <algorithm>

#include "base/strings.h"
#include "grammar/limits.h"
#include "grammar/schema/compiler_impl.h"

namespace wick::grammar {

Result<void> Compiler::unevaluated(Work& work) {
  if (work.draft < Draft::k2019) return {};
  for (const bool is_names : {true, false}) {
    const std::string_view key = is_names ? "unevaluatedProperties" : "unevaluatedItems";
    const Json* const found = work.find(key);
    if (found == nullptr) continue;
    WICK_TRY(const FormulaId of, part(work, *found));
    Entries entries = {of};
    evaluated_.clear();
    WICK_DO(evaluated(work.schema, is_names, true, kAlways, entries));
    const FormulaKind kind = is_names ? FormulaKind::kRestNames : FormulaKind::kRestItems;
    const unsigned type = is_names ? kObjectType : kArrayType;
    work.parts.push_back(pool_->if_type(type, pool_->rest(kind, false, entries)));
  }
  return {};
}

// Appends what `schema` evaluates where `when` holds; is_own: it is the one that asks.
Result<void> Compiler::evaluated(const Schema& schema, bool is_names, bool is_own, FormulaId when,
                                 Entries& out) {
  if (!schema.node().is(Json::Kind::kObject)) return {};
  // The same under the same condition adds nothing again. So a cycle, which check_cycles() refuses,
  // ends here, or at a limit.
  if (!evaluated_.emplace(schema.at.node, schema.scope, when).second) return {};
  for (const Json& keyword : schema.node().items)
    n_evaluated_parts_ += 1 + keyword.items.size();
  if (evaluated_.size() > kMaxEvaluated || evaluated_depth_ > kMaxSchemaDepth ||
      n_evaluated_parts_ > kMaxEvaluatedParts) {
    return refused({schema, draft_of(schema)},
                   is_names ? "unevaluatedProperties" : "unevaluatedItems",
                   cat("more than ", kMaxEvaluated, " branches beside it, or ",
                       kMaxEvaluatedParts, " parts beside all of its kind"));
  }
  ++evaluated_depth_;
  const bool is_bare = draft_of(schema) <= Draft::k7 && schema.node().find("$ref") != nullptr;
  auto done = Result<void>();
  if (!is_bare) {
    done = is_names ? evaluated_names(schema, is_own, when, out)
                    : evaluated_items(schema, is_own, when, out);
  }
  if (done) done = evaluated_parts(schema, is_names, when, out);
  --evaluated_depth_;
  return done;
}

Result<void> Compiler::evaluated_names(const Schema& schema, bool is_own, FormulaId when,
                                       Entries& out) {
  const Work work{schema, draft_of(schema)};
  WICK_TRY(const regex::ExprId known, known_names(work));
  const bool is_all = work.find("additionalProperties") != nullptr ||
                      (!is_own && work.find("unevaluatedProperties") != nullptr);
  if (!is_all && known == regex::kEmptySet) return {};
  out.push_back(is_all ? kAnyName : pool_->names_in(known));
  out.push_back(when);
  return {};
}

Result<void> Compiler::evaluated_items(const Schema& schema, bool is_own, FormulaId when,
                                       Entries& out) {
  const Work work{schema, draft_of(schema)};
  const Json* const items = work.find("items");
  const Json* const prefix = work.find("prefixItems");
  const bool is_list = items != nullptr && items->is(Json::Kind::kArray);
  const auto add = [&](std::uint32_t to, FormulaId of) {
    out.insert(out.end(), {0U, to, of, when});
  };
  const bool is_all = (items != nullptr && !is_list) ||
                      (is_list && work.find("additionalItems") != nullptr) ||
                      (!is_own && work.find("unevaluatedItems") != nullptr);
  if (is_all) {
    add(kNoEnd, kAlways);
  } else if (is_list) {
    add(static_cast<std::uint32_t>(items->items.size()), kAlways);
  } else if (prefix != nullptr && prefix->is(Json::Kind::kArray) && work.draft == Draft::k2020) {
    add(static_cast<std::uint32_t>(prefix->items.size()), kAlways);
  }
  const Json* const contains = work.find("contains");
  if (contains != nullptr && work.draft == Draft::k2020) {
    WICK_TRY(const FormulaId of, part(work, *contains));
    add(kNoEnd, of);
  }
  return {};
}

Result<void> Compiler::evaluated_parts(const Schema& schema, bool is_names, FormulaId when,
                                       Entries& out) {
  const Work work{schema, draft_of(schema)};
  for (const std::string_view key : {"$ref", "$dynamicRef", "$recursiveRef"}) {
    if (key == "$dynamicRef" && work.draft < Draft::k2020) continue;
    if (key == "$recursiveRef" && work.draft != Draft::k2019) continue;
    WICK_TRY(const auto target, referred(schema, key));
    if (target) WICK_DO(evaluated(*target, is_names, false, when, out));
  }
  if (work.find("$ref") != nullptr && work.draft <= Draft::k7) return {};
  const auto go_on = [&](const Json& node, FormulaId if_too) -> Result<void> {
    if (!node.is(Json::Kind::kObject)) return {};
    return evaluated(within(schema, node), is_names, false, pool_->both(when, if_too), out);
  };
  for (const std::string_view key : {"allOf", "anyOf", "oneOf"}) {
    WICK_TRY(const Json* const found, wanted(work, key, Json::Kind::kArray));
    if (found == nullptr) continue;
    WICK_TRY(const auto parts, list(work, *found));
    for (std::size_t i = 0; i < parts.size(); ++i)
      WICK_DO(go_on(found->items[i], key == "allOf" ? kAlways : parts[i]));
  }
  if (const Json* const condition = work.find("if")) {
    WICK_TRY(const FormulaId holds, part(work, *condition));
    WICK_DO(go_on(*condition, holds));
    if (const Json* const then = work.find("then")) WICK_DO(go_on(*then, holds));
    if (const Json* const otherwise = work.find("else"))
      WICK_DO(go_on(*otherwise, pool_->negate(holds)));
  }
  for (const std::string_view key : {"dependencies", "dependentSchemas"}) {
    WICK_TRY(const Json* const found, wanted(work, key, Json::Kind::kObject));
    if (found == nullptr) continue;
    for (std::size_t i = 0; i < found->keys.size(); ++i)
      WICK_DO(go_on(found->items[i], has_name(found->keys[i])));
  }
  return {};
}

}  // namespace wick::grammar
