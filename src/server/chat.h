// POST /v1/chat/completions.
#pragma once

#include <memory>

#include "http/handler.h"
#include "server/answers.h"

namespace wick::server {

http::Reply chat_completions(const SharedContext& context, const http::Request& request,
                             const std::shared_ptr<Wake>& wake);

// For those who bring the same answers another way: the request of a body, and its dialect.
Result<void> read_chat(const Context& context, const Object& body, const http::Request& request,
                       ParsedRequest& parsed);
std::unique_ptr<Dialect> make_chat_dialect(Context& context, const ParsedRequest& parsed);

}  // namespace wick::server
