// A WebSocket (RFC 6455) codec over Boost.Beast: the client's bytes go into feed(), bytes for the
// client come out of `output`. The connection reads, writes and enforces timeouts. Loop thread;
// sinks are never called from within a call, nor after the destructor.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/head.h"
#include "http/loop.h"

namespace wick::http {

class WebSocket {
 public:
  struct Sinks {
    std::function<void(std::string message, bool is_text)> message = {};
    std::function<void(std::string_view bytes)> output = {};
    std::function<void()> closed = {};  // the handshake of the end is over, or there was an error
  };

  enum class Why : std::uint8_t { kDone, kProtocol, kNotText };

  virtual ~WebSocket() = default;
  virtual void feed(std::string_view bytes) = 0;
  virtual void send(std::string text) = 0;
  virtual void ping() = 0;
  virtual void close(Why why) = 0;
  virtual std::size_t queued_bytes() const noexcept = 0;  // sent, not yet in `output`

  // Answers the upgrade with 101, or with 400 if it is malformed.
  static std::unique_ptr<WebSocket> accept(Loop& loop, const Head& head, std::size_t max_message,
                                           const std::vector<Header>& headers, Sinks sinks);
};

}  // namespace wick::http
