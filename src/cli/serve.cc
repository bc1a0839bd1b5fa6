// wick serve: the HTTP server. SIGTERM and SIGINT shut down after the running answers, a second
// signal shuts down at once; SIGHUP reloads settings, models, keys and certificates.
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <mutex>
#include <thread>

#include "base/core_dumps.h"
#include "base/log.h"
#include "base/poller.h"
#include "base/strings.h"
#include "base/thread.h"
#include "cli/key_book.h"
#include "cli/log_lines.h"
#include "cli/model_folder.h"
#include "cli/option_flags.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/routing.h"
#include "cli/serve_files.h"
#include "cli/serve_models.h"
#include "http/server.h"
#include "server/routes.h"

namespace wick {

namespace {

constexpr int kReturnedBytes = 256 << 10;
constexpr std::int64_t kLastMs = 1000;  // after the second signal, for what does not end by itself

struct ServeFlags {
  OptionFlags settings = {};
  std::vector<std::string> models = {};
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

// The settings that hold now; any thread.
class Current {
 public:
  std::shared_ptr<const server::Settings> get() const {
    const std::lock_guard lock(mutex_);
    return now_;
  }

  void set(server::Settings now) {
    const std::lock_guard lock(mutex_);
    now_ = std::make_shared<const server::Settings>(std::move(now));
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const server::Settings> now_;
};

using Counters = std::atomic<const http::Counters*>;  // of the server, which is made of its routes

// The running server, and the parts that a reload changes.
struct Service {
  explicit Service(const ServeFlags& its_options) : options(its_options) {}

  const ServeFlags& options;
  std::shared_ptr<ServedModels> models = {};
  std::shared_ptr<Provider> provider = {};       // that of the models, or the router before it
  std::vector<server::ServedModel> routed = {};  // names that the router knows besides
  std::shared_ptr<Readiness> readiness = std::make_shared<Readiness>();
  std::shared_ptr<Current> settings = std::make_shared<Current>();
  std::shared_ptr<server::Traces> traces = {};
  std::shared_ptr<KeyBook> keys = {};  // null: there are none
  std::shared_ptr<server::Audit> audit = {};
  std::shared_ptr<Counters> counters = std::make_shared<Counters>(nullptr);
  std::string key_file = {};
  std::shared_ptr<Poller> poller = {};              // of the server's loop and the transfers
  std::shared_ptr<DrivenTransfers> transfers = {};  // null: nothing is remote
  std::unique_ptr<http::Server> server = {};
  std::atomic<bool> is_serving = false;  // the models are found
};

// The models here and, behind a router, its names; then each local model has the name "local/NAME",
// too. The list is made again only when the models here change. Any thread.
class AllNames {
 public:
  AllNames(std::shared_ptr<ServedModels> models, std::vector<server::ServedModel> routed)
      : models_(std::move(models)), routed_(std::move(routed)) {}

  server::ServedModelList get() {
    auto here = models_->names();
    if (routed_.empty()) return here;
    const std::lock_guard lock(mutex_);
    if (here != here_) {
      all_ = with_routed(*here);
      here_ = std::move(here);
    }
    return all_;
  }

 private:
  // The router would take a name that is one of its own for that of a remote model: such a model
  // here is called "local/NAME". Its plain name means it, too, unless [alias] has the name.
  server::ServedModelList with_routed(std::vector<server::ServedModel> names) const {
    for (server::ServedModel& one : names) {
      const std::string full = cat("local/", one.name);
      if (is_routed(one.name)) {
        if (!is_named(one.name)) one.aliases.push_back(one.name);
        one.name = full;
      }
      one.aliases.push_back(full);
    }
    if (!names.empty()) names.front().aliases.emplace_back("local");
    names.insert(names.end(), routed_.begin(), routed_.end());
    return std::make_shared<const std::vector<server::ServedModel>>(std::move(names));
  }

  // "auto" or of [alias].
  bool is_named(const std::string& name) const {
    return std::any_of(routed_.begin(), routed_.end(),
                       [&](const server::ServedModel& one) { return one.name == name; });
  }

  bool is_routed(const std::string& name) const {
    const std::string_view head = std::string_view(name).substr(0, name.find('/'));
    return std::any_of(routed_.begin(), routed_.end(), [&](const server::ServedModel& one) {
      const std::vector<std::string>& aliases = one.aliases;
      return one.name == name || one.name.substr(0, one.name.find('/')) == head ||
             std::find(aliases.begin(), aliases.end(), name) != aliases.end();
    });
  }

  const std::shared_ptr<ServedModels> models_;
  const std::vector<server::ServedModel> routed_;
  std::mutex mutex_;
  server::ServedModelList here_ = {}, all_ = {};  // the latter made of the former
};

std::vector<http::Route> routes_of(const Config& config, const Service& service) {
  return server::make_routes(
      service.provider,
      {.version = WICK_VERSION,
       .models = [names = std::make_shared<AllNames>(service.models,
                                                     service.routed)] { return names->get(); },
       .settings = [settings = service.settings] { return settings->get(); },
       .has_vllm_metrics = config.text("server.metrics_compat") == "vllm",
       .has_page = config.boolean("server.webui"),
       .is_ready = [readiness = service.readiness] { return !readiness->drains; },
       .files = service.models->is_local()
                    ? make_model_files(service.models, config.boolean("hub.offline"))
                    : nullptr,
       .traces = service.traces,
       .audit = service.audit,
       .keys = service.keys,
       .transport = [counters = service.counters] { return counters->load(); }});
}

Result<server::Settings> settings_of(const Config& config) {
  WICK_TRY(Generation defaults, generation_settings(config));
  return server::Settings{
      .defaults = std::move(defaults),
      .admission = {.slots = static_cast<int>(config.integer("server.parallel")),
                    .max_wait_ms = config.integer("server.max_wait_ms")}};
}

// All is made before anything of it holds, but for the models, whose files are read then.
Result<void> reload(Service& service) {
  WICK_TRY(const Config config, service.options.settings.resolve());
  WICK_TRY(server::Settings settings, settings_of(config));
  const http::ServerOptions options = server_options(config);
  WICK_DO(service.server->check(options));
  if (service.keys != nullptr) WICK_DO(service.keys->reload());
  if (service.audit != nullptr) WICK_DO(service.audit->reopen());
  WICK_DO(service.models->reload(config));
  WICK_DO(service.server->reload(options));
  service.settings->set(std::move(settings));
  return {};
}

// Of a key file that another program has changed. A wrong one changes nothing.
void take_keys(Service& service) {
  auto read = service.keys->reload();
  if (read) read = service.server->reload_keys(service.key_file);
  if (read) log_message(LogLevel::kInfo, "the key file has changed and was read again");
  if (!read) log_message(LogLevel::kWarning, to_string(read.error()));
}

// Freed memory of this size and more goes back to the system. Else glibc raises the bound to the
// largest that was freed, and each thread's arena keeps some: under models that come and go 12
// clients made 25.8 MB 28.2 MB in 10 minutes, with this bound 20.2 MB 20.7 MB in 4 (2 cores of an
// EPYC, tests/clients/soak.py, 2026-11-23).
void return_freed_memory() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, kReturnedBytes);
#endif
}

sigset_t our_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP})
    ::sigaddset(&set, number);
  return set;
}

// Takes the signals, which every thread blocks, until it is stopped.
void obey_signals(Service& service, const std::stop_token& stop) {
  const sigset_t set = our_signals();
  while (!stop.stop_requested()) {
    const timespec patience{.tv_sec = 0, .tv_nsec = 100'000'000};
    const int number = ::sigtimedwait(&set, nullptr, &patience);
    if (!service.is_serving) {
      // What has been fetched is kept, and goes on from there the next time.
      if (number == SIGTERM || number == SIGINT) ::_exit(kExitInterrupted);
      continue;
    }
    service.models->unload_idle();
    if (service.keys != nullptr && service.keys->has_changed()) take_keys(service);
    if (number == SIGHUP) {
      const auto read = reload(service);
      if (read) log_message(LogLevel::kInfo, "reloaded settings, models, keys and certificates");
      if (!read) log_message(LogLevel::kWarning, to_string(read.error()));
    } else if (number > 0 && !service.readiness->drains.exchange(true)) {
      log_message(LogLevel::kInfo, "shutting down after the running answers");
      service.server->drain();
    } else if (number > 0) {
      service.server->stop();
      for (std::int64_t ms = 0; ms < kLastMs && !stop.stop_requested(); ms += 10)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (!stop.stop_requested()) ::_exit(kExitInterrupted);  // a handler that does not return
      return;
    }
  }
}

// Where no setting names a model, those that the rules may ask for; without rules the default one.
Result<std::shared_ptr<ServedModels>> models_of(const Config& config,
                                                std::vector<std::string> models,
                                                RoutingSettings& routing) {
  const bool is_told = !models.empty() || !config.texts("server.models").empty() ||
                       config.origin("local.model_path") != "default";
  const bool is_by_rules = !is_told && !routing.empty();
  if (is_by_rules) models = local_models(routing, config.text("local.model_path"));
  // A rule may name a model as --model does; the server knows it by its name.
  for (route::Rule& rule : routing.rules) {
    for (std::string& to : rule.to) {
      if (to.starts_with("local/")) to = cat("local/", name_of_model(to.substr(6)));
    }
  }
  if (std::string& model = routing.cache.similar_by; !model.empty())
    model = cat("local/", name_of_model(model.substr(6)));
  return ServedModels::create(config, std::move(models), is_by_rules);
}

// A chat model makes vectors that are nearly all alike: it would answer other questions.
Result<void> check_similar_by(const std::string& model, const ServedModels& models) {
  if (model.empty()) return {};
  const auto path = models.path_of(model.substr(6));
  if (!path) return {};  // it may be pulled later
  auto checked = check_embedding_model(*path);
  if (checked) return {};
  Error error = std::move(checked).error();
  error.message = cat("similar_by of [response_cache]: ", error.message);
  error.hint = "name one as \"local/NAME\", wick model list shows them";
  return error;
}

Result<int> serve(const ServeFlags& o) {
  return_freed_memory();
  forbid_core_dumps();
  WICK_TRY(const Config config, o.settings.resolve());
  const sigset_t set = our_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);  // before the first thread
  Service service(o);
  WICK_TRY(server::Settings settings, settings_of(config));
  service.settings->set(std::move(settings));
  WICK_TRY(RoutingSettings routing, routing_settings(config.tables()));
  WICK_TRY(service.models, models_of(config, o.models, routing));
  service.provider = service.models->provider();
  service.key_file = config.text("server.api_key_file");
  if (!service.key_file.empty()) {
    WICK_TRY(const auto limits, open_limits(routing));
    WICK_TRY(service.keys,
             KeyBook::open({.path = service.key_file,
                            .open_ledger = [routing] { return open_ledger(routing); },
                            .on_change =
                                [&service] {
                                  static_cast<void>(service.server->reload_keys(service.key_file));
                                },
                            .limits = limits}));
  }
  if (!routing.empty()) {
    KeyBudgets key_budgets;
    if (service.keys != nullptr)
      key_budgets = [keys = service.keys](const std::string& key) { return keys->budgets_of(key); };
    WICK_TRY(service.poller, Poller::create());
    WICK_TRY(service.transfers, Transfers::create_driven({.poller = service.poller}));
    LocalMember local{.provider = service.provider};
    local.default_model = [models = service.models] {
      const auto names = models->names();
      return names->empty() ? std::string() : names->front().name;
    };
    WICK_TRY(service.provider, open_router(routing, std::move(local), "auto",
                                           std::move(key_budgets), service.transfers));
    service.routed = routed_names(routing);
  }
  if (const std::string& url = config.text("server.otlp_endpoint"); !url.empty()) {
    WICK_TRY(service.traces, server::Traces::start(url, WICK_VERSION));
  }
  if (const std::string& path = config.text("server.audit_log"); !path.empty()) {
    WICK_TRY(service.audit, server::Audit::open(path));
  }
  // An address in use is an error before any download; clients that connect meanwhile wait.
  http::ServerOptions options = server_options(config);
  options.poller = service.poller;
  WICK_TRY(service.server, http::Server::create(options, routes_of(config, service)));
  service.counters->store(&service.server->counters());
  WICK_TRY(const std::jthread signals,
           start_thread([&](const std::stop_token& stop) { obey_signals(service, stop); }));
  WICK_DO(service.models->find());
  WICK_DO(check_similar_by(routing.cache.similar_by, *service.models));
  service.is_serving = true;
  for (const std::string& address : service.server->addresses())
    print({"listening on ", printable(address, 4096), "\n"});
  flush_output();
  WICK_TRY(const auto log, LogLines::start());
  service.server->run();
  if (service.transfers != nullptr) service.transfers->stop();  // for workers that wait
  return kExitOk;
}

}  // namespace

Action setup_serve(Flags flags) {
  const auto o = std::make_shared<ServeFlags>();
  flags.texts("-m,--model", o->models,
              "path, name (wick model list), or hf:org/repo[:file or quant]; may be repeated");
  o->settings.add(flags, {"hub.offline"});
  o->settings.add_tables(flags, {"server.", "local.", "cache.", "optimize.", "generation."});
  return [o] { return serve(*o); };
}

}  // namespace wick
