#include "server/keys.h"

#include <algorithm>

#include "http/keys.h"
#include "server/json_out.h"
#include "server/status.h"

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
  const http::KeyRules& rules = info.rules;
  json.field("id", info.id).field("object", "key");
  json.field("scope", rules.may_admin ? "admin" : "infer").field_or_null("key_alias", rules.name);
  write_texts(json, "models", rules.models);
  number("rpm_limit", rules.per_minute);
  number("tpm_limit", rules.tokens_per_minute);
  number("max_parallel_requests", rules.parallel);
  json.key("budgets").array();
  for (const KeyBudget& budget : info.budgets) {
    json.object().field("budget", budget.budget).field("cap_usd", budget.cap);
    json.field("used_usd", budget.used).field("reserved_usd", budget.reserved).end_object();
  }
  json.end_array().field_or_null("expires", rules.expires).field("blocked", rules.is_blocked);
}

http::Response whole_key(const KeyInfo& info) {
  http::Response response;
  JsonOut json(response.body);
  json.object();
  write_key(json, info);
  json.end_object();
  return response;
}

http::Response refused(Context& context, const Error& error) {
  return error_response(refusal(context, error));
}

// max_budget and budget_duration as one budget.
Result<void> take_budget(KeyFields& fields) {
  if (fields.max_budget.empty() && !fields.duration.empty())
    return bad_field("budget_duration", "needs max_budget");
  if (!fields.max_budget.empty()) {
    fields.rules.budgets = {fields.duration.empty() ? fields.max_budget
                                                    : cat(fields.max_budget, "/", fields.duration)};
  }
  return {};
}

http::Response changed(Context& context, std::string_view named,
                       const std::function<void(http::KeyRules&)>& edit) {
  if (context.options.keys == nullptr) return refused(context, no_keys());
  const std::string id(http::public_part(named));
  const auto info = context.options.keys->update(id, edit);
  if (!info) return refused(context, info.error());
  return whole_key(*info);
}

// The key `named` for the one who asks: an admin reads each, another key itself.
Result<KeyInfo> visible(Context& context, const http::Request& request, std::string_view named) {
  ApiKeys* const keys = context.options.keys.get();
  if (keys == nullptr) return no_keys();
  const std::string id(http::public_part(named));
  const bool may_see = !request.key_id.empty() &&
                       (id == request.key_id || keys->may_admin(request.key_id));
  if (!may_see) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "key_not_visible",
                 .message = "only a key with scope admin may read another key"};
  }
  return keys->info(id);
}

// As LiteLLM does: max_budget alone keeps the period of the one budget there is.
void keep_period(const KeyFields& fields, const http::KeyRules& before, http::KeyRules& rules) {
  if (fields.max_budget.empty() || !fields.duration.empty() || before.budgets.size() != 1) return;
  const std::string& budget = before.budgets.front();
  rules.budgets = {fields.max_budget + budget.substr(std::min(budget.find('/'), budget.size()))};
}

// `id`: empty if the body names the key.
http::Response update(Context& context, const http::Request& request, std::string_view id) {
  auto parsed = read_request(context, kKeys, request);
  if (!parsed) return refused(context, parsed.error());
  KeyFields& fields = parsed->keys;
  if (std::count(fields.given.begin(), fields.given.end(), "scope") > 0)
    return refused(context, bad_field("scope", "cannot be changed, create another key"));
  if (const auto taken = take_budget(fields); !taken) return refused(context, taken.error());
  return changed(context, id.empty() ? fields.key : id, [&](http::KeyRules& rules) {
    const http::KeyRules before = rules;
    for (const std::string& word : fields.given)
      http::copy_rule(word, fields.rules, rules);
    keep_period(fields, before, rules);
  });
}

http::Response set_blocked(Context& context, const http::Request& request, bool is_blocked) {
  const auto parsed = read_request(context, kKeys, request);
  if (!parsed) return refused(context, parsed.error());
  return changed(context, parsed->keys.key,
                 [&](http::KeyRules& rules) { rules.is_blocked = is_blocked; });
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

http::Reply show_key(const SharedContext& context, const http::Request& request,
                     const std::shared_ptr<Wake>& /*wake*/) {
  const auto info = visible(*context, request, request.rest);
  if (!info) return refused(*context, info.error());
  return whole_key(*info);
}

http::Reply show_named_key(const SharedContext& context, const http::Request& request,
                           const std::shared_ptr<Wake>& /*wake*/) {
  const std::string asked = query_value(request, "key");
  const auto info = visible(*context, request, asked.empty() ? request.key_id : asked);
  if (!info) return refused(*context, info.error());
  http::Response response;
  JsonOut json(response.body);
  json.object().field("key", info->id).key("info").object();
  write_key(json, *info);
  const auto amount = [&](std::string_view key, std::string KeyBudget::*of) {
    json.key(key).raw(info->budgets.empty() ? "null" : info->budgets.front().*of);
  };
  amount("max_budget", &KeyBudget::cap);
  amount("spend", &KeyBudget::used);
  json.end_object().end_object();
  return response;
}

http::Reply make_key(const SharedContext& context, const http::Request& request,
                     const std::shared_ptr<Wake>& /*wake*/) {
  auto parsed = read_request(*context, kKeys, request);
  if (!parsed) return refused(*context, parsed.error());
  if (context->options.keys == nullptr) return refused(*context, no_keys());
  KeyFields& fields = parsed->keys;
  if (const auto taken = take_budget(fields); !taken) return refused(*context, taken.error());
  const auto made = context->options.keys->make(fields.rules);
  if (!made) return refused(*context, made.error());
  http::Response response;
  response.headers.push_back({"cache-control", "no-store"});
  JsonOut json(response.body);
  json.object().field("key", made->key);
  write_key(json, made->info);
  json.end_object();
  return response;
}

http::Reply update_key(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& /*wake*/) {
  return update(*context, request, request.rest);
}

http::Reply update_named_key(const SharedContext& context, const http::Request& request,
                             const std::shared_ptr<Wake>& /*wake*/) {
  return update(*context, request, {});
}

http::Reply block_key(const SharedContext& context, const http::Request& request,
                      const std::shared_ptr<Wake>& /*wake*/) {
  return set_blocked(*context, request, true);
}

http::Reply unblock_key(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& /*wake*/) {
  return set_blocked(*context, request, false);
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
