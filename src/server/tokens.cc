#include "server/tokens.h"

#include "server/json_in.h"
#include "server/json_out.h"

namespace wick::server {

namespace {

bool is_chat(const Ask& ask) {
  return std::holds_alternative<std::vector<Message>>(ask.request.prompt);
}

// A person's text ("content"), a prompt with what the model puts before it, or a conversation.
Result<std::vector<TokenId>> tokens_of(Provider& provider, const Ask& ask) {
  Request request = ask.request;
  if (ask.tokens.content) {
    if (!ask.tokens.adds_special.value_or(false))
      return provider.tokenize(request.model, *ask.tokens.content);
    request.prompt = *ask.tokens.content;
    return provider.prompt_tokens(request);
  }
  if (is_chat(ask)) return provider.prompt_tokens(request);
  if (ask.prompts.size() != 1 || !std::holds_alternative<std::string>(ask.prompts.front())) {
    return bad_field("content", "is missing, wanted is a string, or messages");
  }
  const std::string& text = std::get<std::string>(ask.prompts.front());
  if (!ask.tokens.adds_special.value_or(true)) return provider.tokenize(request.model, text);
  request.prompt = text;
  return provider.prompt_tokens(request);
}

Result<http::Response> tokenize_as(Context& context, const Ask& ask) {
  Provider& provider = *context.provider;
  WICK_TRY(const auto ids, tokens_of(provider, ask));
  http::Response response;
  JsonOut json(response.body);
  json.object().key("tokens").array();
  for (const TokenId& id : ids) {
    if (!ask.tokens.has_pieces) {
      json.number(std::int64_t{id});
      continue;
    }
    WICK_TRY(const std::string piece, provider.detokenize(ask.request.model, std::span(&id, 1)));
    json.object().field("id", id).field("piece", piece).end_object();
  }
  json.end_array().field("count", ids.size()).end_object();
  return response;
}

Result<http::Response> detokenize_as(Context& context, const Ask& ask) {
  if (!ask.tokens.ids) return bad_field("tokens", "is missing");
  WICK_TRY(const std::string text,
           context.provider->detokenize(ask.request.model, *ask.tokens.ids));
  http::Response response;
  JsonOut(response.body).object().field("content", text).field("prompt", text).end_object();
  return response;
}

Result<http::Response> template_as(Context& context, const Ask& ask) {
  if (!is_chat(ask)) return bad_field("messages", "is missing");
  WICK_TRY(const std::string text, context.provider->apply_template(ask.request));
  http::Response response;
  JsonOut(response.body).object().field("prompt", repair_utf8(text)).end_object();
  return response;
}

Result<http::Response> estimate_as(Context& context, const Ask& ask) {
  Request request = ask.request;
  if (ask.api == kCompletions) {
    if (ask.prompts.size() != 1) return bad_field("prompt", "is missing, or more than one");
    request.prompt = ask.prompts.front();
  }
  WICK_TRY(const RequestEstimate plan, context.provider->estimate(request));
  http::Response response;
  JsonOut json(response.body);
  json.object().field("object", "estimate").field("model", request.model);
  json.field("prompt_tokens", plan.prompt_tokens).field("cached_tokens", plan.cached_tokens);
  json.field("max_tokens", plan.max_tokens).key("cache_miss").object();
  json.field("reason", name(plan.miss.reason)).field("position", plan.miss.position).end_object();
  json.field("blocks", plan.blocks).field("free_blocks", plan.free_blocks);
  json.field("cache_bytes", plan.cache_bytes).field("requests_before", plan.requests_before);
  json.key("ttft_ms");
  if (plan.ttft_ms) {
    json.number(*plan.ttft_ms);
  } else {
    json.null();
  }
  json.end_object();
  return response;
}

using Answering = Result<http::Response> (*)(Context&, const Ask&);

http::Reply reply(const SharedContext& context, const Result<Ask>& ask, Answering answering) {
  if (!ask) return error_response(refusal(*context, ask.error()));
  auto response = answering(*context, *ask);
  if (!response) return error_response(refusal(*context, response.error()));
  add_ignored(*ask, *response);
  return *std::move(response);
}

}  // namespace

http::Reply tokenize(const SharedContext& context, const http::Request& request,
                     const std::shared_ptr<Wake>& /*wake*/) {
  return reply(context, read_ask(*context, kTokens, request), tokenize_as);
}

http::Reply detokenize(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& /*wake*/) {
  return reply(context, read_ask(*context, kTokens, request), detokenize_as);
}

http::Reply apply_template(const SharedContext& context, const http::Request& request,
                           const std::shared_ptr<Wake>& /*wake*/) {
  return reply(context, read_ask(*context, kTokens, request), template_as);
}

http::Reply estimate(const SharedContext& context, const http::Request& request,
                     const std::shared_ptr<Wake>& /*wake*/) {
  const auto body = read_body(request.body);
  if (!body) return error_response(refusal(*context, body.error()));
  const Api api = body->find("messages") != nullptr ? kChat : kCompletions;
  return reply(context, read_ask(*context, api, *body, request), estimate_as);
}

}  // namespace wick::server
