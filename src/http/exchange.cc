#include "http/exchange.h"

#include <algorithm>

#include "base/catch_bad_alloc.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/mix.h"
#include "base/strings.h"
#include "http/connection.h"
#include "http/response.h"

namespace wick::http {

namespace {

constexpr int kClientGone = 499;  // in the log: the client went before the end

// The client's own id if it is one that may stand in a log, else one of ours.
std::string request_id(const Head& head, std::uint64_t seed, std::uint64_t number) {
  const std::string_view given = head.header("x-request-id");
  const auto is_sound = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (!given.empty() && given.size() <= kMaxRequestIdBytes &&
      std::all_of(given.begin(), given.end(), is_sound) && without_secrets(given) == given)
    return std::string(given);
  std::string id = "req_";
  append_hex(id, splitmix64(seed, number), 16);
  return id;
}

bool is_json(std::string_view type) {
  if (type == "application/json") return true;  // nearly always
  const std::size_t end = std::min(type.find(';'), type.size());
  std::string media = ascii_lower(type.substr(0, end));
  while (!media.empty() && (media.back() == ' ' || media.back() == '\t'))
    media.pop_back();
  return media == "application/json";
}

std::int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Refusal of_exception(const Error& error) {
  const bool is_memory = error.code == ErrorCode::kNoMemory;
  return {.status = is_memory ? 503 : 500,
          .code = error.id.empty() ? "internal" : error.id,
          .message = is_memory ? "there is no memory left for this request" : "the request failed",
          .retry_after_s = is_memory ? 1 : 0};
}

}  // namespace

std::string_view Site::date() {
  const std::int64_t second = unix_seconds();
  if (second != date_second_) {
    date_second_ = second;
    date_ = http_date(second);
  }
  return date_;
}

Exchange::Exchange(Site& site, Outbox& outbox, Head&& head)
    : site_(site),
      outbox_(outbox),
      head_(std::move(head)),
      number_(++site.last_number),
      began_ns_(site.loop.turn_ns()),
      spoke_ns_(began_ns_),
      keeps_alive_(head_.keeps_alive && !site.drains()) {
  id_ = request_id(head_, site.seed, number_);
}

Exchange::~Exchange() {
  if (has_begun_) {
    if (is_queued_) {
      site_.workers->withdraw(number_);
      site_.slow_workers->withdraw(number_);
    }
    site_.under_way.erase(number_);
  }
  site_.bodies_bytes -= body_bytes_;
  if (counts_key_) site_.key_use.end(key_id_);
  if (!is_over_ && has_begun_) {
    site_.counters.cancelled.fetch_add(1, std::memory_order_relaxed);
    log(kClientGone);
  }
}

bool Exchange::admit(const Peer& peer) {
  if (site_.keys == nullptr) client_ = peer.client;
  auto answer = check(peer.local);
  if (!answer) return true;
  if (head_.has_body()) keeps_alive_ = false;  // nobody reads it
  whole(*std::move(answer));
  return false;
}

std::optional<Response> Exchange::check(std::string_view local_address) {
  if (auto refusal = site_.guard.check(head_, local_address)) return to_response(*refusal);
  auto match = site_.router.find(head_.method, head_.path, head_.is_upgrade);
  if (site_.guard.is_preflight(head_)) return site_.guard.preflight(head_, match.allow);
  if (auto refusal = check_route(match)) return to_response(*refusal);
  if (match.route == nullptr) {  // OPTIONS
    return Response{.status = 204, .type = "", .headers = {{"allow", std::string(match.allow)}}};
  }
  route_ = match.route;
  rest_ = std::move(match.rest);
  if (auto refusal = check_access()) return to_response(*refusal);
  if (auto refusal = check_type()) return to_response(*refusal);
  return std::nullopt;
}

std::optional<Refusal> Exchange::check_route(const Router::Match& match) {
  if (match.route != nullptr || (head_.method == "OPTIONS" && head_.path == "*"))
    return std::nullopt;
  if (match.allow.empty()) {
    return Refusal{.status = 404,
                   .code = "unknown_route",
                   .message = cat("there is no ", printable(head_.method), " ",
                                  printable(without_secrets(head_.path)))};
  }
  if (head_.method == "OPTIONS") return std::nullopt;
  const std::vector<Header> allow = {{"allow", std::string(match.allow)}};
  if (match.wants_upgrade && head_.method == "GET") {
    return Refusal{.status = 426,
                   .code = "upgrade_required",
                   .message = "this path is a WebSocket",
                   .headers = {{"upgrade", "websocket"}}};
  }
  return Refusal{.status = 405,
                 .code = "method_not_allowed",
                 .message = cat(printable(without_secrets(head_.path)), " takes ", match.allow,
                                ", not ", printable(head_.method)),
                 .headers = allow};
}

std::optional<Refusal> Exchange::check_access() {
  if (route_->access == Access::kOpen) return std::nullopt;
  if (site_.keys == nullptr) {
    if (route_->access == Access::kInfer || site_.admits_admin_without_key) return std::nullopt;
    return Refusal{.status = 403,
                   .code = "admin_needs_key",
                   .message =
                       "this needs a key with scope admin; the server has no keys "
                       "(--api-key-file), or allow it to everybody with --open-admin"};
  }
  const std::string_view presented = presented_key(head_);
  const Key* const key = site_.keys->find(presented);
  if (key == nullptr) {
    return Refusal{.status = 401,
                   .code = "invalid_api_key",
                   .message = presented.empty()
                                  ? "this server wants a key: authorization: Bearer sk-wick-…"
                                  : "this server does not know the key",
                   .headers = {{"www-authenticate", "Bearer"}}};
  }
  if (key->end_s > 0 && unix_seconds() >= key->end_s) {
    return Refusal{.status = 401,
                   .code = "expired_api_key",
                   .message = cat("key ", key->id, " was valid until ", key->rules.expires),
                   .headers = {{"www-authenticate", "Bearer"}}};
  }
  if (key->rules.is_blocked) {
    return Refusal{.status = 401,
                   .code = "blocked_api_key",
                   .message = cat("key ", key->id, " is blocked until an admin unblocks it"),
                   .headers = {{"www-authenticate", "Bearer"}}};
  }
  const bool may =
      key->rules.may_admin || (route_->access != Access::kAdmin && key->rules.may_infer);
  if (!may) {
    return Refusal{.status = 403,
                   .code = "scope_missing",
                   .message = cat("key ", key->id, " has not the scope ",
                                  route_->access == Access::kAdmin ? "admin" : "infer")};
  }
  if (auto refusal = site_.key_use.begin(*key, began_ns_)) return refusal;
  key_id_ = key->id;
  tenant_ = key->tenant;
  counts_key_ = true;
  return std::nullopt;
}

std::optional<Refusal> Exchange::check_type() const {
  if (head_.method != "POST" && !head_.has_body()) return std::nullopt;
  if (is_json(head_.header("content-type"))) return std::nullopt;
  return Refusal{.status = 415,
                 .code = "unsupported_media_type",
                 .message = "the body must be JSON: content-type: application/json"};
}

void Exchange::dispatch(Connection& connection, std::string body) {
  has_begun_ = true;
  body_bytes_ = body.size();
  site_.bodies_bytes += body_bytes_;
  site_.under_way.emplace(number_, &connection);
  Request request{.method = head_.method,
                  .path = head_.path,
                  .rest = std::move(rest_),
                  .query = head_.query,
                  .headers = take_headers(),
                  .body = std::move(body),
                  .id = id_,
                  .key_id = key_id_,
                  .tenant = tenant_,
                  .client = client_};
  auto wake = site_.loop.wakes().add(number_);
  if (route_->runs == Where::kWorker) {
    if (auto refused = refuse_early(request)) return take(*std::move(refused));
    if (!is_quick(request)) return run_worker(std::move(request), std::move(wake));
  }
  auto reply = catch_bad_alloc(
      [&]() -> Result<Reply> { return route_->handler(std::move(request), std::move(wake)); });
  take(reply ? *std::move(reply) : Reply(to_response(of_exception(reply.error()))));
}

// Answers need the origin alone, WebSockets all.
std::vector<Header> Exchange::take_headers() {
  if (head_.is_upgrade) return head_.headers;
  std::vector<Header> headers = std::exchange(head_.headers, {});
  for (const Header& header : headers) {
    if (header.name == "origin") head_.headers.push_back(header);
  }
  return headers;
}

// An exception here says nothing: the handler meets it again, or does not.
std::optional<Response> Exchange::refuse_early(const Request& request) const {
  if (!route_->early) return std::nullopt;
  auto refused =
      catch_bad_alloc([&]() -> Result<std::optional<Response>> { return route_->early(request); });
  return refused ? *std::move(refused) : std::nullopt;
}

bool Exchange::is_quick(const Request& request) const {
  if (!route_->is_quick) return false;
  const auto quick = catch_bad_alloc([&]() -> Result<bool> { return route_->is_quick(request); });
  return quick && *quick;
}

void Exchange::run_worker(Request request, std::shared_ptr<Wake> wake) {
  const bool is_large = request.body.size() >= kLargeBodyBytes;
  const bool is_slow = request.body.size() >= kSlowBodyBytes;
  const auto shared = std::make_shared<Request>(std::move(request));
  Workers& workers = is_slow ? *site_.slow_workers : *site_.workers;
  is_queued_ = workers.submit(
      number_,
      [&site = site_, number = number_, handler = &route_->handler, shared, wake, is_large] {
        const auto reply = std::make_shared<Reply>();
        const auto ran = catch_bad_alloc([&]() -> Result<void> {
          *reply = (*handler)(std::move(*shared), wake);
          return {};
        });
        static_cast<void>(catch_bad_alloc([&]() -> Result<void> {
          if (!ran) *reply = to_response(of_exception(ran.error()));
          // Work is destroyed on the loop's thread, also where nobody waits for it any more.
          site.loop.post([&site, number, reply] {
            const auto found = site.under_way.find(number);
            if (found != site.under_way.end()) found->second->on_reply(std::move(*reply));
          });
          return {};
        }));
        if (is_large) trim_heap();
      });
  if (is_queued_) return;
  refuse({.status = 503,
          .code = "overloaded",
          .message = "the server has more requests than it can take; try again",
          .retry_after_s = 1});
}

void Exchange::refuse(const Refusal& refusal) {
  whole(to_response(refusal));
}

void Exchange::take(Reply reply) {
  site_.bodies_bytes -= std::exchange(body_bytes_, 0);
  if (auto* response = std::get_if<Response>(&reply)) return whole(std::move(*response));
  work_ = std::get<std::unique_ptr<Work>>(std::move(reply));
  if (work_ == nullptr) return refuse({.status = 500, .code = "internal", .message = "no answer"});
  for (int i = 0; i < site_.drain_calls; ++i)
    work_->drain();
  if (route_->method == "WEBSOCKET") {
    wants_socket_ = true;  // goes on with drive() once it is attached
  } else {
    drive();
  }
}

void Exchange::drive() {
  if (work_ == nullptr || is_over_ || wants_socket()) return;
  const auto state =
      catch_bad_alloc([&]() -> Result<Work::State> { return work_->advance(*this); });
  is_full_ = room() < site_.limits.stream_bytes / 2;
  if (is_over_) return;  // whole()
  if (!state) {
    log_message(LogLevel::kWarning, cat("request ", id_, ": ", to_string(state.error())));
    if (!is_streaming_ && socket_ == nullptr) return refuse(of_exception(state.error()));
    keeps_alive_ = false;  // without its last chunk the answer is seen to be broken
    return finish(500);
  }
  if (*state == Work::State::kWaits) return;
  if (socket_ != nullptr) return finish(101);
  if (!is_streaming_)
    return refuse({.status = 500, .code = "internal", .message = "the answer is empty"});
  if (!head_.is_1_0) append_last_chunk(outbox_.tail());
  finish(status_);
}

void Exchange::on_room() {
  if (is_full_ && room() >= site_.limits.stream_bytes / 2) drive();
}

void Exchange::drain() {
  keeps_alive_ = false;
  if (work_ == nullptr) return;
  work_->drain();
  drive();
}

// Of the subprotocols that are offered ours is taken; never one with a key in it.
std::vector<Header> Exchange::socket_headers() const {
  std::vector<Header> headers = {{"x-request-id", id_}};
  const auto offered = subprotocols(head_);
  if (std::find(offered.begin(), offered.end(), kSubprotocol) != offered.end())
    headers.push_back({"sec-websocket-protocol", std::string(kSubprotocol)});
  return headers;
}

bool Exchange::message(std::string text) {
  return work_ != nullptr && !is_over_ && work_->message(std::move(text));
}

void Exchange::end_socket() {
  if (!is_over_) finish(101);
}

std::int64_t Exchange::beat_at() const noexcept {
  if (is_over_ || !(is_streaming_ || socket_ != nullptr)) return 0;
  return spoke_ns_ + site_.limits.heartbeat_ms * 1'000'000;
}

void Exchange::beat() {
  spoke_ns_ = monotonic_ns();
  if (work_ != nullptr && socket_ == nullptr) write(work_->heartbeat());
}

void Exchange::whole(Response response) {
  if (is_over_ || is_streaming_) return;
  if (socket_ != nullptr) {
    write(response.body);
    return finish(101);
  }
  if (!site_.guard.is_preflight(head_)) site_.guard.add_cors(head_, response.headers);
  const int status = response.status;
  if (site_.drains()) keeps_alive_ = false;
  append_head(outbox_.tail(), response,
              {.length = response.body.size(),
               .is_1_0 = head_.is_1_0,
               .keeps_alive = keeps_alive_,
               .date = site_.date(),
               .request_id = id_});
  const bool has_body = head_.method != "HEAD" && status != 204 && status != 304;
  if (has_body) outbox_.tail() += response.body;
  sent_bytes_ = has_body ? response.body.size() : 0;
  finish(status);
}

void Exchange::begin(Response head) {
  if (is_over_ || is_streaming_) return;
  if (socket_ != nullptr) return write(head.body);
  is_streaming_ = true;
  status_ = head.status;
  site_.guard.add_cors(head_, head.headers);
  if (head_.is_1_0 || site_.drains()) keeps_alive_ = false;
  append_head(outbox_.tail(), head,
              {.is_1_0 = head_.is_1_0,
               .keeps_alive = keeps_alive_,
               .date = site_.date(),
               .request_id = id_});
  spoke_ns_ = monotonic_ns();
  if (head_.method == "HEAD") return finish(status_);
  write(head.body);
}

void Exchange::write(std::string_view piece) {
  if (is_over_ || piece.empty()) return;
  if (socket_ == nullptr && !is_streaming_) return;
  spoke_ns_ = site_.loop.turn_ns();
  sent_bytes_ += piece.size();
  if (socket_ != nullptr) {
    socket_->send(std::string(piece));
  } else if (head_.is_1_0) {
    outbox_.tail() += piece;
  } else {
    append_chunk(outbox_.tail(), piece);
  }
}

std::size_t Exchange::room() const noexcept {
  const std::size_t queued = socket_ != nullptr ? socket_->queued_bytes() : 0;
  return outbox_.room() > queued ? outbox_.room() - queued : 0;
}

void Exchange::finish(int status) {
  is_over_ = true;
  site_.counters.requests.fetch_add(1, std::memory_order_relaxed);
  if (status >= 500) site_.counters.failed.fetch_add(1, std::memory_order_relaxed);
  site_.counters.sent_bytes.fetch_add(sent_bytes_, std::memory_order_relaxed);
  log(status);
}

void Exchange::log(int status) const {
  if (!site_.logs_requests) return;
  const std::int64_t us = (monotonic_ns() - began_ns_) / 1000;
  log_message(LogLevel::kInfo,
              cat("request ", id_, " ", printable(head_.method), " ",
                  printable(without_secrets(head_.path)), " ", status, " ", sent_bytes_, " bytes ",
                  us / 1000, ".", us / 100 % 10, " ms", key_id_.empty() ? "" : " key ", key_id_));
}

}  // namespace wick::http
