// GET /openapi.json: an OpenAPI 3.1 document made from the tables of routes and fields.
#pragma once

#include <memory>

#include "http/handler.h"
#include "server/context.h"

namespace wick::server {

http::Reply openapi(const SharedContext& context, const http::Request& request,
                    const std::shared_ptr<Wake>& wake);

}  // namespace wick::server
