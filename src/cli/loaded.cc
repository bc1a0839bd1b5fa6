// wick ps and wick stop: the loaded models of a wick serve (or Ollama) that runs, by Ollama's API.
#include <memory>

#include "base/strings.h"
#include "chat/json_value.h"
#include "cli/flags.h"
#include "cli/option_flags.h"
#include "cli/out.h"
#include "cli/report.h"
#include "net/http.h"
#include "remote/json_read.h"

namespace wick {

namespace {

constexpr std::size_t kMaxList = std::size_t{4} << 20;

struct LoadedFlags {
  OptionFlags settings = {};
  std::string url = {}, key = {}, model = {};
  bool is_json = false;
};

// --url, else where wick serve listens by the settings.
Result<HttpRequest> request(const LoadedFlags& o, std::string_view path) {
  WICK_TRY(const Config config, o.settings.resolve());
  std::string url = o.url;
  if (url.empty()) {
    const auto hosts = config.texts("server.host");
    const std::string host =
        hosts.empty() || hosts.front() == "0.0.0.0" ? "127.0.0.1" : hosts.front();
    url = cat(config.text("server.tls_cert").empty() ? "http://" : "https://", host, ":",
              config.integer("server.port"));
  }
  while (url.ends_with('/'))
    url.pop_back();
  HttpRequest out{.url = cat(url, path)};
  if (!o.key.empty()) out.headers.push_back(cat("Authorization: Bearer ", o.key));
  return out;
}

Error no_server(Error error) {
  if (error.code == ErrorCode::kUnavailable)
    error.hint = "start one with wick serve, or name its address: --url http://HOST:PORT";
  return error;
}

Result<int> list_loaded(const LoadedFlags& o) {
  WICK_TRY(const HttpRequest get, request(o, "/api/ps"));
  auto text = http_get_text(get, kMaxList);
  if (!text) return no_server(std::move(text).error());
  WICK_TRY(const JsonValue answer, parse_json(*text));
  if (o.is_json) {
    print_json(answer);
    return kExitOk;
  }
  for (const JsonValue& model : remote::items_of(&answer, "models")) {
    const JsonValue* const size = remote::find(&model, "size");
    const std::int64_t* const bytes = size == nullptr ? nullptr : size->integer();
    print({padded(printable(remote::text_of(&model, "name")), 40),
           human(bytes == nullptr || *bytes < 0 ? 0 : static_cast<std::uint64_t>(*bytes)), "\n"});
  }
  return kExitOk;
}

Result<int> stop_model(const LoadedFlags& o) {
  WICK_TRY(HttpRequest post, request(o, "/api/generate"));
  post.headers.emplace_back("Content-Type: application/json");
  post.post = to_json(json_object({{"model", o.model}, {"keep_alive", 0}}));
  auto status = http_post(post);
  if (!status) return no_server(std::move(status).error());
  if (*status != 200) return http_status_error(*status, post.url);
  return kExitOk;
}

std::shared_ptr<LoadedFlags> options_of(Flags& flags) {
  const auto o = std::make_shared<LoadedFlags>();
  o->settings.add_port(flags);
  flags.text("--url", o->url, "address of the server; default http://127.0.0.1:PORT");
  flags.text("--api-key", o->key, "API key, if the server has keys");
  return o;
}

}  // namespace

Action setup_ps(Flags flags) {
  const auto o = options_of(flags);
  flags.toggle("--json", o->is_json, "print the server's JSON");
  return [o] { return list_loaded(*o); };
}

Action setup_stop(Flags flags) {
  const auto o = options_of(flags);
  flags.required_text("MODEL", o->model, "a name that wick ps lists");
  return [o] { return stop_model(*o); };
}

}  // namespace wick
