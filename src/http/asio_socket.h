// A connected socket of any family as Boost.Asio knows it; for loop.cc and tls.cc.
#pragma once

#include <sys/socket.h>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

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

}  // namespace wick::http
