#include "cli/bench_engine.h"

#include <algorithm>
#include <random>

#include "backend/device_registry.h"
#include "base/clock.h"
#include "base/strings.h"
#include "model/decoder.h"

namespace wick {

namespace {

double ms_between(std::int64_t from, std::int64_t to) {
  return static_cast<double>(to - from) * 1e-6;
}

constexpr std::size_t kMaxMessage = 256;  // bytes kept of an error

// Notes when text came.
class Stopwatch final : public DeltaSink {
 public:
  explicit Stopwatch(int max_tokens) {
    times_.reserve(static_cast<std::size_t>(max_tokens) + 1);
    message_.reserve(kMaxMessage);
    started_ns_ = monotonic_ns();
  }

  bool offer(const TextDelta& delta) noexcept override {
    if (!delta.text.empty() && times_.size() < times_.capacity()) times_.push_back(monotonic_ns());
    if (delta.stop == FinishReason::kNone) return true;
    usage_ = delta.usage;
    failed_ = delta.stop == FinishReason::kError;
    if (failed_ && delta.error != nullptr) {
      code_ = delta.error->code;
      message_.assign(delta.error->message, 0, kMaxMessage);  // has room: allocates nothing
    }
    is_over_ = true;
    return true;
  }

  bool is_over() const noexcept { return is_over_; }

  bool has_failed() const noexcept { return failed_; }

  bool has_begun() const noexcept { return !times_.empty(); }

  Error error() const {
    return {.code = code_,
            .id = "bench_failed",
            .message = cat("a request failed: ", message_.empty() ? "it has no end" : message_)};
  }

  // Gaps that began before `from_ns` are left out.
  TimedAnswer answer(std::int64_t from_ns = 0) const {
    TimedAnswer answer{.usage = usage_};
    if (!times_.empty()) answer.ttft_ms = ms_between(started_ns_, times_.front());
    for (std::size_t i = 1; i < times_.size(); ++i)
      if (times_[i - 1] >= from_ns) answer.gaps_ms.push_back(ms_between(times_[i - 1], times_[i]));
    return answer;
  }

 private:
  std::int64_t started_ns_ = 0;
  std::vector<std::int64_t> times_ = {};
  Usage usage_ = {};
  bool is_over_ = false, failed_ = false;
  ErrorCode code_ = ErrorCode::kDevice;
  std::string message_ = {};
};

}  // namespace

Result<TimedEngine> TimedEngine::open(const std::filesystem::path& path, int threads,
                                      const EngineOptions& options) {
  const std::int64_t start = monotonic_ns();
  WICK_TRY(ModelFile file, ModelFile::open(path));
  WICK_TRY(const OpenDevice open, process_devices().open("auto"));
  TimedEngine timed(std::move(file), *open.device);
  WICK_TRY(Decoder decoder,
           Decoder::load(*timed.file_, *timed.device_,
                         {.max_batch_tokens = std::max(options.prefill_chunk, options.max_seqs),
                          .max_logit_rows = options.max_seqs,
                          .context = options.context,
                          .max_seqs = options.max_seqs,
                          .threads = threads}));
  timed.threads_ = decoder.threads();
  timed.vocab_ = decoder.spec().vocab;
  WICK_TRY(auto tokenizer, Tokenizer::from(timed.file_->metadata()));
  timed.vocab_ = std::min(timed.vocab_, tokenizer->size());
  WICK_TRY(timed.engine_, Engine::create(std::move(decoder), std::move(tokenizer), options));
  timed.load_ms_ = ms_between(start, monotonic_ns());
  return timed;
}

Result<TimedRun> TimedEngine::run(const std::vector<GenerateRequest>& requests, int concurrency) {
  std::vector<std::shared_ptr<Stopwatch>> watches;
  const auto n_live = [&] {
    return std::count_if(watches.begin(), watches.end(),
                         [](const auto& watch) { return !watch->is_over(); });
  };
  const std::int64_t start = monotonic_ns();
  do {
    while (watches.size() < requests.size() && n_live() < concurrency) {
      GenerateRequest request = requests[watches.size()];
      request.sink = watches.emplace_back(std::make_shared<Stopwatch>(request.max_tokens));
      WICK_TRY([[maybe_unused]] const RequestId id, engine_->submit(std::move(request)));
    }
  } while (engine_->step() || watches.size() < requests.size());
  TimedRun run{.seconds = static_cast<double>(monotonic_ns() - start) * 1e-9};
  for (const auto& watch : watches) {
    if (watch->has_failed() || !watch->is_over()) return watch->error();
    run.answers.push_back(watch->answer());
    run.generated_tokens += run.answers.back().usage.generated_tokens;
    run.prompt_tokens += run.answers.back().usage.prompt_tokens;
  }
  return run;
}

Result<TimedRun> TimedEngine::run_beside(const std::vector<GenerateRequest>& streams,
                                         GenerateRequest late) {
  std::vector<std::shared_ptr<Stopwatch>> watches;
  std::vector<RequestId> ids;
  const auto submit = [&](GenerateRequest request) -> Result<void> {
    request.sink = watches.emplace_back(std::make_shared<Stopwatch>(request.max_tokens));
    WICK_TRY(ids.emplace_back(), engine_->submit(std::move(request)));
    return {};
  };
  for (const GenerateRequest& request : streams)
    WICK_DO(submit(request));
  const auto has_begun = [](const auto& watch) { return watch->has_begun(); };
  while (!std::all_of(watches.begin(), watches.end(), has_begun) && engine_->step()) {
  }
  const std::int64_t came = monotonic_ns();
  WICK_DO(submit(std::move(late)));
  while (!watches.back()->is_over() && engine_->step()) {
  }
  TimedRun run{.seconds = static_cast<double>(monotonic_ns() - came) * 1e-9};
  for (const RequestId id : ids)
    engine_->cancel(id);
  while (engine_->step()) {
  }
  for (const auto& watch : watches) {
    if (watch->has_failed() || !watch->has_begun()) return watch->error();
    run.answers.push_back(watch->answer(came));
  }
  return run;
}

std::vector<TokenId> random_tokens(int n, int vocab, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<TokenId> any(0, vocab - 1);
  std::vector<TokenId> tokens(static_cast<std::size_t>(n));
  std::generate(tokens.begin(), tokens.end(), [&] { return any(random); });
  return tokens;
}

}  // namespace wick
