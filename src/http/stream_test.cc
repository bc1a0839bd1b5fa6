// Answers that go on: pieces as they come, clients that leave, heartbeats, the end of the server.
#include "http/fixture_test.h"

namespace wick::http::test {
namespace {

// Serving.md R7: 100 ms. Twice that on a machine that others use, too.
constexpr std::chrono::milliseconds kSoon{200};

TEST(HttpStream, SendsEachPieceAsItIsWritten) {
  TestServer server;
  RawClient client(server.port());
  client.send(request("GET /stream"));
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_NE(head.find("transfer-encoding: chunked"), std::string::npos) << head;
  EXPECT_NE(head.find("content-type: text/event-stream"), std::string::npos) << head;
  EXPECT_NE(head.find("x-accel-buffering: no"), std::string::npos) << head;
  for (int i = 0; i < 20; ++i) {
    server.script().add(cat("data: ", i, "\n\n"));
    EXPECT_EQ(client.read_chunk(), cat("data: ", i, "\n\n"));
  }
  server.script().finish();
  EXPECT_EQ(client.read_chunk(), "");
  EXPECT_TRUE(server.script().gone.wait());
  EXPECT_EQ(client.ask(request("GET /health")).body, "ok") << "the connection goes on";
}

TEST(HttpStream, OfHttp10EndsWithTheConnection) {
  TestServer server;
  RawClient client(server.port());
  server.script().add("one");
  server.script().add("two");
  server.script().finish();
  client.send("GET /stream HTTP/1.0\r\nhost: localhost\r\n\r\n");
  const std::string all = client.read_all();
  EXPECT_TRUE(all.ends_with("\r\n\r\nonetwo")) << all;
  EXPECT_EQ(all.find("transfer-encoding"), std::string::npos);
}

TEST(HttpStream, OfHeadIsItsHeaders) {
  TestServer server;
  RawClient client(server.port());
  EXPECT_EQ(client.ask(request("HEAD /stream")).status, 200);
  EXPECT_TRUE(server.script().gone.wait());
  EXPECT_EQ(client.ask(request("GET /health")).body, "ok");
}

TEST(HttpStream, EndsAtOnceWithItsClient) {
  TestServer server;
  RawClient client(server.port());
  client.send(request("GET /stream"));
  ASSERT_TRUE(server.script().started.wait());
  client.close();
  EXPECT_TRUE(server.script().gone.wait(kSoon));
}

TEST(HttpStream, EndsAtOnceWithAResetOfItsClient) {
  TestServer server;
  RawClient client(server.port());
  client.send(request("GET /stream"));
  server.script().add("one");
  client.read_until("one");
  client.reset();
  EXPECT_TRUE(server.script().gone.wait(kSoon));
}

TEST(HttpStream, EndsAtOnceWithAClientThatDoesNotRead) {
  TestServer server;
  server.script().endless = 1000;
  RawClient client(server.port(), 4096);
  client.send(request("GET /stream"));
  ASSERT_TRUE(server.script().started.wait());
  client.close();
  EXPECT_TRUE(server.script().gone.wait(kSoon));
}

TEST(HttpStream, IsDestroyedWhenItsClientLeftWhileTheHandlerRan) {
  TestServer server;
  RawClient client(server.port());
  client.send(post("/block", "{}"));
  ASSERT_TRUE(server.script().blocked.wait());
  client.close();
  while (server->counters().cancelled == 0)
    EXPECT_EQ(server.ask(request("GET /health")).status, 200);  // until the loop has seen it
  server.script().release.set();
  EXPECT_TRUE(server.script().gone.wait(kSoon));
  server.script().mutex.lock();
  EXPECT_FALSE(server.script().started.wait(std::chrono::milliseconds(0))) << "never advanced";
  server.script().mutex.unlock();
}

TEST(HttpStream, LeavesTheQueueWithItsClient) {
  std::atomic<int> n_run = 0;
  const Handler count = [&](const Request&, const std::shared_ptr<Wake>&) -> Reply {
    ++n_run;
    return Response{};
  };
  ServerOptions options;
  options.limits.workers = 1;
  options.limits.queued = 1;
  TestServer server(options, {{Access::kOpen, "POST", "/count", count}});
  RawClient running(server.port());
  running.send(post("/block", "{}"));
  ASSERT_TRUE(server.script().blocked.wait());
  {
    RawClient queued(server.port());
    queued.send(post("/count", "{}"));
    for (int status = 0; status != 503;) {  // the queue is full: that one is in it
      RawClient probe(server.port());
      probe.send(post("/infer", "{}"));
      pollfd ready{.fd = probe.fd(), .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, 20) == 1) status = probe.read_answer().status;
    }
  }
  while (server->counters().cancelled == 0)
    EXPECT_EQ(server.ask(request("GET /health")).status, 200);
  server.script().release.set();
  server.script().finish();
  EXPECT_EQ(server.ask(post("/infer", "{}")).status, 200) << "its place is free again";
  EXPECT_EQ(n_run, 0);
}

TEST(HttpStream, BeatsWhileItIsSilentAndOnlyThen) {
  ServerOptions options;
  options.limits.heartbeat_ms = 30;
  TestServer server(options);
  server.script().beat = ": ping\n\n";
  RawClient client(server.port());
  client.send(request("GET /stream"));
  client.read_until("\r\n\r\n");
  EXPECT_EQ(client.read_chunk(), ": ping\n\n");
  EXPECT_EQ(client.read_chunk(), ": ping\n\n");
  server.script().add("text");
  std::string chunk;
  while ((chunk = client.read_chunk()) == ": ping\n\n") {
  }
  EXPECT_EQ(chunk, "text");
}

TEST(HttpStream, ThatThrowsIsCutWithoutItsLastChunk) {
  struct Broken final : Work {
    State advance(Writer& out) override {
      out.begin({.body = "some"});
      throw std::bad_alloc();
    }
  };

  const Handler broken = [](const Request&, const std::shared_ptr<Wake>&) -> Reply {
    return std::make_unique<Broken>();
  };
  TestServer server({}, {{Access::kOpen, "GET", "/broken", broken}});
  RawClient client(server.port());
  client.send(request("GET /broken"));
  const std::string all = client.read_all();
  EXPECT_TRUE(all.ends_with("\r\n\r\n4\r\nsome\r\n")) << all;
}

TEST(HttpStream, ThatWritesNothingIsAnError) {
  struct Empty final : Work {
    State advance(Writer&) override { return State::kDone; }
  };

  const Handler empty = [](const Request&, const std::shared_ptr<Wake>&) -> Reply {
    return std::make_unique<Empty>();
  };
  TestServer server({}, {{Access::kOpen, "GET", "/empty", empty}});
  EXPECT_EQ(server.ask(request("GET /empty")).status, 500);
}

TEST(HttpStream, AThousandStreamsHaveNoThreadEach) {
  constexpr int kStreams = 200;

  struct Ticks final : Work {
    explicit Ticks(std::shared_ptr<Wake> its_wake) : wake(std::move(its_wake)) {}

    State advance(Writer& out) override {
      if (n == 0) out.begin({});
      out.write(cat(n, ";"));
      if (++n == 10) return State::kDone;
      wake->set();
      return State::kWaits;
    }

    std::shared_ptr<Wake> wake;
    int n = 0;
  };

  const Handler tick = [](const Request&, std::shared_ptr<Wake> wake) -> Reply {
    return std::make_unique<Ticks>(std::move(wake));
  };
  TestServer server({}, {{Access::kOpen, "GET", "/ticks", tick, Where::kLoop}});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < kStreams; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    clients.back()->send(request("GET /ticks"));
  }
  for (const auto& client : clients)
    EXPECT_EQ(client->read_answer().body, "0;1;2;3;4;5;6;7;8;9;");
}

TEST(HttpDrain, LetsAStreamSayItsLastAndTakesNobodyNew) {
  TestServer server;
  RawClient client(server.port()), idle(server.port());
  client.send(request("GET /stream"));
  server.script().add("one");
  client.read_until("one\r\n");
  EXPECT_EQ(idle.ask(request("GET /health")).status, 200);
  server->drain();
  EXPECT_TRUE(server.script().drained.wait());
  EXPECT_EQ(client.read_chunk(), "last");
  EXPECT_EQ(client.read_chunk(), "");
  EXPECT_TRUE(client.is_ended());
  EXPECT_TRUE(idle.is_ended());
  EXPECT_TRUE(server.has_ended());
  EXPECT_FALSE(RawClient(server.port()).is_connected());
}

TEST(HttpDrain, AnswersWhatAWorkerComputesAndClosesThen) {
  TestServer server;
  RawClient client(server.port());
  client.send(post("/block", "{}"));
  ASSERT_TRUE(server.script().blocked.wait());
  server->drain();
  while (RawClient(server.port()).is_connected()) {
  }
  server.script().release.set();
  const Answer answer = client.read_answer();
  EXPECT_EQ(answer.body, "last") << "it was told on its arrival";
  EXPECT_EQ(answer.header("connection"), "close");
  EXPECT_TRUE(server.has_ended());
}

TEST(HttpDrain, TellsWorkTwiceAndLateWorkAsOften) {
  struct Told final : Work {
    explicit Told(Event& its_first) : first(its_first) {}

    State advance(Writer& out) override {
      if (!std::exchange(has_begun, true)) out.begin({.body = "one"});
      if (n_told < 2) return State::kWaits;
      out.write("last");
      return State::kDone;
    }

    void drain() override {
      ++n_told;
      first.set();
    }

    Event& first;
    int n_told = 0;
    bool has_begun = false;
  };

  Event first, blocked, release, other;
  const Handler told = [&](const Request& request, const std::shared_ptr<Wake>&) -> Reply {
    if (request.method == "POST") {
      blocked.set();
      static_cast<void>(release.wait());
    }
    return std::make_unique<Told>(request.method == "POST" ? other : first);
  };
  ServerOptions options;
  options.limits.drain_ms = 10'000;
  options.limits.last_call_ms = 9'900;
  TestServer server(
      options, {{Access::kOpen, "GET", "/told", told}, {Access::kOpen, "POST", "/late", told}});
  RawClient client(server.port()), late(server.port());
  client.send(request("GET /told"));
  client.read_until("one\r\n");
  late.send(post("/late", "{}"));
  ASSERT_TRUE(blocked.wait());
  server->drain();
  ASSERT_TRUE(first.wait());
  EXPECT_EQ(client.read_chunk(), "last");
  release.set();
  EXPECT_EQ(late.read_answer().body, "onelast");
}

TEST(HttpDrain, IsOverWhenItsTimeIs) {
  struct Deaf final : Work {
    explicit Deaf(Event& its_gone) : gone(its_gone) {}

    ~Deaf() override { gone.set(); }

    State advance(Writer& out) override {
      out.begin({.body = "one"});
      return State::kWaits;
    }

    Event& gone;
  };

  Event gone;
  const Handler deaf = [&](const Request&, const std::shared_ptr<Wake>&) -> Reply {
    return std::make_unique<Deaf>(gone);
  };
  ServerOptions options;
  options.limits.drain_ms = 50;
  options.limits.last_call_ms = 20;
  TestServer server(options, {{Access::kOpen, "GET", "/deaf", deaf}});
  RawClient client(server.port());
  client.send(request("GET /deaf"));
  client.read_until("one\r\n");
  server->drain();
  EXPECT_TRUE(gone.wait());
  EXPECT_TRUE(server.has_ended());
  EXPECT_EQ(client.read_all().find("0\r\n\r\n"), std::string::npos) << "seen to be cut";
}

TEST(HttpDrain, StopsAtOnceFromAnyThread) {
  TestServer server;
  RawClient client(server.port());
  client.send(request("GET /stream"));
  ASSERT_TRUE(server.script().started.wait());
  server->stop();
  EXPECT_TRUE(server.has_ended(kSoon));
  EXPECT_TRUE(server.script().gone.wait(kSoon));
}

TEST(HttpDrain, StopsByATokenToo) {
  auto server = Server::create({.listen = {.hosts = {"127.0.0.1"}, .port = 0}}, {});
  ASSERT_TRUE(server);
  std::stop_source source;
  std::thread thread([&] { (*server)->run(source.get_token()); });
  source.request_stop();
  thread.join();
}

}  // namespace
}  // namespace wick::http::test
