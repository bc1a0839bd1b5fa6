#include "http/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <random>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/strings.h"
#include "http/connection.h"

namespace wick::http {

namespace {

constexpr int kAcceptsAtOnce = 64;             // then others of the loop have their turn
constexpr std::int64_t kNoDescriptorMs = 100;  // until the next try
constexpr int kNotSentBytes = 128 << 10;       // in the kernel, of one connection

// Connections of one machine are counted together; of IPv6 those of one network (/64).
std::string counted_address(const std::string& ip) {
  if (ip.find(':') == std::string::npos) return ip;
  in6_addr bytes = {};
  if (::inet_pton(AF_INET6, ip.c_str(), &bytes) != 1) return ip;
  return {reinterpret_cast<const char*>(&bytes), 8};
}

void set_up_socket(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));  // a machine that is gone
  // What a client does not take waits here, where it is counted, not in the kernel.
  ::setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kNotSentBytes, sizeof(kNotSentBytes));
}

// The address that others reach, empty if none does.
std::string exposed_address(const Listeners& listeners) {
  for (const Listener& listener : listeners.all()) {
    if (!listener.is_loopback) return listener.address;
  }
  return {};
}

Result<void> check_exposure(const ServerOptions& options, const std::string& address) {
  if (address.empty() || !options.key_file.empty() || options.is_insecure) return {};
  return Error{.code = ErrorCode::kInvalid,
               .id = "exposed_without_keys",
               .message = cat("everybody on the network could use the server at ", address,
                              ", for it has no keys"),
               .hint =
                   "make one (wick key create --api-key-file FILE) and name its file with "
                   "--api-key-file, or "
                   "listen on --host 127.0.0.1; --insecure does it all the same"};
}

// `hosts`: what the server was told to listen on.
Result<Guard> make_guard(GuardOptions rules, const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    if (host == "0.0.0.0" || host == "::") continue;  // no name: a page may try it as one
    rules.hosts.push_back(host.find(':') == std::string::npos ? host : cat("[", host, "]"));
  }
  return Guard::create(rules);
}

Result<std::shared_ptr<const Keys>> load_keys(const std::filesystem::path& path,
                                              bool may_be_empty = false) {
  if (path.empty()) return std::shared_ptr<const Keys>();
  WICK_TRY(Keys keys, Keys::load(path, may_be_empty));
  return std::shared_ptr<const Keys>(std::make_shared<const Keys>(std::move(keys)));
}

}  // namespace

struct Server::Accepting {
  explicit Accepting(Listeners its_listeners) : listeners(std::move(its_listeners)) {}

  Listeners listeners;
  std::vector<std::unique_ptr<Watch>> watches;
  std::unique_ptr<Timer> retry, last_call, drained;
  std::set<std::shared_ptr<Connection>> connections;
  std::set<std::shared_ptr<Connection>> closed;  // by the handler that runs now
  std::unordered_map<std::string, int> by_address;
  std::set<const Connection*> refused;
};

Result<std::unique_ptr<Server>> Server::create(const ServerOptions& options,
                                               std::vector<Route> routes) {
  auto server = std::unique_ptr<Server>(new Server(options));
  WICK_TRY(Listeners listeners, Listeners::open(options.listen));
  server->exposed_ = exposed_address(listeners);
  WICK_DO(check_exposure(options, server->exposed_));
  WICK_TRY(Guard guard, make_guard(options.guard, options.listen.hosts));
  WICK_TRY(server->loop_, Loop::create(options.poller));
  server->site_ = std::make_unique<Site>(*server->loop_, std::move(guard), std::move(routes));
  Site& site = *server->site_;
  site.limits = options.limits;
  site.admits_admin_without_key = options.admits_admin_without_key;
  site.logs_requests = options.logs_requests;
  std::random_device random;
  site.seed = std::uint64_t{random()} << 32 | random();
  WICK_TRY(site.keys, load_keys(options.key_file));
  if (options.tls.is_set()) {
    WICK_TRY(server->tls_, open_tls(options.tls));
  }
  WICK_TRY(site.workers,
           Workers::start(options.limits.workers, static_cast<std::size_t>(options.limits.queued)));
  WICK_TRY(
      site.slow_workers,
      Workers::start(kSlowWorkers, static_cast<std::size_t>(options.limits.queued), kSlowNiceness));
  site.on_closed = [raw = server.get()](Connection& connection) { raw->on_closed(connection); };
  for (const Listener& listener : listeners.all()) {
    const char* const scheme = listener.is_unix ? "" : server->tls_ ? "https://" : "http://";
    server->addresses_.push_back(cat(scheme, listener.address));
  }
  server->accepting_ = std::make_unique<Accepting>(std::move(listeners));
  return server;
}

Server::Server(const ServerOptions& options) : options_(options) {}

Server::~Server() {
  if (accepting_ == nullptr) return;  // create() failed
  accepting_->watches.clear();
  while (!accepting_->connections.empty())
    std::shared_ptr<Connection>(*accepting_->connections.begin())->close();
  accepting_->retry.reset();
  accepting_->last_call.reset();
  accepting_->drained.reset();
  site_->workers.reset();
  site_->slow_workers.reset();
  loop_->finish();  // replies that nobody waits for, handlers of what was closed
}

void Server::run(const std::stop_token& stop) {
  const std::stop_callback on_stop(stop, [this] { this->stop(); });
  for (const Listener& listener : accepting_->listeners.all()) {
    accepting_->watches.push_back(
        std::make_unique<Watch>(*loop_, listener.fd, [this, listener] { accept(listener); }));
  }
  accepting_->last_call = std::make_unique<Timer>(*loop_, [this] { call_to_end(); });
  accepting_->drained = std::make_unique<Timer>(*loop_, [this] { this->stop(); });
  loop_->run({.on_wake = [this](std::uint64_t number) { on_wake(number); },
              .behind_each = [this] { accepting_->closed.clear(); }});
  accepting_->watches.clear();
  accepting_->listeners.close();
  while (!accepting_->connections.empty())
    std::shared_ptr<Connection>(*accepting_->connections.begin())->close();
}

void Server::on_wake(std::uint64_t number) {
  const auto found = site_->under_way.find(number);
  if (found != site_->under_way.end()) found->second->on_wake();
}

void Server::accept(const Listener& listener) {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    const int fd = ::accept4(listener.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      admit(fd, listener);
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    // No descriptor, no memory: the kernel's queue holds them for a while.
    log_message(LogLevel::kWarning, cat("no connection can be accepted: ", std::strerror(errno)));
    accepting_->watches.clear();
    accepting_->retry = std::make_unique<Timer>(*loop_, [this] {
      for (const Listener& again : accepting_->listeners.all()) {
        accepting_->watches.push_back(
            std::make_unique<Watch>(*loop_, again.fd, [this, again] { accept(again); }));
      }
    });
    accepting_->retry->set(monotonic_ns() + kNoDescriptorMs * kNsPerMs);
    return;
  }
}

void Server::admit(int fd, const Listener& listener) {
  Peer peer;
  if (!listener.is_unix) {
    set_up_socket(fd);
    peer.local = address_of(fd, false);
    peer.counted = counted_address(address_of(fd, true));
    peer.client = std::max<std::uint64_t>(1, std::hash<std::string>()(peer.counted) ^ site_->seed);
  }
  const Limits& limits = site_->limits;
  const std::size_t n_served = accepting_->connections.size() - accepting_->refused.size();
  const bool is_many = n_served >= static_cast<std::size_t>(limits.connections);
  const bool is_much = !peer.counted.empty() && accepting_->by_address.contains(peer.counted) &&
                       accepting_->by_address[peer.counted] >= limits.connections_per_address;
  const bool is_refused = is_many || is_much;
  if (is_refused) {
    site_->counters.refused.fetch_add(1, std::memory_order_relaxed);
    const bool has_tls = tls_ != nullptr && !listener.is_unix;
    if (has_tls || accepting_->refused.size() >= std::size_t{kMaxRefused}) {
      ::close(fd);
      return;
    }
    peer.counted.clear();
  }
  auto stream = tls_ != nullptr && !listener.is_unix ? tls_stream(*loop_, fd, tls_)
                                                     : plain_stream(*loop_, fd);
  if (stream == nullptr) return;
  const auto connection = std::make_shared<Connection>(*site_, std::move(stream), std::move(peer));
  accepting_->connections.insert(connection);
  if (is_refused) {
    accepting_->refused.insert(connection.get());
    return connection->start_refused(
        {.status = 503,
         .code = "too_many_connections",
         .message = is_many ? "the server has as many connections as it can take; try again"
                            : "the server has as many connections of this address as it takes",
         .retry_after_s = 1});
  }
  if (!connection->peer().counted.empty()) ++accepting_->by_address[connection->peer().counted];
  site_->counters.connections.fetch_add(1, std::memory_order_relaxed);
  site_->counters.open.fetch_add(1, std::memory_order_relaxed);
  connection->start();
}

void Server::on_closed(Connection& connection) {
  const bool was_refused = accepting_->refused.erase(&connection) > 0;
  const auto count = accepting_->by_address.find(connection.peer().counted);
  if (count != accepting_->by_address.end() && --count->second == 0)
    accepting_->by_address.erase(count);
  if (!was_refused) site_->counters.open.fetch_sub(1, std::memory_order_relaxed);
  accepting_->closed.insert(accepting_->connections.extract(connection.shared_from_this()));
  check_drained();
}

void Server::drain() {
  loop_->post([this] { begin_drain(); });
}

void Server::begin_drain() {
  if (site_->drains()) return;
  accepting_->watches.clear();
  accepting_->retry.reset();
  accepting_->listeners.close();
  const Limits& limits = site_->limits;
  const std::int64_t now = monotonic_ns();
  accepting_->last_call->set(now + (limits.drain_ms - limits.last_call_ms) * kNsPerMs);
  accepting_->drained->set(now + limits.drain_ms * kNsPerMs);
  call_to_end();
}

void Server::call_to_end() {
  ++site_->drain_calls;
  const auto connections = accepting_->connections;  // each may leave it
  for (const auto& connection : connections)
    connection->drain();
  check_drained();
}

void Server::check_drained() {
  if (site_->drains() && accepting_->connections.empty()) stop();
}

void Server::stop() {
  loop_->stop();
}

struct Server::Reloaded {
  Guard guard;
  std::shared_ptr<TlsContext> tls;
  std::shared_ptr<const Keys> keys;
};

Result<Server::Reloaded> Server::read_again(const ServerOptions& options) const {
  WICK_DO(check_exposure(options, exposed_));
  WICK_TRY(Guard guard, make_guard(options.guard, options_.listen.hosts));
  if (options.tls.is_set() != options_.tls.is_set()) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "tls_at_start",
                 .message = "TLS cannot be switched on or off while the server runs",
                 .hint = "start it anew"};
  }
  Reloaded made{.guard = std::move(guard), .tls = {}, .keys = {}};
  if (options.tls.is_set()) {
    WICK_TRY(made.tls, open_tls(options.tls));
  }
  WICK_TRY(made.keys, load_keys(options.key_file));
  return made;
}

Result<void> Server::check(const ServerOptions& options) const {
  const auto made = read_again(options);
  return made ? Result<void>() : made.error();
}

Result<void> Server::reload(const ServerOptions& options) {
  WICK_TRY(Reloaded made, read_again(options));
  loop_->post([this, made = std::move(made), limits = options.limits,
               admits_admin = options.admits_admin_without_key, logs = options.logs_requests] {
    tls_ = made.tls;
    site_->keys = made.keys;
    site_->guard = made.guard;
    site_->limits = limits;
    site_->admits_admin_without_key = admits_admin;
    site_->logs_requests = logs;
  });
  return {};
}

Result<void> Server::reload_keys(const std::filesystem::path& key_file) {
  WICK_TRY(auto keys, load_keys(key_file, true));
  loop_->post([this, keys = std::move(keys)] { site_->keys = keys; });
  return {};
}

}  // namespace wick::http
