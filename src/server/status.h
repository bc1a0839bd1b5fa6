// Status routes: GET /health, /ready, /props, /slots, /metrics.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "http/handler.h"
#include "server/context.h"

namespace wick::server {

// On the loop.
http::Reply health(const SharedContext& context, const http::Request& request,
                   const std::shared_ptr<Wake>& wake);
http::Reply ready(const SharedContext& context, const http::Request& request,
                  const std::shared_ptr<Wake>& wake);

// The value of `name` in the query as it stands, "" if it is not there.
std::string query_value(const http::Request& request, std::string_view name);
// That of "model"; names with "%" are for the body of a POST.
std::string model_in(const http::Request& request);

// llama.cpp's shapes; `model` may stand in the query.
http::Reply props(const SharedContext& context, const http::Request& request,
                  const std::shared_ptr<Wake>& wake);
http::Reply slots(const SharedContext& context, const http::Request& request,
                  const std::shared_ptr<Wake>& wake);

// In Prometheus' text format.
http::Reply metrics(const SharedContext& context, const http::Request& request,
                    const std::shared_ptr<Wake>& wake);

}  // namespace wick::server
