// The rules of its life. Reading never stops while an answer is under way, up to kMaxAheadBytes: an
// end (FIN) or a reset cancels the request. Every phase but kAnswering has a deadline; a client
// that takes no bytes has one in all of them.
#include "http/connection.h"

#include <algorithm>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "base/clock.h"
#include "base/strings.h"

namespace wick::http {

Connection::Connection(Site& site, std::unique_ptr<Stream> stream, Peer peer)
    : site_(site),
      stream_(std::move(stream)),
      peer_(std::move(peer)),
      outbox_(site.limits.stream_bytes),
      reader_(site.limits),
      timer_(site.loop, [this] { on_timer(); }) {}

void Connection::start() {
  enter(Phase::kOpening, site_.limits.head_ms);
  stream_->open(*this);
}

void Connection::on_open(bool is_ok) {
  if (is_closed()) return;
  if (!is_ok) return close();
  if (phase_ != Phase::kOpening) return;  // start_refused()
  phase_ = Phase::kReading;               // under the same deadline
  is_timed_head_ = true;
}

void Connection::start_refused(const Refusal& refusal) {
  enter(Phase::kReading, site_.limits.linger_ms);
  stream_->open(*this);
  refuse(refusal);
}

void Connection::close() {
  if (is_closed()) return;
  const auto self = shared_from_this();
  phase_ = Phase::kClosed;
  timer_.cancel();
  exchange_.reset();
  socket_.reset();
  site_.bodies_bytes -= std::exchange(counted_, 0);
  stream_->close();
  site_.on_closed(*this);
}

void Connection::enter(Phase phase, std::int64_t ms) {
  phase_ = phase;
  phase_ends_ns_ = ms == 0 ? 0 : site_.loop.turn_ns() + ms * kNsPerMs;
  arm();
}

// The earliest of what may be due. The timer is moved only forward in time, which is rare: a
// deadline that went further away is looked at when the old one fires.
void Connection::arm() {
  if (is_closed()) return;
  std::int64_t next = phase_ends_ns_;
  const auto consider = [&](std::int64_t at) {
    if (at != 0 && (next == 0 || at < next)) next = at;
  };
  const std::int64_t stalled = outbox_.stalled_since();
  if (stalled != 0) consider(stalled + site_.limits.stall_ms * kNsPerMs);
  if (exchange_) consider(exchange_->beat_at());
  if (next == 0 || (armed_ns_ != 0 && armed_ns_ <= next)) return;
  armed_ns_ = next;
  timer_.set(next);
}

void Connection::on_timer() {
  const auto self = shared_from_this();
  if (is_closed()) return;
  armed_ns_ = 0;
  const std::int64_t now = monotonic_ns();
  const std::int64_t stalled = outbox_.stalled_since();
  if (stalled != 0 && now >= stalled + site_.limits.stall_ms * kNsPerMs) return close();
  if (phase_ends_ns_ != 0 && now >= phase_ends_ns_) {
    if (phase_ != Phase::kReading || !reader_.has_begun()) return close();
    refuse({.status = 408, .code = "request_timeout", .message = "the request took too long"});
    return flush();
  }
  if (exchange_ && exchange_->beat_at() != 0 && now >= exchange_->beat_at()) {
    if (socket_ != nullptr) {
      if (now - heard_ns_ > 2 * site_.limits.heartbeat_ms * kNsPerMs) return close();
      socket_->ping();
    }
    exchange_->beat();
    return flush();
  }
  arm();
}

// An exception (std::bad_alloc) ends this connection alone.
template <class Work>
void Connection::guarded(const Work& work) {
  const auto done = catch_bad_alloc([&]() -> Result<void> {
    work();
    return {};
  });
  if (!done) close();
}

// Behind the handler that runs now.
void Connection::later(void (Connection::*work)()) {
  site_.loop.defer([self = shared_from_this(), work] {
    if (!self->is_closed()) self->guarded([&] { (*self.*work)(); });
  });
}

void Connection::read() {
  // Answers wait for the client to take some: it may wait, too.
  stream_->set_reading(phase_ != Phase::kReading || ahead_.size() < kMaxAheadBytes);
}

void Connection::on_bytes(std::string_view bytes) {
  if (is_closed()) return;
  guarded([&] {
    take_bytes(bytes);
    if (!is_closed()) read();
  });
}

void Connection::take_bytes(std::string_view bytes) {
  switch (phase_) {
    case Phase::kReading:
      ahead_ += bytes;
      serve();
      break;
    case Phase::kAnswering:
      ahead_ += bytes;
      if (ahead_.size() > kMaxAheadBytes) return close();
      break;
    case Phase::kSocket:
      heard_ns_ = monotonic_ns();
      socket_->feed(bytes);
      break;
    default:
      break;  // dropped: nobody answers it any more
  }
}

// What was answered before the client's end still goes out to it, as after
// `printf 'GET / …' | nc`; what is under way ends.
void Connection::on_gone(bool is_clean) {
  if (is_closed()) return;
  const bool owes =
      phase_ == Phase::kEnding || (phase_ == Phase::kReading && outbox_.pending() > 0);
  if (!is_clean || !owes) return close();
  ends_after_ = true;
  guarded([&] { end(); });
}

void Connection::serve() {
  if (is_serving_) return;
  is_serving_ = true;
  while (phase_ == Phase::kReading && outbox_.room() > 0 && serve_step()) {
  }
  is_serving_ = false;
  flush();
  if (!is_closed()) read();
}

bool Connection::serve_step() {
  const std::size_t n = reader_.feed(ahead_);
  ahead_.erase(0, n);
  count_body();
  switch (reader_.state()) {
    case RequestReader::State::kNeedsHead:
      if (reader_.has_begun() && !is_timed_head_) {
        is_timed_head_ = true;
        enter(Phase::kReading, site_.limits.head_ms);
      }
      return false;
    case RequestReader::State::kHead:
      on_head();
      return true;
    case RequestReader::State::kNeedsBody:
      if (site_.bodies_bytes <= site_.limits.all_bodies_bytes) return false;
      refuse({.status = 503,
              .code = "overloaded",
              .message = "the server holds more requests than it can take; try again",
              .retry_after_s = 1});
      return false;
    case RequestReader::State::kWhole:
      on_whole();
      return true;
    case RequestReader::State::kRefused:
      refuse(reader_.refusal());
      return false;
  }
  return false;
}

void Connection::count_body() {
  const std::size_t now = reader_.body().size();
  site_.bodies_bytes += now;
  site_.bodies_bytes -= std::exchange(counted_, now);
}

void Connection::on_head() {
  exchange_.emplace(site_, outbox_, std::move(reader_.head()));
  if (!exchange_->admit(peer_)) return end_exchange();
  reader_.read_body();
  if (reader_.state() != RequestReader::State::kNeedsBody) return;
  enter(Phase::kReading, site_.limits.body_ms);
  if (exchange_->head().expects_continue && !exchange_->head().is_1_0)
    outbox_.tail() += "HTTP/1.1 100 Continue\r\n\r\n";
}

void Connection::on_whole() {
  enter(Phase::kAnswering, 0);
  site_.bodies_bytes -= std::exchange(counted_, 0);
  exchange_->dispatch(*this, std::move(reader_.body()));
  settle();
}

// A request that cannot be read to its end: the connection ends with the answer.
void Connection::refuse(const Refusal& refusal) {
  const bool has_head = exchange_.has_value();
  if (!has_head) exchange_.emplace(site_, outbox_, Head{.method = "-", .path = "-"});
  exchange_->end_connection();
  exchange_->refuse(refusal);
  end_exchange();
}

void Connection::on_reply(Reply reply) {
  const auto self = shared_from_this();
  if (is_closed() || !exchange_) return;
  exchange_->take(std::move(reply));
  settle();
}

void Connection::on_wake() {
  const auto self = shared_from_this();
  if (is_closed() || !exchange_) return;
  exchange_->drive();
  settle();
}

void Connection::settle() {
  if (exchange_ && exchange_->wants_socket()) upgrade();
  if (exchange_ && exchange_->is_over()) end_exchange();
  flush();
}

void Connection::end_exchange() {
  if (socket_ != nullptr) {
    exchange_.reset();
    enter(Phase::kSocket, site_.limits.linger_ms);
    return socket_->close(WebSocket::Why::kDone);
  }
  const bool goes_on = exchange_->keeps_alive();
  exchange_.reset();
  site_.bodies_bytes -= std::exchange(counted_, 0);
  if (!goes_on) return end();
  reader_.restart();
  is_timed_head_ = false;
  enter(Phase::kReading, site_.limits.idle_ms);
  if (!is_serving_) serve();
}

void Connection::upgrade() {
  enter(Phase::kSocket, 0);
  heard_ns_ = monotonic_ns();
  const std::weak_ptr<Connection> weak = weak_from_this();
  const auto with = [weak](auto&& work) {
    const auto self = weak.lock();
    if (self != nullptr && !self->is_closed()) work(*self);
  };
  WebSocket::Sinks sinks;
  sinks.message = [with](std::string text, bool is_text) {
    with([&](Connection& self) { self.on_message(std::move(text), is_text); });
  };
  sinks.output = [with](std::string_view bytes) {
    with([&](Connection& self) {
      self.outbox_.tail() += bytes;
      self.flush();
    });
  };
  sinks.closed = [with] {
    with([](Connection& self) {
      if (self.exchange_) self.exchange_->end_socket();
      self.end();
    });
  };
  socket_ = WebSocket::accept(site_.loop, exchange_->head(), site_.limits.message_bytes,
                              exchange_->socket_headers(), std::move(sinks));
  exchange_->attach(*socket_);
  socket_->feed(std::exchange(ahead_, {}));
  exchange_->drive();
}

void Connection::on_message(std::string text, bool is_text) {
  if (!exchange_) return;
  if (!is_text || !exchange_->message(std::move(text))) {
    exchange_.reset();
    enter(Phase::kSocket, site_.limits.linger_ms);
    return socket_->close(is_text ? WebSocket::Why::kProtocol : WebSocket::Why::kNotText);
  }
  exchange_->drive();
  settle();
}

void Connection::drain() {
  const auto self = shared_from_this();
  if (is_closed()) return;
  if (exchange_ && phase_ != Phase::kReading) {
    exchange_->drain();
    settle();
  } else if (phase_ == Phase::kOpening) {
    close();
  } else if (phase_ == Phase::kReading && !reader_.has_begun()) {
    outbox_.pending() == 0 ? close() : end();  // nothing is under way but last bytes
  } else if (exchange_) {
    exchange_->end_connection();
  }
}

// After the last bytes have gone out the connection is closed in two steps: a client that is still
// sending would get a reset before it has read them.
void Connection::end() {
  if (phase_ == Phase::kEnding || phase_ == Phase::kLingers) return;
  exchange_.reset();
  enter(Phase::kEnding, 0);
  if (outbox_.pending() == 0) return on_written();
  flush();
  read();
}

void Connection::flush() {
  if (is_closed()) return;
  if (outbox_.may_flush()) {
    if (!outbox_.flush(*stream_)) {
      later(&Connection::close);
    } else if (waits_for_room()) {
      later(&Connection::on_written);
    }
  }
  arm();
}

// Whether something goes on when bytes have gone out; nearly always an answer is written at once,
// and nothing is.
bool Connection::waits_for_room() const {
  if (phase_ == Phase::kReading) return !ahead_.empty();
  if (phase_ == Phase::kAnswering) return exchange_ && exchange_->is_full();
  return phase_ == Phase::kEnding || phase_ == Phase::kSocket;
}

void Connection::on_writable() {
  if (is_closed()) return;
  guarded([&] {
    if (!outbox_.resume(*stream_)) return close();
    on_written();
  });
}

void Connection::on_written() {
  if (phase_ == Phase::kEnding && outbox_.pending() == 0) {
    if (ends_after_) return close();
    stream_->end();
    return enter(Phase::kLingers, site_.limits.linger_ms);
  }
  if (phase_ == Phase::kReading && outbox_.room() > 0) serve();
  if (exchange_ && (phase_ == Phase::kAnswering || phase_ == Phase::kSocket)) {
    exchange_->on_room();
    settle();
  }
  flush();
}

}  // namespace wick::http
