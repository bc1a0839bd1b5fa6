// Listening sockets: addresses with a port, Unix sockets, and sockets passed by a service manager
// (LISTEN_FDS). Any thread. The destructor closes them and removes the Unix sockets that it
// created.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace wick::http {

struct ListenOptions {
  std::vector<std::string> hosts = {};  // names or addresses; "0.0.0.0" and "::" are all of them
  int port = 0;                         // 0: any that is free
  std::vector<std::string> unix_paths = {};
  bool takes_activated = false;  // the sockets of LISTEN_FDS, if they are this process's
};

struct Listener {
  int fd = -1;
  std::string address = {};  // "127.0.0.1:8080", "[::1]:8080", "unix:/run/wick.sock"
  bool is_unix = false;
  bool is_loopback = false;  // or a Unix socket: not reachable from a network
};

class Listeners {
 public:
  static Result<Listeners> open(const ListenOptions& options);

  Listeners(Listeners&& other) noexcept
      : all_(std::move(other.all_)), made_(std::move(other.made_)) {
    other.all_.clear();
    other.made_.clear();
  }

  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;

  ~Listeners() { close(); }

  const std::vector<Listener>& all() const noexcept { return all_; }

  void close() noexcept;

 private:
  struct Made {
    std::string path;
    std::uint64_t inode;
  };

  Listeners() = default;
  Result<void> add_host(const std::string& host, int port);
  Result<void> add_unix(const std::string& path);
  Result<void> add_activated();

  std::vector<Listener> all_;
  std::vector<Made> made_;
};

// "192.168.1.5" of the end of a connected socket: its own, or its peer's. Empty for Unix sockets.
std::string address_of(int fd, bool is_peer);

}  // namespace wick::http
