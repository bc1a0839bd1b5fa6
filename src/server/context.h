// Shared by all handlers. Immutable except counters; any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/json_value.h"
#include "server/counters.h"
#include "server/errors.h"
#include "server/parsed_request.h"
#include "server/response_store.h"
#include "server/routes.h"

namespace wick::server {

class Starter;

struct Context {
  std::shared_ptr<Provider> provider;
  ServerOptions options;
  std::int64_t started_s = 0;  // Unix time
  RouteCounters counters = {};
  Admission admission = {};
  ResponseStore responses = {};
  std::atomic<std::uint64_t> next_id = 0;
  std::uint64_t id_seed = 0;
  std::weak_ptr<Starter> tasks = {};  // threads of server/task.h; the routes own them
};

using SharedContext = std::shared_ptr<Context>;

std::int64_t unix_seconds() noexcept;
std::int64_t unix_ns() noexcept;

// "chatcmpl-" and 24 digits that no other answer of this server has.
std::string make_id(Context& context, std::string_view prefix);

ServedModelList served_models(const Context& context);
// What the provider says of its models now; of one, null if it is not loaded.
std::vector<ModelInfo> loaded_models(const Context& context);
bool is_here(const ModelInfo& info) noexcept;  // loaded on this machine, not at a remote API
const ModelInfo* info_of(const std::vector<ModelInfo>& infos, std::string_view name);
// The name of the model that a request asks for: what its body says, and x-wick-provider.
std::string asked_model(std::string named, const http::Request& request);
// The provider's name of the model that a client calls `name`; empty: the first one.
// kNotFound, id "model_not_found".
Result<std::string> find_model(const Context& context, const std::string& name);

// Whether the API key with this id may use the model, by the provider's name.
bool may_ask(const Context& context, const std::string& key, const std::string& model);
// kInvalid, id "model_not_allowed".
Result<void> check_model(const Context& context, const std::string& key, const std::string& model);

std::shared_ptr<const Settings> settings_now(const Context& context);  // never null

// The request's body, with the server's defaults below it, the model's real name, and the tenant.
Result<ParsedRequest> read_request(const Context& context, Api api, const http::Request& request);
// The same of an object that is read already.
Result<ParsedRequest> read_request(const Context& context, Api api, const Object& body,
                                   const http::Request& request);
// The same, without a move of `parsed`, which is new.
Result<void> read_request(const Context& context, Api api, const Object& body,
                          const http::Request& request, ParsedRequest& parsed);

// The error response for `error`, counted in the metrics; 503 gets Retry-After from the current
// load of `model`.
ApiError refusal(Context& context, const Error& error, const std::string& model = {});

// x-wick-ignored, if there is anything to tell.
void add_ignored(std::span<const std::string> names, http::Response& response);
// x-wick-provider, if the name of who answered is known and fits a header.
void add_provider(const std::string& name, http::Response& response);

}  // namespace wick::server
