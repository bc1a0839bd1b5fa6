// Any bytes on a connection, without a socket: all of it between the stream and the handlers, with
// Work and WebSockets. The first byte says how the bytes are cut, the second how many the client
// takes at a time and whether it ends. Whatever comes, nothing is left under way at the end.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/strings.h"
#include "http/connection.h"
#include "http/limits.h"

namespace {

using namespace wick::http;

// The client's end of a stream: what it sends next, and what it was told.
struct Client {
  std::string to_read = {}, told = {};
  std::size_t takes = 1 << 20;
  bool has_ended = false, is_closed = false, is_read = true;
  Stream::Owner* owner = nullptr;

  // What it sends goes to the connection, as far as that reads.
  void serve() {
    while (is_read && !is_closed && !to_read.empty()) {
      const std::string bytes = to_read.substr(0, kReadBytes);
      to_read.erase(0, bytes.size());
      owner->on_bytes(bytes);
    }
    if (is_closed || !to_read.empty() || !std::exchange(has_ended, false)) return;
    is_read = false;
    owner->on_gone(true);
  }
};

class FakeStream final : public Stream {
 public:
  FakeStream(Loop& loop, std::shared_ptr<Client> client)
      : loop_(loop), client_(std::move(client)) {}

  void open(Owner& owner) override {
    client_->owner = &owner;
    owner.on_open(true);
  }

  void set_reading(bool reads) override { client_->is_read = reads; }

  std::optional<std::size_t> write(std::string_view bytes) override {
    const std::size_t n = std::min(bytes.size(), client_->takes);
    client_->told += bytes.substr(0, n);
    if (n < bytes.size()) {
      loop_.defer([client = client_] {
        if (!client->is_closed) client->owner->on_writable();
      });
    }
    return n;
  }

  void end() override {}

  void close() override { client_->is_closed = true; }

 private:
  Loop& loop_;
  std::shared_ptr<Client> client_;
};

struct Counting final : Work {
  explicit Counting(std::shared_ptr<wick::Wake> its_wake) : wake(std::move(its_wake)) { ++alive; }

  ~Counting() override { --alive; }

  State advance(Writer& out) override {
    if (n == 0) out.begin({.body = "begin"});
    for (int i = 0; i < 10 && out.room() > 0; ++i)
      out.write("some text");
    if (++n == 5) return State::kDone;
    wake->set();
    return State::kWaits;
  }

  bool message(std::string text) override {
    wake->set();
    return text != "no";
  }

  std::shared_ptr<wick::Wake> wake;
  int n = 0;
  static inline int alive = 0;
};

std::vector<Route> routes() {
  const Handler echo = [](Request request, const std::shared_ptr<wick::Wake>&) -> Reply {
    return Response{.body = std::move(request.body)};
  };
  const Handler count = [](const Request&, std::shared_ptr<wick::Wake> wake) -> Reply {
    return std::make_unique<Counting>(std::move(wake));
  };
  return {{Access::kOpen, "GET", "/", echo, Where::kLoop},
          {Access::kInfer, "POST", "/v1/*", echo, Where::kLoop},
          {Access::kInfer, "GET", "/v1/stream", count, Where::kLoop},
          {Access::kInfer, "WEBSOCKET", "/v1/ws", count, Where::kLoop}};
}

void run(Loop& loop, Site& site) {
  for (int i = 0; i < 8; ++i) {
    loop.finish();
    loop.wakes().take([&](std::uint64_t number) {
      const auto found = site.under_way.find(number);
      if (found != site.under_way.end()) found->second->on_wake();
    });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static const auto kLoop = Loop::create();
  Loop& loop = **kLoop;
  Site site(loop, *Guard::create({}), routes());
  site.limits = {.head_bytes = 4096, .headers = 20, .body_bytes = 1000, .stream_bytes = 4096};
  site.workers = *Workers::start(0, 1);
  site.slow_workers = *Workers::start(0, 1);
  const auto client = std::make_shared<Client>();
  if (data[1] != 0) client->takes = data[1];
  auto connection = std::make_shared<Connection>(site, std::make_unique<FakeStream>(loop, client),
                                                 Peer{.local = "127.0.0.1"});
  bool is_closed = false;
  site.on_closed = [&](Connection&) { is_closed = true; };
  connection->start();
  run(loop, site);
  std::string_view in(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t cut = data[0] == 0 ? std::max<std::size_t>(in.size(), 1) : data[0];
  while (!in.empty() && !is_closed) {
    client->to_read += in.substr(0, cut);
    in.remove_prefix(std::min(cut, in.size()));
    client->serve();
    run(loop, site);
  }
  client->has_ended = true;
  client->serve();
  run(loop, site);
  connection->close();
  run(loop, site);
  WICK_CHECK(client->told.empty() || client->told.starts_with("HTTP/1.1 "), "answers are HTTP");
  WICK_CHECK(site.under_way.empty() && site.bodies_bytes == 0, "nothing is left under way");
  WICK_CHECK(Counting::alive == 0, "no work outlives its client");
  const std::weak_ptr<Connection> weak = connection;
  connection.reset();
  WICK_CHECK(weak.expired(), "nobody keeps a closed connection");
  return 0;
}
