#include "server/infill.h"

#include "server/openai_parts.h"

namespace wick::server {

namespace {

std::string_view stop_type(FinishReason finish) noexcept {
  switch (finish) {
    case FinishReason::kEos:
      return "eos";
    case FinishReason::kStop:
      return "word";
    case FinishReason::kLength:
      return "limit";
    default:
      return "none";
  }
}

// llama.cpp's answer of one choice: {"content", "stop", …}; a stream ends with the chunk that
// stops.
class InfillDialect final : public Dialect {
 public:
  explicit InfillDialect(const ParsedRequest& parsed)
      : shape_(parsed), model_(parsed.request.model) {}

  void add(std::size_t /*choice*/, const Event& event, std::string& out) override {
    const auto* const text = std::get_if<TextEvent>(&event);
    if (text == nullptr) return;
    std::string chunk;
    JsonOut(chunk)
        .object()
        .field("index", 0)
        .field("content", text->text)
        .field("stop", false)
        .end_object();
    append_data(out, chunk);
  }

  void done(std::size_t /*choice*/, const DoneEvent& event, std::string& out) override {
    append_data(out, last("", event.finish, event.usage, event.parameters));
  }

  void finish(std::string& /*out*/) override {}

  void fail(const ApiError& error, std::string& out) override {
    append_data(out, cat("{\"error\":", error_object(error), "}"));
  }

  http::Response whole(const std::vector<Gather>& answers) override {
    const Completion& c = answers.front().completion;
    http::Response response;
    response.body = last(c.text, c.finish, c.usage, c.parameters);
    return response;
  }

 private:
  std::string last(std::string_view text, FinishReason finish, const Usage& usage,
                   const std::vector<EffectiveParameter>& parameters) const {
    std::string out;
    JsonOut json(out);
    json.object().field("index", 0).field("content", text).field("stop", true);
    json.field("model", model_).field("stop_type", stop_type(finish));
    json.field("tokens_predicted", usage.generated_tokens);
    json.field("tokens_evaluated", usage.prompt_tokens);
    json.field("tokens_cached", usage.cached_tokens).field("truncated", false);
    write_extras(json, shape_, usage, parameters);
    json.end_object();
    return out;
  }

  const AnswerShape shape_;
  const std::string model_;
};

Result<void> set_gap(Provider& provider, const Infill& gap, ParsedRequest& parsed, Prompt& prompt) {
  WICK_TRY(InfillPrompt filled, provider.infill_prompt(parsed.request.model, gap));
  prompt = std::move(filled.ids);
  parsed.request.generation.stop_token_ids.insert(parsed.request.generation.stop_token_ids.end(),
                                                  filled.ends.begin(), filled.ends.end());
  return {};
}

Result<ParsedRequest> read_infill(Context& context, const http::Request& request) {
  WICK_TRY(ParsedRequest parsed, read_request(context, kInfill, request));
  if (!parsed.gap || (parsed.gap->prefix.empty() && parsed.gap->suffix.empty()))
    return bad_field("input_prefix", "is missing, and input_suffix, too");
  parsed.wants_timings = true;
  WICK_DO(set_gap(*context.provider, *parsed.gap, parsed, parsed.request.prompt));
  return parsed;
}

}  // namespace

Result<void> fill_between(Provider& provider, ParsedRequest& parsed) {
  const auto stops = parsed.request.generation.stop_token_ids;
  for (Prompt& prompt : parsed.prompts) {
    const auto* const text = std::get_if<std::string>(&prompt);
    if (text == nullptr) return bad_field("prompt", "has tokens, beside a suffix it must be text");
    parsed.request.generation.stop_token_ids = stops;  // each prompt adds the same
    parsed.gap->prefix = *text;
    WICK_DO(set_gap(provider, *parsed.gap, parsed, prompt));
  }
  return {};
}

http::Reply infill(const SharedContext& context, const http::Request& request,
                   const std::shared_ptr<Wake>& wake) {
  auto parsed = read_infill(*context, request);
  if (!parsed) return error_response(refusal(*context, parsed.error()));
  return answer(context, *parsed, std::make_unique<InfillDialect>(*parsed), wake);
}

}  // namespace wick::server
