// Routes that list, make, change and revoke API keys: /v1/keys, and LiteLLM's /key/…. They are for
// admins, but a key may read what it is itself.
#pragma once

#include <memory>

#include "http/handler.h"
#include "server/context.h"

namespace wick::server {

http::Reply list_keys(const SharedContext& context, const http::Request& request,
                      const std::shared_ptr<Wake>& wake);
http::Reply show_key(const SharedContext& context, const http::Request& request,
                     const std::shared_ptr<Wake>& wake);  // /v1/keys/ID
http::Reply show_named_key(const SharedContext& context, const http::Request& request,
                           const std::shared_ptr<Wake>& wake);  // ?key=, else the request's
http::Reply make_key(const SharedContext& context, const http::Request& request,
                     const std::shared_ptr<Wake>& wake);
http::Reply update_key(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& wake);  // /v1/keys/ID
http::Reply update_named_key(const SharedContext& context, const http::Request& request,
                             const std::shared_ptr<Wake>& wake);  // the body's `key`
http::Reply block_key(const SharedContext& context, const http::Request& request,
                      const std::shared_ptr<Wake>& wake);
http::Reply unblock_key(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake);
http::Reply revoke_key(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& wake);
http::Reply revoke_keys(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake);

}  // namespace wick::server
