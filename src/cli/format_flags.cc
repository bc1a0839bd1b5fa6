#include "cli/format_flags.h"

#include <algorithm>

#include "chat/json_value.h"
#include "cli/options.h"
#include "grammar/limits.h"

namespace wick {

void add_format_flags(Flags& flags, FormatOptions& options) {
  Flags group = flags.group("Structured output");
  const auto text = [&](const std::string& names, std::optional<std::string>& value,
                        const std::string& help) {
    const auto set = [&value](const std::string& given) { value = given; };
    group.setting(names, "TEXT", false, help, set);
  };
  text("-j,--schema,--json-schema,--json-schema-file", options.schema,
             "the answer is a JSON document of this schema: a file, or JSON itself");
  text("--grammar,--grammar-file", options.grammar,
             "the answer matches this GBNF, EBNF or Lark grammar: a file, or rules (\"root "
             "::= …\")");
  text("--regex", options.regex, "the answer matches this regular expression (ECMA-262)");
  text("--choice", options.choice, "the answer is one of these texts: yes,no");
}

namespace {

// `text` itself, or the file that it names.
Result<std::string> text_or_file(const std::string& text, bool is_text) {
  if (is_text) return text;
  return read_text(text, grammar::kMaxSchemaBytes);
}

std::string to_choices(std::string_view text) {
  Array choices;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    choices.emplace_back(std::string(text.substr(0, comma)));
    if (comma == text.size()) return to_json(JsonValue(std::move(choices)));
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<ResponseFormat> response_format(const FormatOptions& o) {
  const std::optional<std::string>* const all[] = {&o.schema, &o.grammar, &o.regex, &o.choice};
  const auto is_given = [](const auto* one) { return one->has_value(); };
  const auto is_empty = [](const auto* one) { return one->has_value() && (*one)->empty(); };
  if (std::any_of(std::begin(all), std::end(all), is_empty)) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "usage",
                 .message = "the constraint of the answer is empty",
                 .hint = "give --schema, --grammar, --regex or --choice a value, or leave it out"};
  }
  if (std::count_if(std::begin(all), std::end(all), is_given) > 1) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "usage",
                 .message = "there are two constraints of the answer",
                 .hint = "give one of --schema, --grammar, --regex and --choice"};
  }
  ResponseFormat format;
  if (o.schema) {
    const std::size_t first = o.schema->find_first_not_of(" \t\r\n");
    const bool is_text = *o.schema == "true" || *o.schema == "false" ||
                         (first != std::string::npos && (*o.schema)[first] == '{');
    format.type = "json_schema";
    WICK_TRY(format.schema, text_or_file(*o.schema, is_text));
  } else if (o.grammar) {
    format.type = "grammar";
    WICK_TRY(format.schema, text_or_file(*o.grammar, o.grammar->find("::=") != std::string::npos));
  } else if (o.regex) {
    format = {.type = "regex", .schema = *o.regex};
  } else if (o.choice) {
    format = {.type = "choice", .schema = to_choices(*o.choice)};
  }
  return format;
}

}  // namespace wick
