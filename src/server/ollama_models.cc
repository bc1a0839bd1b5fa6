// Ollama's routes of models and embeddings.

#include "server/embeddings.h"
#include "server/json_in.h"
#include "server/json_out.h"
#include "server/ollama.h"
#include "server/task.h"

namespace wick::server {

namespace {

void write_details(JsonOut& json, const ModelInfo* info) {
  const std::string family = info == nullptr ? "" : info->architecture;
  json.key("details").object().field("parent_model", "").field("format", "gguf");
  json.field("family", family).key("families").array().text(family).end_array();
  json.field("parameter_size", "").field("quantization_level", "").end_object();
}

void write_model(JsonOut& json, const Context& context, const std::string& name,
                 const ModelInfo* info) {
  json.object().field("name", name).field("model", name);
  json.field("modified_at", utc_time(context.started_s));
  json.field("size", info == nullptr ? 0 : info->memory.weight_bytes).field("digest", "");
  write_details(json, info);
}

// When it will be unloaded if nobody uses it; Ollama's clients know a far year as "for ever".
std::string expiry(Context& context, const std::string& name) {
  const auto now = context.provider->statistics(name);
  if (!now || now->ms_to_unload < 0) return "2318-01-01T00:00:00Z";
  return utc_time(unix_seconds() + (now->ms_to_unload + 999) / 1000);
}

}  // namespace

http::Reply ollama_version(const SharedContext& context, const http::Request& /*request*/,
                           const std::shared_ptr<Wake>& /*wake*/) {
  http::Response response;
  JsonOut(response.body).object().field("version", context->options.version).end_object();
  return response;
}

http::Reply ollama_tags(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& /*wake*/) {
  const std::vector<ModelInfo> infos = loaded_models(*context);
  http::Response response;
  JsonOut json(response.body);
  json.object().key("models").array();
  const auto served = served_models(*context);
  for (const ServedModel& model : *served) {
    if (!may_ask(*context, request.key_id, model.name)) continue;
    write_model(json, *context, model.name, info_of(infos, model.name));
    json.end_object();
  }
  json.end_array().end_object();
  return response;
}

http::Reply ollama_ps(const SharedContext& context, const http::Request& request,
                      const std::shared_ptr<Wake>& /*wake*/) {
  http::Response response;
  JsonOut json(response.body);
  json.object().key("models").array();
  for (const ModelInfo& info : loaded_models(*context)) {
    if (!is_here(info) || !may_ask(*context, request.key_id, info.name)) continue;
    write_model(json, *context, info.name, &info);
    json.field("size_vram", 0).field("context_length", info.context);
    json.field("expires_at", expiry(*context, info.name)).end_object();
  }
  json.end_array().end_object();
  return response;
}

http::Reply ollama_show(const SharedContext& context, const http::Request& request,
                        const std::shared_ptr<Wake>& /*wake*/) {
  const auto parsed = read_request(*context, kOllamaShow, request);
  if (!parsed) return ollama_refusal(refusal(*context, parsed.error()));
  if (const auto may = check_model(*context, request.key_id, parsed->request.model); !may)
    return ollama_refusal(refusal(*context, may.error()));
  const std::vector<ModelInfo> infos = loaded_models(*context);
  const ModelInfo* const info = info_of(infos, parsed->request.model);
  http::Response response;
  JsonOut json(response.body);
  json.object().field("modelfile", "").field("parameters", "").field("template", "");
  write_details(json, info);
  json.key("model_info").object();
  if (info != nullptr) {
    json.field("general.architecture", info->architecture);
    json.field(cat(info->architecture, ".context_length"), info->context);
    json.field(cat(info->architecture, ".vocab_size"), info->vocabulary);
  }
  json.end_object().key("capabilities").array().text("completion").end_array();
  json.field("modified_at", utc_time(context->started_s)).end_object();
  return response;
}

namespace {

void write_vector(JsonOut& json, const Embedding& embedding) {
  json.array();
  for (const float value : embedding.values)
    json.number(as_written(value));
  json.end_array();
}

http::Response embed_of(Context& context, const ParsedRequest& parsed, std::int64_t begin_ns,
                        const std::stop_token& gone) {
  http::Response response;
  const auto all = embed(context, parsed, gone, response);
  if (!all) return ollama_refusal(refusal(context, all.error()));
  JsonOut json(response.body);
  json.object().field("model", parsed.request.model).key("embeddings").array();
  for (const Embedding& one : *all)
    write_vector(json, one);
  json.end_array();
  json.field("total_duration", context.options.clock->now_ns() - begin_ns);
  json.field("load_duration", 0).field("prompt_eval_count", tokens_of(*all)).end_object();
  return response;
}

http::Response embeddings_of(Context& context, const ParsedRequest& parsed,
                             const std::stop_token& gone) {
  http::Response response;
  const auto all = embed(context, parsed, gone, response);
  if (!all) return ollama_refusal(refusal(context, all.error()));
  JsonOut json(response.body);
  json.object().key("embedding");
  write_vector(json, all->front());
  json.end_object();
  return response;
}

}  // namespace

http::Reply ollama_embed(const SharedContext& context, const http::Request& request,
                         const std::shared_ptr<Wake>& wake) {
  const std::int64_t begin_ns = context->options.clock->now_ns();
  auto parsed = read_request(*context, kEmbeddings, request);
  if (!parsed) return ollama_refusal(refusal(*context, parsed.error()));
  return run_task(
      context,
      [context, begin_ns, parsed = *std::move(parsed)](TaskClient& client) {
        return embed_of(*context, parsed, begin_ns, client.gone());
      },
      wake);
}

http::Reply ollama_embeddings(const SharedContext& context, const http::Request& request,
                              const std::shared_ptr<Wake>& wake) {
  auto body = read_body(request.body);
  if (!body) return ollama_refusal(refusal(*context, body.error()));
  if (const JsonValue* const prompt = body->find("prompt")) (*body)["input"] = JsonValue(*prompt);
  auto parsed = read_request(*context, kEmbeddings, *body, request);
  if (!parsed) return ollama_refusal(refusal(*context, parsed.error()));
  return run_task(
      context,
      [context, parsed = *std::move(parsed)](TaskClient& client) {
        return embeddings_of(*context, parsed, client.gone());
      },
      wake);
}

}  // namespace wick::server
