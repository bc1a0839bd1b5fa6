#include "http/listeners.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/printable.h"
#include "base/strings.h"
#include "http/limits.h"

namespace wick::http {

namespace {

constexpr int kFirstActivated = 3;  // sd_listen_fds(3)

Error no_listener(const std::string& where, std::string_view why, std::string hint) {
  return {.code = ErrorCode::kIo,
          .id = "no_listener",
          .message = cat("the server cannot listen on ", printable(where), ": ", why),
          .hint = std::move(hint)};
}

struct Socket {
  explicit Socket(int its_fd) : fd(its_fd) {}

  ~Socket() {
    if (fd >= 0) ::close(fd);
  }

  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int release() noexcept { return std::exchange(fd, -1); }

  int fd;
};

struct Address {
  sockaddr_storage storage = {};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* raw() noexcept { return reinterpret_cast<sockaddr*>(&storage); }

  int family() const noexcept { return storage.ss_family; }
};

std::string ip_of(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const void* bytes = nullptr;
  if (address.family() == AF_INET)
    bytes = &reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr;
  if (address.family() == AF_INET6)
    bytes = &reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr;
  if (bytes == nullptr) return {};
  return ::inet_ntop(address.family(), bytes, text.data(), text.size());
}

int port_of(const Address& address) {
  if (address.family() == AF_INET)
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
  return ntohs(reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port);
}

bool is_loopback_ip(const Address& address) {
  if (address.family() == AF_INET) {
    const auto* const v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
    return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
  }
  const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
  return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

// What a socket that listens is called, and who reaches it.
Listener describe(int fd) {
  Address address;
  ::getsockname(fd, address.raw(), &address.size);
  Listener listener{.fd = fd};
  if (address.family() == AF_UNIX) {
    const auto* const unix_address = reinterpret_cast<const sockaddr_un*>(&address.storage);
    const std::size_t n =
        address.size > sizeof(sa_family_t) ? address.size - sizeof(sa_family_t) : 0;
    std::string path(unix_address->sun_path, n);
    while (path.ends_with('\0'))
      path.pop_back();
    listener.address = cat("unix:", path);
    listener.is_unix = listener.is_loopback = true;
    return listener;
  }
  const std::string ip = ip_of(address);
  listener.address = address.family() == AF_INET6 ? cat("[", ip, "]:", port_of(address))
                                                  : cat(ip, ":", port_of(address));
  listener.is_loopback = is_loopback_ip(address);
  return listener;
}

// Nobody answers at the path any more: a server that ended without removing it.
bool is_stale(const sockaddr_un& address) {
  const Socket probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return ::connect(probe.fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
         errno == ECONNREFUSED;
}

}  // namespace

std::string address_of(int fd, bool is_peer) {
  Address address;
  const int failed = is_peer ? ::getpeername(fd, address.raw(), &address.size)
                             : ::getsockname(fd, address.raw(), &address.size);
  return failed != 0 ? std::string() : ip_of(address);
}

Result<void> Listeners::add_host(const std::string& host, int port) {
  const std::string where = cat(host, ":", port);
  addrinfo wanted = {};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &list);
  if (failed != 0) {
    return no_listener(where, ::gai_strerror(failed),
                       "--host 127.0.0.1, an address of this machine");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, &::freeaddrinfo);
  int n_opened = 0, reason = 0;
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    ::setsockopt(socket.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (at->ai_family == AF_INET6)
      ::setsockopt(socket.fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (socket.fd < 0 || ::bind(socket.fd, at->ai_addr, at->ai_addrlen) != 0 ||
        ::listen(socket.fd, kListenBacklog) != 0) {
      // A name may stand for an address that this machine has not (::1 without IPv6).
      if (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT) {
        return no_listener(where, std::strerror(errno),
                           errno == EADDRINUSE ? "another server has the port: --port 8081"
                                               : "choose another port: --port 8081");
      }
      reason = errno;
      continue;
    }
    all_.push_back(describe(socket.release()));
    ++n_opened;
  }
  if (n_opened == 0)
    return no_listener(where, std::strerror(reason),
                       "--host 127.0.0.1, an address of this machine");
  return {};
}

Result<void> Listeners::add_unix(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string hint = "--unix /run/user/1000/wick.sock, a path that can be made";
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return no_listener(path,
                       cat("the path has ", path.size(), " bytes, 1 to ",
                           sizeof(address.sun_path) - 1, " are allowed"),
                       hint);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  struct stat status = {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode))
      return no_listener(path, "there is a file that is no socket", hint);
    if (!is_stale(address)) return no_listener(path, "another server listens there", hint);
    ::unlink(path.c_str());
  }
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // The owner and the group may connect; nobody may in between.
  const mode_t before = ::umask(0117);
  const int failed =
      ::bind(socket.fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int why = errno;
  ::umask(before);
  if (failed != 0) return no_listener(path, std::strerror(why), hint);
  if (::lstat(path.c_str(), &status) == 0) made_.push_back({path, status.st_ino});
  if (::listen(socket.fd, kListenBacklog) != 0)
    return no_listener(path, std::strerror(errno), hint);
  all_.push_back(describe(socket.release()));
  return {};
}

// LISTEN_PID must be ours: a parent's variables mean the parent.
Result<void> Listeners::add_activated() {
  const auto number = [](const char* name) {
    const char* const text = std::getenv(name);
    long value = 0;
    if (text != nullptr) std::from_chars(text, text + std::strlen(text), value);
    return value;
  };
  if (number("LISTEN_PID") != ::getpid()) return {};
  const long n = number("LISTEN_FDS");
  ::unsetenv("LISTEN_PID");
  ::unsetenv("LISTEN_FDS");
  ::unsetenv("LISTEN_FDNAMES");
  for (int fd = kFirstActivated; fd < kFirstActivated + n && n <= kMaxListeners; ++fd) {
    int type = 0, listens = 0;
    socklen_t size = sizeof(int);
    if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM ||
        ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) {
      return no_listener(cat("descriptor ", fd), "the service manager gave no listening socket",
                         "a unit of systemd wants ListenStream=, and Accept=no");
    }
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    all_.push_back(describe(fd));
  }
  return {};
}

Result<Listeners> Listeners::open(const ListenOptions& options) {
  Listeners listeners;
  if (options.takes_activated) WICK_DO(listeners.add_activated());
  for (const std::string& host : options.hosts)
    WICK_DO(listeners.add_host(host, options.port));
  for (const std::string& path : options.unix_paths)
    WICK_DO(listeners.add_unix(path));
  if (listeners.all_.empty() || listeners.all_.size() > std::size_t{kMaxListeners}) {
    return no_listener("nothing",
                       cat("there are ", listeners.all_.size(), " addresses, 1 to ", kMaxListeners,
                           " are allowed"),
                       "--host 127.0.0.1");
  }
  return listeners;
}

void Listeners::close() noexcept {
  for (const Listener& listener : all_)
    ::close(listener.fd);
  all_.clear();
  for (const Made& made : made_) {  // unless somebody else has made it anew
    struct stat status = {};
    if (::lstat(made.path.c_str(), &status) == 0 && status.st_ino == made.inode)
      ::unlink(made.path.c_str());
  }
  made_.clear();
}

}  // namespace wick::http
