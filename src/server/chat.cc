#include "server/chat.h"

#include "base/strings.h"
#include "server/choices.h"
#include "server/json_in.h"

namespace wick::server {

namespace {

// "chat.completion" and its chunks.
class ChatDialect final : public Dialect {
 public:
  ChatDialect(Context& context, const ParsedRequest& parsed)
      : choices_(context, parsed, "chatcmpl-",
                 parsed.streams ? "chat.completion.chunk" : "chat.completion") {
    if (!parsed.streams) return;
    waiting_.resize(static_cast<std::size_t>(parsed.n));
    chunk_ = cat("data: ", choices_.head(), ",\"choices\":[{\"index\":");
    chunk_end_ = cat("}]", parsed.includes_usage ? ",\"usage\":null" : "", "}\n\n");
  }

  void start(std::string& out) override {
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      append_chunk(i, R"({"role":"assistant","content":""})", "null", out);
  }

  void add(std::size_t choice, const Event& event, std::string& out) override {
    if (const auto* const text = std::get_if<TextEvent>(&event)) {
      append_text(choice, R"({"content":")", text->text, "\"}", out);
    } else if (const auto* const thought = std::get_if<ReasoningEvent>(&event)) {
      append_reasoning(choice, thought->text, out);
    } else if (const auto* const call = std::get_if<ToolCallEvent>(&event)) {
      append_call(choice, *call, out);
    } else if (const auto* const more = std::get_if<ArgumentsEvent>(&event)) {
      const std::string head =
          cat(R"({"tool_calls":[{"index":)", more->index, R"(,"function":{"arguments":")");
      append_text(choice, head, more->text, "\"}}]}", out);
    } else if (const auto* const scores = std::get_if<LogprobsEvent>(&event)) {
      auto& waiting = waiting_[choice];
      waiting.insert(waiting.end(), scores->tokens.begin(), scores->tokens.end());
    }
  }

  void done(std::size_t choice, const DoneEvent& event, std::string& out) override {
    choices_.count(event.usage, choice);
    out += chunk_;
    out += std::to_string(choice);
    out += R"(,"delta":{},"logprobs":)";
    append_scores(choice, out);
    out += R"(,"finish_reason":")";
    out += name(event.finish);
    out += "\"}]";
    if (choices_.shape().includes_usage) out += R"(,"usage":null)";
    JsonOut json = JsonOut::on(out);
    write_extras(json, choices_.shape(), event.usage, event.parameters);
    out += "}\n\n";
  }

  void finish(std::string& out) override { choices_.finish(out); }

  void fail(const ApiError& error, std::string& out) override { append_failure(out, error); }

  http::Response whole(const std::vector<Gather>& answers) override {
    return choices_.whole(answers, writer());
  }

  http::Response refuse(const ApiError& error, const std::vector<Gather>& answers) override {
    return choices_.refuse(error, answers, writer());
  }

 private:
  Choices::Write writer() const {
    return [has_scores = choices_.has_scores()](JsonOut& json, std::size_t, const Completion& c) {
      write_message(json, c);
      if (has_scores) {
        json.key("logprobs");
        write_chat_scores(json, c.logprobs);
      } else {
        json.raw(R"("logprobs":null)");
      }
    };
  }

  static void write_message(JsonOut& json, const Completion& c) {
    json.raw(R"("message":{"role":"assistant","content":)");
    if (c.text.empty() && !c.tool_calls.empty()) {
      json.null();
    } else {
      json.text(c.text);
    }
    if (!c.reasoning.empty())
      json.field("reasoning_content", c.reasoning).field("reasoning", c.reasoning);
    json.raw(R"("refusal":null)");
    if (!c.tool_calls.empty()) json.key("tool_calls").array();
    for (const ToolCall& call : c.tool_calls) {
      json.object().field("id", call.id).field("type", "function").key("function").object();
      json.field("name", call.name).field("arguments", call.arguments).end_object().end_object();
    }
    if (!c.tool_calls.empty()) json.end_array();
    json.end_object();
  }

  // The hot one: a chunk of a token's text.
  void append_text(std::size_t choice, std::string_view head, std::string_view text,
                   std::string_view tail, std::string& out) {
    out += chunk_;
    out += std::to_string(choice);
    out += R"(,"delta":)";
    out += head;
    append_escaped(out, text);
    out += tail;
    out += R"(,"logprobs":)";
    append_scores(choice, out);
    out += R"(,"finish_reason":null)";
    out += chunk_end_;
  }

  void append_chunk(std::size_t choice, std::string_view delta, std::string_view scores,
                    std::string& out) {
    out += cat(chunk_, choice, ",\"delta\":", delta, ",\"logprobs\":", scores,
               ",\"finish_reason\":null", chunk_end_);
  }

  void append_reasoning(std::size_t choice, std::string_view text, std::string& out) {
    std::string escaped;
    append_escaped(escaped, text);
    const std::string delta =
        cat(R"({"reasoning_content":")", escaped, R"(","reasoning":")", escaped, "\"}");
    append_text(choice, delta, "", "", out);
  }

  void append_call(std::size_t choice, const ToolCallEvent& call, std::string& out) {
    std::string delta;
    JsonOut json(delta);
    json.object().key("tool_calls").array().object().field("index", call.index);
    json.field("id", call.id).field("type", "function").key("function").object();
    json.field("name", call.name).field("arguments", "").end_object();
    json.end_object().end_array().end_object();
    append_text(choice, delta, "", "", out);
  }

  void append_scores(std::size_t choice, std::string& out) {
    if (!choices_.has_scores()) {
      out += "null";
      return;
    }
    JsonOut json(out);
    write_chat_scores(json, waiting_[choice]);
    waiting_[choice].clear();
  }

  Choices choices_;
  std::string chunk_, chunk_end_;  // what all chunks have in common is written once
  std::vector<std::vector<TokenLogprob>> waiting_;  // of a stream's choices: scores of no text yet
};

}  // namespace

Result<void> read_chat(const Context& context, const Object& body, const http::Request& request,
                       ParsedRequest& parsed) {
  WICK_DO(read_request(context, kChat, body, request, parsed));
  if (!std::holds_alternative<std::vector<Message>>(parsed.request.prompt))
    return bad_field("messages", "is missing");
  return {};
}

std::unique_ptr<Dialect> make_chat_dialect(Context& context, const ParsedRequest& parsed) {
  return std::make_unique<ChatDialect>(context, parsed);
}

http::Reply chat_completions(const SharedContext& context, const http::Request& request,
                             const std::shared_ptr<Wake>& wake) {
  const auto body = read_body(request.body);
  if (!body) return error_response(refusal(*context, body.error()));
  ParsedRequest parsed;
  const auto read = read_chat(*context, *body, request, parsed);
  if (!read) return error_response(refusal(*context, read.error()));
  return answer(context, parsed, make_chat_dialect(*context, parsed), wake);
}

}  // namespace wick::server
