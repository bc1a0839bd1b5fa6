#include "server/routes.h"

#include <random>

#include "base/catch_bad_alloc.h"
#include "server/anthropic.h"
#include "server/chat.h"
#include "server/completions.h"
#include "server/embeddings.h"
#include "server/models.h"
#include "server/ollama.h"
#include "server/openapi.h"
#include "server/responses.h"
#include "server/socket_chat.h"
#include "server/status.h"
#include "server/tokens.h"

namespace wick::server {

namespace {

using Handle = http::Reply (*)(const SharedContext&, const http::Request&,
                               const std::shared_ptr<Wake>&);

using enum http::Access;

struct Row {
  RouteInfo info;
  Handle handle;
  http::Where where = http::Where::kWorker;
};

constexpr Row kRows[] = {
    {{kInfer, "POST", "/v1/chat/completions", "OpenAI's chat", kChat}, chat_completions},
    {{kInfer, "POST", "/v1/completions", "text that goes on from a prompt", kCompletions},
     completions},
    {{kInfer, "POST", "/v1/responses", "OpenAI's answers that go on from each other", kResponses},
     responses},
    {{kInfer, "GET", "/v1/responses/*", "one that is kept"}, show_response},
    {{kInfer, "DELETE", "/v1/responses/*", "forgets it"}, delete_response},
    {{kInfer, "WEBSOCKET", "/v1/ws", "chats over one WebSocket"}, nullptr},
    {{kInfer, "POST", "/v1/messages", "Anthropic's chat", kMessages}, messages},
    {{kInfer, "POST", "/v1/messages/count_tokens", "how many tokens one would read", kMessages},
     count_message_tokens},
    {{kInfer, "POST", "/v1/embeddings", "texts as vectors", kEmbeddings}, embeddings},
    {{kInfer, "GET", "/v1/models", "what `model` may be"}, list_models},
    {{kInfer, "GET", "/v1/models/*", "one of them"}, show_model},
    {{kAdmin, "POST", "/v1/models/load", "loads `model`; with `reload` anew", kModels}, load_model},
    {{kAdmin, "POST", "/v1/models/unload", "unloads `model`; answers under way end on it", kModels},
     unload_model},
    {{kInfer, "POST", "/v1/estimate", "what a chat or completion would take, without running it",
      kChat},
     estimate},
    {{kInfer, "POST", "/api/chat", "Ollama's chat", kOllamaChat}, ollama_chat},
    {{kInfer, "POST", "/api/generate", "Ollama's answer to a prompt", kOllamaGenerate},
     ollama_generate},
    {{kInfer, "POST", "/api/embed", "texts as vectors", kEmbeddings}, ollama_embed},
    {{kInfer, "POST", "/api/embeddings", "one text as a vector", kEmbeddings}, ollama_embeddings},
    {{kInfer, "GET", "/api/tags", "what `model` may be"}, ollama_tags},
    {{kInfer, "GET", "/api/ps", "which models are loaded"}, ollama_ps},
    {{kInfer, "POST", "/api/show", "facts of a model", kOllamaShow}, ollama_show},
    {{kAdmin, "POST", "/api/pull", "fetches a model", kOllamaFiles}, ollama_pull},
    {{kAdmin, "DELETE", "/api/delete", "removes a model that was fetched", kOllamaFiles},
     ollama_delete},
    {{kAdmin, "POST", "/api/copy", "gives a model another name", kOllamaCopy}, ollama_copy},
    {{kInfer, "GET", "/api/version", "the server's version"}, ollama_version},
    {{kInfer, "POST", "/tokenize", "tokens of a text, a prompt or a conversation", kTokens},
     tokenize},
    {{kInfer, "POST", "/detokenize", "and back", kTokens}, detokenize},
    {{kInfer, "POST", "/apply-template", "a conversation as the model reads it", kTokens},
     apply_template},
    {{kInfer, "POST", "/v1/rerank", "501: no model ranks texts yet"}, refuse_rerank},
    {{kInfer, "POST", "/infill", "501: no model fills in yet"}, refuse_infill},
    {{kInfer, "GET", "/props", "a model's context and slots, in llama.cpp's shape"}, props},
    {{kInfer, "GET", "/slots", "which slots are busy, in llama.cpp's shape"}, slots},
    {{kInfer, "GET", "/metrics", "counters and histograms for Prometheus"}, metrics},
    {{kOpen, "GET", "/openapi.json", "this table and the fields, as OpenAPI"}, openapi},
    {{kOpen, "GET", "/health", "200 while the server lives"}, health, http::Where::kLoop},
    {{kOpen, "GET", "/ready", "200 while it takes requests, 503 while it drains"},
     ready,
     http::Where::kLoop},
};

// The end of memory is this request's error, and nobody else's.
http::Handler guarded(SharedContext context, std::shared_ptr<Starter> tasks, Handle handle) {
  return [context = std::move(context), tasks = std::move(tasks), handle](
             const http::Request& request, const std::shared_ptr<Wake>& wake) -> http::Reply {
    auto reply =
        catch_bad_alloc([&]() -> Result<http::Reply> { return handle(context, request, wake); });
    if (reply) return *std::move(reply);
    return error_response(refusal(*context, reply.error()));
  };
}

}  // namespace

std::vector<RouteInfo> route_infos() {
  std::vector<RouteInfo> out;
  for (const Row& row : kRows)
    out.push_back(row.info);
  return out;
}

std::vector<http::Route> make_routes(std::shared_ptr<Provider> provider, ServerOptions options) {
  const auto context = std::make_shared<Context>();
  context->provider = std::move(provider);
  context->options = std::move(options);
  context->started_s = unix_seconds();
  std::random_device random;
  context->id_seed = (std::uint64_t{random()} << 32) | random();
  std::vector<http::Route> routes;
  const auto tasks = std::make_shared<Starter>();
  context->tasks = tasks;
  const auto open_socket = [context, starter = std::make_shared<Starter>()](
                               const http::Request& request,
                               const std::shared_ptr<Wake>& wake) -> http::Reply {
    return make_socket_chat(context, starter, request, wake);
  };
  for (const Row& row : kRows) {
    const RouteInfo& info = row.info;
    auto handler =
        row.handle == nullptr ? http::Handler(open_socket) : guarded(context, tasks, row.handle);
    routes.emplace_back(info.access, info.verb, info.path, std::move(handler), row.where);
  }
  return routes;
}

}  // namespace wick::server
