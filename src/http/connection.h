// A client connection: always reads, so that it notices a client that disconnects; passes one
// request after another to an Exchange, writes its output, and enforces the timeout of each phase.
// Closing it destroys the exchange, and with it the Work. The loop's thread; kept alive by the
// server's list, and behind that until the handler that closed it is over.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/exchange.h"
#include "http/loop.h"
#include "http/outbox.h"
#include "http/reader.h"
#include "http/site.h"
#include "http/websocket.h"

namespace wick::http {

struct Peer {
  std::string local = {};    // the address that it arrived at, without port; empty for Unix
  std::string counted = {};  // what its connections are counted by; empty: not at all
  std::uint64_t client = 0;  // a number for that; 0: none
};

class Connection final : public std::enable_shared_from_this<Connection>, private Stream::Owner {
 public:
  Connection(Site& site, std::unique_ptr<Stream> stream, Peer peer);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  void start_refused(const Refusal& refusal);  // says so, and no more
  void on_reply(Reply reply);
  void on_wake();
  void drain();  // ends after the request that is under way
  void close();

  const Peer& peer() const noexcept { return peer_; }

 private:
  enum class Phase : std::uint8_t {
    kOpening,  // the handshake of TLS
    kReading,  // heads and bodies
    kAnswering,
    kSocket,   // a WebSocket
    kEnding,   // the last bytes go out
    kLingers,  // the client may read them before the connection goes
    kClosed,
  };

  bool is_closed() const noexcept { return phase_ == Phase::kClosed; }

  void enter(Phase phase, std::int64_t ms);  // 0: for as long as it takes
  void on_open(bool is_ok) override;
  void on_bytes(std::string_view bytes) override;
  void on_gone(bool is_clean) override;
  void on_writable() override;
  void read();
  void take_bytes(std::string_view bytes);
  void serve();       // what has been read
  bool serve_step();  // false: nothing more can be done now
  void on_head();
  void on_whole();
  void settle();  // after anything that the exchange did
  void end_exchange();
  void refuse(const Refusal& refusal);  // of a request without a head
  void upgrade();
  void on_message(std::string text, bool is_text);
  void end();
  void flush();
  void on_written();
  bool waits_for_room() const;
  template <class Work>
  void guarded(const Work& work);
  void later(void (Connection::*work)());
  void arm();
  void on_timer();
  void count_body();

  Site& site_;
  std::unique_ptr<Stream> stream_;
  Peer peer_;
  Phase phase_ = Phase::kOpening;
  Outbox outbox_;
  RequestReader reader_;
  std::optional<Exchange> exchange_;
  std::unique_ptr<WebSocket> socket_;
  Timer timer_;
  std::int64_t phase_ends_ns_ = 0, armed_ns_ = 0;
  std::int64_t heard_ns_ = 0;  // of a WebSocket's client
  std::string ahead_;          // read and not yet used
  std::size_t counted_ = 0;    // of the body, in Site::bodies_bytes
  bool is_serving_ = false, is_timed_head_ = false;
  bool ends_after_ = false;  // the client has ended: after what is answered, so do we
};

}  // namespace wick::http
