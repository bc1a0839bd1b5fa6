#include "server/completions.h"

#include "base/strings.h"
#include "server/choices.h"
#include "server/infill.h"
#include "server/setters.h"
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
  CompletionDialect(Context& context, const ParsedRequest& parsed, std::vector<Echo> echoes)
      : choices_(context, parsed, "cmpl-", "text_completion"),
        echoes_(std::move(echoes)),
        waiting_(parsed.prompts.size() * static_cast<std::size_t>(parsed.n)),
        offsets_(waiting_.size()) {}

  void start(std::string& out) override {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      if (!echo_of(i).text.empty()) append_chunk(i, echo_of(i).text, {}, out);
    }
  }

  void add(std::size_t choice, const Event& event, std::string& out) override {
    if (choices_.shape().is_scored_only) return;
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
    choices_.count(event.usage, choice);
    append_chunk(choice, "", &event, out);
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
  const Echo& echo_of(std::size_t choice) const {
    static const Echo kNone;
    return echoes_.empty() ? kNone
                           : echoes_[choice / static_cast<std::size_t>(choices_.shape().n)];
  }

  // `end`: of the last chunk.
  void append_chunk(std::size_t choice, std::string_view text, const DoneEvent* end,
                    std::string& out) {
    out += "data: ";
    out += choices_.head();
    JsonOut json = JsonOut::on(out);
    json.key("choices").array().object().field("index", choice).field("text", text);
    json.key("logprobs");
    if (choices_.has_scores()) {
      offsets_[choice] =
          write_text_scores(json, with_scores(std::move(waiting_[choice])), offsets_[choice]);
      waiting_[choice].clear();
    } else {
      json.null();
    }
    json.field_or_null("finish_reason", end == nullptr ? "" : name(end->finish));
    json.end_object().end_array();
    if (choices_.shape().includes_usage) json.field("usage", nullptr);
    if (end != nullptr) write_extras(json, choices_.shape(), end->usage, end->parameters);
    json.end_object();
    out += "\n\n";
  }

  Choices::Write writer() const {
    return [this](JsonOut& json, std::size_t choice, const Completion& c) {
      const std::string said = choices_.shape().is_scored_only ? "" : c.reasoning + c.text;
      json.field("text", echo_of(choice).text + said).key("logprobs");
      if (choices_.has_scores()) {
        write_text_scores(json, scores_of(c, echo_of(choice)), 0);
      } else {
        json.null();
      }
    };
  }

  std::vector<TextScore> scores_of(const Completion& c, const Echo& echo) const {
    std::vector<TextScore> all = with_scores(c.prompt_logprobs);
    if (!echo.first.empty()) {
      all.insert(all.begin(), {.token = {.bytes = echo.first}, .is_told = false});
    }
    if (choices_.shape().is_scored_only) return all;
    std::vector<TextScore> said = with_scores(c.logprobs);
    all.insert(all.end(), said.begin(), said.end());
    return all;
  }

  Choices choices_;
  std::vector<Echo> echoes_;                        // of each prompt; empty without echo
  std::vector<std::vector<TokenLogprob>> waiting_;  // of each choice: scores of no text yet
  std::vector<std::size_t> offsets_;                // characters that it has told
};

Result<Echo> echo(Provider& provider, const ParsedRequest& parsed, const Prompt& prompt) {
  Request request = parsed.request;
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

Result<ParsedRequest> read_completion(const SharedContext& context, const http::Request& request) {
  WICK_TRY(ParsedRequest parsed, read_request(*context, kCompletions, request));
  if (parsed.prompts.empty()) return bad_field("prompt", "is missing");
  const bool has_scores = parsed.request.generation.logprobs;
  if (parsed.echoes && has_scores && parsed.streams) {
    return unsupported_field("echo_unsupported", "echo",
                             "with logprobs cannot be streamed: ask without stream");
  }
  if (parsed.echoes && has_scores && parsed.gap) {
    return unsupported_field("echo_unsupported", "echo", "with logprobs has no suffix");
  }
  parsed.request.generation.prompt_logprobs = parsed.echoes && has_scores;
  Generation& generation = parsed.request.generation;
  if (!parsed.max_tokens && generation.max_tokens == 0) {
    generation.max_tokens = kDefaultLength;
    forget_origin(generation, "max_tokens");
    generation.origins.emplace_back("max_tokens", "default of /v1/completions");
  }
  return parsed;
}

}  // namespace

http::Reply completions(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake) {
  auto parsed = read_completion(context, request);
  if (!parsed) return error_response(refusal(*context, parsed.error()));
  std::vector<Echo> echoes;
  for (std::size_t i = 0; parsed->echoes && i < parsed->prompts.size(); ++i) {
    auto one = echo(*context->provider, *parsed, parsed->prompts[i]);
    if (!one) return error_response(refusal(*context, one.error()));
    echoes.push_back(*std::move(one));
  }
  if (parsed->gap) {
    const auto filled = fill_between(*context->provider, *parsed);
    if (!filled) return error_response(refusal(*context, filled.error()));
  }
  return answer(context, *parsed,
                std::make_unique<CompletionDialect>(*context, *parsed, std::move(echoes)), wake);
}

}  // namespace wick::server
