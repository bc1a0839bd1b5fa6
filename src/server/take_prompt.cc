// Fields of what is asked: prompts, tools, and what the chat template is told.
#include <limits>

#include "server/errors.h"
#include "server/limits.h"
#include "server/messages_in.h"
#include "server/take.h"

namespace wick::server {

Taken take_model(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.request.model = *value.string();
  return {};
}

Taken take_messages(const JsonValue& value, const Field& field, Ask& ask) {
  if (ask.api == kOllamaChat && value.array()->empty()) return {};
  WICK_TRY(ask.request.prompt, read_messages(*value.array(), field.name));
  return {};
}

namespace {

Result<std::vector<TokenId>> ids_of(const Array& array, const std::string& path) {
  std::vector<TokenId> ids;
  ids.reserve(array.size());
  for (const JsonValue& one : array) {
    const auto id = whole(one);
    if (!id || *id < 0 || *id > std::numeric_limits<TokenId>::max()) {
      return bad_field(path, "has the item ", seen(one), ", wanted is a token's id");
    }
    ids.push_back(static_cast<TokenId>(*id));
  }
  return ids;
}

}  // namespace

// A string, strings, a list of tokens, or lists of them: completions and embeddings alike.
Taken take_prompt(const JsonValue& value, const Field& field, Ask& ask) {
  const std::string path(field.name);
  ask.prompts.clear();
  if (const std::string* const text = value.string()) {
    ask.prompts.emplace_back(*text);
    return {};
  }
  const Array* const array = value.array();
  if (array == nullptr || array->empty()) {
    return bad_field(path, "is ", array == nullptr ? seen(value) : "an empty array",
                     ", wanted is a string, tokens, or an array of one of them");
  }
  if (whole(array->front())) {
    WICK_TRY(auto ids, ids_of(*array, path));
    ask.prompts.emplace_back(std::move(ids));
    return {};
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    const JsonValue& one = (*array)[i];
    const std::string here = cat(path, "[", i, "]");
    if (one.string() != nullptr) {
      ask.prompts.emplace_back(*one.string());
    } else if (one.array() != nullptr) {
      WICK_TRY(auto ids, ids_of(*one.array(), here));
      ask.prompts.emplace_back(std::move(ids));
    } else {
      return bad_field(here, "is ", seen(one), ", wanted is a string or an array of tokens");
    }
  }
  return {};
}

Taken take_ids(const JsonValue& value, const Field& field, Ask& ask) {
  WICK_TRY(ask.tokens.ids, ids_of(*value.array(), std::string(field.name)));
  return {};
}

Taken take_content(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.tokens.content = *value.string();
  return {};
}

Taken take_add_special(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.tokens.adds_special = *value.boolean();
  return {};
}

Taken take_parse_special(const JsonValue& value, const Field& field, Ask& /*ask*/) {
  if (!*value.boolean()) return {};
  return unsupported_field("parse_special_unsupported", field.name,
                           "is true, but a name of a control token is ordinary text here");
}

Taken take_pieces(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  ask.tokens.has_pieces = *value.boolean();
  return {};
}

Taken take_suffix(const JsonValue& value, const Field& field, Ask& /*ask*/) {
  if (value.string()->empty()) return {};
  return unsupported_field("infill_unsupported", field.name,
                           "is set, but no model here fills in between two texts");
}

Taken take_tools(const JsonValue& value, const Field& field, Ask& ask) {
  WICK_TRY(ask.request.generation.tools, read_tools(*value.array(), field.name));
  return {};
}

// "auto", "none", "required", or the tool as {"type": "function", "function": {"name": …}};
// Anthropic's {"type": "auto" | "any" | "tool", "name": …}.
Taken take_tool_choice(const JsonValue& value, const Field& field, Ask& ask) {
  std::string& choice = ask.request.generation.tool_choice;
  if (value.string() != nullptr) {
    choice = *value.string();
    return {};
  }
  const Object* const object = value.object();
  const std::string type = object == nullptr ? "" : text_at(*object, "type");
  const JsonValue* const function = object == nullptr ? nullptr : object->find("function");
  const Object& named = function != nullptr && function->object() != nullptr ? *function->object()
                        : object != nullptr                                  ? *object
                                                                             : Object();
  choice = text_at(named, "name");
  if (choice.empty() && (type == "auto" || type == "none")) choice = type;
  if (choice.empty() && type == "any") choice = "required";
  if (!choice.empty()) return {};
  return bad_field(field.name, "is ", seen(value),
                   ", wanted is 'auto', 'none', 'required' or a function with a name");
}

Taken take_response_format(const JsonValue& value, const Field& field, Ask& ask) {
  const Object& object = *value.object();
  ResponseFormat& format = ask.request.generation.response_format;
  format.type = text_at(object, "type");
  if (format.type.empty()) return bad_field(cat(field.name, ".type"), "is missing");
  if (const JsonValue* const schema = object.find("json_schema")) format.schema = to_json(*schema);
  return {};
}

namespace {

void think_as(std::string_view effort, Generation& g) {
  if (effort == "none") {
    g.thinking = false;
    return;
  }
  if (effort != "minimal") g.thinking = true;
  g.template_variables.emplace_back("reasoning_effort", to_json(JsonValue(effort)));
}

}  // namespace

Taken take_reasoning_effort(const JsonValue& value, const Field& field, Ask& ask) {
  for (const std::string_view known : {"none", "minimal", "low", "medium", "high", "xhigh"}) {
    if (*value.string() == known) return think_as(known, ask.request.generation), Taken();
  }
  return bad_field(field.name, "is '", printable(*value.string(), 40),
                   "', known are none, minimal, low, medium, high and xhigh");
}

Taken take_think(const JsonValue& value, const Field& field, Ask& ask) {
  if (const bool* const thinks = value.boolean()) {
    ask.request.generation.thinking = *thinks;
    return {};
  }
  if (value.string() != nullptr) return take_reasoning_effort(value, field, ask);
  return bad_field(field.name, "is ", seen(value), ", wanted is true, false or an effort");
}

Taken take_template_variables(const JsonValue& value, const Field& /*field*/, Ask& ask) {
  for (const auto& [name, one] : *value.object())
    ask.request.generation.template_variables.emplace_back(name, to_json(one));
  return {};
}

}  // namespace wick::server
