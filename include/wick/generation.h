// What one request may ask for, and what it yields. Plain data: copy it, keep it, one thread at a
// time.
//
//   wick::Generation g{.temperature = 0.7, .seed = 42, .max_tokens = 200};
//
// For one model, prompt, Generation (its seed set) and thread count or batch companions of any
// kind, the text is the same, bit for bit.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wick/parameter.h"
#include "wick/result.h"
#include "wick/token.h"

namespace wick {

struct Message {
  std::string role = "user";  // "system", "user", "assistant", or what the model's template knows
  std::string content = {};
};

// Changes `logits` [vocabulary] in place before the sampler sees them; `history` is the prompt and
// the answer so far. The model's own thread calls it once for each token and waits for it, so other
// requests of that model wait too. The same arguments must give the same edit, or the same seed no
// longer gives the same text. It must not own a Model, Session or Stream. If it throws, the request
// ends with an error (id "callback_failed").
using LogitsHook = std::function<void(std::span<float> logits, std::span<const TokenId> history)>;

// Gets the text as it is made, whole characters, on the calling thread. False ends the answer. Who
// wants each piece's log-probabilities beside it pulls a Stream.
using TextSink = std::function<bool(std::string_view text)>;

// What is left out comes from the model file's own hints, else from the default. A value out of its
// range is refused, with the range in the message.
struct Generation {
  std::optional<double> temperature = {};     // default 0.8; 0 = always the likeliest token
  std::optional<int> top_k = {};              // default 40; 0 = off
  std::optional<double> top_p = {};           // default 0.95; 1 = off
  std::optional<double> min_p = {};           // default 0.05; 0 = off
  std::optional<double> repeat_penalty = {};  // default 1 = off
  std::optional<std::uint64_t> seed = {};     // below 2^53; random unless set
  // Any other parameter of the sampler by the name of its flag: {"xtc_probability", 0.5}.
  std::vector<std::pair<std::string, double>> more = {};
  int max_tokens = 0;                   // 0 = to the context's end
  std::vector<std::string> stops = {};  // text that ends the answer, and is not part of it
  std::vector<TokenId> stop_ids = {};   // tokens that do the same
  std::vector<std::pair<TokenId, double>> logit_bias = {};  // added; -infinity bans a token
  std::string samplers = {};  // their order: "top_k;temperature"; empty = the file's or the default
  LogitsHook logits = {};
  bool logprobs = false;         // of each token how likely it was: Completion::logprobs, and
                                 // Stream::scores() piece by piece
  bool prompt_logprobs = false;  // Completion::prompt_logprobs; the prompt then reuses no cache
  int top_logprobs = 0;          // with either: so many of the likeliest beside each, 0 to 20
  std::stop_token cancel = {};   // from any thread; the answer so far is kept (kCancelled)
  int time_limit_ms = 0;         // from the call on; then an error, id "time_limit". 0 = none
  int priority = 0;              // -2 (in the background) to 2; waiting raises it
  std::uint64_t tenant = 0;      // tenants share time fairly, and of the cache nothing
};

enum class FinishReason : std::uint8_t {
  kEnd,        // the model ended its answer
  kStopText,   // one of Generation::stops
  kLength,     // max_tokens, or the context's end
  kCancelled,  // by Generation::cancel, Stream::cancel() or a sink
};

// "stop" (the first two), "length", "cancelled": OpenAI's words where it has one.
WICK_API std::string_view name(FinishReason reason) noexcept;

struct TokenUsage {
  int prompt_tokens = 0;
  int cached_tokens = 0;     // of the prompt: already in the cache, not computed again
  int generated_tokens = 0;  // the end token included
  double queue_ms = 0;       // from the call to admission
  double prompt_ms = 0;      // from admission to the first generated token
  double generate_ms = 0;    // from the first to the last generated token
};

struct Completion {
  std::string text = {};
  FinishReason finish = FinishReason::kEnd;
  TokenUsage usage = {};
  std::vector<EffectiveParameter> parameters = {};  // every one; the seed of a random answer, too
  // As many as TokenUsage::generated_tokens: the end token, and those of a stop text, too.
  std::vector<ScoredToken> logprobs = {};
  std::vector<ScoredToken> prompt_logprobs = {};  // without the first, which nothing foretells
};

// A text as a vector.
struct EmbedOptions {
  std::string pooling = {};  // "mean", "first", "last"; empty = as the model's file says, else mean
  bool normalise = true;     // to length 1
  std::stop_token cancel = {};  // from any thread; then an error, kCancelled
  int time_limit_ms = 0;        // of each text; then an error, id "time_limit". 0 = none
  int priority = 0;             // -2 (in the background) to 2
  std::uint64_t tenant = 0;
};

struct Embedding {
  std::vector<float> values = {};  // as many for each text of a model
  int tokens = 0;                  // of the text
};

}  // namespace wick
