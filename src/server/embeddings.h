// POST /v1/embeddings. The work is done on the handler's thread.
#pragma once

#include <memory>
#include <vector>

#include "http/handler.h"
#include "server/context.h"

namespace wick::server {

http::Reply embeddings(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& wake);

// A vector for each of ask.prompts, in their order. kInvalid, field "input": there are none, or
// more than kMaxEmbedInputs.
Result<std::vector<Embedding>> embed(Provider& provider, const Ask& ask);

}  // namespace wick::server
