#include "server/completions.h"

#include "base/strings.h"
#include "server/openai_parts.h"
#include "server/text_scores.h"

namespace wick::server {

namespace {

constexpr int kDefaultLength = 16;  // OpenAI's

// What stands before the answers to a prompt.
struct Echo {
  std::string text = {};
  std::string first = {};  // text of its first token, which nothing precedes; empty: BOS
};

std::vector<TextScore> with_scores(std::vector<TokenLogprob> tokens) {
  std::vector<TextScore> out;
  for (TokenLogprob& token : tokens)
    out.push_back({.token = std::move(token)});
  return out;
}

class CompletionDialect final : public Dialect {
 public:
  CompletionDialect(Context& context, const Ask& ask, std::vector<Echo> echoes)
      : ask_(ask),
        echoes_(std::move(echoes)),
        waiting_(ask.prompts.size() * static_cast<std::size_t>(ask.n)),
        offsets_(waiting_.size()) {
    has_scores_ = ask.request.generation.logprobs;
    ask_.request = {};
    ask_.prompts.clear();
    JsonOut json(common_);
    json.object().field("id", make_id(context, "cmpl-")).field("object", "text_completion");
    json.field("created", unix_seconds()).field("model", ask.request.model);
    json.field("system_fingerprint", cat("wick-", context.options.version));
  }

  void start(std::string& out) override {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      if (!echo_of(i).text.empty()) append_chunk(i, echo_of(i).text, {}, out);
    }
  }

  void add(std::size_t choice, const Event& event, std::string& out) override {
    if (ask_.is_scored_only) return;
    if (const auto* const scores = std::get_if<LogprobsEvent>(&event)) {
      auto& waiting = waiting_[choice];
      waiting.insert(waiting.end(), scores->tokens.begin(), scores->tokens.end());
    } else if (const auto* const text = std::get_if<TextEvent>(&event)) {
      append_chunk(choice, text->text, {}, out);
    } else if (const auto* const thought = std::get_if<ReasoningEvent>(&event)) {
      append_chunk(choice, thought->text, {}, out);
    }
  }

  void done(std::size_t choice, const DoneEvent& event, std::string& out) override {
    count(event.usage, choice);
    append_chunk(choice, "", &event, out);
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
    for (std::size_t i = 0; i < answers.size(); ++i)
      count(answers[i].completion.usage, i);
    json.key("usage");
    write_usage(json, usage_.usage);
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
      has_said = has_said || !one.completion.text.empty();
    if (has_said) write_choices(json, answers);
    json.end_object();
    return response;
  }

 private:
  const Echo& echo_of(std::size_t choice) const {
    static const Echo kNone;
    return echoes_.empty() ? kNone : echoes_[choice / static_cast<std::size_t>(ask_.n)];
  }

  void count(Usage usage, std::size_t choice) {
    if (ask_.is_scored_only) usage.generated_tokens = 0;
    usage_.add(usage, choice % static_cast<std::size_t>(ask_.n) == 0);
  }

  // `end`: of the last chunk.
  void append_chunk(std::size_t choice, std::string_view text, const DoneEvent* end,
                    std::string& out) {
    out += "data: ";
    out += common_;
    JsonOut json = JsonOut::on(out);
    json.key("choices").array().object().field("index", choice).field("text", text);
    json.key("logprobs");
    if (has_scores_) {
      offsets_[choice] =
          write_text_scores(json, with_scores(std::move(waiting_[choice])), offsets_[choice]);
      waiting_[choice].clear();
    } else {
      json.null();
    }
    json.field_or_null("finish_reason", end == nullptr ? "" : name(end->finish));
    json.end_object().end_array();
    if (ask_.includes_usage) json.field("usage", nullptr);
    if (end != nullptr) write_extras(json, ask_, end->usage, end->parameters);
    json.end_object();
    out += "\n\n";
  }

  void write_choices(JsonOut& json, const std::vector<Gather>& answers) {
    json.key("choices").array();
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const Completion& c = answers[i].completion;
      const std::string said = ask_.is_scored_only ? "" : c.reasoning + c.text;
      json.object().field("index", i).field("text", echo_of(i).text + said).key("logprobs");
      if (has_scores_) {
        write_text_scores(json, scores_of(c, echo_of(i)), 0);
      } else {
        json.null();
      }
      json.field_or_null("finish_reason", name(c.finish));
      if (answers.size() > 1) write_extras(json, ask_, c.usage, c.parameters);
      json.end_object();
    }
    json.end_array();
  }

  std::vector<TextScore> scores_of(const Completion& c, const Echo& echo) const {
    std::vector<TextScore> all = with_scores(c.prompt_logprobs);
    if (!echo.first.empty()) {
      all.insert(all.begin(), {.token = {.bytes = echo.first}, .is_told = false});
    }
    if (ask_.is_scored_only) return all;
    std::vector<TextScore> said = with_scores(c.logprobs);
    all.insert(all.end(), said.begin(), said.end());
    return all;
  }

  Ask ask_;
  std::vector<Echo> echoes_;  // of each prompt; empty without echo
  bool has_scores_ = false;
  std::string common_;
  std::vector<std::vector<TokenLogprob>> waiting_;  // of each choice: scores of no text yet
  std::vector<std::size_t> offsets_;                // characters that it has told
  UsageSum usage_;
};

Result<Echo> echo(Provider& provider, const Ask& ask, const Prompt& prompt) {
  Request request = ask.request;
  request.prompt = prompt;
  WICK_TRY(const auto ids, provider.prompt_tokens(request));
  Echo out;
  if (const auto* const text = std::get_if<std::string>(&prompt)) {
    out.text = *text;
  } else {
    WICK_TRY(out.text, provider.detokenize(request.model, ids));
  }
  if (ids.empty()) return out;
  WICK_TRY(out.first, provider.detokenize(request.model, std::span(ids).first(1)));
  return out;
}

Result<Ask> read_completion(const SharedContext& context, const http::Request& request) {
  WICK_TRY(Ask ask, read_ask(*context, kCompletions, request));
  if (ask.prompts.empty()) return bad_field("prompt", "is missing");
  const bool has_scores = ask.request.generation.logprobs;
  if (ask.echoes && has_scores && ask.streams) {
    return unsupported_field("echo_unsupported", "echo",
                             "with logprobs cannot be streamed: ask without stream");
  }
  ask.request.generation.prompt_logprobs = ask.echoes && has_scores;
  if (!ask.max_tokens && settings_now(*context)->defaults.max_tokens == 0)
    ask.request.generation.max_tokens = kDefaultLength;
  return ask;
}

}  // namespace

http::Reply completions(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake) {
  const auto ask = read_completion(context, request);
  if (!ask) return error_response(refusal(*context, ask.error()));
  std::vector<Echo> echoes;
  for (std::size_t i = 0; ask->echoes && i < ask->prompts.size(); ++i) {
    auto one = echo(*context->provider, *ask, ask->prompts[i]);
    if (!one) return error_response(refusal(*context, one.error()));
    echoes.push_back(*std::move(one));
  }
  return answer(context, *ask,
                std::make_unique<CompletionDialect>(*context, *ask, std::move(echoes)), wake);
}

}  // namespace wick::server
