// An engine whose requests are timed: stepped by the caller's thread, so that no other waits for
// it.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "base/result.h"
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
  int generated_tokens = 0, prompt_tokens = 0;
};

class TimedEngine {
 public:
  // `threads` 0 = what this process may use.
  static Result<TimedEngine> open(const std::filesystem::path& path, int threads,
                                  const EngineOptions& options);

  const Tokenizer& tokenizer() const noexcept { return engine_->tokenizer(); }

  int threads() const noexcept { return threads_; }

  int vocab() const noexcept { return vocab_; }

  double load_ms() const noexcept { return load_ms_; }

  // Answers all of `requests`, at most `concurrency` at a time: when one is over the next begins.
  Result<TimedRun> run(const std::vector<GenerateRequest>& requests, int concurrency);
  // Lets `streams` say their first text, then submits `late` and ends when that is answered. The
  // streams are cancelled; their gaps are those beside `late`, whose answer comes last.
  Result<TimedRun> run_beside(const std::vector<GenerateRequest>& streams, GenerateRequest late);

 private:
  TimedEngine(ModelFile file, Device& device)
      : file_(std::make_unique<ModelFile>(std::move(file))), device_(&device) {}

  std::unique_ptr<ModelFile> file_;  // the weights lie in it
  Device* device_;
  int threads_ = 0;
  std::unique_ptr<Engine> engine_;
  int vocab_ = 0;
  double load_ms_ = 0;
};

// n token ids below `vocab`, another sequence for each seed.
std::vector<TokenId> random_tokens(int n, int vocab, unsigned seed);

}  // namespace wick
