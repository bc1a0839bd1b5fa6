// Ollama's API: chat and generate (streams of JSON lines), and its routes about models.
#pragma once

#include <memory>

#include "http/handler.h"
#include "server/answers.h"

namespace wick::server {

http::Reply ollama_chat(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake);
http::Reply ollama_generate(const SharedContext& context, const http::Request& request,
                            const std::shared_ptr<Wake>& wake);
http::Reply ollama_embed(const SharedContext& context, const http::Request& request,
                         const std::shared_ptr<Wake>& wake);
// The older one, of one text.
http::Reply ollama_embeddings(const SharedContext& context, const http::Request& request,
                              const std::shared_ptr<Wake>& wake);
http::Reply ollama_tags(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake);
http::Reply ollama_ps(const SharedContext& context, const http::Request& request,
                      const std::shared_ptr<Wake>& wake);
http::Reply ollama_show(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake);
http::Reply ollama_version(const SharedContext& context, const http::Request& request,
                           const std::shared_ptr<Wake>& wake);
http::Reply ollama_pull(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake);
http::Reply ollama_delete(const SharedContext& context, const http::Request& request,
                          const std::shared_ptr<Wake>& wake);
http::Reply ollama_copy(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& wake);

// {"error": "…"}
http::Response ollama_refusal(const ApiError& error);

// "2026-11-23T09:30:00Z"
std::string utc_time(std::int64_t unix_seconds);

}  // namespace wick::server
