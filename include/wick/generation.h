// Settings of one request, and its result. Plain data, one thread at a time.
//
//   wick::Generation g{.temperature = 0.7, .seed = 42, .max_tokens = 200};
//
// The same model, prompt, Generation and seed give the same text, bit for bit, whatever the thread
// count and the other requests in the batch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wick/message.h"
#include "wick/parameter.h"
#include "wick/result.h"
#include "wick/token.h"
#include "wick/usage.h"
#include "wick/variant.h"

namespace wick {

class Wake;

// Changes `logits` [vocabulary] in place before the sampler sees them; `history` is the prompt and
// the answer so far. The model's engine thread calls it once per token, so a slow hook delays all
// requests of that model. The edit may depend on the arguments only, or the same seed no longer
// gives the same text. Calls to the same model inside the hook fail (id "called_in_hook"); do not
// wait for a Stream there. A hook that throws ends the request with an error (id
// "callback_failed").
using LogitsHook = std::function<void(std::span<float> logits, std::span<const TokenId> history)>;

// Receives the text while it is generated, in complete characters, on the calling thread. Return
// false to end the answer. For logprobs with each piece use Stream.
using TextSink = std::function<bool(std::string_view text)>;

// Logit bias: added to a token's logit, -infinity bans the token. With `text`: for each token of
// the text.
struct TokenBias {
  TokenId id = -1;
  double bias = 0;
  std::string text = {};  // used if id is negative
};

// Structured output. No provider supports it yet: all types but "text" are refused (id
// "response_format_unsupported").
struct ResponseFormat {
  std::string type = "text";  // "json_object", "json_schema", "grammar"
  std::string schema = {};    // JSON schema or grammar
};

// A parameter that is not set comes from the model file, else from the default. A value out of
// range is refused; the message says the range.
struct Generation {
  std::optional<double> temperature = {};     // default 0.8; 0 = greedy
  std::optional<int> top_k = {};              // default 40; 0 = off
  std::optional<double> top_p = {};           // default 0.95; 1 = off
  std::optional<double> min_p = {};           // default 0.05; 0 = off
  std::optional<double> repeat_penalty = {};  // default 1 = off
  std::optional<std::uint64_t> seed = {};     // not set: random
  // Any other sampling parameter, by the name of its flag: {"xtc_probability", 0.5}.
  std::vector<std::pair<std::string, double>> more = {};
  int max_tokens = 0;                   // 0 = to the context's end
  // Stop sequences: text that ends the answer and is not part of it.
  std::vector<std::string> stop = {};
  std::vector<TokenId> stop_token_ids = {};  // tokens that end the answer
  std::vector<TokenBias> logit_bias = {};
  // Sampler order: "top_k;temperature"; empty = the model file's or the default.
  std::string samplers = {};
  LogitsHook logits = {};
  bool logprobs = false;  // of each generated token: Completion::logprobs, Stream::logprobs()
  // Of each prompt token: Completion::prompt_logprobs; disables prefix caching.
  bool prompt_logprobs = false;
  int top_logprobs = 0;  // most likely alternatives per token, 0 to 20; with either of the above
  std::stop_token cancel = {};  // cancels from any thread: the answer ends with kCancelled and
                                // keeps its text; before it begins, an error of code kCancelled
  // For a loop that reads many streams: wick/stream_set.h.
  std::shared_ptr<Wake> wake = {};
  int time_limit_ms = 0;     // from the call on; then an error (id "time_limit"); 0 = no limit
  int priority = 0;          // -2 (background) to 2; rises while the request waits
  std::uint64_t tenant = 0;  // tenants get fair scheduling and never share cache entries
  // How a local model groups text into pieces; the text does not change. A piece is sent when it
  // has emit_tokens tokens (1 to 256), or before its first character would wait longer than
  // emit_ms. The end of the answer sends the rest. 0 = no such condition; both 0 = each piece at
  // once.
  int emit_tokens = 0, emit_ms = 0;
  // Most bytes of text per event, 4 to 16384, cut between characters; 0 = no limit.
  int emit_bytes = 0;

  // For prompts that are messages:
  std::vector<Tool> tools = {};
  // "" or "auto", "none"; "required" and tool names are not supported yet.
  std::string tool_choice = {};
  // The template variable enable_thinking: switches reasoning of models that support it on or off.
  std::optional<bool> thinking = {};
  // Other template variables by name, values as JSON: {"date", "\"1 May 2026\""}.
  std::vector<std::pair<std::string, std::string>> template_variables = {};
  ResponseFormat response_format = {};

  // DRY sequence breakers; std::nullopt = newline, colon, quote, asterisk.
  std::optional<std::vector<std::string>> dry_sequence_breakers = {};
  // Where a setting above comes from, by key ("temperature", "max_tokens"): "flag --temp". Settings
  // without an entry come from the request.
  std::vector<std::pair<std::string, std::string>> origins = {};
};

// A prompt: messages (for the model's chat template), text, or token ids. Text gets the model's BOS
// token; token ids are used as they are.
using Prompt = Variant<std::string, std::vector<Message>, std::vector<TokenId>>;

struct Completion {
  std::string text = {};
  std::string reasoning = {};  // the model's reasoning, not part of `text`
  std::vector<ToolCall> tool_calls = {};
  FinishReason finish = FinishReason::kEos;
  Usage usage = {};
  // All effective parameters, a random seed included.
  std::vector<EffectiveParameter> parameters = {};
  // One for each of Usage::generated_tokens, the EOS token and those of a stop sequence included.
  std::vector<TokenLogprob> logprobs = {};
  // Without the first token, which has no prediction.
  std::vector<TokenLogprob> prompt_logprobs = {};
};

// Options of embeddings.
struct EmbedOptions {
  std::string pooling = {};     // "mean", "first", "last"; empty = the model file's, else mean
  bool normalize = true;        // to L2 norm 1
  std::stop_token cancel = {};  // cancels from any thread: an error of code kCancelled
  int time_limit_ms = 0;        // per text; then an error (id "time_limit"); 0 = no limit
  int priority = 0;             // -2 (background) to 2
  std::uint64_t tenant = 0;
};

struct Embedding {
  std::vector<float> values = {};  // the same number for every text
  int tokens = 0;                  // of the text
};

}  // namespace wick
