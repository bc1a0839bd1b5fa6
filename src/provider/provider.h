// Everything that answers a chat is a Provider: the local engine, later remote APIs, the router,
// and in tests a scripted one. Server, assistant and command line know exactly this type. Methods
// block until done and may be called from several threads; events arrive in order on the calling
// thread.
//
//   WICK_TRY(auto provider, LocalModel::open("model.gguf", {}));
//   provider->chat({.input = messages}, [](const ChatEvent& e) { … }, stop_token);
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "chat/value.h"
#include "engine/engine.h"
#include "wick/parameter.h"
#include "wick/token.h"

namespace wick {

// What a request may set; what it leaves out is taken from the model file's own hints, then from
// the defaults.
struct BiasSetting {
  std::string text = {};  // each of its tokens, unless there is an id
  TokenId id = -1;
  double bias = 0;
};

struct GenerationSettings {
  std::vector<std::pair<std::string, double>> sampling =
      {};              // keys of sampler_params(): {"temperature", 0.2}
  int max_tokens = 0;  // 0 = to the context's end
  std::vector<std::string> stops = {};
  std::vector<TokenId> stop_ids = {};
  int top_logprobs = -1;  // -1 = none
  bool scores_prompt = false;
  std::string samplers = {};  // their order: "top_k;temperature"; empty = the file's or the default
  std::vector<BiasSetting> logit_bias = {};
  // Texts that no repetition reaches past; std::nullopt = kDryBreakers.
  std::optional<std::vector<std::string>> dry_breakers = {};
  std::uint64_t tenant = 0;  // tenants share time fairly, and of the cache nothing
  int priority = 0;          // -2 (in the background) to 2
  int time_limit_ms = 0;     // 0 = none
  // Who set what stands above, by key ("temperature", "max_tokens"): "flag --temp",
  // "config.toml:3". Whom this does not name, the request set.
  std::vector<std::pair<std::string, std::string>> origins = {};
};

inline constexpr std::string_view kDryBreakers[] = {"\n", ":", "\"", "*"};  // llama.cpp's

struct ChatRequest {
  Object input =
      {};  // the template's context: "messages", "tools", "documents", any other variable
  GenerationSettings settings = {};
};

struct CompletionRequest {
  std::string prompt = {};  // plain text: the model's own prefix (BOS) is put before it, control
                            // tokens are not recognised
  GenerationSettings settings = {};
};

struct TextEvent {
  std::string_view text;
};

// With GenerationSettings::top_logprobs, once, before the end. The first token of a prompt, which
// nothing foretells, is left out.
struct ScoresEvent {
  std::vector<ScoredToken> tokens, prompt;
};

struct DoneEvent {
  StopReason stop = StopReason::kNone;
  Usage usage = {};
  // The table of samplers, "seed", "samplers" and "max_tokens".
  std::vector<EffectiveParameter> parameters = {};
};

using ChatEvent = std::variant<TextEvent, ScoresEvent, DoneEvent>;
using EventSink = std::function<void(const ChatEvent&)>;

struct ModelInfo {
  std::string id = {};
  int context = 0;
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const noexcept = 0;
  virtual std::vector<ModelInfo> models() const = 0;
  // After the first event no retry is legal. A stop request ends with DoneEvent{kCancelled}, not
  // with an error.
  virtual Result<void> chat(const ChatRequest& request, const EventSink& sink,
                            std::stop_token stop) = 0;
  virtual Result<void> complete(const CompletionRequest& request, const EventSink& sink,
                                std::stop_token stop) = 0;
};

}  // namespace wick
