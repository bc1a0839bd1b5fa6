// From logits to a token. A SamplerChain belongs to one sequence and is used by the engine thread
// only; building one allocates, sample() never does. Its random numbers come from a counter-based
// generator keyed by the request's seed, so a seed gives the same text whatever else runs. Order of
// stages and defaults are llama.cpp's: penalties → top-n-sigma → top-k → typical → top-p → min-p →
// XTC → temperature → draw. Temperature 0 is greedy: the lowest id among equal maxima.
//
//   SamplerChain chain(params, vocab);
//   const TokenId next = chain.sample(logits, {}, history);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"

namespace wick {

struct SamplingParams {
  float temperature = 0.8F;  // 0 = greedy
  int top_k = 40;            // 0 = off
  float top_p = 0.95F;       // 1 = off
  float min_p = 0.05F;       // 0 = off
  float repeat_penalty = 1;  // 1 = off
  float presence_penalty = 0, frequency_penalty = 0;
  int repeat_window = 64;  // tokens looked back at; 0 = off, -1 = the whole context
  float top_n_sigma = 0;   // 0 = off
  float typical_p = 1;     // 1 = off
  float xtc_probability = 0, xtc_threshold = 0.1F;
  float dynatemp_range = 0, dynatemp_exponent = 1;
  std::uint64_t seed = 0;
};

// One parameter of the chain: its name as flag, field and help line, its range, and where it lies.
// CLI, server, docs and the property tests iterate over this table.
struct SamplerParam {
  std::string_view key;  // "top_k"; the flag is --top-k
  std::string_view help;
  double min = 0, max = 0;
  double off = 0;  // the value that makes the stage do nothing
  double (*get)(const SamplingParams&);
  void (*set)(SamplingParams&, double);
};

std::span<const SamplerParam> sampler_params() noexcept;

// The first parameter out of its range, as an error with value and range.
Result<void> check(const SamplingParams& params);

// What a caller does to the logits before the chain sees them: ban, force, push. It is asked once
// for each token that is drawn, by the engine's thread, which waits for it; the same logits and
// history must give the same edit, or the same seed no longer gives the same text.
class LogitsEditor {
 public:
  virtual ~LogitsEditor() = default;
  // `logits` [vocab], changed in place. False: it has failed, and no token is drawn.
  virtual bool edit(std::span<float> logits, std::span<const TokenId> history) noexcept = 0;
};

class SamplerChain {
 public:
  SamplerChain();
  // Allocates its scratch for `vocab` tokens. `editor` may be null.
  SamplerChain(const SamplingParams& params, int vocab, std::shared_ptr<LogitsEditor> editor = {});
  SamplerChain(SamplerChain&&) noexcept;
  SamplerChain& operator=(SamplerChain&&) noexcept;
  ~SamplerChain();

  const SamplingParams& params() const noexcept;

  // Hot:
  // `logits` [vocab]; `allowed`: bit t set = token t may follow, empty = all may; `history`: prompt
  // and answer so far. -1: there is no token to draw, or the editor has failed.
  TokenId sample(std::span<const float> logits, std::span<const std::uint64_t> allowed,
                 std::span<const TokenId> history) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wick
