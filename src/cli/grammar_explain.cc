#include "cli/grammar_explain.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/strings.h"
#include "cli/out.h"
#include "grammar/earley.h"
#include "grammar/limits.h"
#include "grammar/output_format.h"
#include "grammar/regex_recognizer.h"
#include "grammar/schema/compiler.h"
#include "grammar/schema/formats.h"
#include "grammar/schema/recognizer.h"

namespace wick {

namespace {

using grammar::Json;

constexpr std::size_t kNameWidth = 14, kMaxShown = 400;

// How a schema stands below a keyword.
enum class Below : std::uint8_t { kNothing, kSchema, kSchemas, kNamed };

struct Keyword {
  std::string_view name;
  Below below = Below::kNothing;
  bool is_annotation = false;
};

constexpr Keyword kKeywords[] = {
    {"$ref"},
    {"$dynamicRef"},
    {"$recursiveRef"},
    {"type"},
    {"enum"},
    {"const"},
    {"multipleOf"},
    {"maximum"},
    {"exclusiveMaximum"},
    {"minimum"},
    {"exclusiveMinimum"},
    {"maxLength"},
    {"minLength"},
    {"pattern"},
    {"maxItems"},
    {"minItems"},
    {"uniqueItems"},
    {"maxContains"},
    {"minContains"},
    {"maxProperties"},
    {"minProperties"},
    {"required"},
    {"dependentRequired"},
    {"items", Below::kSchema},
    {"additionalItems", Below::kSchema},
    {"contains", Below::kSchema},
    {"additionalProperties", Below::kSchema},
    {"propertyNames", Below::kSchema},
    {"not", Below::kSchema},
    {"if", Below::kSchema},
    {"then", Below::kSchema},
    {"else", Below::kSchema},
    {"unevaluatedItems", Below::kSchema},
    {"unevaluatedProperties", Below::kSchema},
    {"prefixItems", Below::kSchemas},
    {"allOf", Below::kSchemas},
    {"anyOf", Below::kSchemas},
    {"oneOf", Below::kSchemas},
    {"properties", Below::kNamed},
    {"patternProperties", Below::kNamed},
    {"dependentSchemas", Below::kNamed},
    {"dependencies", Below::kNamed},
    {"$defs", Below::kNamed, true},
    {"definitions", Below::kNamed, true},
};

struct Found {
  std::map<std::string, int> enforced = {}, annotations = {}, formats = {}, open_formats = {};
};

void look_at(const Json& schema, Found& found);

void look_below(const Json& value, Below below, Found& found) {
  if (below == Below::kNothing) return;
  if (below == Below::kSchema && !value.is(Json::Kind::kArray)) return look_at(value, found);
  for (const Json& one : value.items)
    if (!one.is(Json::Kind::kArray)) look_at(one, found);
}

// The depth is that of the document, which read_document() limits.
void look_at(const Json& schema, Found& found) {
  if (!schema.is(Json::Kind::kObject)) return;
  for (std::size_t i = 0; i < schema.keys.size(); ++i) {
    const std::string name(schema.keys[i]);
    const Json& value = schema.items[i];
    if (name == "format") {
      auto& formats = grammar::is_known_format(value.text) ? found.formats : found.open_formats;
      ++formats[std::string(value.text)];
      continue;
    }
    const auto* const known = std::find_if(std::begin(kKeywords), std::end(kKeywords),
                                           [&](const Keyword& one) { return one.name == name; });
    const bool is_known = known != std::end(kKeywords);
    ++(is_known && !known->is_annotation ? found.enforced : found.annotations)[name];
    if (is_known) look_below(value, known->below, found);
  }
}

void show_row(std::string_view name, const Printable& value) {
  print({padded(printable(name), kNameWidth), value, "\n"});
}

void show_counts(std::string_view name, const std::map<std::string, int>& counts) {
  std::string all;
  for (const auto& [key, count] : counts)
    all += cat(all.empty() ? "" : ", ", printable(key, 60), " ", count);
  if (!counts.empty()) show_row(name, printable(all, 4 * kMaxShown));
}

void show_end(grammar::Recognizer& recognizer) {
  grammar::StateId state = recognizer.start();
  recognizer.begin(grammar::kMaskFuel);
  if (const auto forced = recognizer.forced(state, kMaxShown); forced && !forced->empty())
    show_row("begins with", printable(*forced, kMaxShown));
  const auto shortest = recognizer.shortest(recognizer.start());
  if (!shortest) return show_row("shortest", printable(shortest.error().message));
  show_row("shortest", joined({shortest->size(), " bytes: ", printable(*shortest, kMaxShown)}));
}

Result<void> explain_schema(const std::string& text, const grammar::FetchDocument& fetch) {
  WICK_TRY(grammar::JsonDocument schema, grammar::read_document(text));
  WICK_TRY(const auto compiled,
           grammar::compile_schema(schema, {.fetch = fetch, .for_masks = true}));
  Found found;
  look_at(schema.root, found);
  WICK_TRY(const auto recognizer,
           grammar::SchemaRecognizer::make(std::move(schema), {.fetch = fetch}, {}));
  show_row("JSON schema", joined({human(text.size())}));
  show_counts("enforced", found.enforced);
  show_counts("formats", found.formats);
  show_counts("open formats", found.open_formats);
  show_counts("annotations", found.annotations);
  show_row("compiled to",
           joined({compiled.pool->size(), " formulas, ", human(compiled.pool->used_bytes())}));
  if (recognizer->start() == grammar::kDeadState) {
    show_row("documents", printable("none: no document fulfills this schema"));
    return {};
  }
  show_end(*recognizer);
  return {};
}

Result<void> explain_grammar(const std::string& text) {
  constexpr std::string_view kSyntaxes[] = {"", "GBNF", "EBNF", "Lark"};
  const auto syntax = grammar::detected_syntax(text);
  show_row("grammar",
           joined({printable(kSyntaxes[static_cast<int>(syntax)]), ", ", human(text.size())}));
  WICK_TRY(const auto recognizer, grammar::EarleyRecognizer::parse(text));
  const grammar::Productions& p = recognizer->productions();
  show_row("compiled to", joined({p.of.size(), " nonterminals, ", p.all.size(), " productions, ",
                                  p.documents.size(), " JSON schemas, terminals of ",
                                  p.automaton->pool().size(), " expressions"}));
  if (p.of.size() == 1) show_row("", printable("no recursion: the grammar is one regex"));
  show_end(*recognizer);
  return {};
}

Result<void> explain_regex(const std::string& text) {
  show_row("regex", joined({human(text.size())}));
  WICK_TRY(const auto recognizer, grammar::RegexRecognizer::parse(text));
  const auto& pool = recognizer->automaton().pool();
  show_row("compiled to", joined({pool.size(), " expressions, ", human(pool.used_bytes())}));
  if (recognizer->start() == grammar::kDeadState) {
    show_row("documents", printable("none: no text matches"));
    return {};
  }
  show_end(*recognizer);
  return {};
}

}  // namespace

Result<void> explain(const ResponseFormat& format, const grammar::FetchDocument& fetch) {
  if (format.type == "json_schema") return explain_schema(format.schema, fetch);
  if (format.type == "grammar") return explain_grammar(format.schema);
  if (format.type == "regex") return explain_regex(format.schema);
  WICK_TRY(const auto recognizer, grammar::make_recognizer(format));
  show_row("choice", joined({human(format.schema.size())}));
  show_end(*recognizer);
  return {};
}

}  // namespace wick
