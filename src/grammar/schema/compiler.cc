// Schemas are compiled from a list of those that were referred to, so recursion through $ref ends.
#include "grammar/schema/compiler.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "base/strings.h"
#include "grammar/limits.h"
#include "grammar/schema/compiler_impl.h"
#include "grammar/schema/formats.h"

namespace wick::grammar {

Result<CompiledSchema> compile_schema(std::string_view text, const SchemaOptions& options) {
  if (text.size() > kMaxSchemaBytes) {
    return Error{ErrorCode::kUnsupported,
                 "schema_size",
                 cat("the schema has ", text.size(), " bytes, more than ", kMaxSchemaBytes),
                 {}};
  }
  WICK_TRY(JsonDocument schema, read_document(text));
  return compile_schema(std::move(schema), options);
}

Result<CompiledSchema> compile_schema(JsonDocument schema, const SchemaOptions& options) {
  return Compiler(options).compile(std::move(schema));
}

namespace {

// Keywords that hold schemas, refer to one, or name one. A schema without them is about one value
// alone: its formula takes its place where it stands.
constexpr std::uint64_t kPartKeys = marks_of(
    {"$ref", "$dynamicRef", "$recursiveRef", "$id", "id", "$anchor", "$dynamicAnchor", "$defs",
     "definitions", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "properties",
     "patternProperties", "additionalProperties", "propertyNames", "dependencies",
     "dependentRequired", "dependentSchemas", "items", "prefixItems", "additionalItems",
     "contains", "unevaluatedProperties", "unevaluatedItems"});
constexpr std::uint64_t kLogicKeys = marks_of({"allOf", "anyOf", "oneOf", "not", "if"});
constexpr std::uint64_t kMemberKeys =
    marks_of({"properties", "patternProperties", "additionalProperties", "propertyNames",
              "dependencies", "dependentRequired", "dependentSchemas"});
constexpr std::uint64_t kItemKeys =
    marks_of({"items", "prefixItems", "additionalItems", "contains"});
constexpr std::uint64_t kLiteralKeys = marks_of({"const", "enum"});
constexpr std::uint64_t kFormatKeys = marks_of({"format"});
constexpr std::uint64_t kNumberKeys =
    marks_of({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"});
constexpr std::uint64_t kStringKeys = marks_of({"minLength", "maxLength", "pattern"});
constexpr std::uint64_t kArrayKeys = marks_of({"minItems", "maxItems", "uniqueItems"});
constexpr std::uint64_t kObjectKeys = marks_of({"required", "minProperties", "maxProperties"});

}  // namespace

Result<CompiledSchema> Compiler::compile(JsonDocument document) {
  const std::set<std::string, std::less<>> none;
  WICK_TRY(const Place root, sources_.add_root(std::move(document)));
  format_pool_ = format_pool(options_.asserts_formats ? sources_.formats() : none);
  pool_ = std::make_unique<FormulaPool>(
      std::shared_ptr<const regex::ExprPool>(format_pool_, &format_pool_->pool));
  pool_->automaton().learn(format_pool_->lives);
  WICK_TRY(const std::uint32_t first, schema_id({root, entered(0, root.resource)}));
  for (std::size_t i = 0; i < to_compile_.size(); ++i) {
    const std::uint32_t id = to_compile_[i];
    pool_->exprs().refuel(kSchemaFuel);
    WICK_TRY(const FormulaId formula, formula_of(schemas_[id]));
    if (has_too_many_scopes_) {
      return Error{ErrorCode::kUnsupported,
                   "schema_size",
                   cat("the keyword '$dynamicAnchor' at '", place_of(schemas_[id]),
                       "' is one of more than ", kMaxScopes, " that depend on each other"),
                   {}};
    }
    if (formula == kNoFormula) {
      return wrap(pool_->failure(), cat("compile the schema at '", place_of(schemas_[id]), "'"));
    }
    pool_->set_schema(id, formula);
  }
  WICK_DO(check_cycles());
  WICK_DO(fill_names());
  pool_->find_equal_schemas();
  CompiledSchema out;
  out.root = pool_->schema(first, false);
  out.pool = std::move(pool_);
  out.for_masks = options_.for_masks;
  return out;
}

Error Compiler::wrong(const Work& work, std::string_view key, std::string_view why) const {
  return {ErrorCode::kInvalid,
          "schema_keyword",
          cat("the keyword '", key, "' at '", place_of(work.schema), "' ", why),
          {}};
}

Error Compiler::refused(const Work& work, std::string_view key, std::string_view why) const {
  return {ErrorCode::kUnsupported,
          "schema_keyword",
          cat("the keyword '", key, "' at '", place_of(work.schema),
              "' is not supported: ", why),
          {}};
}

Result<const Json*> Compiler::wanted(const Work& work, std::string_view key,
                                     Json::Kind kind) const {
  const Json* const found = work.find(key);
  if (found == nullptr || found->is(kind)) return found;
  return wrong(work, key, cat("is ", described(found->kind), ", ", described(kind), " is wanted"));
}

Result<std::optional<std::uint32_t>> Compiler::count(const Work& work, std::string_view key) const {
  WICK_TRY(const Json* const found, wanted(work, key, Json::Kind::kNumber));
  if (found == nullptr) return std::optional<std::uint32_t>();
  const auto value = parse_decimal(found->text);
  if (!value || value->is_negative || !value->is_integer())
    return wrong(work, key, cat("is ", printable(found->text, 40), ", a count is wanted"));
  std::uint64_t n = 0;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(value->point, 11); ++i) {
    const auto at = static_cast<std::size_t>(i);
    n = n * 10 + (at < value->digits.size() ? static_cast<unsigned>(value->digits[at] - '0') : 0U);
  }
  return std::optional(static_cast<std::uint32_t>(std::min<std::uint64_t>(n, kMaxSchemaCount)));
}

Compiler::ScopeId Compiler::entered(ScopeId scope, ResourceId resource) {
  const auto [known, is_new] = entered_.try_emplace({scope, resource}, scope);
  if (!is_new) return known->second;
  Scope made = scopes_[scope];
  const Resource& its = sources_.resource(resource);
  for (const auto& [name, node] : its.dynamic_anchors)
    made.try_emplace(name, Place{node, resource});
  if (its.is_recursive_anchor) made.try_emplace("", Place{its.root, resource});
  if (scopes_.size() >= kMaxScopes || made.size() > kMaxScopes) {
    has_too_many_scopes_ = true;
    return scope;
  }
  const auto same = [&](const Scope& other) {
    return std::equal(made.begin(), made.end(), other.begin(), other.end(),
                      [](const auto& a, const auto& b) {
                        return a.first == b.first && a.second.node == b.second.node;
                      });
  };
  const auto found = std::find_if(scopes_.begin(), scopes_.end(), same);
  if (found == scopes_.end()) {
    scopes_.push_back(std::move(made));
    return known->second = static_cast<ScopeId>(scopes_.size() - 1);
  }
  return known->second = static_cast<ScopeId>(found - scopes_.begin());
}

Result<std::uint32_t> Compiler::number_of(const Schema& schema) {
  const auto [known, is_new] = ids_.try_emplace(
      {schema.at.node, schema.at.resource, schema.scope},
      static_cast<std::uint32_t>(schemas_.size()));
  if (is_new) {
    if (schemas_.size() >= kMaxSchemas) {
      return Error{ErrorCode::kUnsupported,
                   "schema_size",
                   cat("the schema has more than ", kMaxSchemas,
                       " schemas within; the last is at '", place_of(schema), "'"),
                   {}};
    }
    schemas_.push_back(schema);
    is_listed_.push_back(false);
  }
  return known->second;
}

Result<std::uint32_t> Compiler::schema_id(const Schema& schema) {
  WICK_TRY(const std::uint32_t id, number_of(schema));
  if (!is_listed_[id]) to_compile_.push_back(id);
  is_listed_[id] = true;
  return id;
}

Compiler::Schema Compiler::within(const Schema& schema, const Json& node) {
  const ResourceId resource = sources_.resource_at(&node, schema.at.resource);
  const bool is_same = resource == schema.at.resource;
  return {{&node, resource}, is_same ? schema.scope : entered(schema.scope, resource)};
}

Result<FormulaId> Compiler::part(const Work& work, const Json& node) {
  if (node.is_boolean()) return node.is(Json::Kind::kTrue) ? kAlways : kNever;
  if (!node.is(Json::Kind::kObject)) {
    return Error{ErrorCode::kInvalid,
                 "schema_keyword",
                 cat("the schema at '", sources_.place_of(node), "' is ", described(node.kind),
                     ", an object or a boolean is wanted"),
                 {}};
  }
  if (node.keys.empty()) return kAlways;
  if (!node.may_have(kPartKeys)) {
    const Schema its{{&node, work.schema.at.resource}, work.schema.scope};
    WICK_TRY(const FormulaId formula, formula_of(its));
    if (formula != kNoFormula) return formula;
    return wrap(pool_->failure(), cat("compile the schema at '", place_of(its), "'"));
  }
  WICK_TRY(const std::uint32_t id, schema_id(within(work.schema, node)));
  return pool_->schema(id, false);
}

// Where members or items are only referred to another schema, the formula is that of this schema.
// So objects that differ by nothing but the places of such references have one formula. The
// reference is compiled all the same: what it does besides, such as its mistakes, comes at its
// place.
Result<FormulaId> Compiler::value_part(const Work& work, const Json& node) {
  WICK_TRY(const FormulaId formula, part(work, node));
  if (node.find("$ref") == nullptr || !node.is(Json::Kind::kObject)) return formula;
  const Schema its = within(work.schema, node);
  if (draft_of(its) > Draft::k7 && node.keys.size() > 1) return formula;
  const auto target = referred(its, "$ref");
  if (!target || !*target || !(*target)->node().is(Json::Kind::kObject)) return formula;
  WICK_TRY(const std::uint32_t id, number_of(**target));
  return pool_->schema(id, false);
}

// The schema that a reference leads to, in the scope that it is entered with.
Result<std::optional<Compiler::Schema>> Compiler::referred(const Schema& from,
                                                           std::string_view key) {
  const Json* const reference = from.node().find(key);
  if (reference == nullptr) return std::optional<Schema>();
  if (!reference->is(Json::Kind::kString))
    return wrong({from, draft_of(from)}, key, "is no string");
  auto found = sources_.find(from.at.resource, reference->text);
  if (!found) {
    Error error = std::move(found).error();
    const std::string refers = cat("the keyword '", key, "' at '", place_of(from), "' refers to '",
                                   printable(reference->text, 200), "', ");
    if (error.id != "schema_reference")
      return wrap(std::move(error), cat(refers, "which cannot be read"));
    error.message = cat(refers, error.message);
    return error;
  }
  Place at = *found;
  const Scope& scope = scopes_[from.scope];
  if (key == "$recursiveRef") {
    const auto outer = scope.find("");
    if (sources_.resource(at.resource).is_recursive_anchor && outer != scope.end())
      at = outer->second;
  } else if (key == "$dynamicRef") {
    const std::size_t hash = reference->text.find('#');
    const std::string_view name =
        hash == std::string_view::npos ? "" : reference->text.substr(hash + 1);
    const Json* const anchor = at.node->find("$dynamicAnchor");
    const auto outer = scope.find(name);
    const bool is_dynamic = anchor != nullptr && anchor->text == name && !name.empty();
    if (is_dynamic && outer != scope.end()) at = outer->second;
  }
  return std::optional(Schema{at, entered(from.scope, at.resource)});
}

Result<void> Compiler::references(Work& work) {
  for (const std::string_view key : {"$ref", "$dynamicRef", "$recursiveRef"}) {
    if (key == "$dynamicRef" && work.draft < Draft::k2020) continue;
    if (key == "$recursiveRef" && work.draft != Draft::k2019) continue;
    WICK_TRY(const auto target, referred(work.schema, key));
    if (!target) continue;
    const Json& node = target->node();
    if (node.is_boolean()) {
      work.parts.push_back(node.is(Json::Kind::kTrue) ? kAlways : kNever);
      continue;
    }
    if (!node.is(Json::Kind::kObject)) return wrong(work, key, "leads to what is no schema");
    WICK_TRY(const std::uint32_t id, schema_id(*target));
    work.parts.push_back(pool_->schema(id, false));
  }
  return {};
}

Result<FormulaId> Compiler::formula_of(const Schema& schema) {
  const Json& node = schema.node();
  if (node.is_boolean()) return node.is(Json::Kind::kTrue) ? kAlways : kNever;
  Work work{schema, draft_of(schema), std::move(spare_)};
  work.parts.clear();
  if (!node.is(Json::Kind::kObject))
    return wrong(work, "", cat("is ", described(node.kind), ", which is no schema"));
  WICK_DO(keywords(work));
  const FormulaId formula = pool_->all_of(work.parts);
  spare_ = std::move(work.parts);
  return formula;
}

Result<void> Compiler::keywords(Work& work) {
  const Schema& schema = work.schema;
  const Json& node = schema.node();
  const bool has_parts = node.may_have(kPartKeys);
  if (has_parts) {
    declare(schema, 0);
    WICK_DO(references(work));
    if (node.find("$ref") != nullptr && work.draft <= Draft::k7) return {};
  }
  const Resource& resource = resource_of(schema);
  if (has_parts && resource.has_applicators) {
    if (node.may_have(kLogicKeys)) WICK_DO(logic(work));
    if (node.may_have(kMemberKeys)) WICK_DO(properties(work));
    if (node.may_have(kItemKeys)) WICK_DO(items(work));
  }
  if (resource.has_validation) WICK_DO(validation(work));
  if (resource.has_format && node.may_have(kFormatKeys)) WICK_DO(formats(work));
  if (has_parts && resource.has_unevaluated) WICK_DO(unevaluated(work));
  return {};
}

Result<void> Compiler::validation(Work& work) {
  const Json& node = work.schema.node();
  WICK_DO(types(work));
  if (node.may_have(kLiteralKeys)) WICK_DO(literals(work));
  if (node.may_have(kNumberKeys)) WICK_DO(numbers(work));
  if (node.may_have(kStringKeys)) WICK_DO(strings(work));
  if (node.may_have(kArrayKeys)) WICK_DO(arrays(work));
  if (node.may_have(kObjectKeys)) WICK_DO(objects(work));
  return {};
}

// A schema whose value must fit the schema itself, without a step into the value, says nothing.
Result<void> Compiler::check_cycles() {
  enum class Mark : std::uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(schemas_.size(), Mark::kNew);
  std::vector<std::uint32_t> seen(pool_->size());  // 1 + the last schema that has the formula

  struct Step {
    std::uint32_t id;
    std::vector<std::uint32_t> next;
  };

  std::vector<FormulaId> open;
  const auto parts_of = [&](std::uint32_t id) {
    std::vector<std::uint32_t> out;
    open.push_back(pool_->schema_formula(id));
    while (!open.empty()) {
      const FormulaId formula = open.back();
      open.pop_back();
      if (formula == kNoFormula || seen[formula] == id + 1) continue;
      seen[formula] = id + 1;
      const Formula& f = pool_->at(formula);
      if ((f.parts & Formula::kSchemaPart) == 0) continue;
      const auto its = pool_->children(f);
      if (f.kind == FormulaKind::kSchema) out.push_back(f.a);
      if (f.kind == FormulaKind::kAnd || f.kind == FormulaKind::kOr)
        open.insert(open.end(), its.begin(), its.end());
      const std::size_t n = f.kind == FormulaKind::kRestNames ? 2 : 4;
      if (f.kind == FormulaKind::kRestNames || f.kind == FormulaKind::kRestItems) {
        for (std::size_t i = n; i < its.size(); i += n)
          open.push_back(its[i]);
      }
    }
    return out;
  };
  for (std::uint32_t first = 0; first < schemas_.size(); ++first) {
    if (marks[first] != Mark::kNew) continue;
    marks[first] = Mark::kOpen;
    std::vector<Step> path;
    path.push_back({first, parts_of(first)});
    while (!path.empty()) {
      Step& step = path.back();
      if (step.next.empty()) {
        marks[step.id] = Mark::kDone;
        path.pop_back();
        continue;
      }
      const std::uint32_t next = step.next.back();
      step.next.pop_back();
      if (marks[next] == Mark::kOpen) {
        return Error{ErrorCode::kInvalid,
                     "schema_cycle",
                     cat("the keyword '$ref' at '", place_of(schemas_[step.id]),
                         "' leads back to its own schema for the same value"),
                     {}};
      }
      if (marks[next] == Mark::kDone) continue;
      marks[next] = Mark::kOpen;
      path.push_back({next, parts_of(next)});
    }
  }
  return {};
}

// propertyNames needs the strings of a schema, which are known when all schemas are.
Result<void> Compiler::fill_names() {
  for (const auto& [names, formula] : names_to_fill_) {
    pool_->exprs().refuel(kSchemaFuel);
    const FormulaId of = pool_->of_type(formula, kStringType);
    const regex::ExprId good = pool_->string_language(of);
    const regex::ExprId bad = pool_->exprs().complement(good);
    if (bad == regex::kNoExpr) return pool_->failure();
    pool_->set_names(names, bad);
  }
  return {};
}

}  // namespace wick::grammar
