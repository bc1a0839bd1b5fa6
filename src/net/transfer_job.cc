#include "net/transfer_job.h"

#include <utility>

#include "base/strings.h"
#include "net/http.h"
#include "net/url.h"

namespace wick {

namespace {

constexpr std::size_t kUsualHeaders = 8;

std::string what_ended(const TransferRequest& request, std::string_view id, std::string_view why) {
  if (id == "total_timeout") return cat("no whole answer within ", request.total_ms, " ms");
  if (id == "first_timeout") return cat("no answer within ", request.first_ms, " ms");
  if (id == "idle_timeout") return cat("no more of the answer for ", request.idle_ms, " ms");
  if (id == "answer_too_long")
    return cat("the answer is longer than ", request.max_bytes, " bytes");
  if (id == "address_refused") return "the name leads to an address that is not allowed for it";
  if (id == "cancelled") return "stopped";
  if (id == "cut") return "the connection ended before the whole answer was there";
  if (!why.empty()) return std::string(why);
  if (id == "no_connection") return cat("no connection within ", request.connect_ms, " ms");
  return cat("the header is longer than ", kMaxHeaderBytes, " bytes");
}

}  // namespace

std::string_view trim_header(std::string_view text) noexcept {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

TransferJob::TransferJob(std::shared_ptr<TransferShared> its_shared, TransferRequest its_request,
                         std::shared_ptr<TransferSink> its_sink)
    : shared(std::move(its_shared)), request(std::move(its_request)), sink(std::move(its_sink)) {}

void TransferJob::cancel() noexcept {
  is_cancelled.store(true, std::memory_order_release);
  shared->signal();
}

void TransferJob::resume() noexcept {
  is_resumed.store(true, std::memory_order_release);
  shared->signal();
}

void TransferJob::take_status(int status) {
  head = {.status = status};
  head.headers.reserve(kUsualHeaders);
}

void TransferJob::take_header(std::string_view name, std::string_view value) {
  std::string lower = ascii_lower(name);
  if (lower == "content-type")
    head.content_type = ascii_lower(trim_header(value.substr(0, value.find(';'))));
  head.headers.emplace_back(std::move(lower), value);
}

void TransferJob::send_head() {
  if (is_head_sent || head.status == 0) return;
  is_head_sent = true;
  sink->head(std::move(head));
}

bool TransferJob::give_body(std::string_view bytes) {
  send_head();
  if (bytes.size() > request.max_bytes - n_bytes) {
    end_id = "answer_too_long";
    return false;
  }
  switch (sink->body(bytes)) {
    case TransferTake::kStop:
      is_stopped = true;
      return false;
    case TransferTake::kFull:
      is_full = true;
      return false;
    case TransferTake::kProgress:
      has_progress = true;
      progress = shared->poller->poller().woke_ns();
      break;
    case TransferTake::kNothing:
      break;
  }
  n_bytes += bytes.size();
  return true;
}

std::pair<std::int64_t, const char*> TransferJob::deadline() const {
  std::pair<std::int64_t, const char*> first = {0, ""};
  const auto add = [&](std::int64_t since, std::int64_t ms, const char* id) {
    if (ms > 0 && (first.first == 0 || since + ms * kNsPerMs < first.first))
      first = {since + ms * kNsPerMs, id};
  };
  add(started, request.total_ms, "total_timeout");
  if (connecting_since != 0) add(connecting_since, request.connect_ms, "no_connection");
  if (is_full) return first;
  if (!has_progress) add(started, request.first_ms, "first_timeout");
  if (has_progress) add(progress, request.idle_ms, "idle_timeout");
  return first;
}

Error TransferJob::error(std::string id, std::string_view why) const {
  const auto url = parse_url(request.url);
  const std::string shown = url ? printable(url->shown) : std::string("the URL");
  const std::string what = what_ended(request, id, why);
  return {.code = id == "cancelled" ? ErrorCode::kCancelled : ErrorCode::kUnavailable,
          .id = std::move(id),
          .message = cat(shown, ": ", what)};
}

}  // namespace wick
