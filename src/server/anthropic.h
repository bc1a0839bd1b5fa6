// Anthropic's POST /v1/messages and /v1/messages/count_tokens, with its streaming events and its
// shape of errors.
#pragma once

#include <memory>
#include <string_view>

#include "http/handler.h"
#include "server/answers.h"

namespace wick::server {

http::Reply messages(const SharedContext& context, const http::Request& request,
                     const std::shared_ptr<Wake>& wake);
http::Reply count_message_tokens(const SharedContext& context, const http::Request& request,
                                 const std::shared_ptr<Wake>& wake);

// {"type": "error", "error": {"type", "message"}}; overload is 529.
http::Response anthropic_refusal(const ApiError& error);

}  // namespace wick::server
