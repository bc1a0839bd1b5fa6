#include "local/chat_templates.h"

#include <algorithm>

#include "base/strings.h"
#include "toolcalls/harmony.h"

namespace wick {

namespace {

constexpr std::string_view kDefault = "default";
constexpr std::string_view kToolUse = "tool_use";
constexpr std::size_t kMaxTemplates = 64;  // of one model; real ones: 3

}  // namespace

ChatTemplates::ChatTemplates(const Metadata& meta) {
  if (const auto text = meta.string("tokenizer.chat_template")) add(kDefault, *text);
  for (const std::string_view name :
       meta.strings("tokenizer.chat_templates").value_or(std::vector<std::string_view>())) {
    const auto text = meta.string(cat("tokenizer.chat_template.", name));
    if (text && entries_.size() < kMaxTemplates) add(name, *text);
  }
}

ChatTemplates::ChatTemplates(std::string jinja) {
  if (!jinja.empty()) add(kDefault, jinja);
}

void ChatTemplates::add(std::string_view name, std::string_view text) {
  if (find(name) != nullptr) return;
  auto entry = std::make_unique<Entry>();
  entry->name = name;
  entry->text = text;
  entries_.push_back(std::move(entry));
}

ChatTemplates::Entry* ChatTemplates::find(std::string_view name) const noexcept {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [&](const auto& entry) { return entry->name == name; });
  return at == entries_.end() ? nullptr : at->get();
}

std::vector<std::string> ChatTemplates::names() const {
  std::vector<std::string> out;
  for (const auto& entry : entries_)
    out.push_back(entry->name);
  return out;
}

std::optional<std::string> ChatTemplates::picked_name(std::string_view name, bool has_tools) const {
  if (name.empty()) name = has_tools && find(kToolUse) != nullptr ? kToolUse : kDefault;
  return find(name) != nullptr ? std::optional(std::string(name)) : std::nullopt;
}

Result<const ChatTemplate*> ChatTemplates::pick(std::string_view name, bool has_tools) const {
  const auto chosen = picked_name(name, has_tools);
  if (!chosen) {
    std::string there;
    for (const auto& entry : entries_)
      there += cat(there.empty() ? "" : ", ", printable(entry->name));
    const std::string wanted = name.empty() ? std::string(kDefault) : printable(name);
    return Error{.code = ErrorCode::kNotFound,
                 .id = "no_chat_template",
                 .message = cat("there is no chat template '", wanted, "'"),
                 .hint = there.empty() ? "complete plain text with: wick run -m MODEL -p TEXT"
                                       : cat("there are: ", there)};
  }
  Entry& entry = *find(*chosen);
  std::call_once(entry.once, [&] { entry.compiled = ChatTemplate::parse(entry.text); });
  if (!*entry.compiled) return entry.compiled->error();
  return &**entry.compiled;
}

Result<ChatTemplates::ToolUse> ChatTemplates::tool_use() const {
  WICK_TRY(const ChatTemplate* const tmpl, pick("", true));
  Entry& entry = *find(*picked_name("", true));
  std::call_once(entry.tool_once, [&] {
    const TemplateFacts facts = facts_of(*tmpl);
    const ToolFormat* format = facts.has_tools ? tool_format_of(entry.text) : &hermes_tool_format();
    if (format == nullptr) entry.learned = learn_tool_format(*tmpl);
    if (entry.learned != nullptr) format = &entry.learned->format;
    entry.tool_use = {
        .shows_tools = facts.has_tools, .has_system = facts.has_system, .format = format};
  });
  return entry.tool_use;
}

bool ChatTemplates::is_harmony(bool has_tools) const {
  const auto name = picked_name("", has_tools);
  return name && wick::is_harmony(find(*name)->text);
}

const ReasoningMarks& ChatTemplates::reasoning_marks(bool has_tools) const {
  const auto name = picked_name("", has_tools);
  return reasoning_marks_of(name ? std::string_view(find(*name)->text) : std::string_view());
}

bool has_tools(const Object& context) noexcept {
  const JsonValue* const tools = context.find("tools");
  return tools != nullptr && !tools->is_null();
}

void add_defaults(const Tokenizer* tokenizer, Object& context) {
  const auto set = [&](std::string_view key, TokenId id) {
    if (context.find(key) == nullptr && id >= 0) context[key] = std::string(tokenizer->bytes(id));
  };
  if (tokenizer != nullptr) {
    set("bos_token", tokenizer->bos());
    set("eos_token", tokenizer->eos());
  }
  if (context.find("add_generation_prompt") == nullptr) context["add_generation_prompt"] = true;
}

}  // namespace wick
