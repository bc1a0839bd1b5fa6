#include "server/routes.h"

#include <algorithm>
#include <iterator>
#include <random>

#include "base/catch_bad_alloc.h"
#include "server/anthropic.h"
#include "server/chat.h"
#include "server/completions.h"
#include "server/early.h"
#include "server/embeddings.h"
#include "server/infill.h"
#include "server/keys.h"
#include "server/lora.h"
#include "server/models.h"
#include "server/ollama.h"
#include "server/openapi.h"
#include "server/page.h"
#include "server/rerank.h"
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
    {{kInfer, "POST", "/v1/chat/completions", "OpenAI chat completions", kChat}, chat_completions},
    {{kInfer, "POST", "/v1/completions", "text completions", kCompletions}, completions},
    {{kInfer, "POST", "/v1/responses", "OpenAI responses", kResponses}, responses},
    {{kInfer, "GET", "/v1/responses/*", "returns a stored response"}, show_response},
    {{kInfer, "DELETE", "/v1/responses/*", "deletes a stored response"}, delete_response},
    {{kInfer, "WEBSOCKET", "/v1/ws", "chat completions over a WebSocket"}, nullptr},
    {{kInfer, "POST", "/v1/messages", "Anthropic messages", kMessages}, messages},
    {{kInfer, "POST", "/v1/messages/count_tokens", "counts the prompt tokens", kMessages},
     count_message_tokens},
    {{kInfer, "POST", "/v1/embeddings", "embeddings", kEmbeddings}, embeddings},
    {{kInfer, "GET", "/v1/models", "available models"}, list_models},
    {{kInfer, "GET", "/v1/models/*", "one model"}, show_model},
    {{kAdmin, "POST", "/v1/models/load",
      "loads `model`; with `\"reload\": true` also if it is loaded already", kModels},
     load_model},
    {{kAdmin, "POST", "/v1/models/unload", "unloads `model` after its running answers", kModels},
     unload_model},
    {{kInfer, "POST", "/v1/estimate", "estimates a chat or completion without running it", kChat},
     estimate},
    {{kInfer, "POST", "/api/chat", "Ollama chat", kOllamaChat}, ollama_chat},
    {{kInfer, "POST", "/api/generate", "Ollama generate", kOllamaGenerate}, ollama_generate},
    {{kInfer, "POST", "/api/embed", "embeddings", kEmbeddings}, ollama_embed},
    {{kInfer, "POST", "/api/embeddings", "embedding of one text", kEmbeddings}, ollama_embeddings},
    {{kInfer, "GET", "/api/tags", "available models"}, ollama_tags},
    {{kInfer, "GET", "/api/ps", "loaded models"}, ollama_ps},
    {{kInfer, "POST", "/api/show", "model details", kOllamaShow}, ollama_show},
    {{kAdmin, "GET", "/v1/keys", "API keys with their limits and used budgets"},
     list_keys},
    {{kAdmin, "POST", "/v1/keys", "creates an API key; only this answer contains it", kKeys},
     make_key},
    {{kInfer, "GET", "/v1/keys/*", "one API key: for admins each, else only the request's"},
     show_key},
    {{kAdmin, "POST", "/v1/keys/*", "changes an API key; `null` removes a limit", kKeys},
     update_key},
    {{kAdmin, "DELETE", "/v1/keys/*", "revokes an API key"}, revoke_key},
    {{kAdmin, "GET", "/key/list", "alias of GET /v1/keys, as in LiteLLM"}, list_keys},
    {{kInfer, "GET", "/key/info", "the API key `?key=`, default the request's, as in LiteLLM"},
     show_named_key},
    {{kAdmin, "POST", "/key/generate", "alias of POST /v1/keys, as in LiteLLM", kKeys}, make_key},
    {{kAdmin, "POST", "/key/update", "changes the API key `key`, as in LiteLLM", kKeys},
     update_named_key},
    {{kAdmin, "POST", "/key/block", "blocks the API key `key`, as in LiteLLM", kKeys}, block_key},
    {{kAdmin, "POST", "/key/unblock", "unblocks the API key `key`, as in LiteLLM", kKeys},
     unblock_key},
    {{kAdmin, "POST", "/key/delete", "revokes API keys, as in LiteLLM", kKeys},
     revoke_keys},
    {{kAdmin, "POST", "/api/pull", "downloads a model", kOllamaFiles}, ollama_pull},
    {{kAdmin, "DELETE", "/api/delete", "deletes a downloaded model", kOllamaFiles}, ollama_delete},
    {{kAdmin, "POST", "/api/copy", "copies a model to another name", kOllamaCopy}, ollama_copy},
    {{kInfer, "GET", "/api/version", "version of the server"}, ollama_version},
    {{kInfer, "POST", "/tokenize", "tokenizes a text, a prompt or messages", kTokens}, tokenize},
    {{kInfer, "POST", "/detokenize", "detokenizes ids", kTokens}, detokenize},
    {{kInfer, "POST", "/apply-template", "renders messages with the chat template", kTokens},
     apply_template},
    {{kInfer, "POST", "/v1/rerank", "ranks documents for a query, by a cross-encoder", kRerank},
     rerank},
    {{kInfer, "POST", "/v2/rerank", "alias of POST /v1/rerank, as in Cohere", kRerank}, rerank},
    {{kInfer, "POST", "/rerank", "alias of POST /v1/rerank, as in llama.cpp", kRerank}, rerank},
    {{kInfer, "POST", "/infill", "fill-in-the-middle (FIM), in llama.cpp's format", kInfill},
     infill},
    {{kInfer, "GET", "/props", "context and slots of a model, in llama.cpp's format"}, props},
    {{kInfer, "GET", "/slots", "state of the slots, in llama.cpp's format"}, slots},
    {{kInfer, "GET", "/lora-adapters", "LoRA adapters of a model, in llama.cpp's format"},
     list_adapters},
    {{kAdmin, "POST", "/lora-adapters",
      "sets the scales for requests without `lora`: `[{\"id\": 0, \"scale\": 0.5}]`"},
     set_adapters},
    {{kInfer, "GET", "/metrics", "counters and histograms for Prometheus"}, metrics},
    {{kOpen, "GET", "/openapi.json", "OpenAPI document"}, openapi},
    {{kOpen, "GET", "/health", "200 while the process runs"}, health, http::Where::kLoop},
    {{kOpen, "GET", "/ready", "200 while it accepts requests, 503 during shutdown"},
     ready,
     http::Where::kLoop},
    {{kOpen, "GET", "/", "the web page"}, page, http::Where::kLoop},
    {{kOpen, "GET", "/web/*", "files of the web page"}, page, http::Where::kLoop},
};

// Those that pass admission control.
bool has_admission(Handle handle) noexcept {
  constexpr Handle kThese[] = {chat_completions, completions,     responses, messages,
                               ollama_chat,      ollama_generate, infill};
  return std::find(std::begin(kThese), std::end(kThese), handle) != std::end(kThese);
}

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
    if (row.handle == page && !context->options.has_page) continue;
    auto handler =
        row.handle == nullptr ? http::Handler(open_socket) : guarded(context, tasks, row.handle);
    http::Route& route =
        routes.emplace_back(info.access, info.verb, info.path, std::move(handler), row.where);
    if (!has_admission(row.handle)) continue;
    route.early = [context, api = static_cast<Api>(info.api)](const http::Request& request) {
      return refuse_early(*context, api, request);
    };
    route.is_quick = [context](const http::Request& request) {
      return is_quick(*context, request);
    };
  }
  return routes;
}

}  // namespace wick::server
