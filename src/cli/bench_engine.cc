#include "cli/bench_engine.h"

#include <algorithm>
#include <random>

#include "backend/backend.h"
#include "base/clock.h"
#include "model/decoder.h"

namespace wick {

namespace {

double ms_between(std::int64_t from, std::int64_t to) {
  return static_cast<double>(to - from) * 1e-6;
}

// Notes when text came.
class Stopwatch final : public DeltaSink {
 public:
  explicit Stopwatch(int max_tokens) {
    times_.reserve(static_cast<std::size_t>(max_tokens) + 1);
    started_ns_ = monotonic_ns();
  }

  bool offer(const TextDelta& delta) noexcept override {
    if (!delta.text.empty() && times_.size() < times_.capacity()) times_.push_back(monotonic_ns());
    if (delta.stop == StopReason::kNone) return true;
    usage_ = delta.usage;
    failed_ = delta.stop == StopReason::kError;
    is_over_ = true;
    return true;
  }

  bool is_over() const noexcept { return is_over_; }

  bool has_failed() const noexcept { return failed_; }

  bool has_begun() const noexcept { return !times_.empty(); }

  // Gaps that began before `from_ns` are left out.
  TimedAnswer answer(std::int64_t from_ns = 0) const {
    TimedAnswer answer{.usage = usage_};
    if (!times_.empty()) answer.ttft_ms = ms_between(started_ns_, times_.front());
    for (std::size_t i = 1; i < times_.size(); ++i)
      if (times_[i - 1] >= from_ns)
        answer.gaps_ms.push_back(ms_between(times_[i - 1], times_[i]));
    return answer;
  }

 private:
  std::int64_t started_ns_ = 0;
  std::vector<std::int64_t> times_ = {};
  Usage usage_ = {};
  bool is_over_ = false, failed_ = false;
};

Error gave_up() {
  return {.code = ErrorCode::kDevice,
          .id = "bench_failed",
          .message = "the engine gave up a request"};
}

}  // namespace

Result<TimedEngine> TimedEngine::open(const std::filesystem::path& path, int threads,
                                      const EngineOptions& options) {
  const std::int64_t start = monotonic_ns();
  WICK_TRY(ModelFile file, ModelFile::open(path));
  WICK_TRY(auto backend, make_cpu_backend({.threads = threads}));
  TimedEngine timed(std::move(file), std::move(backend));
  WICK_TRY(Decoder decoder,
           Decoder::load(*timed.file_, *timed.backend_,
                         {.max_batch_tokens = std::max(options.prefill_chunk, options.max_seqs),
                          .max_logit_rows = options.max_seqs,
                          .context = options.context,
                          .max_seqs = options.max_seqs}));
  timed.vocab_ = decoder.spec().vocab;
  WICK_TRY(auto tokenizer, Tokenizer::from(timed.file_->metadata()));
  timed.vocab_ = std::min(timed.vocab_, tokenizer->size());
  WICK_TRY(timed.engine_,
           Engine::create(std::move(decoder), *timed.backend_, std::move(tokenizer), options));
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
    if (watch->has_failed() || !watch->is_over()) return gave_up();
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
    if (watch->has_failed() || !watch->has_begun()) return gave_up();
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
