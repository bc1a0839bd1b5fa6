// A read takes what fits into the loop's buffer, and the poller reports the rest again: no read is
// tried that has nothing to read.
#include "http/socket_stream.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace wick::http {

namespace {

constexpr std::uint32_t kBroken = EPOLLERR | EPOLLHUP;

}  // namespace

bool SocketStream::start() {
  return update();
}

void SocketStream::open(Owner& owner) {
  owner_ = &owner;
  owner.on_open(true);
}

void SocketStream::set_reading(bool reads) {
  reads_ = reads && !has_ended_;
  update();
}

std::optional<std::size_t> SocketStream::send(std::string_view bytes) {
  const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (n < 0 && errno != EAGAIN && errno != EINTR) return std::nullopt;
  const std::size_t n_taken = n < 0 ? 0 : static_cast<std::size_t>(n);
  writes_ = n_taken < bytes.size();
  update();
  return n_taken;
}

void SocketStream::end() {
  ::shutdown(fd_, SHUT_WR);
}

void SocketStream::close() {
  if (fd_ < 0) return;
  loop_.poller().forget(fd_);
  ::close(fd_);
  fd_ = -1;
}

bool SocketStream::update() {
  if (fd_ < 0) return false;
  std::uint32_t events = 0;
  if (reads_) events |= EPOLLIN;
  if (writes_) events |= EPOLLOUT;
  return loop_.poller().watch(fd_, events, *this);
}

void SocketStream::on_ready(int /*fd*/, std::uint32_t events) {
  if (writes_ && (events & EPOLLOUT) != 0) {
    writes_ = false;
    on_room();
    if (is_closed()) return;
    update();
  }
  if (reads_ && (events & (EPOLLIN | kBroken)) != 0) return read();
  if ((events & kBroken) != 0) on_ended(false);
}

void SocketStream::read() {
  const std::span<char> into = loop_.buffer();
  const ssize_t n = ::recv(fd_, into.data(), into.size(), 0);
  if (n > 0) return on_received({into.data(), static_cast<std::size_t>(n)});
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  has_ended_ = true;
  set_reading(false);
  on_ended(n == 0);
}

std::unique_ptr<Stream> plain_stream(Loop& loop, int fd) {
  auto stream = std::make_unique<SocketStream>(loop, fd);
  if (!stream->start()) return nullptr;
  return stream;
}

}  // namespace wick::http
