// Many HTTP exchanges at once on one thread, their bodies read as they come: plain HTTP to an
// address or a Unix socket by net/plain_http.h, all else by libcurl's multi interface. No redirect
// is followed, no proxy is used, and every address is checked at its socket. The thread is the
// transfers' own, or that of an event loop.
//
//   WICK_TRY(const auto transfers, Transfers::create());
//   WICK_TRY(const auto transfer, transfers->start(request, sink));
//   transfer->cancel();                     // any thread; sink->end() still comes
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/poller.h"
#include "base/result.h"
#include "net/address.h"

namespace wick {

struct TransferRequest {
  std::string url = {};
  std::string body = {};                  // empty: GET
  std::vector<std::string> headers = {};  // "Content-Type: application/json"
  AddressKind endpoint = AddressKind::kPublic;
  std::string unix_socket = {};  // the path to connect to instead of the URL's host; "" = none
  // 0 = no limit. `first_ms` is to the first byte that the sink calls progress, `idle_ms` between
  // two of them, `total_ms` for all. Time while the sink is full does not count.
  std::int64_t connect_ms = 5000, first_ms = 0, idle_ms = 0, total_ms = 0;
  std::size_t max_bytes = std::size_t{256} << 20;  // of the body, uncompressed
};

struct TransferHead {
  int status = 0;
  std::string content_type = {};  // in lower case, without parameters
  std::vector<std::pair<std::string, std::string>> headers = {};  // names in lower case

  std::string_view header(std::string_view name) const noexcept;  // "" if absent
};

enum class TransferTake : std::uint8_t {
  kProgress,  // these bytes were what was waited for
  kNothing,   // taken, but no progress: a comment that keeps the connection open
  kFull,      // not taken; give them again after resume()
  kStop,      // end the exchange: end() comes without an error
};

// Called by the thread of the transfers, which must not be kept waiting.
class TransferSink {
 public:
  virtual ~TransferSink() = default;
  virtual void head(TransferHead head) = 0;  // once, before the body
  virtual TransferTake body(std::string_view bytes) = 0;
  // Once, the last call. Ids: "no_connection" (nothing was sent), "cut", "first_timeout",
  // "idle_timeout", "total_timeout", "address_refused", "answer_too_long", "bad_answer",
  // "cancelled".
  virtual void end(std::optional<Error> error) = 0;
};

class Transfer {
 public:
  virtual ~Transfer() = default;
  virtual void cancel() noexcept = 0;  // any thread
  virtual void resume() noexcept = 0;  // after kFull; any thread
};

struct TransferOptions {
  bool has_only_curl = false;  // plain HTTP, too
  // Of create_driven(): that of the event loop, whose turns advance them. null: one of their own,
  // and the loop calls advance().
  std::shared_ptr<Poller> poller = {};
};

class DrivenTransfers;

class Transfers {
 public:
  // With a thread of their own.
  static Result<std::shared_ptr<Transfers>> create(const TransferOptions& options = {});
  static Result<std::shared_ptr<DrivenTransfers>> create_driven(
      const TransferOptions& options = {});
  virtual ~Transfers() = default;  // cancels what is under way, and waits for its ends

  // The sink lives until its end(); it may be called before start() returns. Any thread, but not
  // from within a sink.
  virtual Result<std::shared_ptr<Transfer>> start(TransferRequest request,
                                                  std::shared_ptr<TransferSink> sink) = 0;
};

// Without a thread: an event loop's Poller has their sockets, or it calls advance() whenever fd()
// is readable. What the loop's thread starts is sent by start() itself, so an exchange wakes no
// other thread. It never waits, but computes: the handshakes of TLS, and what the sinks do.
class DrivenTransfers : public Transfers {
 public:
  virtual int fd() const noexcept = 0;
  // Always the same thread, which is that of the sinks.
  virtual void advance() = 0;
  // Ends all, and start() fails from now on. When the loop has ended.
  virtual void stop() = 0;
};

}  // namespace wick
