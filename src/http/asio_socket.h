// A connected socket of any family as Boost.Asio knows it; for loop.cc and tls.cc.
#pragma once

#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "http/loop.h"

namespace wick::http {

using AsioSocket = boost::asio::generic::stream_protocol::socket;

inline std::optional<AsioSocket> adopt(Loop& loop, int fd) {
  int family = AF_UNIX;
  socklen_t size = sizeof(family);
  ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
  AsioSocket socket(loop.context());
  boost::system::error_code error;
  socket.assign(boost::asio::generic::stream_protocol(family, 0), fd, error);
  if (error) return std::nullopt;
  return socket;
}

// What a plain and a TLS stream do alike.
template <class AsyncStream>
void read_some(AsyncStream& stream, std::span<char> into, Stream::Done done) {
  stream.async_read_some(
      boost::asio::buffer(into.data(), into.size()),
      [done = std::move(done)](const boost::system::error_code& error, std::size_t n) {
        done(!error || error == boost::asio::error::eof, error ? 0 : n);
      });
}

template <class AsyncStream>
void write_some(AsyncStream& stream, std::string_view bytes, Stream::Done done) {
  stream.async_write_some(boost::asio::buffer(bytes.data(), bytes.size()),
                          [done = std::move(done)](const boost::system::error_code& error,
                                                   std::size_t n) { done(!error, n); });
}

}  // namespace wick::http
