// A connection is connecting, sending and reading for one job, or idle. An idle one stays watched:
// whatever comes on it (its end, nearly always) closes it. If a connection that was used before
// ends without a byte of the answer, its server had closed it meanwhile: the request is sent once
// more, over another one, as libcurl does.
#include "net/plain_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/strings.h"
#include "net/address.h"
#include "net/http.h"
#include "net/url.h"

namespace wick {

namespace {

namespace beast = boost::beast::http;
using boost::beast::error_code;

constexpr std::size_t kMaxIdlePlain = 256;
constexpr std::size_t kUsualHeadBytes = 512;  // of a request
constexpr std::int64_t kMaxIdleNs = 118'000'000'000;  // libcurl's; servers close sooner
constexpr std::string_view kScheme = "http://";

PlainTarget::Address of_ip(int family, const char* text, std::uint16_t port) {
  PlainTarget::Address out;
  if (family == AF_INET6) {
    sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    if (::inet_pton(AF_INET6, text, &address.sin6_addr) != 1) return out;
    std::memcpy(&out.bytes, &address, out.size = sizeof(address));
  } else {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    if (::inet_pton(AF_INET, text, &address.sin_addr) != 1) return out;
    std::memcpy(&out.bytes, &address, out.size = sizeof(address));
  }
  return out;
}

// "http://[::1]:8080" as parse_url() writes it. No addresses where a name has to be resolved.
std::vector<PlainTarget::Address> addresses_of(std::string_view origin) {
  const std::size_t colon = origin.rfind(':');
  std::uint16_t port = 0;
  std::from_chars(origin.data() + colon + 1, origin.data() + origin.size(), port);
  std::string host(origin.substr(kScheme.size(), colon - kScheme.size()));
  if (host == "localhost")  // in libcurl's order
    return {of_ip(AF_INET6, "::1", port), of_ip(AF_INET, "127.0.0.1", port)};
  const bool is_6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_6) host = host.substr(1, host.size() - 2);
  const auto address = of_ip(is_6 ? AF_INET6 : AF_INET, host.c_str(), port);
  if (address.size == 0) return {};
  return {address};
}

std::vector<PlainTarget::Address> unix_address(const std::string& path) {
  sockaddr_un address = {};
  if (path.size() >= sizeof(address.sun_path)) return {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  PlainTarget::Address out;
  std::memcpy(&out.bytes, &address, out.size = sizeof(address));
  return {out};
}

}  // namespace

// Hands the parts of an answer to its job. An error of its own makes the parser stop.
class PlainAnswer final : public beast::basic_parser<false> {
 public:
  explicit PlainAnswer(TransferJob& job) : job_(job) {
    eager(true);
    header_limit(static_cast<std::uint32_t>(kMaxHeaderBytes));
    body_limit(boost::none);  // the job counts
  }

  int status() const noexcept { return status_; }

  std::string_view refused() const noexcept { return refused_; }

 private:
  static void stop(error_code& error) { error = beast::error::need_buffer; }

  void refuse(std::string_view why, error_code& error) {
    refused_ = why;
    stop(error);
  }

  void on_request_impl(beast::verb /*verb*/, boost::beast::string_view /*method*/,
                       boost::beast::string_view /*target*/, int /*version*/,
                       error_code& /*error*/) override {}

  void on_response_impl(int code, boost::beast::string_view /*reason*/, int /*version*/,
                        error_code& error) override {
    status_ = code;
    job_.take_status(code);
    if (code < 100) return refuse("the answer's status is below 100", error);
    if (code == 101) refuse("the answer changes the protocol, which was not asked for", error);
  }

  void on_field_impl(beast::field field, boost::beast::string_view name,
                     boost::beast::string_view value, error_code& error) override {
    if (job_.is_head_sent) return;  // trailers
    const std::string_view its(value.data(), value.size());
    if (field == beast::field::transfer_encoding && ascii_lower(its) != "chunked")
      return refuse("the answer has a transfer-encoding other than chunked", error);
    if (field == beast::field::content_encoding && ascii_lower(its) != "identity")
      return refuse("the answer is compressed, which was not asked for", error);
    job_.take_header({name.data(), name.size()}, its);
  }

  void on_header_impl(error_code& /*error*/) override {
    if (status_ >= 200) job_.send_head();
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                         error_code& /*error*/) override {}

  std::size_t on_body_impl(boost::beast::string_view body, error_code& error) override {
    if (job_.give_body({body.data(), body.size()})) return body.size();
    stop(error);
    return 0;
  }

  void on_chunk_header_impl(std::uint64_t /*size*/, boost::beast::string_view /*extensions*/,
                            error_code& /*error*/) override {}

  std::size_t on_chunk_body_impl(std::uint64_t /*left*/, boost::beast::string_view body,
                                 error_code& error) override {
    return on_body_impl(body, error);
  }

  void on_finish_impl(error_code& /*error*/) override {}

  TransferJob& job_;
  int status_ = 0;
  std::string_view refused_ = {};
};

struct PlainConnection final : PolledSocket {
  PlainConnection(PlainHttp& its_http, TransferJob& its_job)
      : http(its_http), job(&its_job), target(its_job.target) {}

  void on_ready(std::uint32_t events) override { http.on_ready(*this, events); }

  bool is_sent() const noexcept { return n_sent == head.size() + job->request.body.size(); }

  PlainHttp& http;
  TransferJob* job;  // null: idle
  std::shared_ptr<const PlainTarget> target;
  int fd = -1;
  std::size_t n_tried = 0;  // addresses
  bool was_used = false, has_answer = false;
  std::int64_t idle_since = 0;
  std::string head = {};  // of the request
  std::size_t n_sent = 0;
  std::string rest = {};  // of the answer, not parsed yet
  std::optional<PlainAnswer> parser = {};
};

std::shared_ptr<const PlainTarget> plain_target(const TransferRequest& request) {
  const auto url = parse_url(request.url);
  if (!url || !url->origin.starts_with(kScheme) || request.url.find('@') != std::string::npos)
    return nullptr;
  auto target = std::make_shared<PlainTarget>();
  target->addresses = request.unix_socket.empty() ? addresses_of(url->origin)
                                                  : unix_address(request.unix_socket);
  if (target->addresses.empty()) return nullptr;
  target->pool =
      cat(url->origin, " ", static_cast<int>(request.endpoint), " ", request.unix_socket);
  std::string_view rest = std::string_view(url->plain).substr(kScheme.size());
  const std::string_view host = rest.substr(0, rest.find_first_of("/?"));
  rest.remove_prefix(host.size());
  target->head = cat(rest.starts_with('/') ? "" : "/", rest, " HTTP/1.1\r\nHost: ", host,
                     "\r\nUser-Agent: wick\r\nAccept: */*\r\nAccept-Encoding: identity\r\n");
  return target;
}

PlainHttp::PlainHttp(CurlPoller& poller, Ended ended)
    : poller_(poller), ended_(std::move(ended)) {}

PlainHttp::~PlainHttp() {
  for (const auto& [one, owned] : all_)
    poller_.close(one->fd);
}

void PlainHttp::start(TransferJob& job) {
  PlainConnection* const idle = take_idle(job);
  if (idle == nullptr) return connect(job);
  idle->job = &job;
  idle->target = job.target;
  on_connected(*idle);
}

void PlainHttp::connect(TransferJob& job) {
  auto owned = std::make_unique<PlainConnection>(*this, job);
  PlainConnection& one = *owned;
  all_.emplace(&one, std::move(owned));
  job.connection = &one;
  job.connecting_since = monotonic_ns();
  while (one.n_tried < one.target->addresses.size()) {
    if (try_address(one)) return;
  }
  fail(one, job.is_address_refused ? "address_refused" : "no_connection", std::strerror(errno));
}

// False: there is no connection to this address.
bool PlainHttp::try_address(PlainConnection& one) {
  const auto& [bytes, size] = one.target->addresses[one.n_tried++];
  const auto& address = reinterpret_cast<const sockaddr&>(bytes);
  if (one.fd >= 0) poller_.close(std::exchange(one.fd, -1));
  if (address.sa_family != AF_UNIX &&
      !may_connect(one.job->request.endpoint, kind_of(address, size))) {
    one.job->is_address_refused = true;
    return false;
  }
  one.fd = poller_.open(address.sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (one.fd < 0) return false;
  const int on = 1;
  if (address.sa_family != AF_UNIX)
    ::setsockopt(one.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const bool is_there = ::connect(one.fd, &address, size) == 0;
  if (!is_there && errno != EINPROGRESS) return false;
  if (!poller_.watch(one.fd, is_there ? EPOLLIN : EPOLLOUT, one)) return false;
  if (is_there) on_connected(one);
  return true;
}

void PlainHttp::on_ready(PlainConnection& one, std::uint32_t events) {
  if (one.job == nullptr) return drop(one);
  if (one.job->connecting_since != 0) {
    const auto& [bytes, size] = one.target->addresses[one.n_tried - 1];
    const int again = ::connect(one.fd, reinterpret_cast<const sockaddr*>(&bytes), size);
    if (again == 0 || errno == EISCONN) {
      poller_.watch(one.fd, EPOLLIN, one);
      return on_connected(one);
    }
    if (errno == EALREADY || errno == EINPROGRESS) return;  // of a socket before this one
    while (one.n_tried < one.target->addresses.size()) {
      if (try_address(one)) return;
    }
    return fail(one, one.job->is_address_refused ? "address_refused" : "no_connection",
                std::strerror(errno));
  }
  if ((events & EPOLLOUT) != 0 && !send(one)) return;
  if ((events & ~std::uint32_t{EPOLLOUT}) != 0) read(one);
}

void PlainHttp::on_connected(PlainConnection& one) {
  TransferJob& job = *one.job;
  job.connection = &one;
  job.connecting_since = 0;
  const std::size_t n_body = job.request.body.size();
  std::string& head = one.head;
  head.clear();
  head.reserve(kUsualHeadBytes);
  head += n_body == 0 ? "GET " : "POST ";
  head += one.target->head;
  for (const std::string& line : job.request.headers) {
    head += line;
    head += "\r\n";
  }
  if (n_body > 0) head += cat("Content-Length: ", n_body, "\r\n");
  head += "\r\n";
  one.n_sent = 0;
  one.has_answer = false;
  one.parser.emplace(job);
  send(one);
}

// False: the connection is gone.
bool PlainHttp::send(PlainConnection& one) {
  std::string_view head = one.head, body = one.job->request.body;
  const std::size_t n_all = head.size() + body.size();
  body.remove_prefix(std::min(one.n_sent - std::min(one.n_sent, head.size()), body.size()));
  head.remove_prefix(std::min(one.n_sent, head.size()));
  iovec parts[] = {{.iov_base = const_cast<char*>(head.data()), .iov_len = head.size()},
                   {.iov_base = const_cast<char*>(body.data()), .iov_len = body.size()}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  const ssize_t n = ::sendmsg(one.fd, &message, MSG_NOSIGNAL);
  if (n < 0 && errno != EAGAIN && errno != EINTR) {
    on_closed(one, false);
    return false;
  }
  if (n > 0) one.n_sent += static_cast<std::size_t>(n);
  const std::uint32_t more = one.n_sent < n_all ? EPOLLIN | EPOLLOUT : EPOLLIN;
  if (!one.job->is_full) poller_.watch(one.fd, more, one);
  return true;
}

void PlainHttp::read(PlainConnection& one) {
  const ssize_t n = ::recv(one.fd, buffer_.data(), buffer_.size(), 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return on_closed(one, n == 0);
  one.has_answer = true;
  const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(n));
  if (one.rest.empty()) return feed(one, bytes);
  one.rest += bytes;
  feed(one, std::exchange(one.rest, {}));
}

// What cannot be parsed yet, or not be taken, is kept as `rest`.
void PlainHttp::feed(PlainConnection& one, std::string_view bytes) {
  TransferJob& job = *one.job;
  while (!bytes.empty()) {
    PlainAnswer& parser = *one.parser;
    error_code error;
    bytes.remove_prefix(parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error));
    if (job.is_stopped) return fail(one, "", "");
    if (!job.end_id.empty()) return fail(one, std::string(job.end_id), "");
    if (job.is_full) {
      poller_.watch(one.fd, 0, one);
      break;
    }
    if (!parser.refused().empty()) return fail(one, "bad_answer", parser.refused());
    if (error == beast::error::header_limit) return fail(one, "bad_answer", "");
    if (error == beast::error::need_more) break;
    if (error) return fail(one, "bad_answer", "the answer is no HTTP/1.1");
    if (!parser.is_done()) continue;
    if (parser.status() >= 200) {
      one.rest = bytes;
      return finish(one);
    }
    one.parser.emplace(job);  // behind 100 Continue
  }
  // Lines of chunks and trailers have a limit, too.
  if (!job.is_full && bytes.size() > kMaxHeaderBytes) return fail(one, "bad_answer", "");
  one.rest = bytes;
}

void PlainHttp::resume(TransferJob& job) {
  PlainConnection& one = *job.connection;
  poller_.watch(one.fd, one.is_sent() ? EPOLLIN : EPOLLIN | EPOLLOUT, one);
  feed(one, std::exchange(one.rest, {}));
}

void PlainHttp::on_closed(PlainConnection& one, bool is_clean) {
  TransferJob& job = *one.job;
  if (one.was_used && !one.has_answer) {
    drop(one);
    return connect(job);
  }
  error_code error = beast::error::partial_message;
  if (is_clean && one.parser->got_some()) one.parser->put_eof(error);
  if (error) return fail(one, "cut", "");
  fail(one, "", "");  // the answer's end was that of the connection
}

// A whole answer. The connection is kept if nothing is left on it.
void PlainHttp::finish(PlainConnection& one) {
  TransferJob& job = *one.job;
  if (!one.parser->keep_alive() || !one.is_sent() || !one.rest.empty()) return fail(one, "", "");
  keep(one);
  ended_(job, "", "");
}

// Ends the job and the connection. `id` "": without an error.
void PlainHttp::fail(PlainConnection& one, std::string_view id, std::string_view why) {
  TransferJob& job = *one.job;
  const std::string its_why(why);  // perhaps the connection's
  drop(one);
  ended_(job, id, its_why);
}

void PlainHttp::leave(TransferJob& job) noexcept {
  if (job.connection != nullptr) drop(*job.connection);
}

PlainConnection* PlainHttp::take_idle(const TransferJob& job) {
  const auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const PlainConnection* one) {
    return one->target == job.target || one->target->pool == job.target->pool;
  });
  if (found == idle_.rend()) return nullptr;
  PlainConnection* const one = *found;
  if (job.started - one->idle_since > kMaxIdleNs) {  // and so are those before it
    for (PlainConnection* const old : std::vector(idle_.begin(), found.base()))
      drop(*old);
    return nullptr;
  }
  idle_.erase(std::next(found).base());
  return one;
}

void PlainHttp::keep(PlainConnection& one) {
  one.job->connection = nullptr;
  if (idle_.size() >= kMaxIdlePlain) return drop(one);
  one.job = nullptr;
  one.was_used = true;
  one.idle_since = poller_.poller().woke_ns();
  one.parser.reset();
  idle_.push_back(&one);
}

void PlainHttp::drop(PlainConnection& one) noexcept {
  if (one.job != nullptr) {
    one.job->connection = nullptr;
  } else {
    std::erase(idle_, &one);
  }
  if (one.fd >= 0) poller_.close(one.fd);
  all_.erase(&one);
}

}  // namespace wick
