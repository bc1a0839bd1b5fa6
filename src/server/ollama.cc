#include "server/ollama.h"

#include <cmath>
#include <ctime>

#include "base/strings.h"
#include "server/infill.h"
#include "server/openai_parts.h"

namespace wick::server {

std::string utc_time(std::int64_t unix_seconds) {
  const std::time_t time = unix_seconds;
  std::tm parts = {};
  char text[32] = {};
  if (::gmtime_r(&time, &parts) == nullptr) return "1970-01-01T00:00:00Z";
  const std::size_t n = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, n);
}

http::Response ollama_refusal(const ApiError& error) {
  http::Response response = error_head(error);
  JsonOut(response.body).object().field("error", error.message).end_object();
  return response;
}

namespace {

std::int64_t nanoseconds(double ms) noexcept {
  return std::llround(ms * 1e6);
}

void write_end(JsonOut& json, FinishReason finish, const Usage& u) {
  json.field("done", true).field("done_reason", name(finish));
  json.field("total_duration", nanoseconds(u.queue_ms + u.prompt_ms + u.generate_ms));
  json.field("load_duration", 0);
  json.field("prompt_eval_count", u.prompt_tokens);
  json.field("prompt_eval_duration", nanoseconds(u.prompt_ms));
  json.field("eval_count", u.generated_tokens);
  json.field("eval_duration", nanoseconds(u.generate_ms));
  write_steered(json, u);
}

void write_calls(JsonOut& json, const std::vector<ToolCall>& calls) {
  if (calls.empty()) return;
  json.key("tool_calls").array();
  for (const ToolCall& call : calls) {
    json.object().key("function").object().field("name", call.name).key("arguments");
    write_arguments(json, call.arguments);
    json.end_object().end_object();
  }
  json.end_array();
}

// Lines of JSON: {"model", "created_at", "message" or "response", "done"}.
class OllamaDialect final : public Dialect {
 public:
  explicit OllamaDialect(const ParsedRequest& parsed)
      : model_(parsed.request.model), is_chat_(parsed.api == kOllamaChat) {}

  http::Response head() const override { return {.type = "application/x-ndjson"}; }

  std::string_view heartbeat() const noexcept override { return {}; }

  void add(std::size_t /*choice*/, const Event& event, std::string& out) override {
    gather_.add(event);
    const auto* const text = std::get_if<TextEvent>(&event);
    const auto* const thought = std::get_if<ReasoningEvent>(&event);
    if (text == nullptr && thought == nullptr) return;
    append_line(text != nullptr ? text->text : "", thought != nullptr ? thought->text : "", {},
                nullptr, out);
  }

  void done(std::size_t /*choice*/, const DoneEvent& event, std::string& out) override {
    const auto& calls = gather_.completion.tool_calls;
    if (!calls.empty()) append_line("", "", calls, nullptr, out);
    append_line("", "", {}, &event, out);
  }

  void finish(std::string& /*out*/) override {}

  void fail(const ApiError& error, std::string& out) override {
    out += ollama_refusal(error).body + "\n";
  }

  http::Response whole(const std::vector<Gather>& answers) override {
    const Completion& c = answers.front().completion;
    http::Response response;
    const DoneEvent done{.finish = c.finish, .usage = c.usage};
    append_line(c.text, c.reasoning, c.tool_calls, &done, response.body);
    return response;
  }

  http::Response refuse(const ApiError& error, const std::vector<Gather>& answers) override {
    http::Response response = ollama_refusal(error);
    if (answers.empty() || !answers.front().has_said()) return response;
    const Completion& c = answers.front().completion;
    response.body.pop_back();
    JsonOut json = JsonOut::on(response.body);
    json.field("response", c.text);
    if (!c.reasoning.empty()) json.field("thinking", c.reasoning);
    json.end_object();
    return response;
  }

 private:
  void append_line(std::string_view text, std::string_view thought,
                   const std::vector<ToolCall>& calls, const DoneEvent* done, std::string& out) {
    JsonOut json(out);
    json.object().field("model", model_).field("created_at", utc_time(unix_seconds()));
    if (is_chat_) json.key("message").object().field("role", "assistant");
    json.field(is_chat_ ? "content" : "response", text);
    if (!thought.empty()) json.field("thinking", thought);
    write_calls(json, calls);
    if (is_chat_) json.end_object();
    if (done != nullptr) {
      write_end(json, done->finish, done->usage);
    } else {
      json.field("done", false);
    }
    json.end_object();
    out += '\n';
  }

  const std::string model_;
  const bool is_chat_;
  Gather gather_;  // for its calls, which are told whole
};

// As far as the provider can; an answer that runs keeps the model, whatever is said here.
void keep(Context& context, const std::string& model, std::optional<std::int64_t> keep_ms) {
  if (keep_ms) static_cast<void>(context.provider->keep(model, *keep_ms));
}

http::Reply answer_and_keep(const SharedContext& context, ParsedRequest& parsed,
                            const std::shared_ptr<Wake>& wake) {
  const std::string model = parsed.request.model;
  http::Reply reply = answer(context, parsed, std::make_unique<OllamaDialect>(parsed), wake);
  keep(*context, model, parsed.keep_ms);
  return reply;
}

// Without anything to answer: the model is wanted, or wanted no longer (keep_alive 0).
http::Reply load_or_unload(const SharedContext& context, const ParsedRequest& parsed) {
  const std::string& model = parsed.request.model;
  Result<void> done;
  const bool unloads = parsed.keep_ms == 0;
  if (unloads) {
    done = context->provider->unload(model);
  } else if (auto loaded = context->provider->load(model); !loaded) {
    done = std::move(loaded).error();
  }
  if (!done && done.error().id != "not_supported") {
    return ollama_refusal(refusal(*context, done.error()));
  }
  if (!unloads) keep(*context, model, parsed.keep_ms);
  http::Response response;
  JsonOut json(response.body);
  json.object().field("model", model).field("created_at", utc_time(unix_seconds()));
  if (parsed.api == kOllamaChat) {
    json.key("message").object().field("role", "assistant").field("content", "").end_object();
  } else {
    json.field("response", "");
  }
  json.field("done", true).field("done_reason", unloads ? "unload" : "load").end_object();
  return response;
}

}  // namespace

http::Reply ollama_chat(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake) {
  auto parsed = read_request(*context, kOllamaChat, request);
  if (!parsed) return ollama_refusal(refusal(*context, parsed.error()));
  const auto* const talk = std::get_if<std::vector<Message>>(&parsed->request.prompt);
  if (talk == nullptr || talk->empty()) return load_or_unload(context, *parsed);
  return answer_and_keep(context, *parsed, wake);
}

http::Reply ollama_generate(const SharedContext& context, const http::Request& request,
                            const std::shared_ptr<Wake>& wake) {
  auto parsed = read_request(*context, kOllamaGenerate, request);
  if (!parsed) return ollama_refusal(refusal(*context, parsed.error()));
  const auto* const text =
      parsed->prompts.empty() ? nullptr : std::get_if<std::string>(&parsed->prompts.front());
  if (text == nullptr || text->empty()) return load_or_unload(context, *parsed);
  if (parsed->gap) {
    const auto filled = fill_between(*context->provider, *parsed);
    if (!filled) return ollama_refusal(refusal(*context, filled.error()));
  } else if (!parsed->is_raw) {
    std::vector<Message> talk;
    if (!parsed->system.empty()) talk.push_back({.role = "system", .content = parsed->system});
    talk.push_back({.content = *text});
    parsed->request.prompt = std::move(talk);
    parsed->prompts.clear();
  }
  return answer_and_keep(context, *parsed, wake);
}

}  // namespace wick::server
