// POST /v1/completions.
#pragma once

#include <memory>

#include "http/handler.h"
#include "server/answers.h"

namespace wick::server {

http::Reply completions(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake);

}  // namespace wick::server
