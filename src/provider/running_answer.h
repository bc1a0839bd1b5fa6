// One answer on its way: the engine's thread writes its text into a ring, the reader takes it out.
// read() is the reader's, one thread at a time; cancel() any thread's. An answer that is dropped
// before its end is cancelled. It must not outlive the engine.
//
//   std::string text;
//   while (answer->read(text)) {}       // blocks; text grows
//   answer->done().usage;
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "provider/provider.h"

namespace wick {

class RunningAnswer {
 public:
  // Submits `request`, whose sink is set here. `parameters` come out again with done().
  static Result<std::unique_ptr<RunningAnswer>> begin(
      Engine& engine, GenerateRequest request, std::vector<EffectiveParameter> parameters = {});
  ~RunningAnswer();
  RunningAnswer(const RunningAnswer&) = delete;
  RunningAnswer& operator=(const RunningAnswer&) = delete;

  // Appends what has arrived to `out`, waiting for something if there is nothing. False once the
  // answer is over and all of it has been read; only then do done() and error() say something.
  bool read(std::string& out);
  // Appends the tokens that came with the text read so far and were not taken before; once the
  // answer is over, also those behind all text. None without top_logprobs.
  void take_scores(std::vector<ScoredToken>& out);
  void cancel() noexcept;  // takes effect at the engine's next step; done() then says kCancelled

  // Once the answer is over:
  DoneEvent done() const;
  const Error& error() const;                      // when done().stop is kError
  std::vector<ScoredToken> prompt_scores() const;  // empty without scores_prompt
  const RequestPlan& plan() const;                 // when done().stop is kPlanned

 private:
  class Sink;
  RunningAnswer(Engine& engine, std::shared_ptr<Sink> sink) noexcept;

  Engine* engine_;
  std::shared_ptr<Sink> sink_;
  std::vector<EffectiveParameter> parameters_;
  std::size_t scores_per_token_ = 1;
  RequestId id_ = 0;
  std::uint64_t n_read_ = 0;  // bytes of text
  bool is_over_ = false;
};

}  // namespace wick
