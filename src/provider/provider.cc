#include "provider/provider.h"

#include "base/strings.h"

namespace wick {

Error Provider::refusal(std::string_view function) const {
  return {.code = ErrorCode::kUnsupported,
          .id = "not_supported",
          .message = cat("the provider '", name(), "' has no ", function)};
}

Result<RequestPlan> Provider::estimate(const Request& /*request*/) {
  return refusal("estimate");
}

Result<std::vector<ModelInfo>> Provider::models() {
  return refusal("list of models");
}

Result<ModelInfo> Provider::load(const std::string& /*name*/) {
  return refusal("load");
}

Result<ModelInfo> Provider::replace(const std::string& /*name*/, const std::string& /*source*/) {
  return refusal("replace");
}

Result<void> Provider::unload(const std::string& /*name*/) {
  return refusal("unload");
}

Result<void> Provider::pin(const std::string& /*name*/, bool /*is_pinned*/) {
  return refusal("pin");
}

Result<std::vector<TokenId>> Provider::tokenize(const std::string& /*model*/,
                                                std::string_view /*text*/) {
  return refusal("tokenize");
}

Result<std::string> Provider::detokenize(const std::string& /*model*/,
                                         std::span<const TokenId> /*ids*/) {
  return refusal("detokenize");
}

Result<std::string> Provider::apply_template(const Request& /*request*/) {
  return refusal("chat template");
}

Result<std::vector<TokenId>> Provider::prompt_tokens(const Request& /*request*/) {
  return refusal("count of tokens");
}

Result<std::vector<Embedding>> Provider::embed(const std::string& /*model*/,
                                               std::span<const std::string> /*texts*/,
                                               const EmbedOptions& /*options*/) {
  return refusal("embeddings");
}

Result<Statistics> Provider::statistics(const std::string& /*model*/) {
  return refusal("statistics");
}

Result<void> Provider::save_session(const std::string& /*path*/,
                                    std::span<const Message> /*messages*/) {
  return refusal("session files");
}

Result<std::vector<Message>> Provider::load_session(const std::string& /*path*/) {
  return refusal("session files");
}

Result<int> Provider::close_tenant(std::uint64_t /*tenant*/, bool /*wipes*/) {
  return refusal("tenants");
}

}  // namespace wick
