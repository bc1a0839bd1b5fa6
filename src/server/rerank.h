// POST /v1/rerank: documents by their relevance for a query, from a cross-encoder; the shape of
// Cohere, Jina and llama.cpp. Computed on a thread of server/task.h; the client's going ends it.
#pragma once

#include <memory>

#include "http/handler.h"
#include "server/context.h"

namespace wick::server {

http::Reply rerank(const SharedContext& context, const http::Request& request,
                   const std::shared_ptr<Wake>& wake);

}  // namespace wick::server
