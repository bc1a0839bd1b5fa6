#include "route/continuation.h"

#include <algorithm>

namespace wick::route {

bool may_continue(const Request& request) noexcept {
  const Generation& generation = request.generation;
  return generation.tools.empty() && generation.response_format.type == "text" &&
         !generation.logprobs && !has_callbacks(generation);
}

Result<Request> continuation_of(Provider& provider, const Request& request,
                                const std::string& model, const std::string& text) {
  Request next = request;
  next.model = model;
  const bool is_chat = std::holds_alternative<std::vector<Message>>(request.prompt);
  if (is_chat) next.generation.thinking = false;  // the answer has begun
  WICK_TRY(std::vector<TokenId> prompt, provider.prompt_tokens(next));
  next.generation.thinking = std::nullopt;  // these two are the template's
  next.generation.template_variables = {};
  WICK_TRY(const std::vector<TokenId> said, provider.tokenize(model, text));
  prompt.insert(prompt.end(), said.begin(), said.end());
  next.prompt = std::move(prompt);
  int& most = next.generation.max_tokens;
  if (most > 0) most = std::max(most - static_cast<int>(said.size()), 1);
  return next;
}

}  // namespace wick::route
