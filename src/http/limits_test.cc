// Each limit over a real socket: bytes in, bytes out.
#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/poller.h"
#include "http/fixture_test.h"
#include "http/response.h"

namespace wick::http::test {
namespace {

Limits short_times() {
  Limits limits;
  limits.head_ms = limits.body_ms = limits.idle_ms = 150;
  limits.stall_ms = 300;
  limits.linger_ms = 500;
  return limits;
}

std::string code_of(const Answer& answer) {
  const auto json = nlohmann::json::parse(answer.body, nullptr, false);
  if (json.is_discarded() || !json.contains("error")) return cat("no error in ", answer.body);
  const auto& error = json["error"];
  for (const char* key : {"message", "type", "param", "code"}) {
    if (!error.contains(key)) return cat("no ", key, " in ", answer.body);
  }
  return error["code"];
}

int niceness() {  // of this thread
  return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
}

TEST(HttpLimits, AnswersHealth) {
  TestServer server;
  const Answer answer = server.ask(request("GET /health"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "ok");
  EXPECT_TRUE(answer.header("x-request-id").starts_with("req_")) << answer.head;
  EXPECT_EQ(answer.header("x-content-type-options"), "nosniff");
  EXPECT_TRUE(answer.header("date").ends_with(" GMT")) << answer.head;
}

TEST(HttpLimits, KeepsTheClientsSoundRequestIdAndNoOther) {
  TestServer server;
  EXPECT_EQ(server.ask(request("GET /health", "x-request-id: a-1.b_2\r\n")).header("x-request-id"),
            "a-1.b_2");
  for (const char* bad : {"a b", "a\"b", "", "\xC3\xA4"}) {
    const Answer answer = server.ask(request("GET /health", cat("x-request-id: ", bad, "\r\n")));
    EXPECT_TRUE(answer.header("x-request-id").starts_with("req_")) << answer.head;
  }
}

TEST(HttpLimits, TakesAHeadOf16KiBAndRefusesAByteMore) {
  TestServer server;
  const std::string frame = request("GET /health", "x: \r\n");
  const std::string fits(kMaxHeadBytes - frame.size(), 'y');
  EXPECT_EQ(server.ask(request("GET /health", cat("x: ", fits, "\r\n"))).status, 200);
  const Answer answer = server.ask(request("GET /health", cat("x: y", fits, "\r\n")));
  EXPECT_EQ(answer.status, 431);
  EXPECT_EQ(code_of(answer), "head_too_large");
}

TEST(HttpLimits, RefusesAHeadWithoutEndWhenItIsTooLong) {
  TestServer server;
  RawClient client(server.port());
  client.send(cat("GET /health HTTP/1.1\r\nhost: localhost\r\nx: ", std::string(17'000, 'y')));
  EXPECT_EQ(client.read_answer().status, 431);
  EXPECT_TRUE(client.is_ended());
}

TEST(HttpLimits, Takes100HeadersAndRefusesOneMore) {
  TestServer server;
  std::string headers;
  for (int i = 0; i < kMaxHeaders - 1; ++i)  // host is one
    headers += cat("x-", i, ": y\r\n");
  EXPECT_EQ(server.ask(request("GET /health", headers)).status, 200);
  EXPECT_EQ(server.ask(request("GET /health", headers + "z: y\r\n")).status, 431);
}

TEST(HttpLimits, RefusesAPathThatIsTooLong) {
  TestServer server;
  EXPECT_EQ(server.ask(request(cat("GET /", std::string(kMaxTargetBytes, 'a')))).status, 414);
}

TEST(HttpLimits, RefusesABodyThatIsTooLargeBeforeItComes) {
  ServerOptions options;
  options.limits.body_bytes = 1000;
  TestServer server(options);
  EXPECT_EQ(server.ask(post("/echo", std::string(1000, 'x'))).body.size(), 1000U);
  RawClient client(server.port());
  const Answer answer = client.ask(
      "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
      "content-length: 1001\r\n\r\n");
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(code_of(answer), "body_too_large");
  EXPECT_EQ(answer.header("connection"), "close");
}

TEST(HttpLimits, RefusesChunksThatTogetherAreTooLarge) {
  ServerOptions options;
  options.limits.body_bytes = 1000;
  TestServer server(options);
  const std::string chunk = cat("1f4\r\n", std::string(500, 'x'), "\r\n");  // 500
  const std::string head =
      request("POST /echo", "content-type: application/json\r\ntransfer-encoding: chunked\r\n");
  EXPECT_EQ(server.ask(cat(head, chunk, chunk, "0\r\n\r\n")).body.size(), 1000U);
  EXPECT_EQ(server.ask(cat(head, chunk, chunk, "1\r\nx\r\n0\r\n\r\n")).status, 413);
  EXPECT_EQ(server.ask(cat(head, "ffffffff\r\n")).status, 413);
  EXPECT_EQ(server.ask(cat(head, "fffffffff\r\n")).status, 400);  // nine digits
}

TEST(HttpLimits, ReadsTheAnswerTo413AlsoWhileStillSending) {
  ServerOptions options;
  options.limits.body_bytes = 1000;
  TestServer server(options);
  RawClient client(server.port());
  const std::string body(3'000'000, 'x');
  std::thread sender([&] { client.send(post("/echo", body)); });
  EXPECT_EQ(client.read_answer().status, 413);
  ::shutdown(client.fd(), SHUT_RDWR);
  sender.join();
}

TEST(HttpLimits, RefusesBodiesBeyondWhatAllTogetherMayHold) {
  ServerOptions options;
  options.limits.all_bodies_bytes = 100'000;
  TestServer server(options);
  RawClient first(server.port());
  const std::string most = post("/echo", std::string(90'000, 'x'));
  RawClient second(server.port());
  first.send(most.substr(0, most.size() - 1));
  second.send(most.substr(0, most.size() - 1));
  // Both are read in turn, and whichever makes the sum too large is refused.
  std::array<pollfd, 2> either = {{{first.fd(), POLLIN, 0}, {second.fd(), POLLIN, 0}}};
  ASSERT_EQ(::poll(either.data(), either.size(), kPatienceMs), 1);
  RawClient& refused = either[0].revents != 0 ? first : second;
  RawClient& kept = either[0].revents != 0 ? second : first;
  EXPECT_EQ(refused.read_answer().status, 503);
  kept.send("x");
  EXPECT_EQ(kept.read_answer().status, 200);
  EXPECT_EQ(server.ask(most).status, 200) << "what was held is given back";
}

TEST(HttpLimits, CutsAHeadThatTricklesIn) {
  ServerOptions options;
  options.limits = short_times();
  TestServer server(options);
  RawClient client(server.port());
  client.send("GET /health HTTP/1.1\r\nhost: local");
  const Answer answer = client.read_answer();
  EXPECT_EQ(answer.status, 408);
  EXPECT_EQ(code_of(answer), "request_timeout");
  EXPECT_TRUE(client.is_ended());
}

TEST(HttpLimits, EachByteOfASlowHeadBuysNoTime) {
  ServerOptions options;
  options.limits = short_times();
  TestServer server(options);
  RawClient client(server.port());
  client.send("GET /health HTTP/1.1\r\n");
  std::atomic<bool> is_cut = false;
  std::thread slow([&] {
    while (!is_cut && client.send("x: y\r\n"))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the attack itself
  });
  EXPECT_EQ(client.read_answer().status, 408);
  is_cut = true;
  slow.join();
}

TEST(HttpLimits, CutsABodyThatTricklesIn) {
  ServerOptions options;
  options.limits = short_times();
  TestServer server(options);
  RawClient client(server.port());
  const std::string whole = post("/echo", "0123456789");
  client.send(whole.substr(0, whole.size() - 1));
  EXPECT_EQ(client.read_answer().status, 408);
}

TEST(HttpLimits, ClosesAnIdleConnectionWithoutAWord) {
  ServerOptions options;
  options.limits = short_times();
  TestServer server(options);
  RawClient silent(server.port());
  EXPECT_TRUE(silent.is_ended());
  RawClient client(server.port());
  EXPECT_EQ(client.ask(request("GET /health")).status, 200);
  EXPECT_TRUE(client.is_ended());
}

TEST(HttpLimits, TellsConnectionsBeyondTheLimitAtOnce) {
  ServerOptions options;
  options.limits.connections = 2;
  TestServer server(options);
  RawClient a(server.port()), b(server.port());
  EXPECT_EQ(a.ask(request("GET /health")).status, 200);
  EXPECT_EQ(b.ask(request("GET /health")).status, 200);
  RawClient c(server.port());
  const Answer answer = c.read_answer();  // without having asked
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.header("retry-after"), "1");
  EXPECT_EQ(code_of(answer), "too_many_connections");
  EXPECT_EQ(a.ask(request("GET /health")).status, 200);
  EXPECT_EQ(server->counters().refused, 1U);
}

TEST(HttpLimits, TakesANewConnectionWhenAnOldOneIsGone) {
  ServerOptions options;
  options.limits.connections = 1;
  TestServer server(options);
  {
    RawClient first(server.port());
    EXPECT_EQ(first.ask(request("GET /health", "connection: close\r\n")).status, 200);
    EXPECT_TRUE(first.is_ended());
  }
  for (int status = 503; status == 503;)  // until the server has noticed
    status = server.ask(request("GET /health")).status;
}

TEST(HttpLimits, CountsTheConnectionsOfOneAddress) {
  ServerOptions options;
  options.limits.connections_per_address = 1;
  TestServer server(options);
  RawClient first(server.port());
  EXPECT_EQ(first.ask(request("GET /health")).status, 200);
  EXPECT_EQ(RawClient(server.port()).read_answer().status, 503);
}

TEST(HttpLimits, RefusesRequestsBeyondTheWorkersQueue) {
  ServerOptions options;
  options.limits.workers = 1;
  options.limits.queued = 1;
  TestServer server(options);
  RawClient running(server.port()), queued(server.port());
  running.send(post("/block", "{}"));
  ASSERT_TRUE(server.script().blocked.wait());
  queued.send(post("/infer", "{}"));
  for (int status = 0; status != 503;) {  // the first of these may be before the queued one
    RawClient more(server.port());
    more.send(post("/infer", "{}"));
    pollfd ready{.fd = more.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 50) != 1) continue;
    const Answer answer = more.read_answer();
    status = answer.status;
    EXPECT_EQ(code_of(answer), "overloaded");
    EXPECT_EQ(answer.header("retry-after"), "1");
  }
}

TEST(HttpLimits, LargeBodiesHaveWorkersOfTheirOwnWhichGiveWay) {
  Event release;
  std::vector<Route> routes;
  routes.emplace_back(Access::kInfer, "POST", "/nice",
                      [&](const Request& one, const std::shared_ptr<Wake>&) {
                        if (one.body.size() >= kSlowBodyBytes) static_cast<void>(release.wait());
                        return Reply(Response{.body = std::to_string(niceness())});
                      });
  TestServer server({}, std::move(routes));
  const int usual = niceness();
  const std::string large = post("/nice", std::string(kSlowBodyBytes, ' '));
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 2 * kWorkers; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    clients.back()->send(large);
  }
  const Answer answer = server.ask(post("/nice", std::string(kSlowBodyBytes - 1, ' ')));
  EXPECT_EQ(answer.body, std::to_string(usual)) << "others wait for none of them";
  release.set();
  for (const auto& client : clients) {
    const Answer last = client->read_answer();
    EXPECT_EQ(last.body, std::to_string(std::min(19, usual + kSlowNiceness)));
  }
}

TEST(HttpLimits, CutsAClientThatSendsFarAhead) {
  TestServer server;
  RawClient client(server.port());
  client.send(post("/block", "{}"));
  ASSERT_TRUE(server.script().blocked.wait());
  client.send(std::string(kMaxAheadBytes + kReadBytes, 'x'));
  EXPECT_TRUE(client.is_ended());
}

TEST(HttpLimits, PausesTheWorkOfASlowReaderAndOnlyThat) {
  TestServer server;
  server.script().endless = 1000;
  RawClient slow(server.port(), 4096);
  slow.send(request("GET /stream"));
  ASSERT_TRUE(server.script().started.wait());
  std::size_t before = 1, now = 0;
  for (int quiet = 0; quiet < 5; quiet = now == before ? quiet + 1 : 0) {
    before = server.script().written;
    EXPECT_EQ(server.ask(request("GET /health")).status, 200) << "others go on";
    now = server.script().written;
  }
  // What the kernel takes for a window of 4 KiB, plus the buffer of the connection.
  EXPECT_LT(now, std::size_t{6} << 20);
  EXPECT_GE(now, kMaxStreamBytes);
  for (std::size_t read = 0; read < now + kMaxStreamBytes;)
    read += slow.read_bytes(100'000).size();
  EXPECT_GT(server.script().written, now) << "and it goes on when the client reads";
}

TEST(HttpLimits, CutsAReaderThatTakesNothing) {
  ServerOptions options;
  options.limits = short_times();
  TestServer server(options);
  server.script().endless = 1000;
  RawClient slow(server.port(), 4096);
  slow.send(request("GET /stream"));
  EXPECT_TRUE(server.script().gone.wait());
  EXPECT_EQ(server->counters().cancelled, 1U);
}

TEST(HttpEarly, ARefusalGetsToNoWorker) {
  std::atomic<int> n_handled = 0;
  Route route(Access::kInfer, "POST", "/early", [&](const Request&, const std::shared_ptr<Wake>&) {
    ++n_handled;
    return Reply(Response{.body = "handled"});
  });
  route.early = [](const Request& one) -> std::optional<Response> {
    if (one.body == "{}") return Response{.status = 503, .body = "early"};
    if (one.body == "[]") throw std::bad_alloc();
    return std::nullopt;
  };
  TestServer server({}, {std::move(route)});
  RawClient client(server.port());
  const Answer refused = client.ask(post("/early", "{}"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body, "early");
  EXPECT_EQ(n_handled, 0);
  EXPECT_EQ(client.ask(post("/early", "{ }")).body, "handled") << "the connection goes on";
  EXPECT_EQ(client.ask(post("/early", "[]")).body, "handled");
}

TEST(HttpQuick, ARequestThatWaitsForNothingNeedsNoWorker) {
  std::atomic<bool> was_worker = false;
  std::atomic<std::thread::id> loop = {};
  Route route(Access::kInfer, "POST", "/quick", [&](const Request&, const std::shared_ptr<Wake>&) {
    was_worker = std::this_thread::get_id() != loop.load();
    return Reply(Response{.body = "handled"});
  });
  route.is_quick = [&](const Request& one) {
    loop = std::this_thread::get_id();
    if (one.body == "[]") throw std::bad_alloc();
    return one.body == "{}";
  };
  TestServer server({}, {std::move(route)});
  RawClient client(server.port());
  const std::pair<std::string_view, bool> kBodies[] = {{"{}", false}, {"{ }", true}, {"[]", true}};
  for (const auto& [body, needs_worker] : kBodies) {
    EXPECT_EQ(client.ask(post("/quick", body)).body, "handled") << body;
    EXPECT_EQ(was_worker, needs_worker) << body;
  }
}

// The Wake of a Work that only another owner of the poller sets: it is seen behind its call.
TEST(HttpPoller, IsSharedWithOthersAndTheLoopLooksAtTheirWakes) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  std::shared_ptr<Wake> waiting;  // of the loop's thread
  bool is_there = false;

  struct Waits final : Work {
    explicit Waits(bool& its_flag) : is_there(its_flag) {}

    State advance(Writer& out) override {
      if (!is_there) return State::kWaits;
      out.whole({.body = "here"});
      return State::kDone;
    }

    bool& is_there;
  };

  Route route(
      Access::kInfer, "POST", "/waits",
      [&](const Request&, const std::shared_ptr<Wake>& wake) {
        waiting = wake;
        return Reply(std::make_unique<Waits>(is_there));
      },
      Where::kLoop);

  struct Reads final : Pollable {
    explicit Reads(std::function<void()> call) : readable(std::move(call)) {}

    void on_ready(int /*fd*/, std::uint32_t /*events*/) override { readable(); }

    std::function<void()> readable;
  };

  Reads other([&] {
    char byte = 0;
    is_there = ::read(ends[0], &byte, 1) == 1;
    if (waiting != nullptr) waiting->set();
  });
  ServerOptions options;
  options.poller = *Poller::create();
  ASSERT_TRUE(options.poller->watch(ends[0], EPOLLIN, other));
  {
    TestServer server(options, {std::move(route)});
    RawClient client(server.port());
    client.send(post("/waits", "{}"));
    while (server->counters().open == 0)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_EQ(::write(ends[1], "x", 1), 1);
    EXPECT_EQ(client.read_answer().body, "here");
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(HttpResponse, EveryStatusThatIsSentHasItsPhrase) {
  for (const int status : {200, 201, 204, 400, 401, 403, 404, 405, 408, 413, 414, 415, 417,
                           422, 426, 429, 431, 500, 501, 502, 503, 504, 505, 507, 508, 529})
    EXPECT_NE(reason(status), "Status") << status;
  EXPECT_EQ(reason(508), "Loop Detected");
}

}  // namespace
}  // namespace wick::http::test
