// Fields of what is asked: prompts, tools, and what the chat template is told.
#include <limits>

#include "server/errors.h"
#include "server/limits.h"
#include "server/messages_in.h"
#include "server/setters.h"

namespace wick::server {

SetResult set_model(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.request.model = *value.string();
  return {};
}

SetResult set_remote(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  parsed.request.remote_fields.emplace_back(field.name, to_json(value));
  return {};
}

SetResult set_messages(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  if (parsed.api == kOllamaChat && value.array()->empty()) return {};
  WICK_TRY(parsed.request.prompt, read_messages(*value.array(), field.name));
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
SetResult set_prompt(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  const std::string path(field.name);
  parsed.prompts.clear();
  if (const std::string* const text = value.string()) {
    parsed.prompts.emplace_back(*text);
    return {};
  }
  const Array* const array = value.array();
  if (array == nullptr || array->empty()) {
    return bad_field(path, "is ", array == nullptr ? seen(value) : "an empty array",
                     ", wanted is a string, tokens, or an array of one of them");
  }
  if (whole(array->front())) {
    WICK_TRY(auto ids, ids_of(*array, path));
    parsed.prompts.emplace_back(std::move(ids));
    return {};
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    const JsonValue& one = (*array)[i];
    const std::string here = cat(path, "[", i, "]");
    if (one.string() != nullptr) {
      parsed.prompts.emplace_back(*one.string());
    } else if (one.array() != nullptr) {
      WICK_TRY(auto ids, ids_of(*one.array(), here));
      parsed.prompts.emplace_back(std::move(ids));
    } else {
      return bad_field(here, "is ", seen(one), ", wanted is a string or an array of tokens");
    }
  }
  return {};
}

SetResult set_ids(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  WICK_TRY(parsed.tokens.ids, ids_of(*value.array(), std::string(field.name)));
  return {};
}

SetResult set_content(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.tokens.content = *value.string();
  return {};
}

SetResult set_add_special(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.tokens.adds_special = *value.boolean();
  return {};
}

SetResult set_parse_special(const JsonValue& value, const Field& field, ParsedRequest& /*parsed*/) {
  if (!*value.boolean()) return {};
  return unsupported_field("parse_special_unsupported", field.name,
                           "is true, but a name of a control token is ordinary text here");
}

SetResult set_pieces(const JsonValue& value, const Field& /*field*/, ParsedRequest& parsed) {
  parsed.tokens.has_pieces = *value.boolean();
  return {};
}

SetResult set_tools(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  WICK_TRY(parsed.request.generation.tools, read_tools(*value.array(), field.name));
  return {};
}

// "auto", "none", "required", or the tool as {"type": "function", "function": {"name": …}};
// Anthropic's {"type": "auto" | "any" | "tool", "name": …}.
SetResult set_tool_choice(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  std::string& choice = parsed.request.generation.tool_choice;
  if (value.string() != nullptr) {
    choice = *value.string();
    return {};
  }
  const Object* const object = value.object();
  const std::string type = object == nullptr ? "" : text_at(*object, "type");
  const JsonValue* const single =
      object == nullptr ? nullptr : object->find("disable_parallel_tool_use");
  if (single != nullptr) {
    if (single->boolean() == nullptr)
      return bad_field(field.name, "has disable_parallel_tool_use ", seen(*single),
                       ", wanted is true or false");
    parsed.request.generation.parallel_tool_calls = !*single->boolean();
  }
  const JsonValue* const function = object == nullptr ? nullptr : object->find("function");
  const Object& named = function != nullptr && function->object() != nullptr ? *function->object()
                        : object != nullptr                                  ? *object
                                                                             : Object();
  choice = text_at(named, "name");
  if (choice.empty() && (type == "auto" || type == "none")) choice = type;
  if (choice.empty() && type == "any") choice = "required";
  const bool is_word = choice == "auto" || choice == "none" || choice == "required";
  if (is_word && (type == "function" || type == "tool")) {
    return unsupported_field("bad_tool_choice", field.name, "names the function '", choice,
                             "', which means something else here; give it another name");
  }
  if (!choice.empty()) return {};
  return bad_field(field.name, "is ", seen(value),
                   ", wanted is 'auto', 'none', 'required' or a function with a name");
}

SetResult set_parallel_tool_calls(const JsonValue& value, const Field& /*field*/,
                                  ParsedRequest& parsed) {
  parsed.request.generation.parallel_tool_calls = *value.boolean();
  return {};
}

namespace {

// "none" is no variable of the template: thinking = false says it. Some remote APIs have a field
// for it alone.
void think_as(std::string_view effort, Request& request) {
  Generation& g = request.generation;
  if (effort == "none") {
    g.thinking = false;
    request.remote_fields.emplace_back("reasoning_effort", R"("none")");
    return;
  }
  if (effort != "minimal") g.thinking = true;
  g.template_variables.emplace_back("reasoning_effort", to_json(JsonValue(effort)));
}

}  // namespace

SetResult set_reasoning_effort(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  for (const std::string_view known : {"none", "minimal", "low", "medium", "high", "xhigh"}) {
    if (*value.string() == known) return think_as(known, parsed.request), SetResult();
  }
  return bad_field(field.name, "is '", printable(*value.string(), 40),
                   "', known are none, minimal, low, medium, high and xhigh");
}

SetResult set_think(const JsonValue& value, const Field& field, ParsedRequest& parsed) {
  if (const bool* const thinks = value.boolean()) {
    parsed.request.generation.thinking = *thinks;
    return {};
  }
  if (value.string() != nullptr) return set_reasoning_effort(value, field, parsed);
  return bad_field(field.name, "is ", seen(value), ", wanted is true, false or an effort");
}

SetResult set_template_variables(const JsonValue& value, const Field& /*field*/,
                                 ParsedRequest& parsed) {
  for (const auto& [name, one] : *value.object())
    parsed.request.generation.template_variables.emplace_back(name, to_json(one));
  return {};
}

}  // namespace wick::server
