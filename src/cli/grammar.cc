// wick grammar: check tests texts against a JSON schema, a regex or a grammar; sample and explain
// (grammar_people.h). No model. A batch reads JSON objects from standard input, one per line, and
// writes one result per line.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/strings.h"
#include "chat/json_value.h"
#include "cli/flags.h"
#include "cli/grammar_people.h"
#include "cli/line_reader.h"
#include "cli/report.h"
#include "grammar/earley.h"
#include "grammar/limits.h"
#include "grammar/regex_recognizer.h"
#include "grammar/schema/machine.h"
#include "grammar/schema/recognizer.h"
#include "hub/durable.h"

namespace wick {

namespace {

using grammar::Json;

constexpr std::size_t kMaxLine = 2 * grammar::kMaxSchemaBytes;  // a schema and a text
constexpr std::string_view kRegistryAddress = "http://localhost:1234/";

Error bad_input(std::string message, std::string hint) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_check",
          .message = std::move(message),
          .hint = std::move(hint)};
}

Result<std::string> text_of(const Json& line, std::string_view key) {
  const Json* const found = line.find(key);
  if (found == nullptr) return std::string();
  if (!found->is(Json::Kind::kString)) return bad_input(cat("\"", key, "\" is no string"), "");
  return std::string(found->text);
}

Result<bool> matches(grammar::Recognizer& recognizer, const std::string& text) {
  WICK_TRY(const auto fault, fault_of(recognizer, text));
  return !fault;
}

// Whether token masks would allow a text.
Result<bool> check_declared(grammar::JsonDocument schema, const grammar::SchemaOptions& options,
                            const std::string& text) {
  WICK_TRY(const auto recognizer, grammar::SchemaRecognizer::make(std::move(schema), options, {}));
  return matches(*recognizer, text);
}

Result<bool> check_grammar(const std::string& grammar, const std::string& text) {
  WICK_TRY(const auto recognizer, grammar::EarleyRecognizer::parse(grammar));
  return matches(*recognizer, text);
}

Result<bool> check_schema(const grammar::JsonDocument& document, const GrammarFlags& options,
                          const std::string& text) {
  const Json& line = document.root;
  WICK_TRY(const std::string order, text_of(line, "order"));
  WICK_TRY(const std::string draft, text_of(line, "draft"));
  WICK_TRY(const std::string formats, text_of(line, "formats"));
  if (!order.empty() && order != "any" && order != "declared")
    return bad_input(cat("the order '", printable(order, 40), "' is not known"),
                     "declared (default) or any");
  if (!formats.empty() && formats != "assert" && formats != "annotate")
    return bad_input(cat("the value '", printable(formats, 40), "' of \"formats\" is not known"),
                     "assert (default) or annotate");
  const auto known = grammar::draft_named(draft);
  if (!draft.empty() && !known)
    return bad_input(cat("the draft '", printable(draft, 40), "' is not known"),
                     "4, 6, 7, 2019-09, 2020-12");
  const grammar::SchemaOptions how{.fetch = registry_at(options.registry),
                                   .draft = known,
                                   .asserts_formats = formats != "annotate"};
  grammar::JsonDocument schema = document.part(*line.find("schema"));
  if (order != "any") return check_declared(std::move(schema), how, text);
  WICK_TRY(auto compiled, grammar::compile_schema(std::move(schema), how));
  return grammar::JsonMachine(std::move(compiled)).accepts(text);
}

Result<bool> check_regex(const std::string& pattern, const std::string& text) {
  WICK_TRY(const auto recognizer, grammar::RegexRecognizer::parse(pattern));
  return recognizer->automaton().matches(recognizer->start(), text);
}

Result<bool> check_line(const std::string& line, const GrammarFlags& options) {
  WICK_TRY(const grammar::JsonDocument document, grammar::read_document(line));
  const Json* const parsed = &document.root;
  static constexpr std::string_view kKeys[] = {"schema", "grammar", "regex",  "text",
                                               "order",  "draft",   "formats"};
  for (const std::string_view key : parsed->keys) {
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys))
      return bad_input(cat("\"", printable(key, 100), "\" is not known"),
                       "schema, regex or grammar; text, order, draft, formats");
  }
  const Json* const text = parsed->find("text");
  const int has_schema = parsed->find("schema") != nullptr ? 1 : 0;
  const int has_regex = parsed->find("regex") != nullptr ? 1 : 0;
  const int has_grammar = parsed->find("grammar") != nullptr ? 1 : 0;
  const bool has_text = text != nullptr && text->is(Json::Kind::kString);
  if (!has_text || has_schema + has_regex + has_grammar != 1)
    return bad_input("an object with \"text\" and one of schema, regex and grammar is wanted",
                     R"({"schema":{"type":"integer"},"text":"1","order":"any"})");
  if (has_schema != 0) return check_schema(document, options, std::string(text->text));
  if (has_grammar != 0) {
    WICK_TRY(const std::string grammar, text_of(*parsed, "grammar"));
    return check_grammar(grammar, std::string(text->text));
  }
  WICK_TRY(const std::string pattern, text_of(*parsed, "regex"));
  return check_regex(pattern, std::string(text->text));
}

Result<int> check(const GrammarFlags& options) {
  if (options.is_batch != options.is_json)
    return bad_input("a batch writes JSON, and only a batch does",
                     "wick grammar check --batch --json");
  if (!options.is_batch) return check_text(options);
  LineReader lines(kMaxLine);
  std::string line;
  while (true) {
    WICK_TRY(const LineReader::Got got, lines.next(line));
    if (got == LineReader::Got::kEnd) break;
    auto accepts = got == LineReader::Got::kTooLong ? lines.too_long() : check_line(line, options);
    if (accepts) {
      print_json(json_object({{"accepts", *accepts}}));
      continue;
    }
    print_json(json_object({{"error", json_object({{"id", accepts.error().id},
                                                   {"message", to_string(accepts.error())}})}}));
  }
  return kExitOk;
}

}  // namespace

// Documents below a folder: regular files. What leads out of it, or is too long, is not there.
grammar::FetchDocument registry_at(const std::string& folder) {
  if (folder.empty()) return {};
  return [folder](const std::string& address) -> std::optional<std::string> {
    if (!address.starts_with(kRegistryAddress)) return std::nullopt;
    std::error_code code;
    const auto root = std::filesystem::canonical(folder, code);
    if (code) return std::nullopt;
    const auto path =
        std::filesystem::canonical(root / address.substr(kRegistryAddress.size()), code);
    const bool is_within =
        std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
    if (code || !is_within) return std::nullopt;
    auto text = read_small_file(path, grammar::kMaxSchemaBytes);
    return text ? std::optional(*std::move(text)) : std::nullopt;
  };
}

Action setup_grammar(Flags flags) {
  const auto options = std::make_shared<GrammarFlags>();
  const auto run = std::make_shared<Result<int> (*)(const GrammarFlags&)>(nullptr);
  flags.require_command();
  Flags check_flags = flags.command("check", "test texts against a JSON schema, regex or grammar",
                                    [run] { *run = check; });
  check_flags.text("file", options->file, "text to test; standard input if not given");
  add_format_flags(check_flags, options->format);
  check_flags.toggle("--any-order", options->has_any_order,
                     "members of objects may come in any order");
  check_flags.toggle("--batch", options->is_batch,
                     "read JSON objects from standard input, one per line: \"text\", and one of "
                     "\"schema\", \"regex\" and \"grammar\"");
  check_flags.toggle(
      "--json", options->is_json,
      "with --batch: print {\"accepts\": true}, {\"accepts\": false} or an error per line");
  Flags sample = flags.command("sample", "print random texts of a JSON schema, regex or grammar",
                               [run] { *run = sample_documents; });
  add_format_flags(sample, options->format);
  sample.integer("--seed", options->seed, {0, 1 << 30}, "the same seed gives the same texts");
  sample.integer("-n", options->n, {1, 1 << 20}, "number of texts");
  sample.integer("--max-bytes", options->max_bytes, {0, 1 << 20},
                 "complete a text in the shortest way once it has this many bytes");
  Flags explain = flags.command("explain", "show what a JSON schema, regex or grammar compiles to",
                                [run] { *run = explain_constraint; });
  add_format_flags(explain, options->format);
  for (Flags* const one : {&check_flags, &sample, &explain})
    one->text("--registry", options->registry,
              "folder that answers each $ref to http://localhost:1234/…");
  return [options, run] { return (*run)(*options); };
}

}  // namespace wick
