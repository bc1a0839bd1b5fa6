// POST /tokenize, /detokenize, /apply-template, /v1/estimate: tokenization and templates.
// llama.cpp's shapes, with vLLM's fields beside.
#pragma once

#include <memory>

#include "http/handler.h"
#include "server/context.h"

namespace wick::server {

http::Reply tokenize(const SharedContext& context, const http::Request& request,
                     const std::shared_ptr<Wake>& wake);
http::Reply detokenize(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& wake);
http::Reply apply_template(const SharedContext& context, const http::Request& request,
                           const std::shared_ptr<Wake>& wake);
http::Reply estimate(const SharedContext& context, const http::Request& request,
                     const std::shared_ptr<Wake>& wake);

}  // namespace wick::server
