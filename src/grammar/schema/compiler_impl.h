// The compiler's inside, between its files. Load time; one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "grammar/schema/compiler.h"
#include "grammar/schema/formats.h"

namespace wick::grammar {

class Compiler {
 public:
  Compiler(const SchemaOptions& options)  // implicit
      : options_(options),
        sources_(options.fetch, options.draft) {}

  Result<CompiledSchema> compile(JsonDocument document);

 private:
  using ScopeId = std::uint32_t;
  // Dynamic anchor → its target: the outermost resource that has the anchor. "" is
  // $recursiveAnchor.
  using Scope = std::map<std::string, Place, std::less<>>;

  // One schema, in the dynamic scope that it is reached in.
  struct Schema {
    Place at = {};
    ScopeId scope = 0;

    const Json& node() const noexcept { return *at.node; }
  };

  // A schema being compiled, and the formulas of its keywords so far.
  struct Work {
    const Schema& schema;
    Draft draft;
    std::vector<FormulaId> parts = {};

    const Json* find(std::string_view key) const { return schema.node().find(key); }
  };

  // compiler.cc: schemas, references, scopes
  Result<std::uint32_t> number_of(const Schema& schema);
  Result<std::uint32_t> schema_id(const Schema& schema);  // which will be compiled
  Schema within(const Schema& schema, const Json& node);  // a schema that stands in another
  Result<FormulaId> part(const Work& work, const Json& node);
  Result<FormulaId> value_part(const Work& work, const Json& node);  // of members or items
  Result<std::optional<Schema>> referred(const Schema& from, std::string_view key);
  Result<FormulaId> formula_of(const Schema& schema);
  Result<void> keywords(Work& work);
  Result<void> validation(Work& work);
  Result<void> references(Work& work);
  Result<void> check_cycles();
  Result<void> fill_names();
  ScopeId entered(ScopeId scope, ResourceId resource);

  // compiler_logic.cc
  Result<void> logic(Work& work);
  FormulaId one_of(const Work& work, const Json& list, std::span<const FormulaId> parts);
  FormulaId exactly_one(std::span<const FormulaId> parts);
  FormulaId none(std::span<const FormulaId> parts);
  Result<std::vector<FormulaId>> list(const Work& work, const Json& value);
  Result<void> types(Work& work);
  Result<FormulaId> type_named(const Work& work, const Json& name);
  Result<void> literals(Work& work);
  Result<FormulaId> literal(const Work& work, const Json& value);

  // compiler_overlap.cc
  // What a schema asks of a value, as far as it is plain to see.
  struct Facts {
    unsigned types = kAllTypes;
    std::optional<std::vector<std::string_view>> strings = {};  // those that are allowed; ascending
    std::vector<std::vector<Schema>> choices = {};  // each: one of these at least
    std::vector<Schema> together = {};              // the value fits all of these
    // Of objects; read from `together` when they are asked for: most values differ in type.
    bool has_members = false;
    std::set<std::string_view> required = {};
    std::map<std::string_view, std::vector<Schema>> members = {};
    std::vector<Schema> closed = {};   // each: no other names than its properties and patterns
    std::vector<Schema> refused = {};  // the value fits none of these
  };

  using SchemaKey = std::tuple<const Json*, ResourceId, ScopeId>;
  void add_values(Facts& facts, std::span<const Json* const> values) const;
  void add_facts(Facts& facts, const Schema& schema, int depth);
  void add_members(Facts& facts);
  Facts& facts_of(const Schema& schema);
  bool forbids(const Schema& closed, std::string_view name);
  bool surely_fit(std::span<const std::string_view> strings, const Schema& schema);
  bool refuses(const Facts& of, std::span<const std::string_view> strings);
  bool surely_fits(const Facts& facts, const Schema& schema);
  bool excludes(const Facts& has, const Facts& other, const Facts* around, int depth);
  unsigned overlap(const Schema& x, const Schema& y, const Facts* around, int depth);
  FormulaId exactly_one_of(const Schema& holder, std::span<const Schema> schemas,
                           std::span<const FormulaId> parts);

  // compiler_values.cc: numbers, strings, arrays
  Result<void> numbers(Work& work);
  Result<void> bound(Work& work, std::string_view key, std::string_view exclusive, bool is_low);
  Result<void> strings(Work& work);
  Result<void> formats(Work& work);
  FormulaId format(std::string_view name);
  Result<void> arrays(Work& work);
  Result<void> items(Work& work);
  Result<void> contained(Work& work);
  Result<regex::ExprId> pattern(const Work& work, std::string_view key, std::string_view text);

  // compiler_objects.cc
  Result<void> objects(Work& work);
  static std::uint64_t declared_key(const Json& json) noexcept {
    return reinterpret_cast<std::uintptr_t>(&json);
  }

  void declare(const Schema& schema, int depth);
  Result<void> properties(Work& work);
  std::vector<TextId> texts_of(std::span<const std::string_view> names);
  Result<regex::ExprId> known_names(const Work& work);
  Result<void> dependencies(Work& work);
  Result<void> dependency(Work& work, std::string_view key, std::string_view name,
                          const Json& value);
  Result<FormulaId> required(const Work& work, std::string_view key, const Json& names);
  FormulaId has_name(std::string_view name);

  // compiler_unevaluated.cc
  using Entries = std::vector<std::uint32_t>;  // children of kRestNames or kRestItems
  Result<void> unevaluated(Work& work);
  Result<void> evaluated(const Schema& schema, bool is_names, bool is_own, FormulaId when,
                         Entries& out);
  Result<void> evaluated_parts(const Schema& schema, bool is_names, FormulaId when, Entries& out);
  Result<void> evaluated_names(const Schema& schema, bool is_own, FormulaId when, Entries& out);
  Result<void> evaluated_items(const Schema& schema, bool is_own, FormulaId when, Entries& out);

  std::string place_of(const Schema& schema) const { return sources_.place_of(schema.node()); }

  Error wrong(const Work& work, std::string_view key, std::string_view why) const;
  Error refused(const Work& work, std::string_view key, std::string_view why) const;
  Result<const Json*> wanted(const Work& work, std::string_view key, Json::Kind kind) const;
  // A number of things; nothing where the keyword is absent.
  Result<std::optional<std::uint32_t>> count(const Work& work, std::string_view key) const;

  Draft draft_of(const Schema& schema) const { return resource_of(schema).draft; }

  const Resource& resource_of(const Schema& schema) const {
    return sources_.resource(schema.at.resource);
  }

  SchemaOptions options_;
  SchemaSources sources_;
  std::unique_ptr<FormulaPool> pool_ = {};  // made by compile()
  std::deque<Schema> schemas_ = {};         // by number
  std::vector<bool> is_listed_ = {};        // by number: in to_compile_
  std::vector<std::uint32_t> to_compile_ = {};
  std::vector<FormulaId> spare_ = {};  // the last Work's list, whose memory the next one takes
  std::map<SchemaKey, std::uint32_t> ids_ = {};
  std::map<SchemaKey, Facts> facts_ = {};
  std::size_t n_overlaps_ = 0;  // that were looked at
  std::vector<Scope> scopes_ = {Scope{}};
  std::map<std::pair<ScopeId, ResourceId>, ScopeId> entered_ = {};
  std::map<std::string, regex::ExprId, std::less<>> patterns_ = {};
  std::shared_ptr<const FormatPool> format_pool_ = {};
  std::map<std::string, FormulaId, std::less<>> formats_ = {};  // kAlways: unknown ones
  std::vector<std::pair<NameId, FormulaId>> names_to_fill_ = {};  // propertyNames: complements
  // The schemas that one unevaluated keyword has visited, with scope and condition.
  std::set<std::tuple<const Json*, ScopeId, FormulaId>> evaluated_ = {};
  std::size_t evaluated_depth_ = 0;
  std::size_t n_evaluated_parts_ = 0;  // that all unevaluated keywords have looked at
  // The number of the first of its properties, for `properties` objects and (0) schemas seen.
  FlatMap declared_ = {};
  std::uint32_t n_declared_ = 0;
  bool has_too_many_scopes_ = false;
};

}  // namespace wick::grammar
