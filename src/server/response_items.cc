#include "server/response_items.h"

#include "server/openai_parts.h"

namespace wick::server {

OutputItem make_item(Context& context, OutputItem::Kind kind) {
  return {.kind = kind,
          .id = make_id(context, kind == OutputItem::Kind::kMessage ? "msg_" : "rs_")};
}

OutputItem make_call(Context& context, int index, std::string call_id, std::string name) {
  return {.kind = OutputItem::Kind::kCall,
          .id = make_id(context, "fc_"),
          .call_id = std::move(call_id),
          .name = std::move(name),
          .call_index = index};
}

std::vector<OutputItem> items_of(Context& context, const Gather& answer) {
  const Completion& c = answer.completion;
  std::vector<OutputItem> items;
  const auto add = [&](OutputItem item, std::string text) {
    item.text = std::move(text);
    item.index = static_cast<int>(items.size());
    item.is_done = true;
    items.push_back(std::move(item));
  };
  if (!c.reasoning.empty()) add(make_item(context, OutputItem::Kind::kReasoning), c.reasoning);
  if (!c.text.empty()) {
    OutputItem message = make_item(context, OutputItem::Kind::kMessage);
    for (const std::size_t token : answer.text_tokens)
      message.scores.push_back(c.logprobs[token]);
    add(std::move(message), c.text);
  }
  for (std::size_t i = 0; i < c.tool_calls.size(); ++i) {
    const ToolCall& call = c.tool_calls[i];
    add(make_call(context, static_cast<int>(i), call.id, call.name), call.arguments);
  }
  return items;
}

Message message_of(const std::vector<OutputItem>& items) {
  Message message{.role = "assistant"};
  for (const OutputItem& item : items) {
    if (item.kind == OutputItem::Kind::kMessage) {
      message.content.parts.emplace_back(TextPart{item.text});
    } else if (item.kind == OutputItem::Kind::kReasoning) {
      message.content.parts.emplace_back(ReasoningPart{item.text});
    } else {
      message.content.parts.emplace_back(
          ToolCall{.id = item.call_id, .name = item.name, .arguments = item.text});
    }
  }
  return message;
}

void write_text_part(JsonOut& json, const OutputItem& item) {
  json.object().field("type", "output_text").field("text", item.text);
  json.key("annotations").array().end_array().key("logprobs");
  write_scores(json, item.scores);
  json.end_object();
}

void write_item(JsonOut& json, const OutputItem& item) {
  const std::string_view status = item.is_done ? "completed" : "in_progress";
  json.object().field("id", item.id);
  if (item.kind == OutputItem::Kind::kCall) {
    json.field("type", "function_call").field("call_id", item.call_id).field("name", item.name);
    json.field("arguments", item.text);
  } else if (item.kind == OutputItem::Kind::kMessage) {
    json.field("type", "message").field("role", "assistant").key("content").array();
    if (item.is_done) write_text_part(json, item);
    json.end_array();
  } else {
    json.field("type", "reasoning").key("summary").array().end_array().key("content").array();
    if (item.is_done)
      json.object().field("type", "reasoning_text").field("text", item.text).end_object();
    json.end_array();
  }
  json.field("status", status).end_object();
}

void write_tool(JsonOut& json, const Tool& tool) {
  json.object().field("type", "function").field("name", tool.name);
  json.field("description", tool.description).key("parameters");
  json.raw(tool.parameters.empty() ? "{}" : tool.parameters).field("strict", false).end_object();
}

void write_response_usage(JsonOut& json, const Usage& u) {
  json.object().field("input_tokens", u.prompt_tokens).key("input_tokens_details").object();
  json.field("cached_tokens", u.cached_tokens).field("cache_write_tokens", 0).end_object();
  json.field("output_tokens", u.generated_tokens).key("output_tokens_details").object();
  json.field("reasoning_tokens", u.reasoning_tokens).end_object();
  json.field("total_tokens", u.prompt_tokens + u.generated_tokens).end_object();
}

}  // namespace wick::server
