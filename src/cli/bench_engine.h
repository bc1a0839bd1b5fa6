// An engine that measures the times of requests. The caller's thread runs the steps, so no thread
// waits for another one.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "cli/bench.h"
#include "engine/engine.h"
#include "format/model_file.h"

namespace wick {

struct TimedAnswer {
  Usage usage = {};
  double ttft_ms = 0;                // from submit() to the first text
  std::vector<double> gaps_ms = {};  // between one text and the next
};

struct TimedRun {
  std::vector<TimedAnswer> answers = {};  // in the order of the requests
  double seconds = 0;
  int generated_tokens = 0;
};

class TimedEngine {
 public:
  static Result<TimedEngine> open(const BenchSetup& setup);

  const Tokenizer& tokenizer() const noexcept { return engine_->tokenizer(); }

  int threads() const noexcept { return engine_->threads(); }

  double load_ms() const noexcept { return load_ms_; }

  // n token ids of the vocabulary, another sequence for each seed.
  std::vector<TokenId> random_tokens(int n, unsigned seed) const;

  // Answers all of `requests`, at most `concurrency` at a time: when one is over the next begins.
  Result<TimedRun> run(const std::vector<GenerateRequest>& requests, int concurrency);
  // Submits all requests but the last one and waits for their first text. Then submits the last
  // request and waits for its answer. The others are cancelled; their gaps during that time are
  // measured.
  Result<TimedRun> run_beside(const std::vector<GenerateRequest>& requests);

 private:
  explicit TimedEngine(ModelFile file) : file_(std::make_unique<ModelFile>(std::move(file))) {}

  std::unique_ptr<ModelFile> file_;  // the weights lie in it
  std::unique_ptr<Engine> engine_;
  double load_ms_ = 0;
};

}  // namespace wick
