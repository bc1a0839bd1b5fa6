#include "local/tool_use.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/strings.h"

namespace wick {

bool may_call_tools(const Generation& generation) noexcept {
  return !generation.tools.empty() && generation.tool_choice != "none";
}

bool must_call_tools(const Generation& generation) noexcept {
  const std::string& choice = generation.tool_choice;
  return may_call_tools(generation) && !choice.empty() && choice != "auto";
}

namespace {

constexpr std::string_view kBefore =
    "You can call functions. Their signatures, one JSON object per line:\n<tools>\n";
constexpr std::string_view kAfter =
    "</tools>\n\nTo call a function, answer with its name and arguments as JSON between tags:\n"
    "<tool_call>\n{\"name\": \"NAME\", \"arguments\": {…}}\n</tool_call>\n"
    "Several calls may follow each other. Results come between <tool_response> and "
    "</tool_response>.";

std::string description_of(const JsonValue& tools) {
  std::string text(kBefore);
  for (const JsonValue& tool : *tools.array())
    text += cat(to_json(tool), "\n");
  return text += kAfter;
}

std::string* content_of(JsonValue& message) {
  JsonValue* const content = message.object()->find("content");
  return content == nullptr ? nullptr : std::get_if<std::string>(&content->data());
}

std::string_view role_of(const JsonValue& message) {
  const JsonValue* const role = message.object()->find("role");
  return role == nullptr || role->string() == nullptr ? "" : std::string_view(*role->string());
}

void write_calls(JsonValue& message) {
  const JsonValue* const calls = message.object()->find("tool_calls");
  std::string* const text = content_of(message);
  if (calls == nullptr || calls->array() == nullptr || text == nullptr) return;
  for (const JsonValue& call : *calls->array()) {
    const Object& function = *call.object()->find("function")->object();
    const Object written =
        json_object({{"name", *function.find("name")}, {"arguments", *function.find("arguments")}});
    *text += cat(text->empty() ? "" : "\n", "<tool_call>\n", to_json(JsonValue(written)),
                 "\n</tool_call>");
  }
  message.object()->erase("tool_calls");
}

// Results in a row become one message of the user.
void append_result(JsonValue& message, bool follows_result, Array& out) {
  std::string* const text = content_of(message);
  if (text == nullptr) return;
  const std::string written = cat("<tool_response>\n", *text, "\n</tool_response>");
  if (follows_result && !out.empty()) {
    *content_of(out.back()) += cat("\n", written);
  } else {
    out.emplace_back(json_object({{"role", "user"}, {"content", written}}));
  }
}

}  // namespace

bool uses_tools(const Object& context) noexcept {
  if (context.find("tools") != nullptr) return true;
  const JsonValue* const messages = context.find("messages");
  if (messages == nullptr || messages->array() == nullptr) return false;
  return std::any_of(messages->array()->begin(), messages->array()->end(), [](const JsonValue& m) {
    return m.object() != nullptr &&
           (role_of(m) == "tool" || m.object()->find("tool_calls") != nullptr);
  });
}

void write_tools_as_text(Object& context, bool has_system) {
  Array out;
  bool follows_result = false;
  for (JsonValue& message : *context["messages"].array()) {
    const bool is_result = role_of(message) == "tool";
    if (is_result) {
      append_result(message, follows_result, out);
    } else {
      write_calls(message);
      out.push_back(std::move(message));
    }
    follows_result = is_result;
  }
  const JsonValue* const tools = context.find("tools");
  if (tools != nullptr && tools->array() != nullptr) {
    const std::string text = description_of(*tools);
    std::string* const first = out.empty() ? nullptr : content_of(out.front());
    if (first != nullptr && role_of(out.front()) == "system") {
      *first += cat("\n\n", text);
    } else if (first != nullptr && !has_system) {
      *first = cat(text, "\n\n", *first);
    } else {
      out.insert(out.begin(), json_object({{"role", "system"}, {"content", text}}));
    }
  }
  context["messages"] = std::move(out);
  context.erase("tools");
}

std::vector<ToolSignature> tool_signatures(const Generation& generation) {
  std::vector<ToolSignature> out;
  for (const Tool& tool : generation.tools) {
    auto schema = parse_json(tool.parameters);
    out.push_back({tool.name, schema ? *std::move(schema) : JsonValue()});
  }
  return out;
}

std::string call_id(std::span<const TokenId> prompt, int index) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, over numbers
  const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (const TokenId id : prompt)
    add(static_cast<std::uint64_t>(id));
  add(static_cast<std::uint64_t>(index) + 1);
  hash ^= hash >> 29;
  hash *= 0xbf58476d1ce4e5b9;
  hash ^= hash >> 32;
  std::string id;
  for (; id.size() < 9; hash /= 36)
    id += "0123456789abcdefghijklmnopqrstuvwxyz"[hash % 36];
  return id;
}

}  // namespace wick
