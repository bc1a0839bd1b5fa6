#include "server/tokens.h"

#include "server/json_in.h"
#include "server/json_out.h"

namespace wick::server {

namespace {

bool is_chat(const ParsedRequest& parsed) {
  return std::holds_alternative<std::vector<Message>>(parsed.request.prompt);
}

// A person's text ("content"), a prompt with what the model puts before it, or a conversation.
Result<std::vector<TokenId>> tokens_of(Provider& provider, const ParsedRequest& parsed) {
  Request request = parsed.request;
  if (parsed.tokens.content) {
    if (!parsed.tokens.adds_special.value_or(false))
      return provider.tokenize(request.model, *parsed.tokens.content);
    request.prompt = *parsed.tokens.content;
    return provider.prompt_tokens(request);
  }
  if (is_chat(parsed)) return provider.prompt_tokens(request);
  if (parsed.prompts.size() != 1 || !std::holds_alternative<std::string>(parsed.prompts.front())) {
    return bad_field("content", "is missing, wanted is a string, or messages");
  }
  const std::string& text = std::get<std::string>(parsed.prompts.front());
  if (!parsed.tokens.adds_special.value_or(true)) return provider.tokenize(request.model, text);
  request.prompt = text;
  return provider.prompt_tokens(request);
}

Result<http::Response> tokenize_as(Context& context, const ParsedRequest& parsed) {
  Provider& provider = *context.provider;
  WICK_TRY(const auto ids, tokens_of(provider, parsed));
  http::Response response;
  JsonOut json(response.body);
  json.object().key("tokens").array();
  for (const TokenId& id : ids) {
    if (!parsed.tokens.has_pieces) {
      json.number(std::int64_t{id});
      continue;
    }
    WICK_TRY(const std::string piece, provider.detokenize(parsed.request.model, std::span(&id, 1)));
    json.object().field("id", id).field("piece", piece).end_object();
  }
  json.end_array().field("count", ids.size()).end_object();
  return response;
}

Result<http::Response> detokenize_as(Context& context, const ParsedRequest& parsed) {
  if (!parsed.tokens.ids) return bad_field("tokens", "is missing");
  WICK_TRY(const std::string text,
           context.provider->detokenize(parsed.request.model, *parsed.tokens.ids));
  http::Response response;
  JsonOut(response.body).object().field("content", text).field("prompt", text).end_object();
  return response;
}

Result<http::Response> template_as(Context& context, const ParsedRequest& parsed) {
  if (!is_chat(parsed)) return bad_field("messages", "is missing");
  WICK_TRY(const std::string text, context.provider->apply_template(parsed.request));
  http::Response response;
  JsonOut(response.body).object().field("prompt", repair_utf8(text)).end_object();
  return response;
}

Result<http::Response> estimate_as(Context& context, const ParsedRequest& parsed) {
  Request request = parsed.request;
  if (parsed.api == kCompletions) {
    if (parsed.prompts.size() != 1) return bad_field("prompt", "is missing, or more than one");
    request.prompt = parsed.prompts.front();
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

using Answering = Result<http::Response> (*)(Context&, const ParsedRequest&);

http::Reply reply(const SharedContext& context, const Result<ParsedRequest>& parsed,
                  Answering answering) {
  if (!parsed) return error_response(refusal(*context, parsed.error()));
  auto response = answering(*context, *parsed);
  if (!response) return error_response(refusal(*context, response.error()));
  add_ignored(parsed->ignored, *response);
  return *std::move(response);
}

}  // namespace

http::Reply tokenize(const SharedContext& context, const http::Request& request,
                     const std::shared_ptr<Wake>& /*wake*/) {
  return reply(context, read_request(*context, kTokens, request), tokenize_as);
}

http::Reply detokenize(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& /*wake*/) {
  return reply(context, read_request(*context, kTokens, request), detokenize_as);
}

http::Reply apply_template(const SharedContext& context, const http::Request& request,
                           const std::shared_ptr<Wake>& /*wake*/) {
  return reply(context, read_request(*context, kTokens, request), template_as);
}

http::Reply estimate(const SharedContext& context, const http::Request& request,
                     const std::shared_ptr<Wake>& /*wake*/) {
  const auto body = read_body(request.body);
  if (!body) return error_response(refusal(*context, body.error()));
  const Api api = body->find("messages") != nullptr ? kChat : kCompletions;
  return reply(context, read_request(*context, api, *body, request), estimate_as);
}

}  // namespace wick::server
