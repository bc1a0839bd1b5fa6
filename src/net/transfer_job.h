// One exchange of the transfers, whether libcurl or net/plain_http.h moves its bytes: what was
// asked, what came of the answer, and its time limits. For the sources of net/ alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "net/curl_handles.h"
#include "net/curl_poller.h"
#include "net/transfers.h"

namespace wick {

struct PlainConnection;
struct PlainTarget;

// Outlives the transfers: Transfer::cancel() may come at any time.
struct TransferShared {
  std::unique_ptr<CurlPoller> poller = {};
  std::atomic<bool> has_signals = false;  // some job is new, or to be cancelled or resumed

  CURLM* multi() const noexcept { return poller->multi(); }

  void signal() noexcept {
    if (!has_signals.exchange(true, std::memory_order_acq_rel)) poller->signal();
  }
};

// All but the two flags belongs to the thread of the transfers.
struct TransferJob final : Transfer {
  std::shared_ptr<TransferShared> shared;
  TransferRequest request;
  std::shared_ptr<TransferSink> sink;
  CurlEasy easy = {};  // of libcurl's way
  CurlHeaders headers = {};
  std::shared_ptr<const PlainTarget> target = {};  // of the other
  PlainConnection* connection = nullptr;
  TransferHead head = {};
  std::size_t n_header_bytes = 0, n_bytes = 0;
  std::int64_t started = monotonic_ns(), progress = started;
  bool has_progress = false, is_head_sent = false, is_full = false, is_stopped = false;
  bool is_address_refused = false;
  std::int64_t connecting_since = 0;  // 0 = it is connected, or libcurl does it
  std::string end_id = {};            // why we ended it, "" if we did not
  std::atomic<bool> is_cancelled = false, is_resumed = false;

  TransferJob(std::shared_ptr<TransferShared> its_shared, TransferRequest its_request,
              std::shared_ptr<TransferSink> its_sink);

  void cancel() noexcept override;
  void resume() noexcept override;

  // Of the answer, in this order. One more status drops the headers before it: of 100 Continue.
  void take_status(int status);
  void take_header(std::string_view name, std::string_view value);
  void send_head();  // once
  // False: these bytes were not taken, because the sink is full, or the exchange has to end.
  bool give_body(std::string_view bytes);

  // When its next limit is reached, with the limit's id; 0 = none.
  std::pair<std::int64_t, const char*> deadline() const;
  // "http://host/path: …" with why a limit or a rule ended it, or `why` for any other id.
  Error error(std::string id, std::string_view why) const;
};

// Without blanks and line ends around it.
std::string_view trim_header(std::string_view text) noexcept;

}  // namespace wick
