// Compiles a JSON Schema to formulas: keywords, references, dynamic scopes. Each keyword of drafts
// 4 to 2020-12 that constrains a value is either supported or an error with name and place. Unknown
// keywords are annotations, as in the specification.
//
//   CompiledSchema schema;
//   WICK_TRY(schema, compile_schema(text, {}));
//   schema.pool->at(schema.root) …
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "grammar/schema/formula.h"
#include "grammar/schema/sources.h"

namespace wick::grammar {

struct SchemaOptions {
  FetchDocument fetch = {};         // remote references; none without
  std::optional<Draft> draft = {};  // where no $schema says it; 2020-12
  bool asserts_formats = true;      // those that are known (formats.h)
  bool for_masks = false;           // refuses what the search for dead ends cannot do
};

struct CompiledSchema {
  std::unique_ptr<FormulaPool> pool = {};
  FormulaId root = kNever;
  bool for_masks = false;  // as in the options
};

// Errors: kInvalid "schema_keyword" for an invalid schema, kUnsupported "schema_keyword" and
// "schema_size" for an unsupported or too large one, "schema_reference", "schema_cycle"; the
// message has the keyword and the JSON pointer of its schema.
Result<CompiledSchema> compile_schema(std::string_view text, const SchemaOptions& options);
Result<CompiledSchema> compile_schema(JsonDocument schema, const SchemaOptions& options);

}  // namespace wick::grammar
