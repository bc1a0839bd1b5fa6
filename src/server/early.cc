#include "server/early.h"

#include <algorithm>

#include "server/answers.h"
#include "server/anthropic.h"
#include "server/audit.h"
#include "server/json_in.h"
#include "server/limits.h"
#include "server/ollama.h"

namespace wick::server {

namespace {

http::Response in_words_of(Api api, const ApiError& error) {
  if (api == kMessages) return anthropic_refusal(error);
  if (api == kOllamaChat || api == kOllamaGenerate) return ollama_refusal(error);
  return error_response(error);
}

// Ollama loads or unloads a model by a request without a prompt.
bool asks_something(const ParsedRequest& parsed) {
  const auto* const talk = std::get_if<std::vector<Message>>(&parsed.request.prompt);
  if (parsed.gap || (talk != nullptr && !talk->empty())) return true;
  const auto* const text =
      parsed.prompts.empty() ? nullptr : std::get_if<std::string>(&parsed.prompts.front());
  return !parsed.prompts.empty() && (text == nullptr || !text->empty());
}

}  // namespace

// What is wrong with a request is a worker's to say: it looks at all of it.
std::optional<http::Response> refuse_early(Context& context, Api api,
                                           const http::Request& request) {
  const Clock& clock = *context.options.clock;
  if (!context.admission.refuses(clock) || request.body.size() > kMaxEarlyBytes)
    return std::nullopt;
  const auto parsed = read_request(context, api, request);
  if (!parsed) return std::nullopt;
  if (!asks_something(*parsed) || parsed->keep_ms) return std::nullopt;
  const std::size_t n_prompts = std::max<std::size_t>(1, parsed->prompts.size());
  const std::size_t n_answers = n_prompts * static_cast<std::size_t>(parsed->n);
  if (n_answers > kMaxAnswers) return std::nullopt;
  const std::string& model = parsed->request.model;
  const auto may = context.admission.check(model, static_cast<int>(n_answers),
                                           settings_now(context)->admission, clock);
  if (may) return std::nullopt;
  if (context.options.audit != nullptr) {
    const auto span =
        begin_span(context, *parsed, api == kCompletions ? "text_completion" : "chat");
    span->error = may.error().id;
    span->end_ns = unix_ns();
    context.options.audit->add(*span);
  }
  http::Response response = in_words_of(api, refusal(context, may.error(), model));
  add_ignored(parsed->ignored, response);
  return response;
}

bool is_quick(const Context& context, const http::Request& request) {
  if (request.body.size() > kMaxQuickBytes) return false;
  const auto model = find_model(context, asked_model(read_text(request.body, "model"), request));
  return model && context.provider->starts_at_once(*model);
}

}  // namespace wick::server
