// The interface between the transport (http/server.h), which knows no routes, and the routes
// (server/), which know no sockets. Plain types and two small interfaces.
//
//   const Route kRoutes[] = {
//       {Access::kOpen, "GET", "/health", health, Where::kLoop},
//       {Access::kInfer, "POST", "/v1/chat/completions", chat_completions},
//   };
//
// A handler returns a Response, or Work that the transport drives: it calls advance() on its loop
// thread whenever the Work's Wake was set and the connection has buffer space. When the client
// disconnects, the Work is destroyed, which cancels the request.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/wake.h"

namespace wick::http {

// The access class of a route; every Route has one.
enum class Access : std::uint8_t {
  kOpen,   // everyone: health, the web page's files
  kInfer,  // a key with scope "infer" or "admin"; everyone if the server has no keys
  kAdmin,  // a key with scope "admin"; without keys only with --open-admin
};

// The thread of a handler: the loop's if it never blocks and computes little, else a worker's.
enum class Where : std::uint8_t { kWorker, kLoop };

struct Header {
  std::string name = {}, value = {};
};

struct Request {
  std::string method = {};           // "GET"
  std::string path = {};             // decoded, without the query: "/v1/models/smol"
  std::string rest = {};             // the part matched by "*" at the end of the route's path
  std::string query = {};            // behind "?", as sent
  std::vector<Header> headers = {};  // names in lower case
  std::string body = {};
  std::string id = {};       // x-request-id: the client's if valid, else generated
  std::string key_id = {};   // public part of the API key; empty without keys
  std::uint64_t tenant = 0;  // one number a key; 0 without keys
  std::uint64_t client = 0;  // without keys one number an address; 0 over Unix sockets
  // The first header of this name (lower case), empty if there is none.
  std::string_view header(std::string_view name) const noexcept;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<Header> headers = {};
};

// The output of Work. Either whole() once, or begin() and then any number of write()s.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void whole(Response response) = 0;
  virtual void begin(Response head) = 0;  // its body is the first piece
  virtual void write(std::string_view piece) = 0;
  // Free bytes of the connection's output buffer; 0 = stop and wait.
  virtual std::size_t room() const noexcept = 0;
};

class Work {
 public:
  enum class State : std::uint8_t { kWaits, kDone };

  virtual ~Work() = default;
  // Loop thread; never blocks. Writes what there is while out.room() > 0. kWaits: called again once
  // the Wake is set or the connection has room again.
  virtual State advance(Writer& out) = 0;

  // Written after 15 s without output: an SSE comment. Empty = none.
  virtual std::string_view heartbeat() const noexcept { return {}; }

  // A WebSocket's text message. False closes the connection as a protocol error.
  virtual bool message(std::string /*text*/) { return false; }

  // The server drains: Work that waits for its client ends, running answers continue. Called again
  // one second before the end of the drain time: end now, with a last piece; Work that does not is
  // destroyed. New Work gets the same calls.
  virtual void drain() {}
};

using Reply = std::variant<Response, std::unique_ptr<Work>>;
// `wake` is the Work's own: pass it to Provider::start().
using Handler = std::function<Reply(Request request, std::shared_ptr<Wake> wake)>;
// Before a worker's handler: a refusal that is known at once, on the loop's thread. Empty: go on.
using Early = std::function<std::optional<Response>(const Request& request)>;
// Whether a worker's handler neither waits nor computes much for this request. Then it runs on the
// loop's thread.
using Quick = std::function<bool(const Request& request)>;

struct Route {
  Route(Access who, std::string_view verb, std::string_view where, Handler what,
        Where thread = Where::kWorker)
      : access(who), method(verb), path(where), handler(std::move(what)), runs(thread) {}

  Access access;
  std::string method;  // "GET", "POST", "DELETE"; "WEBSOCKET" for an upgrade
  std::string path;    // whole, or a prefix and "*": "/api/blobs/*"
  Handler handler;
  Where runs;
  Early early = {};
  Quick is_quick = {};  // empty: never
};

}  // namespace wick::http
