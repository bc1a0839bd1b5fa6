// Everything that answers is a Provider: a local model, a pool of them, later remote APIs and the
// router, in tests a scripted one. Server, assistant, library and program know exactly this type;
// it sees no engine. Any thread, many at once.
//
//   WICK_TRY(const auto answer, provider->start({.prompt = messages}));
//   while (const auto event = answer->wait()) …
//
// start() is what each has. What else a server needs of models a provider may lack; it then refuses
// by kUnsupported, id "not_supported", with its name and that of the function.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/strings.h"
#include "provider/answer.h"
#include "provider/statistics.h"
#include "wick/generation.h"
#include "wick/model_info.h"
#include "wick/estimate.h"

namespace wick {

struct Request {
  std::string model = {};  // of a provider that has several
  Prompt prompt = {};
  // A stop of `cancel` ends a chat template that still runs (start() refuses by kCancelled); behind
  // that it is for those who wait (provider/gather.h).
  Generation generation = {};
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const noexcept = 0;

  // Returns once the request is queued, or refused: then no event ever comes. An answer keeps what
  // it needs of its provider. `wake` is set whenever there is more to poll.
  virtual Result<std::unique_ptr<Answer>> start(const Request& request,
                                                std::shared_ptr<Wake> wake = {}) = 0;

  // What the request would take if it ran now; refused as start() would refuse it.
  virtual Result<RequestEstimate> estimate(const Request& /*request*/) {
    return refusal("estimate");
  }

  // Models. An empty name is the only one, or the one that is there by default.
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

  // Tokens. A person's text: names of control tokens are ordinary text, no BOS or EOS.
  virtual Result<std::vector<TokenId>> tokenize(const std::string& /*model*/,
                                                std::string_view /*text*/) {
    return refusal("tokenize");
  }

  // Control tokens are left out, invalid UTF-8 becomes U+FFFD.
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

  virtual Result<std::vector<Embedding>> embed(const std::string& /*model*/,
                                               std::span<const std::string> /*texts*/,
                                               const EmbedOptions& /*options*/) {
    return refusal("embeddings");
  }

  // The same of tokens, which are taken as they are.
  virtual Result<std::vector<Embedding>> embed_tokens(
      const std::string& /*model*/, std::span<const std::vector<TokenId>> /*prompts*/,
      const EmbedOptions& /*options*/) {
    return refusal("embeddings of tokens");
  }

  virtual Result<Statistics> statistics(const std::string& /*model*/) {
    return refusal("statistics");
  }

  // A conversation to a file and back, with what the cache holds of it.
  virtual Result<void> save_session(const std::string& /*path*/,
                                    std::span<const Message> /*messages*/) {
    return refusal("session files");
  }

  virtual Result<std::vector<Message>> load_session(const std::string& /*path*/) {
    return refusal("session files");
  }

  // A tenant that is gone (wick/model.h). Returns the number of cache blocks that were dropped.
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
