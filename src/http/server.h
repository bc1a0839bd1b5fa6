// The HTTP server: listens, enforces access, limits and timeouts for all routes, and passes
// requests to them. One thread runs it; a few workers run handlers that may block.
//
//   WICK_TRY(const auto server, http::Server::create(options, std::move(routes)));
//   for (const std::string& address : server->addresses()) …   // "http://127.0.0.1:8080"
//   server->run();          // until stop(), or until drain() is through
//
// drain(), stop(), reload() and what is const may be called on any thread while run() runs.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/guard.h"
#include "http/handler.h"
#include "http/limits.h"
#include "http/listeners.h"
#include "http/site.h"
#include "http/tls.h"

namespace wick::http {

struct ServerOptions {
  ListenOptions listen = {.hosts = {"127.0.0.1"}, .port = 8080};
  GuardOptions guard = {};  // the names of `listen.hosts` are added
  TlsFiles tls = {};
  std::filesystem::path key_file = {};    // empty: no keys, everyone may infer
  bool is_insecure = false;               // allow network addresses without keys
  bool admits_admin_without_key = false;  // else kAdmin is refused without keys
  bool logs_requests = true;
  Limits limits = {};
  // With descriptors of others, which the loop's thread calls besides; they never wait. What their
  // Wakes have to say goes to their connections behind each. null: there are none.
  std::shared_ptr<Poller> poller = {};
};

class Server {
 public:
  // Opens the sockets. Refuses a network address without keys.
  static Result<std::unique_ptr<Server>> create(const ServerOptions& options,
                                                std::vector<Route> routes);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "http://127.0.0.1:8080", "https://[::1]:8443", "unix:/run/wick.sock".
  const std::vector<std::string>& addresses() const noexcept { return addresses_; }

  // Runs the loop on the calling thread. Returns after stop(), or after drain() when all requests
  // have ended or its time is over. Call once.
  void run(const std::stop_token& stop = {});

  void drain();  // no new connections; each ends after its running request
  void stop();   // immediately
  // Reads the files of keys and TLS again, and takes guard, limits and the switches of `options`,
  // for requests and connections to come; where it listens, workers and their queue stay. If
  // anything is wrong all stays as it is.
  Result<void> reload(const ServerOptions& options);

  Result<void> reload() { return reload(options_); }

  // Reads the key file again, which may have none now. If it is wrong all stays as it is.
  Result<void> reload_keys(const std::filesystem::path& key_file);

  // What reload() would say.
  Result<void> check(const ServerOptions& options) const;

  const Counters& counters() const noexcept { return site_->counters; }

 private:
  struct Accepting;
  struct Reloaded;

  explicit Server(const ServerOptions& options);

  Result<Reloaded> read_again(const ServerOptions& options) const;
  void accept(const Listener& listener);
  void admit(int fd, const Listener& listener);
  void on_wake(std::uint64_t number);
  void on_closed(Connection& connection);
  void begin_drain();
  void call_to_end();
  void check_drained();

  const ServerOptions options_;  // of the start
  std::string exposed_;          // an address that others than this machine reach
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Site> site_;
  std::shared_ptr<TlsContext> tls_;
  std::unique_ptr<Accepting> accepting_;
  std::vector<std::string> addresses_;
};

}  // namespace wick::http
