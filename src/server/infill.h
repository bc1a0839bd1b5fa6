// POST /infill in llama.cpp's format, and the field `suffix` of the other APIs.
#pragma once

#include <memory>

#include "http/handler.h"
#include "server/answers.h"

namespace wick::server {

http::Reply infill(const SharedContext& context, const http::Request& request,
                   const std::shared_ptr<Wake>& wake);

// Each prompt becomes that of a gap between it and parsed.gap's suffix, which must be there.
Result<void> fill_between(Provider& provider, ParsedRequest& parsed);

}  // namespace wick::server
