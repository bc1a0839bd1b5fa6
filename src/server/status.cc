#include "server/status.h"

#include <algorithm>

#include "server/json_out.h"

namespace wick::server {

http::Reply health(const SharedContext& /*context*/, const http::Request& /*request*/,
                   const std::shared_ptr<Wake>& /*wake*/) {
  return http::Response{.body = R"({"status":"ok"})"};
}

http::Reply ready(const SharedContext& context, const http::Request& /*request*/,
                  const std::shared_ptr<Wake>& /*wake*/) {
  const auto& is_ready = context->options.is_ready;
  if (!is_ready || is_ready()) return http::Response{.body = R"({"status":"ready"})"};
  return http::Response{.status = 503, .body = R"({"status":"draining"})"};
}

std::string query_value(const http::Request& request, std::string_view name) {
  std::string_view rest = request.query;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
      return std::string(pair.substr(name.size() + 1));
  }
  return "";
}

std::string model_in(const http::Request& request) {
  return query_value(request, "model");
}

namespace {

struct LoadedModel {
  ModelInfo info = {};
  Statistics now = {};
};

// A model that is there; none is loaded for this.
Result<LoadedModel> look(Context& context, const http::Request& request) {
  WICK_TRY(const std::string name, find_model(context, model_in(request)));
  WICK_TRY(const auto infos, context.provider->models());
  for (const ModelInfo& info : infos) {
    if (info.name != name) continue;
    WICK_TRY(const Statistics now, context.provider->statistics(name));
    return LoadedModel{info, now};
  }
  return LoadedModel{{.name = name}, {}};
}

}  // namespace

http::Reply props(const SharedContext& context, const http::Request& request,
                  const std::shared_ptr<Wake>& /*wake*/) {
  const auto model = look(*context, request);
  if (!model) return error_response(refusal(*context, model.error()));
  http::Response response;
  JsonOut json(response.body);
  json.object().key("default_generation_settings").object();
  json.field("n_ctx", model->info.context).end_object();
  json.field("total_slots", model->now.slots).field("model_alias", model->info.name);
  json.field("model_path", model->info.name).field("architecture", model->info.architecture);
  json.field("build_info", cat("wick ", context->options.version));
  json.key("modalities").object().field("vision", false).field("audio", false).end_object();
  json.field("is_sleeping", model->info.context == 0).end_object();
  return response;
}

http::Reply slots(const SharedContext& context, const http::Request& request,
                  const std::shared_ptr<Wake>& /*wake*/) {
  const auto model = look(*context, request);
  if (!model) return error_response(refusal(*context, model.error()));
  http::Response response;
  JsonOut json(response.body);
  json.array();
  for (int i = 0; i < model->now.slots; ++i) {
    json.object().field("id", i).field("n_ctx", model->info.context);
    json.field("is_processing", i < model->now.running).end_object();
  }
  json.end_array();
  return response;
}

}  // namespace wick::server
