// From logits to a token. A SamplerChain belongs to one sequence and is used by the engine thread
// only; building one allocates, sample() never does. Its random numbers come from a counter-based
// generator keyed by the request's seed, so a seed gives the same text with any other requests. A
// request may set the order of the stages. The default order and all default values are
// llama.cpp's: penalties → DRY → top-n-sigma → top-k → typical → top-p → min-p → XTC → temperature
// → draw. EOG bans and logit bias always run first. Temperature 0 is greedy: the most likely token
// after bias, penalties and DRY, the lowest id among equals; the other stages do not run.
//
//   SamplerChain chain(params, {.vocab = vocab, .ends = ends});
//   const TokenId next = chain.sample(logits, {}, history);
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace wick {

// Which samplers work, and in which order: rows of samplers().
struct SamplerOrder {
  std::array<std::uint8_t, 16> rows = {};
  int n = -1;  // -1 = the default order
};

// "top_k;temperature" → that order; the words are llama.cpp's, '-' counts as '_', ',' as ';'.
Result<SamplerOrder> parse_sampler_order(std::string_view text);
std::string to_string(const SamplerOrder& order);

struct LogitBias {
  TokenId id = 0;
  float bias = 0;  // -infinity = never
};

// Where DRY stops comparing: at one of these tokens, or at one of these runs of tokens.
struct DryBreakers {
  std::vector<TokenId> tokens = {};
  std::vector<std::vector<TokenId>> runs = {};
};

struct SamplingParams {
  float temperature = 0.8F;  // 0 = greedy
  int top_k = 40;            // 0 = off
  float top_p = 0.95F;       // 1 = off
  float min_p = 0.05F;       // 0 = off
  float repeat_penalty = 1;  // 1 = off
  float presence_penalty = 0, frequency_penalty = 0;
  int repeat_last_n = 64;    // tokens looked back at; 0 = off, -1 = the whole context
  float dry_multiplier = 0;  // 0 = off
  float dry_base = 1.75F;
  int dry_allowed_length = 2;
  int dry_penalty_last_n = 64;  // tokens looked back at; 0 = off, -1 = the whole context
  float top_n_sigma = 0;        // 0 = off
  float typical_p = 1;          // 1 = off
  float xtc_probability = 0, xtc_threshold = 0.1F;
  float dynatemp_range = 0, dynatemp_exponent = 1;
  int mirostat = 0;  // 0 = off, 1, 2; instead of all that leaves tokens out
  float mirostat_tau = 5, mirostat_eta = 0.1F;
  float adaptive_target = -1;  // below 0 = off
  float adaptive_decay = 0.9F;
  int min_tokens = 0;  // no end token before
  int ignore_eos = 0;  // 1 = no end token at all
  std::uint64_t seed = 0;
  SamplerOrder order = {};
  std::vector<LogitBias> logit_bias = {};
  DryBreakers dry_sequence_breakers = {};
};

// One parameter of the chain: its name, help, range, and its member of SamplingParams. CLI, server,
// docs and the property tests iterate over this table.
struct SamplerParam {
  std::string_view key;  // "top_k"; the flag is --top-k
  std::string_view help;
  double min = 0, max = 0;
  double off = 0;  // the value that makes the stage do nothing
  double (*get)(const SamplingParams&);
  void (*set)(SamplingParams&, double);
  bool is_switch = false;  // 0 or 1: a flag without a value
};

std::span<const SamplerParam> sampler_params() noexcept;

// The first parameter out of its range, as an error with value and range.
Result<void> check(const SamplingParams& params);

// What a chain is built for.
struct ChainSizes {
  int vocab = 0;
  int history = 0;                     // tokens of prompt and answer at most
  std::span<const TokenId> ends = {};  // tokens that end the answer
};

// Changes the logits before the chain sees them, for example to ban tokens. The engine thread calls
// it once for each sampled token and waits. The result must depend on logits and history alone;
// otherwise the same seed may give another text.
class LogitsEditor {
 public:
  virtual ~LogitsEditor() = default;
  // `logits` [vocab], changed in place. False: it has failed, and no token is drawn.
  virtual bool edit(std::span<float> logits, std::span<const TokenId> history) noexcept = 0;
};

class SamplerChain {
 public:
  SamplerChain();
  // Allocates its scratch. `editor` may be null.
  SamplerChain(const SamplingParams& params, const ChainSizes& sizes,
               std::shared_ptr<LogitsEditor> editor = {});
  SamplerChain(SamplerChain&&) noexcept;
  SamplerChain& operator=(SamplerChain&&) noexcept;
  ~SamplerChain();

  const SamplingParams& params() const noexcept;

  // Hot:
  // `logits` [vocab], which are edited meanwhile and have their old bits again on return;
  // `allowed`: bit t set = token t may follow, empty = all may; `history`: prompt and answer so
  // far, which grows at its end only. -1 if there is no token left with a logit above -infinity.
  TokenId sample(std::span<float> logits, std::span<const std::uint64_t> allowed,
                 std::span<const TokenId> history) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wick
