// A Stream over a connected, non-blocking socket in the loop's poller: plain bytes, and what TLS
// (tls.cc) does alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/poller.h"
#include "http/loop.h"

namespace wick::http {

class SocketStream : public Stream, private Pollable {
 public:
  SocketStream(Loop& loop, int fd) noexcept : loop_(loop), fd_(fd) {}

  ~SocketStream() override { close(); }

  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;

  bool start();  // false: the system refuses to watch it

  void open(Owner& owner) override;
  void set_reading(bool reads) override;

  std::optional<std::size_t> write(std::string_view bytes) override { return send(bytes); }

  void end() override;
  void close() override;

 protected:
  void set_owner(Owner& owner) noexcept { owner_ = &owner; }

  Owner& owner() noexcept { return *owner_; }

  bool is_closed() const noexcept { return fd_ < 0; }

  // As write(): on_room() comes if it took fewer than all.
  std::optional<std::size_t> send(std::string_view bytes);

  virtual void on_received(std::string_view bytes) { owner_->on_bytes(bytes); }

  virtual void on_ended(bool is_clean) { owner_->on_gone(is_clean); }

  virtual void on_room() { owner_->on_writable(); }

 private:
  void on_ready(int fd, std::uint32_t events) override;
  void read();
  bool update();

  Loop& loop_;
  int fd_;
  Owner* owner_ = nullptr;
  bool reads_ = true, writes_ = false, has_ended_ = false;
};

}  // namespace wick::http
