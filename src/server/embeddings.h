// POST /v1/embeddings. Computed on a thread of server/task.h; cancelled if the client disconnects.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "http/handler.h"
#include "server/context.h"

namespace wick::server {

http::Reply embeddings(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& wake);

// A vector for each of parsed.prompts, in their order. kInvalid, field "input": there are none, or
// more than kMaxEmbedInputs. Adds x-wick-provider and x-wick-ignored to the response.
Result<std::vector<Embedding>> embed(Context& context, const ParsedRequest& parsed,
                                     const std::stop_token& gone, http::Response& response);

// The request for embeddings of `parsed`, without its texts.
EmbedTexts embed_request(const ParsedRequest& parsed, const std::stop_token& gone);

int tokens_of(std::span<const Embedding> all) noexcept;  // of all their texts

// A line of the audit log, if there is one.
void audit(const Context& context, std::unique_ptr<Span> span,
           const Result<std::vector<Embedding>>& all);

}  // namespace wick::server
