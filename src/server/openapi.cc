#include "server/openapi.h"

#include <algorithm>

#include "server/fields.h"
#include "server/json_out.h"

namespace wick::server {

namespace {

struct ApiName {
  Api api;
  std::string_view name;
};

constexpr ApiName kBodies[] = {
    {kChat, "ChatRequest"},
    {kCompletions, "CompletionRequest"},
    {kEmbeddings, "EmbeddingRequest"},
    {kRerank, "RerankRequest"},
    {kResponses, "ResponseRequest"},
    {kMessages, "MessagesRequest"},
    {kOllamaChat, "OllamaChatRequest"},
    {kOllamaGenerate, "OllamaGenerateRequest"},
    {kOllamaOptions, "OllamaOptions"},
    {kOllamaShow, "OllamaShowRequest"},
    {kTokens, "TokensRequest"},
    {kModels, "ModelsRequest"},
    {kOllamaFiles, "OllamaFilesRequest"},
    {kOllamaCopy, "OllamaCopyRequest"},
    {kInfill, "InfillRequest"},
    {kKeys, "KeysRequest"},
};

std::string_view body_name(std::uint32_t api) noexcept {
  const auto* const row = std::find_if(std::begin(kBodies), std::end(kBodies),
                                       [&](const ApiName& one) { return one.api == api; });
  return row == std::end(kBodies) ? "" : row->name;
}

void write_field(JsonOut& json, const Field& field) {
  json.key(field.name).object();
  if (field.kind != FieldKind::kAny) json.key("type").array().text(name(field.kind)).text("null");
  if (field.kind != FieldKind::kAny) json.end_array();
  if (field.kind == FieldKind::kList) json.key("items").object().end_object();
  const bool is_number = field.kind == FieldKind::kNumber || field.kind == FieldKind::kInteger;
  if (is_number && field.min != field.max)
    json.field("minimum", field.min).field("maximum", field.max);
  if (!field.help.empty()) {
    const bool is_setting = !field.key.empty();
    json.field("description",
               is_setting ? cat(field.help, " generation.", field.key) : std::string(field.help));
  }
  json.end_object();
}

void write_schemas(JsonOut& json) {
  json.key("schemas").object();
  for (const ApiName& body : kBodies) {
    json.key(body.name).object().field("type", "object").key("properties").object();
    for (const Field& field : fields()) {
      if ((field.apis & body.api) != 0) write_field(json, field);
    }
    json.end_object().end_object();
  }
  json.key("Error").object().field("type", "object").key("properties").object();
  json.key("error").object().field("type", "object").key("required").array();
  for (const char* const key : {"message", "type", "param", "code"})
    json.text(key);
  json.end_array().key("properties").object();
  json.key("message").object().field("type", "string").end_object();
  json.key("type").object().field("type", "string").end_object();
  for (const char* const key : {"param", "code"})
    json.key(key).object().key("type").array().text("string").text("null").end_array().end_object();
  json.end_object().end_object().end_object().end_object().end_object();
}

void write_content(JsonOut& json, std::string_view schema) {
  json.key("content").object().key("application/json").object().key("schema").object();
  json.field("$ref", cat("#/components/schemas/", schema));
  json.end_object().end_object().end_object();
}

void write_operation(JsonOut& json, const RouteInfo& route) {
  const bool is_socket = route.verb == "WEBSOCKET";
  const std::string method = is_socket ? "get" : ascii_lower(route.verb);
  json.key(method).object().field("summary", route.help);
  if (route.path.ends_with('*')) {
    json.key("parameters").array().object().field("name", "name").field("in", "path");
    json.field("required", true).key("schema").object().field("type", "string").end_object();
    json.end_object().end_array();
  }
  json.key("security").array();
  if (route.access != http::Access::kOpen) {
    json.object().key("key").array().end_array().end_object();
    if (route.access == http::Access::kInfer) json.object().end_object();
  }
  json.end_array();
  if (const std::string_view body = body_name(route.api); !body.empty()) {
    json.key("requestBody").object().field("required", true);
    write_content(json, body);
    json.end_object();
  }
  json.key("responses").object().key(is_socket ? "101" : "200").object();
  json.field("description", is_socket ? "a WebSocket" : "the answer").end_object();
  json.key("default").object().field("description", "an error");
  write_content(json, "Error");
  json.end_object().end_object().end_object();
}

std::string document_path(std::string_view path) {
  if (!path.ends_with('*')) return std::string(path);
  return cat(path.substr(0, path.size() - 1), "{name}");
}

void write_paths(JsonOut& json) {
  json.key("paths").object();
  const std::vector<RouteInfo> routes = route_infos();
  std::vector<std::string_view> written;
  for (const RouteInfo& first : routes) {
    if (std::find(written.begin(), written.end(), first.path) != written.end()) continue;
    written.push_back(first.path);
    json.key(document_path(first.path)).object();
    for (const RouteInfo& route : routes) {
      if (route.path == first.path) write_operation(json, route);
    }
    json.end_object();
  }
  json.end_object();
}

}  // namespace

http::Reply openapi(const SharedContext& context, const http::Request& /*request*/,
                    const std::shared_ptr<Wake>& /*wake*/) {
  http::Response response;
  JsonOut json(response.body);
  json.object().field("openapi", "3.1.0").key("info").object().field("title", "wick");
  json.field("version", context->options.version).end_object();
  write_paths(json);
  json.key("components").object();
  json.key("securitySchemes").object().key("key").object().field("type", "http");
  json.field("scheme", "bearer").end_object().end_object();
  write_schemas(json);
  json.end_object().end_object();
  return response;
}

}  // namespace wick::server
