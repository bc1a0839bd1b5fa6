// An HTTP server on 127.0.0.1 whose answers are written down: the bytes of each, in pieces with
// pauses. It tells what was asked of it. One thread for each connection; ends with the object.
//
//   test::ScriptedUpstream upstream({{.bytes = {test::sse_head(), "data: {…}\n\n"}}});
//   upstream.url("/v1")   // "http://127.0.0.1:PORT/v1"
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace wick::test {

struct UpstreamAnswer {
  std::vector<std::string> bytes = {};  // written one after another
  int pause_ms = 0;                     // before each but the first
  bool stays_open = false;              // silent behind them, until the client leaves
  bool goes_on = false;  // the connection's next request is served as another connection's is
};

inline std::string http_head(std::string_view status, std::string_view type,
                             std::string_view more = {}) {
  std::string head = "HTTP/1.1 ";
  head.append(status).append("\r\nContent-Type: ").append(type).append("\r\n").append(more);
  return head.append("Connection: close\r\n\r\n");
}

inline std::string sse_head() {
  return http_head("200 OK", "text/event-stream");
}

class ScriptedUpstream {
 public:
  // Request i gets answer i, the last one again and again.
  explicit ScriptedUpstream(std::vector<UpstreamAnswer> answers) : answers_(std::move(answers)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    ::listen(listener_, 64);
    socklen_t size = sizeof(address);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { accept_all(); });
  }

  ~ScriptedUpstream() {
    is_over_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
    for (std::thread& one : served_)
      one.join();
  }

  ScriptedUpstream(const ScriptedUpstream&) = delete;
  ScriptedUpstream& operator=(const ScriptedUpstream&) = delete;

  std::string url(std::string_view path = {}) const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }

  std::vector<std::string> requests() {  // heads and bodies
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  int n_connections() const { return n_connections_; }

  int n_left() const { return n_left_; }  // connections that the client closed before their end

 private:
  void accept_all() {
    while (!is_over_) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      ++n_connections_;
      served_.emplace_back([this, fd] { serve(fd); });
    }
  }

  std::string read_request(int fd) {
    std::string text;
    std::size_t wanted = std::string::npos;
    char bytes[4096];
    while (text.size() < wanted) {
      const ssize_t n = ::recv(fd, bytes, sizeof(bytes), 0);
      if (n < 0 && errno == EAGAIN && !is_over_) continue;  // the timeout
      if (n <= 0) return text;
      text.append(bytes, static_cast<std::size_t>(n));
      const std::size_t end = text.find("\r\n\r\n");
      if (wanted != std::string::npos || end == std::string::npos) continue;
      const std::size_t at = text.find("Content-Length: ");
      wanted = end + 4 + (at == std::string::npos ? 0 : std::stoul(text.substr(at + 16)));
    }
    return text;
  }

  void serve(int fd) {
    const timeval timeout = {.tv_sec = 0, .tv_usec = 20'000};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));  // each piece at once
    while (serve_one(fd)) {
    }
    ::close(fd);
  }

  // Whether there may be another.
  bool serve_one(int fd) {
    std::string request = read_request(fd);
    if (request.empty()) return false;
    UpstreamAnswer answer;
    {
      const std::lock_guard lock(mutex_);
      answer = answers_[std::min(requests_.size(), answers_.size() - 1)];
      requests_.push_back(std::move(request));
    }
    bool is_first = true, has_left = false;
    for (const std::string& part : answer.bytes) {
      if (!is_first) std::this_thread::sleep_for(std::chrono::milliseconds(answer.pause_ms));
      is_first = false;
      for (std::size_t at = 0; at < part.size() && !has_left;) {
        const ssize_t n = ::send(fd, part.data() + at, part.size() - at, MSG_NOSIGNAL);
        has_left = n <= 0;
        at += has_left ? 0 : static_cast<std::size_t>(n);
      }
    }
    char byte;
    while (answer.stays_open && !has_left && !is_over_) {
      const ssize_t n = ::recv(fd, &byte, 1, MSG_DONTWAIT);
      has_left = n == 0 || (n < 0 && errno != EAGAIN);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    n_left_ += has_left;
    return answer.goes_on && !has_left && !is_over_;
  }

  const std::vector<UpstreamAnswer> answers_;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> is_over_ = false;
  std::atomic<int> n_left_ = 0, n_connections_ = 0;
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::vector<std::thread> served_;
  std::thread thread_;
};

}  // namespace wick::test
