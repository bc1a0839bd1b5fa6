#include "server/models.h"

#include "server/json_out.h"
#include "server/task.h"

namespace wick::server {

namespace {

// Paths are accepted as names but never shown.
bool is_path(std::string_view name) noexcept {
  return name.starts_with('/') || name.starts_with('.') || name.starts_with('~');
}

void write_model(JsonOut& json, const Context& context, const ServedModel& model,
                 const ModelInfo* info) {
  json.object().field("id", model.name).field("object", "model");
  json.field("created", context.started_s).field("owned_by", "wick");
  json.key("aliases").array();
  for (const std::string& alias : model.aliases) {
    if (!is_path(alias)) json.text(alias);
  }
  const bool is_loaded = info != nullptr && is_here(*info);
  json.end_array().field("loaded", is_loaded);
  if (info != nullptr && info->context > 0) json.field("max_model_len", info->context);
  if (is_loaded) {
    json.key("meta").object();
    json.field("architecture", info->architecture).field("n_vocab", info->vocabulary);
    json.field("n_ctx_train", info->context).field("size", info->memory.weight_bytes);
    json.field("memory", info->memory.total()).field("pinned", info->is_pinned);
    json.field("in_use", info->is_used).end_object();
  }
  json.end_object();
}

}  // namespace

http::Reply list_models(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& /*wake*/) {
  const std::vector<ModelInfo> infos = loaded_models(*context);
  http::Response response;
  JsonOut json(response.body);
  json.object().field("object", "list").key("data").array();
  const auto is_shown = [&](const ServedModel& model) {
    return may_ask(*context, request.key_id, model.name);
  };
  const auto served = served_models(*context);
  for (const ServedModel& model : *served) {
    if (is_shown(model)) write_model(json, *context, model, info_of(infos, model.name));
  }
  for (const ServedModel& model : *served) {
    if (!is_shown(model)) continue;
    for (const std::string& adapter : model.adapters) {  // as vLLM lists them
      json.object().field("id", adapter).field("object", "model");
      json.field("created", context->started_s).field("owned_by", "wick");
      json.field("root", adapter).field("parent", model.name).end_object();
    }
  }
  json.end_array().end_object();
  return response;
}

http::Reply show_model(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& /*wake*/) {
  const auto name = find_model(*context, request.rest);
  if (!name || request.rest.empty()) {
    return error_response(
        refusal(*context, name ? bad_field("model", "is missing in the path") : name.error()));
  }
  if (const auto may = check_model(*context, request.key_id, *name); !may)
    return error_response(refusal(*context, may.error()));
  const std::vector<ModelInfo> infos = loaded_models(*context);
  ServedModel shown{.name = *name};
  const auto served = served_models(*context);
  for (const ServedModel& model : *served) {
    if (model.name == *name) shown = model;
  }
  http::Response response;
  JsonOut json(response.body);
  write_model(json, *context, shown, info_of(infos, *name));
  return response;
}

namespace {

http::Response load(Context& context, const ParsedRequest& parsed) {
  Provider& provider = *context.provider;
  const std::string& name = parsed.request.model;
  const auto info = parsed.reloads ? provider.replace(name, name) : provider.load(name);
  if (!info) return error_response(refusal(context, info.error()));
  if (parsed.keep_ms) static_cast<void>(provider.keep(name, *parsed.keep_ms));
  http::Response response;
  JsonOut json(response.body);
  write_model(json, context, {.name = name}, &*info);
  return response;
}

}  // namespace

http::Reply load_model(const SharedContext& context, const http::Request& request,
                       const std::shared_ptr<Wake>& wake) {
  auto parsed = read_request(*context, kModels, request);
  if (!parsed) return error_response(refusal(*context, parsed.error()));
  return run_task(
      context,
      [context, parsed = *std::move(parsed)](TaskClient& /*client*/) {
        return load(*context, parsed);
      },
      wake);
}

http::Reply unload_model(const SharedContext& context, const http::Request& request,
                         const std::shared_ptr<Wake>& /*wake*/) {
  const auto parsed = read_request(*context, kModels, request);
  if (!parsed) return error_response(refusal(*context, parsed.error()));
  const auto done = context->provider->unload(parsed->request.model);
  if (!done) return error_response(refusal(*context, done.error()));
  http::Response response;
  JsonOut json(response.body);
  write_model(json, *context, {.name = parsed->request.model}, nullptr);
  return response;
}

}  // namespace wick::server
