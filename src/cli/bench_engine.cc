#include "cli/bench_engine.h"

#include <algorithm>
#include <optional>
#include <random>

#include "backend/device_registry.h"
#include "base/clock.h"
#include "base/strings.h"
#include "engine/load_engine.h"

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
    if (delta.finish == FinishReason::kNone) return true;
    usage_ = delta.usage;
    if (delta.error != nullptr) error_ = *delta.error;  // cold: the request has failed
    is_over_ = true;
    return true;
  }

  bool is_over() const noexcept { return is_over_; }

  bool has_begun() const noexcept { return !times_.empty(); }

  // Gaps that began before `from_ns` are left out.
  Result<TimedAnswer> answer(std::int64_t from_ns) const {
    if (error_ || !is_over_) {
      return Error{
          .code = error_ ? error_->code : ErrorCode::kDevice,
          .id = "bench_failed",
          .message = cat("a request failed: ", error_ ? error_->message : "it has no end")};
    }
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
  bool is_over_ = false;
  std::optional<Error> error_ = {};
};

// Requests on their way, each with its watch.
struct Live {
  Engine& engine;
  std::vector<std::shared_ptr<Stopwatch>> watches = {};
  std::vector<RequestId> ids = {};

  Result<void> submit(GenerateRequest request) {
    request.sink = watches.emplace_back(std::make_shared<Stopwatch>(request.max_tokens));
    WICK_TRY(ids.emplace_back(), engine.submit(std::move(request)));
    return {};
  }

  Result<TimedRun> answers(std::int64_t from_ns, std::int64_t end_ns) const {
    TimedRun run{.seconds = ms_between(from_ns, end_ns) * 1e-3};
    for (const auto& watch : watches) {
      WICK_TRY(run.answers.emplace_back(), watch->answer(from_ns));
      run.generated_tokens += run.answers.back().usage.generated_tokens;
    }
    return run;
  }
};

}  // namespace

Result<TimedEngine> TimedEngine::open(const BenchSetup& setup) {
  const std::int64_t start = monotonic_ns();
  const LocalOptions& local = setup.local;
  WICK_TRY(ModelFile file, open_model(setup.path));
  TimedEngine timed(std::move(file));
  WICK_TRY(OpenDevices open, process_devices().open_all(local.device, local.tensor_split));
  WICK_TRY(timed.engine_,
           load_engine(*timed.file_, local.engine,
                       {.devices = std::move(open.devices), .threads = local.threads}));
  timed.load_ms_ = ms_between(start, monotonic_ns());
  return timed;
}

Result<TimedRun> TimedEngine::run(const std::vector<GenerateRequest>& requests, int concurrency) {
  Live live{*engine_};
  const auto n_live = [&] {
    return std::count_if(live.watches.begin(), live.watches.end(),
                         [](const auto& watch) { return !watch->is_over(); });
  };
  const std::int64_t start = monotonic_ns();
  do {
    while (live.ids.size() < requests.size() && n_live() < concurrency)
      WICK_DO(live.submit(requests[live.ids.size()]));
  } while (engine_->step() || live.ids.size() < requests.size());
  return live.answers(start, monotonic_ns());
}

Result<TimedRun> TimedEngine::run_beside(const std::vector<GenerateRequest>& requests) {
  Live live{*engine_};
  for (std::size_t i = 0; i + 1 < requests.size(); ++i)
    WICK_DO(live.submit(requests[i]));
  const auto has_begun = [](const auto& watch) { return watch->has_begun(); };
  while (!std::all_of(live.watches.begin(), live.watches.end(), has_begun) && engine_->step()) {
  }
  const std::int64_t came = monotonic_ns();
  WICK_DO(live.submit(requests.back()));
  while (!live.watches.back()->is_over() && engine_->step()) {
  }
  const std::int64_t end = monotonic_ns();
  for (const RequestId id : live.ids)
    engine_->cancel(id);
  while (engine_->step()) {
  }
  return live.answers(came, end);
}

std::vector<TokenId> TimedEngine::random_tokens(int n, unsigned seed) const {
  std::mt19937 random(seed);
  std::uniform_int_distribution<TokenId> any(0, tokenizer().size() - 1);
  std::vector<TokenId> tokens(static_cast<std::size_t>(n));
  std::generate(tokens.begin(), tokens.end(), [&] { return any(random); });
  return tokens;
}

}  // namespace wick
