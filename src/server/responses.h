// OpenAI's POST /v1/responses, GET and DELETE /v1/responses/ID. Conversations are stored in memory
// for previous_response_id unless "store" is false.
#pragma once

#include <memory>

#include "http/handler.h"
#include "server/answers.h"

namespace wick::server {

http::Reply responses(const SharedContext& context, const http::Request& request,
                      const std::shared_ptr<Wake>& wake);
http::Reply show_response(const SharedContext& context, const http::Request& request,
                          const std::shared_ptr<Wake>& wake);
http::Reply delete_response(const SharedContext& context, const http::Request& request,
                            const std::shared_ptr<Wake>& wake);

// Of the request: what the dialect tells again, and where the answer goes.
struct ResponseSetup {
  SharedContext context = {};
  ParsedRequest parsed = {};  // its prompt is the whole conversation
  std::string instructions = {}, previous_id = {};
  bool is_stored = true;
};

std::unique_ptr<Dialect> make_response_dialect(ResponseSetup setup);

}  // namespace wick::server
