#include "server/chat.h"

#include "base/strings.h"
#include "server/json_in.h"
#include "server/openai_parts.h"

namespace wick::server {

namespace {

// "chat.completion" and its chunks. What all chunks of an answer have in common is written once.
class ChatDialect final : public Dialect {
 public:
  ChatDialect(Context& context, const Ask& ask)
      : ask_(ask), choices_(static_cast<std::size_t>(ask.n)) {
    ask_.request = {};  // its prompt is not needed here
    has_scores_ = ask.request.generation.logprobs;
    JsonOut json(common_);
    json.object().field("id", make_id(context, "chatcmpl-"));
    json.field("object", ask.streams ? "chat.completion.chunk" : "chat.completion");
    json.field("created", unix_seconds()).field("model", ask.request.model);
    json.field("system_fingerprint", cat("wick-", context.options.version));
    chunk_ = cat("data: ", common_, ",\"choices\":[{\"index\":");
    chunk_end_ = cat("}]", ask_.includes_usage ? ",\"usage\":null" : "", "}\n\n");
  }

  void start(std::string& out) override {
    for (std::size_t i = 0; i < choices_.size(); ++i)
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
      auto& waiting = choices_[choice];
      waiting.insert(waiting.end(), scores->tokens.begin(), scores->tokens.end());
    }
  }

  void done(std::size_t choice, const DoneEvent& event, std::string& out) override {
    usage_.add(event.usage, choice == 0);
    out += chunk_;
    out += std::to_string(choice);
    out += R"(,"delta":{},"logprobs":)";
    append_scores(choice, out);
    out += R"(,"finish_reason":")";
    out += name(event.finish);
    out += "\"}]";
    if (ask_.includes_usage) out += R"(,"usage":null)";
    JsonOut json = JsonOut::on(out);
    write_extras(json, ask_, event.usage, event.parameters);
    out += "}\n\n";
  }

  void finish(std::string& out) override {
    if (ask_.includes_usage) {
      std::string last = cat(common_, R"(,"choices":[],"usage":)");
      JsonOut json(last);
      write_usage(json, usage_.usage);
      append_data(out, cat(last, "}"));
    }
    out += kStreamEnd;
  }

  void fail(const ApiError& error, std::string& out) override { append_failure(out, error); }

  http::Response whole(const std::vector<Gather>& answers) override {
    http::Response response;
    response.body = common_;
    JsonOut json = JsonOut::on(response.body);
    write_choices(json, answers);
    UsageSum sum;
    for (std::size_t i = 0; i < answers.size(); ++i)
      sum.add(answers[i].completion.usage, i == 0);
    json.key("usage");
    write_usage(json, sum.usage);
    const Completion& first = answers.front().completion;
    if (answers.size() == 1) write_extras(json, ask_, first.usage, first.parameters);
    json.end_object();
    return response;
  }

  http::Response refuse(const ApiError& error, const std::vector<Gather>& answers) override {
    http::Response response = error_head(error);
    response.body = cat("{\"error\":", error_object(error));
    JsonOut json = JsonOut::on(response.body);
    bool has_said = false;
    for (const Gather& one : answers)
      has_said = has_said || !one.completion.text.empty() || !one.completion.reasoning.empty();
    if (has_said) write_choices(json, answers);
    json.end_object();
    return response;
  }

 private:
  void write_choices(JsonOut& json, const std::vector<Gather>& answers) {
    json.key("choices").array();
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const Completion& c = answers[i].completion;
      json.object().field("index", i);
      write_message(json, c);
      json.key("logprobs");
      if (has_scores_) {
        write_chat_scores(json, c.logprobs);
      } else {
        json.null();
      }
      json.field_or_null("finish_reason", name(c.finish));
      if (answers.size() > 1) write_extras(json, ask_, c.usage, c.parameters);
      json.end_object();
    }
    json.end_array();
  }

  static void write_message(JsonOut& json, const Completion& c) {
    json.key("message").object().field("role", "assistant").key("content");
    if (c.text.empty() && !c.tool_calls.empty()) {
      json.null();
    } else {
      json.text(c.text);
    }
    if (!c.reasoning.empty())
      json.field("reasoning_content", c.reasoning).field("reasoning", c.reasoning);
    json.field("refusal", nullptr);
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
    if (!has_scores_) {
      out += "null";
      return;
    }
    JsonOut json(out);
    write_chat_scores(json, choices_[choice]);
    choices_[choice].clear();
  }

  Ask ask_;
  bool has_scores_ = false;
  std::string common_, chunk_, chunk_end_;
  std::vector<std::vector<TokenLogprob>> choices_;  // scores that wait for their text
  UsageSum usage_;
};

}  // namespace

Result<Ask> read_chat(const Context& context, const Object& body, const http::Request& request) {
  WICK_TRY(Ask ask, read_ask(context, kChat, body, request));
  if (std::holds_alternative<std::vector<Message>>(ask.request.prompt)) return ask;
  return bad_field("messages", "is missing");
}

std::unique_ptr<Dialect> make_chat_dialect(Context& context, const Ask& ask) {
  return std::make_unique<ChatDialect>(context, ask);
}

http::Reply chat_completions(const SharedContext& context, const http::Request& request,
                             const std::shared_ptr<Wake>& wake) {
  const auto body = read_body(request.body);
  if (!body) return error_response(refusal(*context, body.error()));
  const auto ask = read_chat(*context, *body, request);
  if (!ask) return error_response(refusal(*context, ask.error()));
  return answer(context, *ask, make_chat_dialect(*context, *ask), wake);
}

}  // namespace wick::server
