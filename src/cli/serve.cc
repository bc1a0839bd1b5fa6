// wick serve: answers programs over HTTP until it is told to end. SIGTERM and SIGINT let answers
// that are under way come to their end, a second one does not; SIGHUP reads keys and certificates
// again.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <thread>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "cli/log_lines.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/serve_models.h"
#include "cli/option_flags.h"
#include "http/keys.h"
#include "http/server.h"
#include "server/routes.h"

namespace wick {

namespace {

constexpr std::int64_t kLastMs = 1000;  // after the second signal, for what does not end by itself

struct Options {
  OptionFlags settings = {};
  std::vector<std::string> models = {};
  std::string scope = "infer";
  Result<int> (*run)(const Options&) = nullptr;
};

http::ServerOptions server_options(const Config& config) {
  const bool is_activated = ::getenv("LISTEN_FDS") != nullptr;
  const auto number = [&](std::string_view key) { return static_cast<int>(config.integer(key)); };
  http::ServerOptions options{
      .listen = {.hosts = config.texts("server.host"),
                 .port = number("server.port"),
                 .unix_paths = config.texts("server.unix"),
                 .takes_activated = true},
      .guard = {.hosts = config.texts("server.allow_host"),
                .origins = config.texts("server.allow_origin")},
      .tls = {.certificate = config.text("server.tls_cert"), .key = config.text("server.tls_key")},
      .key_file = config.text("server.api_key_file"),
      .is_insecure = config.boolean("server.insecure"),
      .admits_admin_without_key = config.boolean("server.open_admin"),
      .logs_requests = config.boolean("server.access_log")};
  options.limits.connections = number("server.max_connections");
  options.limits.connections_per_address = number("server.max_connections_per_address");
  if (options.listen.hosts.empty() && options.listen.unix_paths.empty() && !is_activated)
    options.listen.hosts = {"127.0.0.1"};
  return options;
}

// What is true of the server before it is there, for the routes that tell it.
struct Readiness {
  std::atomic<bool> drains = false;
};

// The routes of server/, and these two where it has none.
Result<std::vector<http::Route>> make_routes(const Config& config, ServedModels models,
                                             const std::shared_ptr<Readiness>& readiness) {
  WICK_TRY(Generation defaults, generation_settings(config));
  std::vector<http::Route> routes = server::make_routes(
      std::move(models.provider), {.version = WICK_VERSION,
                                   .models = [names = std::move(models.names)] { return names; },
                                   .defaults = std::move(defaults),
                                   .has_vllm_metrics =
                                       config.text("server.metrics_compat") == "vllm",
                                   .has_page = config.boolean("server.webui"),
                                   .is_ready = [readiness] { return !readiness->drains; }});
  const auto add = [&](std::string_view path, http::Handler handler) {
    const bool has_it = std::any_of(routes.begin(), routes.end(),
                                    [&](const http::Route& route) { return route.path == path; });
    if (!has_it)
      routes.emplace_back(http::Access::kOpen, "GET", path, std::move(handler), http::Where::kLoop);
  };
  add("/health", [](const http::Request&, const std::shared_ptr<Wake>&) -> http::Reply {
    return http::Response{.body = R"({"status":"ok"})"};
  });
  add("/ready", [readiness](const http::Request&, const std::shared_ptr<Wake>&) -> http::Reply {
    const bool drains = readiness->drains;
    return http::Response{.status = drains ? 503 : 200,
                          .body = drains ? R"({"status":"draining"})" : R"({"status":"ready"})"};
  });
  return routes;
}

sigset_t our_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP})
    ::sigaddset(&set, number);
  return set;
}

// Takes the signals, which every thread blocks, until it is stopped.
void obey_signals(http::Server& server, Readiness& readiness, const std::stop_token& stop) {
  const sigset_t set = our_signals();
  while (!stop.stop_requested()) {
    const timespec patience{.tv_sec = 0, .tv_nsec = 100'000'000};
    const int number = ::sigtimedwait(&set, nullptr, &patience);
    if (number == SIGHUP) {
      const auto read = server.reload();
      if (read) log_message(LogLevel::kInfo, "keys and certificates were read again");
      if (!read) log_message(LogLevel::kWarning, to_string(read.error()));
    } else if (number > 0 && !readiness.drains.exchange(true)) {
      log_message(LogLevel::kInfo, "ending; answers under way come to their end first");
      server.drain();
    } else if (number > 0) {
      server.stop();
      for (std::int64_t ms = 0; ms < kLastMs && !stop.stop_requested(); ms += 10)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (!stop.stop_requested()) ::_exit(kExitInterrupted);  // a handler that does not return
      return;
    }
  }
}

Result<int> serve(const Options& o) {
  WICK_TRY(const Config config, o.settings.resolve());
  const sigset_t set = our_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);  // before the first thread
  const auto readiness = std::make_shared<Readiness>();
  WICK_TRY(ServedModels models, open_models(config, o.models));
  WICK_TRY(auto routes, make_routes(config, std::move(models), readiness));
  WICK_TRY(const auto server, http::Server::create(server_options(config), std::move(routes)));
  for (const std::string& address : server->addresses())
    print({"listening on ", printable(address, 4096), "\n"});
  flush_output();
  WICK_TRY(const auto log, LogLines::start());
  WICK_TRY(const std::jthread signals, start_thread([&](const std::stop_token& stop) {
             obey_signals(*server, *readiness, stop);
           }));
  server->run();
  return kExitOk;
}

// The key goes to a person, its line into the file of keys.
Result<int> new_key(const Options& o) {
  if (o.scope != "infer" && o.scope != "admin") {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_scope",
                 .message = cat("the scope '", printable(o.scope), "' is neither infer nor admin"),
                 .hint = "wick serve key new --scope admin"};
  }
  WICK_TRY(const http::NewKey key, http::make_key(o.scope == "admin"));
  print({"key, shown this once:      ", printable(key.key),
         "\nline for --api-key-file:   ", printable(key.line), "\n"});
  return kExitOk;
}

}  // namespace

Action setup_serve(Flags flags) {
  const auto o = std::make_shared<Options>();
  o->run = serve;
  flags.texts("-m,--model", o->models,
              "path, name (wick model list), or hf:org/repo[:file or quant]; may be repeated");
  o->settings.add(flags, {"hub.offline"});
  o->settings.add_tables(flags, {"server.", "local.", "cache.", "optimize.", "generation."});
  Flags key = flags.command("key", "API keys", [] {});
  key.require_command();
  Flags made =
      key.command("new", "make a key and the line for the file of keys", [o] { o->run = new_key; });
  made.text("--scope", o->scope, "what it may: infer, or admin, which may all");
  return [o] { return o->run(*o); };
}

}  // namespace wick
