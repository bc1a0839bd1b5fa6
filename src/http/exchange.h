// One request and its response: checks access, calls the handler of the route, and drives its Work
// until it is done. It writes into the connection's outbox. Destroying it early cancels: the task
// leaves the queue, the Work is destroyed. Loop thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/handler.h"
#include "http/head.h"
#include "http/outbox.h"
#include "http/refusal.h"
#include "http/site.h"
#include "http/websocket.h"

namespace wick::http {

struct Peer;

class Exchange final : public Writer {
 public:
  Exchange(Site& site, Outbox& outbox, Head&& head);
  ~Exchange() override;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Whether the request's body is wanted; otherwise it has been answered.
  bool admit(const Peer& peer);
  // Runs the handler here or on a worker, whose reply the loop hands to `connection`.
  void dispatch(Connection& connection, std::string body);
  void take(Reply reply);
  void drive();    // the Wake was set
  void on_room();  // the client has taken something
  void refuse(const Refusal& refusal);
  void drain();

  bool is_over() const noexcept { return is_over_; }

  bool is_full() const noexcept { return is_full_; }  // on_room() goes on

  std::int64_t beat_at() const noexcept;  // when a heartbeat is due; 0: never
  void beat();

  bool keeps_alive() const noexcept { return keeps_alive_; }

  void end_connection() noexcept { keeps_alive_ = false; }

  // The answer goes on as a WebSocket.
  bool wants_socket() const noexcept { return wants_socket_ && socket_ == nullptr; }

  std::vector<Header> socket_headers() const;

  const Head& head() const noexcept { return head_; }

  void attach(WebSocket& socket) noexcept { socket_ = &socket; }

  bool message(std::string text);  // false: a protocol error
  void end_socket();               // the client said the WebSocket's end

  void whole(Response response) override;
  void begin(Response head) override;
  void write(std::string_view piece) override;
  std::size_t room() const noexcept override;

 private:
  std::optional<Response> check(std::string_view local_address);
  std::optional<Refusal> check_route(const Router::Match& match);
  std::optional<Refusal> check_access();
  std::optional<Refusal> check_type() const;
  std::optional<Response> refuse_early(const Request& request) const;
  std::vector<Header> take_headers();
  bool is_quick(const Request& request) const;
  void run_worker(Request request, std::shared_ptr<Wake> wake);
  void finish(int status);
  void log(int status) const;

  Site& site_;
  Outbox& outbox_;
  Head head_;
  std::string id_, key_id_;
  std::uint64_t number_ = 0, tenant_ = 0, client_ = 0;
  const Route* route_ = nullptr;
  std::string rest_;
  std::unique_ptr<Work> work_;
  WebSocket* socket_ = nullptr;
  std::int64_t began_ns_ = 0, spoke_ns_ = 0;
  std::size_t body_bytes_ = 0, sent_bytes_ = 0;
  int status_ = 0;          // of what has been begun
  bool has_begun_ = false;  // a handler was asked
  bool is_queued_ = false;  // for a worker
  bool counts_key_ = false, keeps_alive_ = true, is_over_ = false, wants_socket_ = false;
  bool is_streaming_ = false;
  bool is_full_ = false;  // the Work had to stop for lack of room
};

}  // namespace wick::http
