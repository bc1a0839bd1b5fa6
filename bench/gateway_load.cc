// The API behind the gateways of bench/against_gateways, and the clients in front of them, both on
// one epoll in one thread: what they cost themselves is small beside a gateway.
//
//   bench_gateway_load api                                prints its port
//   bench_gateway_load clients PORT COUNT SECONDS HEADERS BODY
//     COUNT connections ask one request after another; prints
//     {"us": [p50, p99], "requests": N, "errors": N}
//
// The API answers OpenAI's chat completions: "Hello." at once or, if the prompt says `wait A to B
// ms`, after a time in between, with the times at which it had the request and sent the answer
// (CLOCK_MONOTONIC, ns). The clients subtract this time, so what they print is not the API's.
// `pace N x M ms` streams N pieces, one each M ms; a piece is the time at which it was sent.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

using Ns = std::int64_t;
constexpr Ns kMs = 1'000'000;

Ns now() {
  timespec t = {};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 * kMs + t.tv_nsec;
}

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

// The first number of `text`, which then starts behind it.
std::optional<Ns> number(std::string_view& text) {
  const std::size_t from = text.find_first_of("0123456789");
  if (from == text.npos) return {};
  Ns value = 0;
  const char* end = std::from_chars(text.data() + from, text.data() + text.size(), value).ptr;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// A message's head and body, or nothing while it is not complete; it is taken off `bytes`.
struct Message {
  std::string head, body;
};

std::optional<Message> take_message(std::string& bytes) {
  const std::size_t head_end = bytes.find("\r\n\r\n");
  if (head_end == bytes.npos) return {};
  Message out{.head = bytes.substr(0, head_end), .body = {}};
  std::size_t at = head_end + 4;
  const auto field = [&](const char* name) {
    const char* found = strcasestr(out.head.c_str(), name);
    return found ? std::string_view(found + std::strlen(name)) : std::string_view();
  };
  if (std::string_view length = field("\r\ncontent-length:"); !length.empty()) {
    const auto size = static_cast<std::size_t>(number(length).value_or(0));
    if (bytes.size() - at < size) return {};
    out.body = bytes.substr(at, size);
    at += size;
  } else if (!field("\r\ntransfer-encoding: chunked").empty()) {
    for (std::size_t size = 1; size;) {
      const std::size_t line = bytes.find("\r\n", at);
      if (line == bytes.npos) return {};
      size = std::strtoul(bytes.c_str() + at, nullptr, 16);
      if (bytes.size() < line + 2 + size + 2) return {};
      out.body.append(bytes, line + 2, size);
      at = line + 2 + size + 2;
    }
  }
  bytes.erase(0, at);
  return out;
}

// Whether the peer is still there; what it sent stands behind `bytes`.
bool receive(int fd, std::string& bytes) {
  std::array<char, 65536> piece;
  const ssize_t n = recv(fd, piece.data(), piece.size(), 0);
  if (n > 0) bytes.append(piece.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

// Messages are short: a socket that does not take one at once is a failure.
bool send_all(int fd, std::string_view bytes) {
  return send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

void no_delay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

class Epoll {
 public:
  void add(int fd) {
    epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};
    if (epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
  }
  // Sockets with bytes to read; none after `until` (0: no end).
  std::vector<int> wait(Ns until) {
    const Ns left = std::max<Ns>(until - now(), 0);
    const timespec time = {.tv_sec = left / (1000 * kMs), .tv_nsec = left % (1000 * kMs)};
    std::array<epoll_event, 128> events;
    const int n = epoll_pwait2(fd_, events.data(), events.size(), until ? &time : nullptr, nullptr);
    std::vector<int> out;
    for (int i = 0; i < n; ++i)
      out.push_back(events[static_cast<std::size_t>(i)].data.fd);
    return out;
  }

 private:
  int fd_ = epoll_create1(EPOLL_CLOEXEC);
};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in out = {};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

class Api {
 public:
  void run() {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    auto* its = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_, its, size) != 0 || listen(listener_, 1024) != 0) fail("listen");
    getsockname(listener_, its, &size);
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
    epoll_.add(listener_);
    for (;;) {
      for (const int fd : epoll_.wait(due_.empty() ? 0 : due_.begin()->first))
        fd == listener_ ? accept_one() : read(fd);
      while (!due_.empty() && due_.begin()->first <= now()) {
        const Due next = due_.begin()->second;
        due_.erase(due_.begin());
        if (connections_.contains(next.fd) && connections_[next.fd].id == next.id) send_due(next);
      }
    }
  }

 private:
  struct Connection {
    std::uint64_t id = 0;
    std::string bytes;
  };
  // An answer, or the next of `pieces` pieces of a stream and then its end.
  struct Due {
    int fd = 0;
    std::uint64_t id = 0;
    Ns had = 0;
    bool stream = false;
    Ns pieces = 0, every = 0, at = 0;
  };

  static constexpr std::string_view kUsage =
      R"("usage":{"prompt_tokens":12,"completion_tokens":2,"total_tokens":14})";

  static std::string headed(std::string_view type, const std::string& body) {
    return "HTTP/1.1 200 OK\r\nContent-Type: " + std::string(type) +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  static std::string answer(const std::string& content) {
    return headed("application/json",
                  R"({"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m",)" +
                      std::string(kUsage) + R"(,"choices":[{"index":0,"finish_reason":"stop",)" +
                      R"("message":{"role":"assistant","content":")" + content + R"("}}]})");
  }
  // One event of a stream as a chunk of HTTP.
  static std::string chunk(const std::string& members) {
    const std::string event =
        R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m",)" +
        members + "}\n\n";
    return chunked(event);
  }
  static std::string chunked(const std::string& text) {
    std::array<char, 16> size;
    std::snprintf(size.data(), size.size(), "%zx\r\n", text.size());
    return size.data() + text + "\r\n";
  }
  static std::string piece(const std::string& content) {
    return chunk(R"("choices":[{"index":0,"delta":{"content":")" + content +
                 R"("},"finish_reason":null}])");
  }
  static std::string stream_end() {
    return chunk(R"("choices":[{"index":0,"delta":{},"finish_reason":"stop"}])") +
           chunk(R"("choices":[],)" + std::string(kUsage)) + chunked("data: [DONE]\n\n") +
           "0\r\n\r\n";
  }

  void accept_one() {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    no_delay(fd);
    connections_[fd] = {.id = ++ids_, .bytes = {}};
    epoll_.add(fd);
  }

  void close_one(int fd) {
    connections_.erase(fd);
    close(fd);
  }

  void read(int fd) {
    Connection& its = connections_[fd];
    if (!receive(fd, its.bytes)) return close_one(fd);
    while (const auto message = take_message(its.bytes))
      if (!answered(fd, its.id, message->body)) return close_one(fd);
  }

  bool answered(int fd, std::uint64_t id, const std::string& body) {
    Due due{.fd = fd, .id = id, .had = now()};
    if (const std::size_t pace = body.find("pace "); pace != body.npos) {
      std::string_view text = std::string_view(body).substr(pace);
      due.pieces = number(text).value_or(0);
      due.every = number(text).value_or(1) * kMs;
      due.stream = true;
      due.at = due.had + due.every;
      due_.emplace(due.at, due);
      return send_all(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                          "Transfer-Encoding: chunked\r\n\r\n");
    }
    const std::size_t wait = body.find("wait ");
    if (wait == body.npos) return send_all(fd, hello_);
    std::string_view text = std::string_view(body).substr(wait);
    const Ns from = number(text).value_or(0) * kMs;
    const Ns to = number(text).value_or(0) * kMs;
    due.at = due.had + std::uniform_int_distribution<Ns>(from, std::max(from, to))(random_);
    due_.emplace(due.at, due);
    return true;
  }

  void send_due(Due due) {
    const Ns sent = now();
    if (!due.stream) {
      const std::string text = std::to_string(due.had) + " " + std::to_string(sent);
      if (!send_all(due.fd, answer(text))) close_one(due.fd);
      return;
    }
    if (!send_all(due.fd, due.pieces ? piece(std::to_string(sent) + " ") : stream_end()))
      return close_one(due.fd);
    if (due.pieces-- == 0) return;
    due.at += due.every;
    due_.emplace(due.at, due);
  }

  int listener_ = -1;
  Epoll epoll_;
  std::uint64_t ids_ = 0;
  std::unordered_map<int, Connection> connections_;
  std::multimap<Ns, Due> due_;
  std::mt19937_64 random_{1};
  const std::string hello_ = answer("Hello.");
};

class Clients {
 public:
  Clients(std::uint16_t port, int count, const std::string& headers, const std::string& body)
      : request_("POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                 "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" +
                 body),
        port_(port) {
    for (int i = 0; i < count; ++i)
      open();
  }

  void run(double seconds) {
    constexpr double kWarmUp = 0.3;
    const Ns begin = now() + static_cast<Ns>(kWarmUp * 1e9);
    const Ns end = begin + static_cast<Ns>(seconds * 1e9);
    bool warm = false;
    while (now() < end) {
      for (const int fd : epoll_.wait(end))
        read(fd);
      if (warm || now() < begin) continue;
      warm = true;
      us_.clear();
      errors_ = 0;
    }
  }

  void print() {
    std::sort(us_.begin(), us_.end());
    const auto at = [&](std::size_t share) {
      return us_.empty() ? 0.0 : us_[us_.size() * share / 100];
    };
    std::printf(R"({"us": [%.1f, %.1f], "requests": %zu, "errors": %zu})" "\n", at(50), at(99),
                us_.size(), errors_);
  }

 private:
  struct Connection {
    std::string bytes;
    Ns sent = 0;
  };

  void open() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port_);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      fail("connect");
    no_delay(fd);
    epoll_.add(fd);
    ask(fd);
  }

  void ask(int fd) {
    connections_[fd].sent = now();
    if (!send_all(fd, request_)) fail("send");
  }

  void read(int fd) {
    Connection& its = connections_[fd];
    if (!receive(fd, its.bytes)) {
      ++errors_;
      connections_.erase(fd);
      close(fd);
      return open();
    }
    const auto message = take_message(its.bytes);
    if (!message) return;
    const Ns took = now() - its.sent;
    const std::optional<Ns> api = time_of_api(*message);
    if (api) us_.push_back(static_cast<double>(took - *api) / 1e3);
    if (!api) ++errors_;
    ask(fd);
  }

  // Of the answer's content, "Hello." or the two times; nothing if it has another one.
  static std::optional<Ns> time_of_api(const Message& message) {
    if (message.head.compare(8, 4, " 200") != 0) return {};
    const std::size_t at = message.body.find(R"("content":)");
    if (at == std::string::npos) return {};
    std::string_view content = std::string_view(message.body).substr(at + 10);
    content = content.substr(std::min(content.size(), content.find('"') + 1));
    content = content.substr(0, content.find('"'));
    if (content == "Hello.") return 0;
    const auto had = number(content), sent = number(content);
    if (!had || !sent) return {};
    return *sent - *had;
  }

  std::string request_;
  std::uint16_t port_;
  Epoll epoll_;
  std::unordered_map<int, Connection> connections_;
  std::vector<double> us_;
  std::size_t errors_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  prctl(PR_SET_TIMERSLACK, 1);
  if (argc == 2 && std::strcmp(argv[1], "api") == 0) {
    Api().run();
  } else if (argc == 7 && std::strcmp(argv[1], "clients") == 0) {
    Clients clients(static_cast<std::uint16_t>(std::atoi(argv[2])), std::atoi(argv[3]), argv[5],
                    argv[6]);
    clients.run(std::atof(argv[4]));
    clients.print();
  } else {
    std::fprintf(stderr, "usage: api | clients PORT COUNT SECONDS HEADERS BODY\n");
    return 2;
  }
}
