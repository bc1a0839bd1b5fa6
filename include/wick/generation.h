// Parameters of one request, and its result. Plain data, one thread at a time.
//
//   wick::Generation g{.temperature = 0.7, .seed = 42, .max_tokens = 200};
//
// The same model, prompt, Generation and seed give the same text, bit for bit: thread count and
// other requests in the batch do not matter.
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

#include "wick/constraint.h"
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
// requests of that model. If the result depends on anything but the arguments, the same seed may
// give another text. The hook must not call the same model (the call fails, id "called_in_hook") or
// wait for a Stream (that deadlocks). An exception ends the request with an error (id
// "callback_failed"). Hugging Face and vLLM: logits processor.
using LogitsHook = std::function<void(std::span<float> logits, std::span<const TokenId> history)>;

// Receives the text while it is generated, in complete characters, on the calling thread. Return
// false to cancel the request; the answer then ends with FinishReason::kCancelled and keeps its
// text. Use Stream for the logprobs of each piece.
using TextSink = std::function<bool(std::string_view text)>;

// Logit bias: `bias` is added to the logit of the token `id`; -infinity bans the token. If `id` is
// negative, the bias applies to each token of `text`.
struct TokenBias {
  TokenId id = -1;
  double bias = 0;
  std::string text = {};
};

// Structured output: the answer's text is a document of this format. A local model guarantees it,
// even if max_tokens is reached (Usage::steered_tokens). An unknown type or an unsupported keyword
// of a schema is an error.
struct ResponseFormat {
  // "text" (any text), "json_object", "json_schema", "regex", "choice", "grammar",
  // "structural_tag".
  std::string type = "text";
  // "json_schema", "json_object": a JSON schema (for "json_object" it may be empty); "regex": a
  // regular expression (ECMA-262) for the whole text; "choice": a JSON array of texts; "grammar":
  // GBNF, EBNF or Lark; "structural_tag": vLLM's JSON.
  std::string schema = {};
};

// A parameter that is not set has the value of the model file's hint, else the default. A value out
// of range is an error; the message has the allowed range.
struct Generation {
  std::optional<double> temperature = {};     // default 0.8; 0 = greedy
  std::optional<int> top_k = {};              // default 40; 0 = off
  std::optional<double> top_p = {};           // default 0.95; 1 = off
  std::optional<double> min_p = {};           // default 0.05; 0 = off
  std::optional<double> repeat_penalty = {};  // default 1 = off
  std::optional<std::uint64_t> seed = {};     // not set: random
  // Any other sampling parameter, by its key in [generation] of config.toml:
  // {"xtc_probability", 0.5}.
  std::vector<std::pair<std::string, double>> more = {};
  int max_tokens = 0;  // 0 = until the context is full
  // Stop sequences: text that ends the answer and is not part of it.
  std::vector<std::string> stop = {};
  std::vector<TokenId> stop_token_ids = {};  // tokens that end the answer
  std::vector<TokenBias> logit_bias = {};
  // Samplers in their order: "top_k;temperature"; empty = the model file's hint, else the default.
  std::string samplers = {};
  LogitsHook logits = {};
  bool logprobs = false;  // of each generated token: Completion::logprobs, Stream::logprobs()
  // Logprob of each prompt token: Completion::prompt_logprobs. Disables prefix caching for this
  // request.
  bool prompt_logprobs = false;
  // Number of most likely alternatives per token, 0 to 20; with logprobs or prompt_logprobs.
  int top_logprobs = 0;
  // Cancels the request from any thread. The answer ends with FinishReason::kCancelled and keeps
  // its text. If the chat template is not rendered yet, the call fails with ErrorCode::kCancelled.
  std::stop_token cancel = {};
  // For a loop that reads many streams: wick/stream_set.h.
  std::shared_ptr<Wake> wake = {};
  int time_limit_ms = 0;  // from the call; then an error (id "time_limit"); 0 = no limit
  int priority = 0;       // -2 (background) to 2; rises while the request waits
  // LoRA adapters of this request: "NAME" or "NAME:SCALE" of ModelOptions::adapters (default scale
  // 1); {"none"} = none; empty = all, with their scales of ModelOptions. Requests with different
  // adapters share forward passes.
  std::vector<std::string> adapters = {};
  // Tenants (for example the clients of a server) get fair scheduling by computed tokens, and never
  // share prefix cache entries. The caller chooses a number for each tenant.
  std::uint64_t tenant = 0;
  // Requests of one client have one fair share; 0 = the tenant's. Clients of one tenant share
  // prefix cache entries.
  std::uint64_t client = 0;
  // How a local model groups text into pieces (events); the text does not change. A piece is
  // sent once it has emit_tokens tokens (1 to 256), or once its first character has waited emit_ms
  // milliseconds. The rest is sent at the end of the answer. 0 = this condition is off; both 0 =
  // text is sent after every token.
  int emit_tokens = 0, emit_ms = 0;
  // Maximum bytes of text per event, 4 to 16384, cut between characters; 0 = no limit.
  int emit_bytes = 0;

  // For prompts that are messages:
  std::vector<Tool> tools = {};
  // "" or "auto": the model decides; "none": no calls; "required": at least one call; or a tool's
  // name: one call of this tool. A local model's arguments match the schema (docs/tool_calls.md).
  std::string tool_choice = {};
  bool parallel_tool_calls = true;  // false: at most one call in an answer
  // Switches reasoning of models that support it on or off: the template variables enable_thinking
  // and thinking.
  std::optional<bool> thinking = {};
  // Other template variables by name, values as JSON: {"date", "\"1 May 2026\""}.
  std::vector<std::pair<std::string, std::string>> template_variables = {};
  ResponseFormat response_format = {};
  // Constraints by the caller's own code (wick/constraint.h); several can be combined. An error
  // with tools, unless tool_choice is "none" (id "constraint_with_tools").
  RecognizerFactory recognizer = {};  // an error with a response_format (id "two_constraints")
  // May be combined with a response_format; max_tokens may then cut the document short.
  TokenMaskHook token_mask = {};
  TextPredicate predicate = {};       // the answer ends only where this returns true

  // DRY sequence breakers; std::nullopt = newline, colon, quote, asterisk.
  std::optional<std::vector<std::string>> dry_sequence_breakers = {};
  // Origins of the settings above for EffectiveParameter::origin: {"temperature", "flag --temp"}.
  // Without an entry the origin is "request".
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
  // One entry per generated token, including EOS and the tokens of a stop sequence.
  std::vector<TokenLogprob> logprobs = {};
  // One entry per prompt token except the first, which has no prediction.
  std::vector<TokenLogprob> prompt_logprobs = {};
};

// Options of embeddings.
struct EmbedOptions {
  std::string pooling = {};  // "mean", "first", "last"; empty = the model file's, else mean
  bool normalize = true;     // scale to L2 norm 1; a cross-encoder's scores are not scaled
  // For a cross-encoder (reranker): the query that the texts are ranked for. Embedding::values is
  // then one score, before any sigmoid; higher is more relevant. Without a query a cross-encoder
  // classifies each text.
  std::string query = {};
  std::stop_token cancel = {};  // cancels from any thread: an error of code kCancelled
  int time_limit_ms = 0;        // per text; then an error (id "time_limit"); 0 = no limit
  int priority = 0;             // -2 (background) to 2
  std::uint64_t tenant = 0;
  std::uint64_t client = 0;
};

struct Embedding {
  std::vector<float> values = {};  // its length is the same for every text
  int tokens = 0;                  // tokens of the text
};

}  // namespace wick
