// What the tests of the transport share: a server on a free port with routes that a test steers,
// and a client that sends and reads raw bytes.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "http/reader.h"
#include "http/server.h"

namespace wick::http::test {

inline constexpr int kPatienceMs = 10'000;  // a test fails after it; it never waits for its end

// An event that a test awaits.
class Event {
 public:
  void set() {
    const std::lock_guard lock(mutex_);
    is_set_ = true;
    changed_.notify_all();
  }

  // Whether it came in time.
  bool wait(std::chrono::milliseconds patience = std::chrono::milliseconds(kPatienceMs)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return is_set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_set_ = false;
};

// What one route's Work does, and what became of it.
struct Script {
  std::mutex mutex;
  std::vector<std::string> pieces = {};  // to be written, each once
  std::shared_ptr<Wake> wake = {};
  bool is_done = false;     // after the pieces
  std::size_t endless = 0;  // > 0: pieces of so many bytes while there is room
  std::string beat = {};
  std::atomic<std::size_t> written = 0;
  std::vector<std::string> messages = {};
  Event started, gone, drained, blocked, release;

  void add(std::string piece) {
    const std::lock_guard lock(mutex);
    pieces.push_back(std::move(piece));
    if (wake != nullptr) wake->set();
  }

  void finish() {
    const std::lock_guard lock(mutex);
    is_done = true;
    if (wake != nullptr) wake->set();
  }
};

class ScriptedWork final : public Work {
 public:
  explicit ScriptedWork(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  ~ScriptedWork() override { script_->gone.set(); }

  State advance(Writer& out) override {
    script_->started.set();
    const std::lock_guard lock(script_->mutex);
    if (!std::exchange(has_begun_, true)) out.begin({.type = "text/event-stream"});
    while (script_->endless > 0 && out.room() > 0) {
      out.write(std::string(script_->endless, 'x'));
      script_->written += script_->endless;
    }
    while (!script_->pieces.empty() && out.room() > 0) {
      out.write(script_->pieces.front());
      script_->pieces.erase(script_->pieces.begin());
    }
    return script_->is_done && script_->pieces.empty() ? State::kDone : State::kWaits;
  }

  std::string_view heartbeat() const noexcept override { return script_->beat; }

  bool message(std::string text) override {
    const std::lock_guard lock(script_->mutex);
    if (text == "refuse me") return false;
    script_->pieces.push_back(cat("you said ", text));
    script_->messages.push_back(std::move(text));
    return true;
  }

  void drain() override {
    script_->drained.set();
    script_->add("last");
    script_->finish();
  }

 private:
  std::shared_ptr<Script> script_;
  bool has_begun_ = false;
};

inline std::vector<Route> scripted_routes(const std::shared_ptr<Script>& script) {
  const Handler stream = [script](const Request&, std::shared_ptr<Wake> wake) -> Reply {
    {
      const std::lock_guard lock(script->mutex);
      script->wake = std::move(wake);
    }
    return std::make_unique<ScriptedWork>(script);
  };
  const Handler block = [script, stream](const Request& request, std::shared_ptr<Wake> wake) {
    script->blocked.set();
    static_cast<void>(script->release.wait());
    return stream(request, std::move(wake));
  };
  const auto text = [](std::string_view body) {
    return [body](const Request&, const std::shared_ptr<Wake>&) -> Reply {
      return Response{.type = "text/plain", .body = std::string(body)};
    };
  };
  const Handler echo = [](Request request, const std::shared_ptr<Wake>&) -> Reply {
    return Response{.type = "text/plain", .body = std::move(request.body)};
  };
  const Handler show = [](const Request& request, const std::shared_ptr<Wake>&) -> Reply {
    return Response{.type = "text/plain",
                    .body = cat(request.path, "|", request.rest, "|", request.query, "|",
                                request.key_id, "|", request.tenant),
                    .headers = {{"x-client", std::to_string(request.client)}}};
  };
  return {{Access::kOpen, "GET", "/health", text("ok"), Where::kLoop},
          {Access::kOpen, "GET", "/page", text("page"), Where::kLoop},
          {Access::kInfer, "GET", "/v1/models", show, Where::kLoop},
          {Access::kInfer, "GET", "/files/*", show, Where::kLoop},
          {Access::kInfer, "POST", "/echo", echo},
          {Access::kInfer, "POST", "/infer", show},
          {Access::kInfer, "GET", "/stream", stream},
          {Access::kInfer, "POST", "/block", block},
          {Access::kInfer, "WEBSOCKET", "/ws", stream, Where::kLoop},
          {Access::kAdmin, "POST", "/admin", show},
          {Access::kAdmin, "DELETE", "/admin", show}};
}

struct Answer {
  int status = 0;
  std::string head = {}, body = {};

  // The value of a header, empty if it is not there.
  std::string header(std::string_view name) const {
    const std::string wanted = cat("\r\n", name, ": ");
    const std::size_t at = head.find(wanted);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + wanted.size();
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

class RawClient {
 public:
  // `from`: the last byte of its own address, 127.0.0.from.
  explicit RawClient(int port, int receive_bytes = 0, std::uint32_t from = 1) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_bytes > 0)
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + from - 1);
    if (from != 1) ::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }

  explicit RawClient(const std::string& unix_path) {
    fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, unix_path.data(), unix_path.size());
    is_connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }

  ~RawClient() { close(); }

  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool is_connected() const noexcept { return is_connected_; }

  int fd() const noexcept { return fd_; }

  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

  void reset() {  // RST instead of FIN
    const linger at_once{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close();
  }

  void end() { ::shutdown(fd_, SHUT_WR); }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  // More bytes into what has come; false at the end of the connection, or of patience.
  bool read_some() {
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kPatienceMs) != 1) {
      ADD_FAILURE() << "nothing came; so far: " << in_.substr(0, 500);
      return false;
    }
    std::array<char, 65536> block;
    const ssize_t n = ::recv(fd_, block.data(), block.size(), 0);
    if (n <= 0) return false;
    in_.append(block.data(), static_cast<std::size_t>(n));
    return true;
  }

  // What comes up to and with `mark`; all that came if the connection ends before.
  std::string read_until(std::string_view mark) {
    std::size_t at = 0;
    while ((at = in_.find(mark)) == std::string::npos) {
      if (!read_some()) return std::exchange(in_, {});
    }
    return take(at + mark.size());
  }

  std::string read_all() {
    while (read_some()) {
    }
    return std::exchange(in_, {});
  }

  std::string read_bytes(std::size_t n) {
    while (in_.size() < n) {
      if (!read_some()) break;
    }
    return take(std::min(n, in_.size()));
  }

  Answer read_answer(bool is_head = false) {
    Answer answer;
    answer.head = read_until("\r\n\r\n");
    if (answer.head.size() < 12 || !answer.head.starts_with("HTTP/1.1 ")) return answer;
    answer.status = std::atoi(answer.head.c_str() + 9);
    if (is_head || answer.status == 204 || answer.status == 100 || answer.status == 101)
      return answer;
    if (answer.header("transfer-encoding") == "chunked") {
      for (std::string chunk = read_chunk(); !chunk.empty(); chunk = read_chunk())
        answer.body += chunk;
    } else {
      answer.body = read_bytes(std::stoul(cat("0", answer.header("content-length"))));
    }
    return answer;
  }

  // One chunk of a stream; empty: the last.
  std::string read_chunk() {
    const std::string size = read_until("\r\n");
    const std::size_t n = std::strtoul(size.c_str(), nullptr, 16);
    std::string chunk = read_bytes(n + 2);
    return chunk.substr(0, std::min(n, chunk.size()));
  }

  Answer ask(std::string_view request) {
    send(request);
    return read_answer(request.starts_with("HEAD"));
  }

  // Whether the connection ends without another byte.
  bool is_ended() { return read_all().empty(); }

 private:
  std::string take(std::size_t n) {
    std::string front = in_.substr(0, n);
    in_.erase(0, n);
    return front;
  }

  int fd_ = -1;
  bool is_connected_ = false;
  std::string in_;
};

class TestServer {
 public:
  explicit TestServer(ServerOptions options = {}, std::vector<Route> more = {}) {
    if (options.listen.port == 8080) options.listen.port = 0;
    std::vector<Route> routes = scripted_routes(script_);
    for (Route& route : more)
      routes.push_back(std::move(route));
    auto server = Server::create(options, std::move(routes));
    EXPECT_TRUE(server) << (server ? "" : to_string(server.error()));
    if (!server) std::abort();
    server_ = *std::move(server);
    const std::string& address = server_->addresses().front();
    port_ = std::atoi(address.c_str() + address.rfind(':') + 1);
    thread_ = std::thread([this] {
      server_->run();
      ended_.set();
    });
  }

  ~TestServer() {
    script_->release.set();
    server_->stop();
    if (thread_.joinable()) thread_.join();
  }

  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  int port() const noexcept { return port_; }

  Server& operator*() noexcept { return *server_; }

  Server* operator->() noexcept { return server_.get(); }

  Script& script() noexcept { return *script_; }

  bool has_ended(std::chrono::milliseconds patience = std::chrono::milliseconds(kPatienceMs)) {
    return ended_.wait(patience);
  }

  Answer ask(std::string_view request) { return RawClient(port_).ask(request); }

 private:
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  std::unique_ptr<Server> server_;
  int port_ = 0;
  Event ended_;
  std::thread thread_;
};

// "GET /health HTTP/1.1" with host and these headers, each ending in CRLF.
inline std::string request(std::string_view line, std::string_view headers = {},
                           std::string_view body = {}) {
  return cat(line, " HTTP/1.1\r\nhost: localhost\r\n", headers,
             body.empty() ? std::string() : cat("content-length: ", body.size(), "\r\n"), "\r\n",
             body);
}

inline std::string post(std::string_view path, std::string_view body,
                        std::string_view headers = {}) {
  return request(cat("POST ", path), cat("content-type: application/json\r\n", headers), body);
}

}  // namespace wick::http::test
