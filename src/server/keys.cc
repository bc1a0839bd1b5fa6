#include "server/keys.h"

#include "http/keys.h"
#include "server/json_out.h"

namespace wick::server {

namespace {

Error no_keys() {
  return {.code = ErrorCode::kUnsupported,
          .id = "no_key_file",
          .message = "this server has no key file",
          .hint = "start it with --api-key-file FILE"};
}

void write_texts(JsonOut& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).array();
  for (const std::string& text : texts)
    json.text(text);
  json.end_array();
}

// 0 and "" mean that there is no such limit: null, as LiteLLM has it.
void write_key(JsonOut& json, const KeyInfo& info) {
  const auto number = [&](std::string_view key, std::int64_t value) {
    json.key(key);
    value == 0 ? json.raw("null") : json.number(value);
  };
  json.field("id", info.id).field("object", "key");
  json.field("scope", info.may_admin ? "admin" : "infer").field_or_null("key_alias", info.name);
  write_texts(json, "models", info.models);
  number("rpm_limit", info.requests_per_minute);
  number("tpm_limit", info.tokens_per_minute);
  number("max_parallel_requests", info.parallel);
  json.key("budgets").array();
  for (const KeyBudget& budget : info.budgets) {
    json.object().field("budget", budget.budget).field("cap_usd", budget.cap);
    json.field("used_usd", budget.used).field("reserved_usd", budget.reserved).end_object();
  }
  json.end_array().field_or_null("expires", info.expires);
}

http::Response refused(Context& context, const Error& error) {
  return error_response(refusal(context, error));
}

}  // namespace

http::Reply list_keys(const SharedContext& context, const http::Request& /*request*/,
                      const std::shared_ptr<Wake>& /*wake*/) {
  if (context->options.keys == nullptr) return refused(*context, no_keys());
  const auto infos = context->options.keys->list();
  if (!infos) return refused(*context, infos.error());
  http::Response response;
  JsonOut json(response.body);
  json.object().field("object", "list").key("data").array();
  for (const KeyInfo& info : *infos) {
    json.object();
    write_key(json, info);
    json.end_object();
  }
  json.end_array().end_object();
  return response;
}

http::Reply make_key(const SharedContext& context, const http::Request& request,
                     const std::shared_ptr<Wake>& /*wake*/) {
  auto parsed = read_request(*context, kKeys, request);
  if (!parsed) return refused(*context, parsed.error());
  if (context->options.keys == nullptr) return refused(*context, no_keys());
  KeyFields& fields = parsed->keys;
  if (fields.max_budget.empty() && !fields.duration.empty())
    return refused(*context, bad_field("budget_duration", "needs max_budget"));
  if (!fields.max_budget.empty()) {
    fields.wish.budgets = {fields.duration.empty() ? fields.max_budget
                                                   : cat(fields.max_budget, "/", fields.duration)};
  }
  const auto made = context->options.keys->make(fields.wish);
  if (!made) return refused(*context, made.error());
  http::Response response;
  response.headers.push_back({"cache-control", "no-store"});
  JsonOut json(response.body);
  json.object().field("key", made->key);
  write_key(json, made->info);
  json.end_object();
  return response;
}

http::Reply revoke_key(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& /*wake*/) {
  if (context->options.keys == nullptr) return refused(*context, no_keys());
  const auto done = context->options.keys->revoke(request.rest);
  if (!done) return refused(*context, done.error());
  http::Response response;
  JsonOut(response.body).object().field("id", request.rest).field("deleted", true).end_object();
  return response;
}

http::Reply revoke_keys(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& /*wake*/) {
  const auto parsed = read_request(*context, kKeys, request);
  if (!parsed) return refused(*context, parsed.error());
  if (context->options.keys == nullptr) return refused(*context, no_keys());
  if (parsed->keys.keys.empty()) return refused(*context, bad_field("keys", "is missing"));
  std::vector<std::string> revoked;
  for (const std::string& key : parsed->keys.keys) {
    const std::string id(http::public_part(key));
    const auto done = context->options.keys->revoke(id);
    if (!done) return refused(*context, done.error());
    revoked.push_back(id);
  }
  http::Response response;
  JsonOut json(response.body);
  json.object();
  write_texts(json, "deleted_keys", revoked);
  json.end_object();
  return response;
}

}  // namespace wick::server
