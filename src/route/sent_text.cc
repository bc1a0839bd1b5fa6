#include "route/sent_text.h"

#include "base/utf8.h"
#include "chat/json_value.h"
#include "unicode/normal_forms.h"
#include "unicode/python_str.h"

namespace wick::route {

namespace {

// Of Unicode's Default_Ignorable_Code_Point, those that stand in ordinary text.
bool is_invisible(char32_t c) noexcept {
  return c == 0xAD || c == 0x34F || c == 0x61C || c == 0x180E || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
         (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF || (c >= 0xE0000 && c <= 0xE0FFF);
}

void append_line(std::string_view text, std::string& out) {
  if (text.empty()) return;
  out += text;
  out += '\n';
}

// Without the escapes that a JSON text may have.
void append_json(const std::string& json, std::string& out) {
  const auto parsed = parse_json(json);
  append_line(parsed ? to_json(*parsed) : json, out);
}

}  // namespace

std::string comparable(std::string_view text) {
  std::string normal, out;
  NfcScratch scratch;
  append_form(normal, text, UnicodeForm::kNfkc, scratch);
  std::string_view rest = normal;
  while (!rest.empty()) {
    const Utf8Char c = decode_utf8(rest);
    const auto length = static_cast<std::size_t>(c.length);
    if (!c.is_valid) {
      out += rest.substr(0, length);
    } else if (!is_invisible(c.code)) {
      append_folded(out, c.code);
    }
    rest.remove_prefix(length);
  }
  return out;
}

void append_sent_text(const Message& message, std::string& out) {
  append_line(message.role, out);
  append_line(message.content.text(), out);
  append_line(message.content.text<ReasoningPart>(), out);
  for (const Part& part : message.content.parts) {
    if (const auto* const call = std::get_if<ToolCall>(&part)) {
      append_line(call->id, out);
      append_line(call->name, out);
      append_json(call->arguments, out);
    }
    if (const auto* const result = std::get_if<ToolResult>(&part)) {
      append_line(result->call_id, out);
      append_line(result->text, out);
    }
  }
}

void append_sent_text(const Generation& generation, std::string& out) {
  for (const Tool& tool : generation.tools) {
    append_line(tool.name, out);
    append_line(tool.description, out);
    append_json(tool.parameters, out);
  }
  append_json(generation.response_format.schema, out);
  append_line(generation.tool_choice, out);
  for (const std::string& stop : generation.stop)
    append_line(stop, out);
  for (const TokenBias& bias : generation.logit_bias)
    append_line(bias.text, out);
  if (generation.dry_sequence_breakers) {
    for (const std::string& breaker : *generation.dry_sequence_breakers)
      append_line(breaker, out);
  }
  for (const auto& [name, value] : generation.template_variables) {
    append_line(name, out);
    append_json(value, out);
  }
}

void append_sent_text(const RemoteFields& fields, std::string& out) {
  for (const auto& [name, json] : fields)
    append_json(json, out);
}

}  // namespace wick::route
