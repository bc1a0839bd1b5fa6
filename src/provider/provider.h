// The provider interface: a local model, a pool of them, a remote API, the router, in tests a
// scripted provider. Server, library and program use this type only; it knows no engine. Any
// thread, many at once.
//
//   WICK_TRY(const auto answer, provider->start({.prompt = messages}));
//   while (const auto event = answer->wait()) …
//
// Every provider has start(). The other functions are optional: by default they fail with
// kUnsupported, id "not_supported".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/strings.h"
#include "provider/adapter_info.h"
#include "provider/answer.h"
#include "provider/infill.h"
#include "provider/statistics.h"
#include "wick/estimate.h"
#include "wick/generation.h"
#include "wick/model_info.h"

namespace wick {

// A count, so that two gateways that ask each other do not do so for ever.
inline constexpr std::string_view kHopsHeader = "x-wick-hops";
// Of an answer: names of the request's fields that had no effect.
inline constexpr std::string_view kIgnoredHeader = "x-wick-ignored";

// Fields of a request that only remote APIs know ("user", "verbosity"), by name, as JSON.
using RemoteFields = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string model = {};  // of a provider that has several
  Prompt prompt = {};
  // `cancel` also stops the chat template (start() then fails with kCancelled); later, readers
  // observe it (provider/gather.h).
  Generation generation = {};
  std::string key = {}, tag = {};  // of the client, for budgets and rules (route/); may be empty
  int hops = 0;  // programs like this one that have passed it on, by the header kHopsHeader
  RemoteFields remote_fields = {};
};

struct EmbedTexts {  // a request for embeddings
  std::string model = {};
  std::span<const std::string> texts = {};
  EmbedOptions options = {};
  std::string key = {}, tag = {};  // these three as in Request
  int hops = 0;
  int dimensions = 0;  // of each vector, for remote APIs that shorten them; 0 = the model's
  bool only_embedding_model = false;  // a local chat model or cross-encoder refuses
  RemoteFields remote_fields = {};
  AnswerReport* report = nullptr;  // remote providers and the router write it
};

// What no key of a request describes, and no other process can run.
inline bool has_callbacks(const Generation& g) noexcept {
  return g.logits != nullptr || g.recognizer != nullptr || g.token_mask != nullptr ||
         g.predicate != nullptr;
}

class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const noexcept = 0;

  // Returns when the request is queued, or an error, and then no events follow. The answer keeps
  // alive what it needs of its provider. `wake` is set whenever there is more to poll.
  virtual Result<std::unique_ptr<Answer>> start(const Request& request,
                                                std::shared_ptr<Wake> wake = {}) = 0;

  // The same for a request that its caller needs no more: what has to keep it does not copy it.
  virtual Result<std::unique_ptr<Answer>> start_last(Request&& request,
                                                     std::shared_ptr<Wake> wake = {}) {
    return start(request, std::move(wake));
  }

  // Whether start() for this model, and poll() of its answers, neither wait nor compute much,
  // whatever the request: an event loop's thread may call them.
  virtual bool starts_at_once(const std::string& /*model*/) const { return false; }

  // Estimates the request without running it; fails where start() would.
  virtual Result<RequestEstimate> estimate(const Request& /*request*/) {
    return refusal("estimate");
  }

  // Models. An empty name means the default model.
  virtual Result<std::vector<ModelInfo>> models() { return refusal("list of models"); }

  virtual Result<ModelInfo> load(const std::string& /*name*/) { return refusal("load"); }

  virtual Result<ModelInfo> replace(const std::string& /*name*/, const std::string& /*source*/) {
    return refusal("replace");
  }

  virtual Result<void> unload(const std::string& /*name*/) { return refusal("unload"); }

  virtual Result<void> pin(const std::string& /*name*/, bool /*is_pinned*/) {
    return refusal("pin");
  }

  // How long it stays loaded without use, in milliseconds; negative: for ever.
  virtual Result<void> keep(const std::string& /*name*/, std::int64_t /*keep_ms*/) {
    return refusal("keep_alive");
  }

  // LoRA adapters of a model, and their scales for requests that choose none: "NAME[:SCALE]" as in
  // Generation::adapters, 0 for all others.
  virtual Result<std::vector<AdapterInfo>> adapters(const std::string& /*model*/) {
    return refusal("adapters");
  }

  virtual Result<void> set_adapters(const std::string& /*model*/,
                                    std::span<const std::string> /*wanted*/) {
    return refusal("adapters");
  }

  // Tokens. Text is user input: names of control tokens are ordinary text, no BOS or EOS.
  virtual Result<std::vector<TokenId>> tokenize(const std::string& /*model*/,
                                                std::string_view /*text*/) {
    return refusal("tokenize");
  }

  // Omits control tokens; invalid UTF-8 becomes U+FFFD.
  virtual Result<std::string> detokenize(const std::string& /*model*/,
                                         std::span<const TokenId> /*ids*/) {
    return refusal("detokenize");
  }

  // The prompt as text, and as tokens.
  virtual Result<std::string> apply_template(const Request& /*request*/) {
    return refusal("chat template");
  }

  virtual Result<std::vector<TokenId>> prompt_tokens(const Request& /*request*/) {
    return refusal("count of tokens");
  }

  // The prompt that lets the model fill a gap between two texts.
  virtual Result<InfillPrompt> infill_prompt(const std::string& /*model*/, const Infill& /*gap*/) {
    return refusal("infill");
  }

  virtual Result<std::vector<Embedding>> embed(const EmbedTexts& /*request*/) {
    return refusal("embeddings");
  }

  // The same for token ids, used as they are.
  virtual Result<std::vector<Embedding>> embed_tokens(
      const std::string& /*model*/, std::span<const std::vector<TokenId>> /*prompts*/,
      const EmbedOptions& /*options*/) {
    return refusal("embeddings of tokens");
  }

  virtual Result<Statistics> statistics(const std::string& /*model*/) {
    return refusal("statistics");
  }

  // Saves and restores a conversation with its part of the KV cache.
  virtual Result<void> save_session(const std::string& /*path*/,
                                    std::span<const Message> /*messages*/) {
    return refusal("session files");
  }

  virtual Result<std::vector<Message>> load_session(const std::string& /*path*/) {
    return refusal("session files");
  }

  // Removes a tenant (wick/model.h). Returns the number of dropped cache blocks.
  virtual Result<int> close_tenant(std::uint64_t /*tenant*/, bool /*wipe*/) {
    return refusal("tenants");
  }

 protected:
  Error refusal(std::string_view function) const {
    return {.code = ErrorCode::kUnsupported,
            .id = "not_supported",
            .message = cat("the provider '", name(), "' has no ", function)};
  }
};

}  // namespace wick
