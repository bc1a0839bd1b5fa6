// GET /v1/models, GET /v1/models/NAME, POST /v1/models/load and /unload {"model": NAME}; load
// with "reload": true swaps it while answers go on.
#pragma once

#include <memory>

#include "http/handler.h"
#include "server/context.h"

namespace wick::server {

http::Reply list_models(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake);
http::Reply show_model(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& wake);
http::Reply load_model(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& wake);
http::Reply unload_model(const SharedContext& context, const http::Request& request,
                         const std::shared_ptr<Wake>& wake);

}  // namespace wick::server
