// GET /v1/ws: chats over one WebSocket, several at once. Each text message is an object:
//
//   → {"id": "a", "request": {"messages": […], …}}     as POST /v1/chat/completions
//   ← {"id": "a", "chunk": {…}}                        the chunks of its stream, in their order
//   ← {"id": "a", "error": {…}}                        an error, instead of further chunks
//   ← {"id": "a", "done": true}                        always the last message of a chat
//   → {"id": "a", "cancel": true}                      cancels it; "done" has "cancelled": true
#pragma once

#include <memory>

#include "http/handler.h"
#include "server/context.h"
#include "server/starter.h"

namespace wick::server {

std::unique_ptr<http::Work> make_socket_chat(SharedContext context,
                                             std::shared_ptr<Starter> starter,
                                             const http::Request& request,
                                             std::shared_ptr<Wake> wake);

}  // namespace wick::server
