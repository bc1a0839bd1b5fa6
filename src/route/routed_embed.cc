#include "route/routed_embed.h"

#include <algorithm>
#include <stop_token>
#include <utility>

namespace wick::route {

namespace {

using Embedded = Result<std::vector<Embedding>>;

// An attempt at embeddings as an answer: it has ended before anyone polls it.
class EmbedAttempt final : public Answer {
 public:
  EmbedAttempt(DoneEvent done, AnswerReport report, std::shared_ptr<Wake> wake)
      : Answer(std::move(wake)), done_(std::move(done)), report_(std::move(report)) {}

  void cancel() noexcept override {}

  AnswerReport report() const override { return report_; }

 protected:
  std::optional<Event> next() override { return done_; }

 private:
  DoneEvent done_;
  AnswerReport report_;
};

DoneEvent end_of(const Embedded& embedded) {
  if (!embedded) return {.finish = FinishReason::kError, .error = embedded.error()};
  DoneEvent done{.finish = FinishReason::kEos};
  for (const Embedding& one : *embedded)
    done.usage.prompt_tokens += one.tokens;
  return done;
}

// An error that is no failure of the provider's API is one of the start. What was cancelled may
// have been sent, and then it costs.
Result<std::unique_ptr<Answer>> attempt(Provider& provider, EmbedTexts request,
                                        std::vector<Embedding>& vectors,
                                        std::shared_ptr<Wake> wake) {
  AnswerReport report;
  request.report = &report;
  Embedded embedded = provider.embed(request);
  const bool is_cancelled = !embedded && embedded.error().code == ErrorCode::kCancelled;
  if (!embedded && !is_cancelled && report.failure == Failure::kNone)
    return std::move(embedded).error();
  DoneEvent done =
      is_cancelled ? DoneEvent{.finish = FinishReason::kCancelled} : end_of(embedded);
  report.is_usage_estimated = done.usage.prompt_tokens == 0;
  if (embedded) vectors = *std::move(embedded);
  return std::unique_ptr<Answer>(
      std::make_unique<EmbedAttempt>(std::move(done), std::move(report), std::move(wake)));
}

// Those with the model of the first, as a request whose answer has no tokens.
void keep_equals(Decision& decision) {
  std::vector<Candidate>& all = decision.candidates;
  if (all.empty()) return;
  const std::string model = all.front().model;
  std::erase_if(all, [&](const Candidate& one) { return one.model != model; });
  for (Candidate& one : all)
    one.max_tokens = one.about.max_tokens = 0;
  decision.continues = false;
}

}  // namespace

Embedded embed_routed(std::shared_ptr<Core> core, Decision decision, const EmbedTexts& request) {
  keep_equals(decision);
  std::vector<Embedding> vectors;
  const StartAttempt start = [&](Provider& provider, const Request& asked,
                                 std::shared_ptr<Wake> wake) {
    EmbedTexts named = request;
    named.model = asked.model;
    named.options.time_limit_ms = asked.generation.time_limit_ms;
    return attempt(provider, std::move(named), vectors, std::move(wake));
  };
  Request asked{.model = request.model,
                .generation = {.time_limit_ms = request.options.time_limit_ms}};
  WICK_TRY(const auto answer, start_routed(std::move(core), std::move(asked), std::move(decision),
                                           {}, start));
  const std::stop_callback on_stop(request.options.cancel, [&] { answer->cancel(); });
  std::optional<Error> error;
  while (const auto event = answer->wait()) {
    const auto* const done = std::get_if<DoneEvent>(&*event);
    if (done == nullptr) continue;
    error = done->error;
    if (done->finish == FinishReason::kCancelled)
      error = Error{.code = ErrorCode::kCancelled, .id = "cancelled", .message = "cancelled"};
  }
  if (request.report != nullptr) *request.report = answer->report();
  if (error) return *std::move(error);
  return vectors;
}

}  // namespace wick::route
