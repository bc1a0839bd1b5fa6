// Structured output, as OpenAI, vLLM, llama.cpp and Ollama name it.
#include "base/strings.h"
#include "server/errors.h"
#include "server/messages_in.h"
#include "server/setters.h"

namespace wick::server {

namespace {

SetResult set_constraint(std::string_view path, std::string type, std::string schema,
                         ParsedRequest& parsed) {
  ResponseFormat& format = parsed.request.generation.response_format;
  if (format.type != "text") {
    return bad_field(path, "is a second constraint of the answer, a request has one");
  }
  format = {.type = std::move(type), .schema = std::move(schema)};
  return {};
}

bool is_schema(const JsonValue& value) noexcept {
  return value.object() != nullptr || value.boolean() != nullptr;
}

// vLLM takes a schema as JSON text, too.
SetResult set_schema(std::string_view path, const JsonValue& value, ParsedRequest& parsed) {
  if (is_schema(value)) return set_constraint(path, "json_schema", to_json(value), parsed);
  if (value.string() != nullptr)
    return set_constraint(path, "json_schema", *value.string(), parsed);
  return bad_field(path, "is ", seen(value), ", wanted is a schema");
}

SetResult set_string(std::string_view path, std::string type, const JsonValue& value,
                     ParsedRequest& parsed) {
  if (value.string() == nullptr) return bad_field(path, "is ", seen(value), ", wanted is a string");
  return set_constraint(path, std::move(type), *value.string(), parsed);
}

SetResult set_choices(std::string_view path, const JsonValue& value, ParsedRequest& parsed) {
  if (value.array() == nullptr) return bad_field(path, "is ", seen(value), ", wanted are strings");
  return set_constraint(path, "choice", to_json(value), parsed);
}

// vLLM takes the JSON of a structural tag as text, too.
SetResult set_tags(std::string_view path, const JsonValue& value, ParsedRequest& parsed) {
  if (value.object() != nullptr)
    return set_constraint(path, "structural_tag", to_json(value), parsed);
  return set_string(path, "structural_tag", value, parsed);
}

// `key`: json, regex, choice, grammar or structural_tag, as vLLM has them.
SetResult set_kind(std::string_view path, std::string_view key, const JsonValue& value,
                   ParsedRequest& parsed) {
  if (key == "json") return set_schema(path, value, parsed);
  if (key == "choice") return set_choices(path, value, parsed);
  if (key == "structural_tag") return set_tags(path, value, parsed);
  return set_string(path, std::string(key), value, parsed);
}

}  // namespace

// OpenAI's {"type": "json_schema", "json_schema": {"schema": …}}, /v1/responses' {"type":
// "json_schema", "schema": …}, llama.cpp's {"type": "json_object", "schema": …}.
SetResult set_response_format(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  const Object& object = *value.object();
  std::string type = text_at(object, "type");
  if (type.empty()) return bad_field(cat(field.name, ".type"), "is missing");
  if (type == "text") return {};
  if (type == "structural_tag") return set_tags(field.name, value, parsed);
  if (type != "json_object" && type != "json_schema") {
    return unsupported_field("response_format_unsupported", cat(field.name, ".type"), "is '",
                             printable(type, 40),
                             "', known are text, json_object, json_schema and structural_tag; "
                             "structured_outputs takes regex, choice and grammar");
  }
  const JsonValue* schema = object.find("schema");
  std::string path = cat(field.name, ".schema");
  if (const JsonValue* const nested = object.find("json_schema"); nested != nullptr) {
    if (nested->object() == nullptr) {
      return bad_field(cat(field.name, ".json_schema"), "is ", seen(*nested),
                       ", wanted is an object");
    }
    schema = nested->object()->find("schema");
    path = cat(field.name, ".json_schema.schema");
  }
  if (schema != nullptr && !schema->is_null()) return set_schema(path, *schema, parsed);
  if (type == "json_schema") return bad_field(path, "is missing");
  return set_constraint(field.name, std::move(type), "", parsed);
}

// vLLM's {"json" | "regex" | "choice" | "grammar" | "structural_tag": …, "json_object": true}.
SetResult set_structured(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  for (const auto& [key, one] : *value.object()) {
    if (one.is_null()) continue;
    const std::string path = cat(field.name, ".", key);
    const bool is_switch = one.boolean() != nullptr;
    const bool is_kind = key == "json" || key == "regex" || key == "choice" || key == "grammar" ||
                         key == "structural_tag";
    if (is_kind) {
      WICK_DO(set_kind(path, key, one, parsed));
    } else if (key == "json_object" && is_switch) {
      if (*one.boolean()) WICK_DO(set_constraint(path, "json_object", "", parsed));
    } else if (!is_switch || *one.boolean()) {
      return unsupported_field("structured_outputs_unsupported", path,
                               "is not supported, json, regex, choice, grammar, structural_tag "
                               "and json_object are");
    }
  }
  return {};
}

// vLLM's older names guided_json, guided_regex, guided_choice, guided_grammar and
// structural_tag, llama.cpp's json_schema and grammar.
SetResult set_guide(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  constexpr std::string_view kPrefix = "guided_";
  std::string_view key = field.name;
  const bool is_empty = value.string() != nullptr && value.string()->empty();
  if (is_empty && !key.starts_with(kPrefix)) return {};  // llama.cpp's clients send it
  if (key.starts_with(kPrefix)) key.remove_prefix(kPrefix.size());
  return set_kind(field.name, key == "json_schema" ? "json" : key, value, parsed);
}

// Ollama's "", "json", or a JSON schema.
SetResult set_format(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  if (value.object() != nullptr) return set_schema(field.name, value, parsed);
  if (value.string() != nullptr && *value.string() == "json")
    return set_constraint(field.name, "json_object", "", parsed);
  if (value.string() == nullptr || !value.string()->empty())
    return bad_field(field.name, "is ", seen(value), ", wanted is 'json' or a schema");
  return {};
}

// /v1/responses' {"format": {"type": "json_schema", "schema": …}, "verbosity": …}
SetResult set_text_form(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  const JsonValue* const format = value.object()->find("format");
  if (format == nullptr || format->is_null()) return {};
  const std::string path = cat(field.name, ".format");
  if (format->object() == nullptr)
    return bad_field(path, "is ", seen(*format), ", wanted is an object");
  Field inner = field;
  inner.name = path;
  parsed.text_format = to_json(*format);
  return set_response_format(*format, inner, parsed);
}

}  // namespace wick::server
