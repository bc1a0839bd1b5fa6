#include "server/context.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "base/hex.h"
#include "server/fields.h"
#include "server/json_in.h"
#include "server/limits.h"
#include "server/setters.h"

namespace wick::server {

std::int64_t unix_seconds() noexcept {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

std::int64_t unix_ns() noexcept {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

std::string make_id(Context& context, std::string_view prefix) {
  constexpr std::size_t kDigits = 16 + 8;
  const std::uint64_t number = context.next_id.fetch_add(1, std::memory_order_relaxed);
  std::string id;
  id.reserve(prefix.size() + kDigits);
  id += prefix;
  append_hex(id, context.id_seed, 16);
  append_hex(id, number, 8);
  return id;
}

ServedModelList served_models(const Context& context) {
  if (context.options.models) return context.options.models();
  std::vector<ServedModel> out;
  for (const ModelInfo& info : loaded_models(context))
    out.push_back({.name = info.name});
  return std::make_shared<const std::vector<ServedModel>>(std::move(out));
}

std::vector<ModelInfo> loaded_models(const Context& context) {
  const auto infos = context.provider->models();
  return infos ? *infos : std::vector<ModelInfo>();
}

bool is_here(const ModelInfo& info) noexcept {
  return !info.architecture.empty();
}

const ModelInfo* info_of(const std::vector<ModelInfo>& infos, std::string_view name) {
  const auto found = std::find_if(infos.begin(), infos.end(),
                                  [&](const ModelInfo& info) { return info.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

std::string asked_model(std::string named, const http::Request& request) {
  const std::string_view provider = request.header("x-wick-provider");
  if (provider.empty()) return named;
  if (named.empty() || provider == "auto") return std::string(provider);
  return cat(provider, "/", named);
}

namespace {

Result<std::string> find_model(const Context& context, const std::vector<ServedModel>& models,
                               const std::string& name) {
  if (models.empty()) return name;  // the provider knows alone
  const auto is_it = [&](const ServedModel& model) {
    return model.name == name ||
           std::find(model.aliases.begin(), model.aliases.end(), name) != model.aliases.end();
  };
  const auto found = std::find_if(models.begin(), models.end(), is_it);
  if (found != models.end()) return found->name;
  const auto is_any_of = [&](const ServedModel& model) {
    return model.name.ends_with("/*") && name.size() >= model.name.size() &&
           name.starts_with(std::string_view(model.name).substr(0, model.name.size() - 1));
  };
  if (std::any_of(models.begin(), models.end(), is_any_of)) return name;
  constexpr std::string_view kLatest = ":latest";  // Ollama's clients add it
  if (name.ends_with(kLatest) && name.size() > kLatest.size())
    return find_model(context, models, name.substr(0, name.size() - kLatest.size()));
  if (name.empty() || context.options.takes_any_model) return models.front().name;
  return Error{.code = ErrorCode::kNotFound,
               .id = "model_not_found",
               .message = cat("there is no model '", printable(name, 80), "' here"),
               .hint = "GET /v1/models lists those there are"};
}

// A request may name a LoRA adapter as its model (vLLM). What its field "lora" says is stronger.
void take_adapter(const std::vector<ServedModel>& models, ParsedRequest& parsed) {
  for (const ServedModel& model : models) {
    if (model.name == parsed.request.model) return;
  }
  for (const ServedModel& model : models) {
    for (const std::string& adapter : model.adapters) {
      if (adapter != parsed.request.model) continue;
      parsed.request.model = model.name;
      std::vector<std::string>& chosen = parsed.request.generation.adapters;
      if (chosen.empty()) chosen = {adapter};
      return;
    }
  }
}

// At least one where the header says anything: what it says is the client's.
int hops_of(std::string_view header) noexcept {
  int hops = 0;
  const auto read = std::from_chars(header.data(), header.data() + header.size(), hops);
  if (header.empty()) return 0;
  return read.ec == std::errc() ? std::max(hops, 1) : 1;
}

// The larger of the client's limits is not asked for: the newer name wins.
void set_length(ParsedRequest& parsed) {
  Generation& generation = parsed.request.generation;
  const auto wanted =
      parsed.max_completion_tokens ? parsed.max_completion_tokens : parsed.max_tokens;
  if (!wanted) return;
  parsed.is_scored_only = *wanted == 0;
  generation.max_tokens = *wanted == 0 ? 1 : std::max(*wanted, 0);
  forget_origin(generation, "max_tokens");
  if (generation.max_tokens == 0) generation.origins.emplace_back("max_tokens", "request");
}

constexpr std::uint32_t kCounted =
    kGenerating | kOllamaChat | kOllamaGenerate | kEmbeddings | kRerank;
constexpr std::size_t kBytesPerToken = 4;  // about

// The models and the tokens of the request's key. Its tokens are a quarter of its bytes and what
// it asks for, until it ends and they are known.
Result<void> check_key(const Context& context, const http::Request& request,
                       ParsedRequest& parsed) {
  ApiKeys* const keys = context.options.keys.get();
  if (keys == nullptr || request.key_id.empty()) return {};
  WICK_DO(check_model(context, request.key_id, parsed.request.model));
  if ((parsed.api & kCounted) == 0) return {};
  const auto prompt = static_cast<std::int64_t>(request.body.size() / kBytesPerToken);
  const std::int64_t answers = std::int64_t{parsed.n} * parsed.request.generation.max_tokens;
  WICK_TRY(parsed.pass, keys->enter(request.key_id, prompt + answers));
  return {};
}

}  // namespace

Result<std::string> find_model(const Context& context, const std::string& name) {
  return find_model(context, *served_models(context), name);
}

Result<void> check_model(const Context& context, const std::string& key, const std::string& model) {
  if (may_ask(context, key, model)) return {};
  return Error{.code = ErrorCode::kInvalid,
               .id = "model_not_allowed",
               .message = cat("key ", key, " may not use the model '", printable(model, 80), "'")};
}

bool may_ask(const Context& context, const std::string& key, const std::string& model) {
  if (context.options.keys == nullptr || key.empty()) return true;
  std::vector<std::string> names = {model};
  const auto models = served_models(context);
  for (const ServedModel& one : *models) {
    if (one.name == model) names.insert(names.end(), one.aliases.begin(), one.aliases.end());
  }
  return context.options.keys->may_ask(key, names);
}

std::shared_ptr<const Settings> settings_now(const Context& context) {
  if (context.options.settings) return context.options.settings();
  static const auto kNone = std::make_shared<const Settings>();
  return kNone;
}

Result<void> read_request(const Context& context, Api api, const Object& body,
                          const http::Request& request, ParsedRequest& parsed) {
  parsed.api = api;
  parsed.request.generation = settings_now(context)->defaults;
  parsed.request.generation.tenant = request.tenant;
  parsed.request.generation.client = request.client;
  parsed.request_id = request.id;
  parsed.trace_parent = request.header("traceparent");
  parsed.streams = api == kOllamaChat || api == kOllamaGenerate;  // unless it says otherwise
  WICK_DO(read_fields(api, body, parsed));
  set_length(parsed);
  parsed.request.model = asked_model(std::move(parsed.request.model), request);
  parsed.request.tag = request.header("x-wick-tag");
  parsed.request.key = request.key_id;
  parsed.request.hops = hops_of(request.header(kHopsHeader));
  const auto models = served_models(context);
  take_adapter(*models, parsed);
  if (api == kKeys) return {};
  WICK_TRY(parsed.request.model, find_model(context, *models, parsed.request.model));
  return check_key(context, request, parsed);
}

Result<ParsedRequest> read_request(const Context& context, Api api, const Object& body,
                                   const http::Request& request) {
  ParsedRequest parsed;
  WICK_DO(read_request(context, api, body, request, parsed));
  return parsed;
}

Result<ParsedRequest> read_request(const Context& context, Api api, const http::Request& request) {
  WICK_TRY(const Object body, read_body(request.body));
  return read_request(context, api, body, request);
}

ApiError refusal(Context& context, const Error& error, const std::string& model) {
  ApiError out = api_error(error);
  RouteCounters& counters = context.counters;
  if (out.retry_after_s > 0 && error.retry_after_s == 0) {
    const std::int64_t now_ns = context.options.clock->now_ns();
    out.retry_after_s = counters.paces.of(model)->seconds_of_backlog(now_ns);
  }
  auto& counter = out.status < 500    ? counters.refused
                  : out.status == 503 ? counters.overloaded
                                      : counters.failed;
  counter.fetch_add(1, std::memory_order_relaxed);
  return out;
}

void add_ignored(std::span<const std::string> all, http::Response& response) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  std::string names;
  for (const std::string& name : all) {
    const bool is_told = name.size() <= 64 && std::all_of(name.begin(), name.end(), is_plain);
    if (!names.empty()) names += ", ";
    names += is_told && !name.empty() ? name : "?";
  }
  if (!names.empty()) response.headers.push_back({std::string(kIgnoredHeader), std::move(names)});
}

void add_provider(const std::string& name, http::Response& response) {
  const bool is_plain =
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!name.empty() && is_plain) response.headers.push_back({"x-wick-provider", name});
}

}  // namespace wick::server
