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
// the answer so far. The model's own thread calls it once for each token and waits for it, so other
// requests of that model wait too. The same arguments must give the same edit, or the same seed no
// longer gives the same text. Inside it that model answers nothing (id "called_in_hook"), and
// nobody may wait there for a Stream. If it throws, the request ends with an error (id
// "callback_failed").
using LogitsHook = std::function<void(std::span<float> logits, std::span<const TokenId> history)>;

// Gets the text as it is made, whole characters, on the calling thread. False ends the answer. Who
// wants each piece's log-probabilities beside it pulls a Stream.
using TextSink = std::function<bool(std::string_view text)>;

// A number added to a token's logit, -infinity bans it; with a text, to each of its tokens.
struct TokenBias {
  TokenId id = -1;
  double bias = 0;
  std::string text = {};  // read if there is no id
};

// No provider holds an answer to a form yet: all but "text" are refused, id
// "response_format_unsupported".
struct ResponseFormat {
  std::string type = "text";  // "json_object", "json_schema", "grammar"
  std::string schema = {};    // JSON schema or grammar
};

// What is left out comes from the model file's own hints, else from the default. A value out of its
// range is refused, with the range in the message.
struct Generation {
  std::optional<double> temperature = {};     // default 0.8; 0 = always the likeliest token
  std::optional<int> top_k = {};              // default 40; 0 = off
  std::optional<double> top_p = {};           // default 0.95; 1 = off
  std::optional<double> min_p = {};           // default 0.05; 0 = off
  std::optional<double> repeat_penalty = {};  // default 1 = off
  std::optional<std::uint64_t> seed = {};     // random unless set
  // Any other parameter of the sampler by the name of its flag: {"xtc_probability", 0.5}.
  std::vector<std::pair<std::string, double>> more = {};
  int max_tokens = 0;                   // 0 = to the context's end
  std::vector<std::string> stop = {};  // text that ends the answer, and is not part of it
  std::vector<TokenId> stop_token_ids = {};   // tokens that do the same
  std::vector<TokenBias> logit_bias = {};
  std::string samplers = {};  // their order: "top_k;temperature"; empty = the file's or the default
  LogitsHook logits = {};
  bool logprobs = false;         // of each token how likely it was: Completion::logprobs, and
                                 // Stream::logprobs() piece by piece
  bool prompt_logprobs = false;  // Completion::prompt_logprobs; the prompt then reuses no cache
  int top_logprobs = 0;          // with either: so many of the likeliest beside each, 0 to 20
  std::stop_token cancel = {};   // from any thread; the answer so far is kept (kCancelled); while
                                 // the chat template still runs, an error, kCancelled
  // Of a loop that reads many streams: wick/stream_set.h.
  std::shared_ptr<Wake> wake = {};
  int time_limit_ms = 0;         // from the call on; then an error, id "time_limit". 0 = none
  int priority = 0;              // -2 (in the background) to 2; waiting raises it
  std::uint64_t tenant = 0;      // tenants share time fairly, and of the cache nothing
  // In what pieces a local model hands over its text; the text is the same. A piece goes once it
  // has gathered so many tokens (1 to 256), or before its first character has waited so long, if
  // the next token takes as long as the last one did; the end hands over the rest. 0 = not by this
  // one; both 0 = each piece as it comes.
  int emit_tokens = 0, emit_ms = 0;
  int emit_bytes = 0;  // no event has more text, cut between characters: 4 to 16384; 0 = no limit

  // Of a prompt that is messages:
  std::vector<Tool> tools = {};
  std::string tool_choice = {};  // "" or "auto", "none"; "required" and a tool's name: refused yet
  // The template's variable enable_thinking: whether a model that can think before it answers does.
  std::optional<bool> thinking = {};
  // Any other variable of the template by its name, the value as JSON: {"date", "\"1 May 2026\""}.
  std::vector<std::pair<std::string, std::string>> template_variables = {};
  ResponseFormat response_format = {};

  // Texts that no repetition of DRY reaches past; std::nullopt = newline, colon, quote, asterisk.
  std::optional<std::vector<std::string>> dry_sequence_breakers = {};
  // Who set what stands above, by key ("temperature", "max_tokens"): "flag --temp". Whom this does
  // not name, the request set.
  std::vector<std::pair<std::string, std::string>> origins = {};
};

// What is to be answered: a conversation by the model's chat template, or text or tokens to go on
// from. A text gets the model's own prefix (BOS), tokens are taken as they are.
using Prompt = Variant<std::string, std::vector<Message>, std::vector<TokenId>>;

struct Completion {
  std::string text = {};
  std::string reasoning = {};  // what the model thought before: not part of `text`
  std::vector<ToolCall> tool_calls = {};
  FinishReason finish = FinishReason::kEos;
  Usage usage = {};
  std::vector<EffectiveParameter> parameters = {};  // every one; the seed of a random answer, too
  // As many as Usage::generated_tokens: the end token, and those of a stop sequence, too.
  std::vector<TokenLogprob> logprobs = {};
  std::vector<TokenLogprob> prompt_logprobs = {};  // without the first, which nothing precedes
};

// A text as a vector.
struct EmbedOptions {
  std::string pooling = {};  // "mean", "first", "last"; empty = as the model's file says, else mean
  bool normalize = true;     // to length 1
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
