#include "route/redis.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/strings.h"

namespace wick::route {

namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kConnectNs = 1000 * kMs, kCommandNs = 500 * kMs, kReconnectNs = 1000 * kMs;
// What a reply may have: more is not from a Redis that wick talks to.
constexpr std::size_t kMaxLine = 4096, kMaxText = std::size_t{64} << 20U;
constexpr std::int64_t kMaxItems = 4096;
constexpr int kMaxDepth = 4;

Error unavailable(std::string_view what) {
  return {
      .code = ErrorCode::kUnavailable,
      .id = "redis_unavailable",
      .message = cat("Redis: ", printable(what, 300)),
      .hint = "start Redis, or check `store` in config.toml; wick serve tries it again by itself"};
}

Error bad_uri() {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_setting",
          .message =
              "the URI of Redis is not redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE] or "
              "redis+unix:///PATH"};
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 6 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Waits for the socket; false at the deadline.
bool wait_for(int fd, short events, std::int64_t deadline_ns) {
  for (;;) {
    const std::int64_t left = deadline_ns - monotonic_ns();
    if (left <= 0) return false;
    ::pollfd one{.fd = fd, .events = events, .revents = 0};
    const int n = ::poll(&one, 1, static_cast<int>((left + kMs - 1) / kMs));
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return false;
  }
}

// The socket, connected; -1 if it cannot be.
int connect_to(const sockaddr* address, socklen_t size, int family, std::int64_t deadline_ns) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const int one = 1;
  if (family != AF_UNIX) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  bool is_connected = ::connect(fd, address, size) == 0;
  if (!is_connected && errno == EINPROGRESS && wait_for(fd, POLLOUT, deadline_ns)) {
    int error = 0;
    socklen_t length = sizeof error;
    is_connected = ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
  }
  if (is_connected) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

Result<std::unique_ptr<Redis>> Redis::open(const std::string& uri, std::string meanwhile) {
  constexpr std::string_view kTcp = "redis://", kUnix = "redis+unix://";
  std::unique_ptr<Redis> redis(new Redis);
  redis->meanwhile_ = std::move(meanwhile);
  std::string_view rest = uri;
  if (rest.starts_with(kUnix)) {
    redis->path_ = rest.substr(kUnix.size());
    if (!redis->path_.starts_with('/') || redis->path_.size() >= sizeof(sockaddr_un::sun_path))
      return bad_uri();
    return redis;
  }
  if (!rest.starts_with(kTcp)) return bad_uri();
  rest.remove_prefix(kTcp.size());
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view who = rest.substr(0, at);
    const std::size_t colon = who.find(':');
    if (colon == std::string_view::npos) return bad_uri();
    redis->user_ = who.substr(0, colon);
    redis->password_ = who.substr(colon + 1);
    rest.remove_prefix(at + 1);
  }
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    redis->database_ = rest.substr(slash + 1);
    if (!redis->database_.empty() && !is_number(redis->database_)) return bad_uri();
    rest = rest.substr(0, slash);
  }
  const std::size_t bracket = rest.rfind(']');  // "[::1]:6379"
  const std::size_t colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    redis->port_ = rest.substr(colon + 1);
    if (!is_number(redis->port_)) return bad_uri();
    rest = rest.substr(0, colon);
  }
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  redis->host_ = rest;
  if (redis->host_.empty()) return bad_uri();
  return redis;
}

Redis::~Redis() {
  close();
}

void Redis::close() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  received_.clear();
  at_ = 0;
}

Result<int> Redis::connect_socket() const {
  if (!path_.empty()) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::copy(path_.begin(), path_.end(), address.sun_path);
    const int fd = connect_to(reinterpret_cast<const sockaddr*>(&address), sizeof address, AF_UNIX,
                              deadline_ns_);
    if (fd >= 0) return fd;
    return unavailable(cat("no connection to ", path_));
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host_.c_str(), port_.c_str(), &hints, &found);
  if (error != 0) return unavailable(cat(host_, ": ", ::gai_strerror(error)));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const int fd = connect_to(one->ai_addr, one->ai_addrlen, one->ai_family, deadline_ns_);
    if (fd >= 0) return fd;
  }
  return unavailable(cat("no connection to ", host_, ":", port_));
}

Result<void> Redis::connect() {
  if (fd_ >= 0) return {};
  const std::int64_t now = monotonic_ns();
  if (now < retry_ns_) return unavailable("it did not answer a moment ago");
  retry_ns_ = now + kReconnectNs;
  deadline_ns_ = now + kConnectNs;
  WICK_TRY(fd_, connect_socket());
  if (!password_.empty()) {
    auto done = user_.empty() ? command({"AUTH", password_}) : command({"AUTH", user_, password_});
    WICK_DO(done);
  }
  if (!database_.empty()) WICK_DO(command({"SELECT", database_}));
  retry_ns_ = 0;
  return {};
}

Result<RedisReply> Redis::run(std::initializer_list<std::string_view> words) {
  const std::lock_guard lock(mutex_);
  auto reply = try_run(words);
  if (!reply && !was_told_ && !meanwhile_.empty())
    log_message(LogLevel::kWarning, cat(to_string(reply.error()), "; ", meanwhile_));
  was_told_ = !reply;
  return reply;
}

Result<RedisReply> Redis::try_run(std::initializer_list<std::string_view> words) {
  auto connected = connect();
  if (!connected) {
    close();
    return std::move(connected).error();
  }
  deadline_ns_ = monotonic_ns() + kCommandNs;
  return command(words);
}

// An error that the server tells leaves the connection as it is; any other closes it.
Result<RedisReply> Redis::command(std::initializer_list<std::string_view> words) {
  std::string bytes = cat("*", words.size(), "\r\n");
  for (const std::string_view word : words)
    bytes += cat("$", word.size(), "\r\n", word, "\r\n");
  auto sent = send_all(bytes);
  auto reply = sent ? read(0) : Result<RedisReply>(std::move(sent).error());
  received_.erase(0, at_);
  at_ = 0;
  if (!reply && reply.error().id == "redis_error") return unavailable(reply.error().message);
  if (!reply) {
    close();
    retry_ns_ = monotonic_ns() + kReconnectNs;
  }
  return reply;
}

Result<void> Redis::send_all(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EAGAIN) {
      if (!wait_for(fd_, POLLOUT, deadline_ns_)) return unavailable("it does not answer");
    } else if (n == 0 || errno != EINTR) {
      return unavailable("the connection ended");
    }
  }
  return {};
}

Result<void> Redis::receive() {
  for (;;) {
    char bytes[16'384];
    const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
    if (n > 0) {
      received_.append(bytes, static_cast<std::size_t>(n));
      return {};
    }
    if (n < 0 && errno == EAGAIN) {
      if (!wait_for(fd_, POLLIN, deadline_ns_)) return unavailable("it does not answer");
    } else if (n == 0 || errno != EINTR) {
      return unavailable("the connection ended");
    }
  }
}

Result<std::string> Redis::line() {
  for (;;) {
    const std::size_t end = received_.find("\r\n", at_);
    if (end != std::string::npos) {
      std::string text = received_.substr(at_, end - at_);
      at_ = end + 2;
      return text;
    }
    if (received_.size() - at_ > kMaxLine) return unavailable("a line of its reply is too long");
    WICK_DO(receive());
  }
}

Result<RedisReply> Redis::read(int depth) {
  WICK_TRY(const std::string head, line());
  const char kind = head.empty() ? '\0' : head.front();
  RedisReply reply{.text = head.substr(std::min<std::size_t>(1, head.size()))};
  if (kind == '-') return Error{.id = "redis_error", .message = reply.text};
  if (kind == '+') return reply;
  const char* const end = reply.text.data() + reply.text.size();
  const auto read_number = std::from_chars(reply.text.data(), end, reply.integer);
  const bool is_number = read_number.ec == std::errc() && read_number.ptr == end;
  const bool is_known = kind == ':' || kind == '$' || kind == '*';
  if (!is_number || !is_known || depth > kMaxDepth) return unavailable("a reply that is none");
  if (kind == ':') return reply;
  reply.text.clear();
  const std::int64_t size = std::exchange(reply.integer, 0);
  reply.is_nil = size < 0;
  if (reply.is_nil) return reply;
  if (kind == '$') {
    if (static_cast<std::uint64_t>(size) > kMaxText) return unavailable("a reply is too long");
    const auto n = static_cast<std::size_t>(size);
    while (received_.size() - at_ < n + 2)
      WICK_DO(receive());
    reply.text = received_.substr(at_, n);
    at_ += n + 2;
    return reply;
  }
  if (size > kMaxItems) return unavailable("a reply is too long");
  for (std::int64_t i = 0; i < size; ++i) {
    WICK_TRY(RedisReply item, read(depth + 1));
    reply.items.push_back(std::move(item));
  }
  return reply;
}

}  // namespace wick::route
