#include "server/anthropic.h"

#include "base/strings.h"
#include "server/openai_parts.h"

namespace wick::server {

namespace {

std::string_view error_type(int status) noexcept {
  switch (status) {
    case 400:
      return "invalid_request_error";
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    case 504:
      return "timeout_error";
    default:
      return "api_error";
  }
}

std::string error_event(const ApiError& error) {
  std::string out;
  JsonOut json(out);
  json.object().field("type", "error").key("error").object();
  json.field("type", error_type(error.status)).field("message", error.message);
  json.end_object().end_object();
  return out;
}

std::string_view stop_reason(FinishReason finish) noexcept {
  switch (finish) {
    case FinishReason::kStop:
      return "stop_sequence";
    case FinishReason::kLength:
      return "max_tokens";
    case FinishReason::kToolCalls:
      return "tool_use";
    case FinishReason::kContentFilter:
      return "refusal";
    default:
      return "end_turn";
  }
}

void write_anthropic_usage(JsonOut& json, const Usage& usage) {
  json.key("usage").object();
  json.field("input_tokens", usage.prompt_tokens - usage.cached_tokens);
  json.field("cache_creation_input_tokens", 0);
  json.field("cache_read_input_tokens", usage.cached_tokens);
  json.field("output_tokens", usage.generated_tokens).end_object();
}

void write_content(JsonOut& json, const Completion& c) {
  json.key("content").array();
  if (!c.reasoning.empty()) {
    json.object().field("type", "thinking").field("thinking", c.reasoning);
    json.field("signature", "").end_object();
  }
  if (!c.text.empty()) json.object().field("type", "text").field("text", c.text).end_object();
  for (const ToolCall& call : c.tool_calls) {
    json.object().field("type", "tool_use").field("id", call.id).field("name", call.name);
    json.key("input");
    write_arguments(json, call.arguments);
    json.end_object();
  }
  json.end_array();
}

class MessagesDialect final : public Dialect {
 public:
  MessagesDialect(Context& context, const ParsedRequest& parsed)
      : id_(make_id(context, "msg_")), model_(parsed.request.model) {
    const auto& stops = parsed.request.generation.stop;
    if (stops.size() == 1) only_stop_ = stops.front();
  }

  std::string_view heartbeat() const noexcept override {
    return "event: ping\ndata: {\"type\": \"ping\"}\n\n";
  }

  void start(std::string& out) override {
    JsonOut json = begin("message_start", out);
    json.key("message").object();
    write_head(json);
    json.key("content").array().end_array();
    json.field("stop_reason", nullptr).field("stop_sequence", nullptr);
    write_anthropic_usage(json, {});
    json.end_object();
    end(json, out);
    out += heartbeat();
  }

  void add(std::size_t /*choice*/, const Event& event, std::string& out) override {
    if (const auto* const text = std::get_if<TextEvent>(&event)) {
      say(Block::kText, text->text, out);
    } else if (const auto* const thought = std::get_if<ReasoningEvent>(&event)) {
      say(Block::kThinking, thought->text, out);
    } else if (const auto* const call = std::get_if<ToolCallEvent>(&event)) {
      begin_call(*call, out);
    } else if (const auto* const more = std::get_if<ArgumentsEvent>(&event)) {
      if (block_ == Block::kTool && more->index == call_index_) {
        append_delta("input_json_delta", "partial_json", more->text, out);
      } else {
        for (Waiting& waiting : waiting_) {
          if (waiting.call.index == more->index) waiting.arguments += more->text;
        }
      }
    }
  }

  void done(std::size_t /*choice*/, const DoneEvent& event, std::string& out) override {
    for (const Waiting& waiting : waiting_) {
      open_call(waiting.call, out);
      append_delta("input_json_delta", "partial_json", waiting.arguments, out);
    }
    close(out);
    for (const auto& [block, text] : late_)
      say(block, text, out);
    close(out);
    JsonOut json = begin("message_delta", out);
    json.key("delta").object();
    write_stop(json, event.finish);
    json.end_object();
    write_anthropic_usage(json, event.usage);
    write_steered(json, event.usage);
    end(json, out);
  }

  void finish(std::string& out) override {
    JsonOut json = begin("message_stop", out);
    end(json, out);
  }

  void fail(const ApiError& error, std::string& out) override {
    out += cat("event: error\ndata: ", error_event(error), "\n\n");
  }

  http::Response whole(const std::vector<Gather>& answers) override {
    const Completion& c = answers.front().completion;
    http::Response response;
    JsonOut json(response.body);
    json.object();
    write_head(json);
    write_content(json, c);
    write_stop(json, c.finish);
    write_anthropic_usage(json, c.usage);
    write_steered(json, c.usage);
    json.end_object();
    return response;
  }

  http::Response refuse(const ApiError& error, const std::vector<Gather>& answers) override {
    http::Response response = anthropic_refusal(error);
    if (answers.empty() || !answers.front().has_said()) return response;
    response.body.pop_back();
    JsonOut json = JsonOut::on(response.body);
    write_content(json, answers.front().completion);
    json.end_object();
    return response;
  }

 private:
  enum class Block : std::uint8_t { kNone, kText, kThinking, kTool };

  // A call whose arguments come while those of another one are told: one block at a time is open.
  struct Waiting {
    ToolCallEvent call;
    std::string arguments = {};
  };

  static JsonOut begin(std::string_view type, std::string& out) {
    out += cat("event: ", type, "\ndata: ");
    JsonOut json(out);
    json.object().field("type", type);
    return json;
  }

  static void end(JsonOut& json, std::string& out) {
    json.end_object();
    out += "\n\n";
  }

  void write_head(JsonOut& json) const {
    json.field("id", id_).field("type", "message").field("role", "assistant");
    json.field("model", model_);
  }

  void write_stop(JsonOut& json, FinishReason finish) const {
    json.field("stop_reason", stop_reason(finish));
    json.field_or_null("stop_sequence", finish == FinishReason::kStop ? only_stop_ : "");
  }

  void say(Block block, const std::string& text, std::string& out) {
    if (block_ == Block::kTool) {
      late_.emplace_back(block, text);
    } else if (block == Block::kText) {
      open(block, R"({"type":"text","text":""})", out);
      append_delta("text_delta", "text", text, out);
    } else {
      open(block, R"({"type":"thinking","thinking":"","signature":""})", out);
      append_delta("thinking_delta", "thinking", text, out);
    }
  }

  void open(Block block, std::string_view content, std::string& out) {
    if (block == block_ && block != Block::kTool) return;
    close(out);
    block_ = block;
    JsonOut json = begin("content_block_start", out);
    json.field("index", index_).key("content_block").raw(content);
    end(json, out);
  }

  void close(std::string& out) {
    if (block_ == Block::kNone) return;
    JsonOut json = begin("content_block_stop", out);
    json.field("index", index_++);
    end(json, out);
    block_ = Block::kNone;
  }

  void begin_call(const ToolCallEvent& call, std::string& out) {
    if (block_ == Block::kTool) {
      waiting_.push_back({.call = call});
    } else {
      open_call(call, out);
    }
  }

  void open_call(const ToolCallEvent& call, std::string& out) {
    std::string content;
    JsonOut json(content);
    json.object().field("type", "tool_use").field("id", call.id).field("name", call.name);
    json.key("input").object().end_object().end_object();
    open(Block::kTool, content, out);
    call_index_ = call.index;
  }

  void append_delta(std::string_view type, std::string_view key, std::string_view text,
                    std::string& out) {
    JsonOut json = begin("content_block_delta", out);
    json.field("index", index_).key("delta").object().field("type", type).field(key, text);
    json.end_object();
    end(json, out);
  }

  const std::string id_, model_;
  std::string only_stop_ = {};  // the stop sequence that can have ended the answer
  Block block_ = Block::kNone;  // that is open
  int index_ = 0;               // of the next or open block
  int call_index_ = 0;          // of the open block's call
  std::vector<Waiting> waiting_;
  std::vector<std::pair<Block, std::string>> late_;  // said while a call was open
};

Result<ParsedRequest> read_messages_request(const SharedContext& context,
                                            const http::Request& request, bool needs_length) {
  WICK_TRY(ParsedRequest parsed, read_request(*context, kMessages, request));
  auto* const talk = std::get_if<std::vector<Message>>(&parsed.request.prompt);
  if (talk == nullptr) return bad_field("messages", "is missing");
  if (needs_length && !parsed.max_tokens) return bad_field("max_tokens", "is missing");
  if (!parsed.system.empty())
    talk->insert(talk->begin(), {.role = "system", .content = parsed.system});
  return parsed;
}

}  // namespace

http::Response anthropic_refusal(const ApiError& error) {
  http::Response response = error_head(error);
  if (response.status == 503) response.status = 529;
  response.body = error_event(error);
  return response;
}

http::Reply messages(const SharedContext& context, const http::Request& request,
                     const std::shared_ptr<Wake>& wake) {
  auto parsed = read_messages_request(context, request, true);
  if (!parsed) return anthropic_refusal(refusal(*context, parsed.error()));
  return answer(context, *parsed, std::make_unique<MessagesDialect>(*context, *parsed), wake);
}

http::Reply count_message_tokens(const SharedContext& context, const http::Request& request,
                                 const std::shared_ptr<Wake>& /*wake*/) {
  const auto parsed = read_messages_request(context, request, false);
  if (!parsed) return anthropic_refusal(refusal(*context, parsed.error()));
  const auto ids = context->provider->prompt_tokens(parsed->request);
  if (!ids) return anthropic_refusal(refusal(*context, ids.error()));
  http::Response response;
  JsonOut(response.body).object().field("input_tokens", ids->size()).end_object();
  return response;
}

}  // namespace wick::server
