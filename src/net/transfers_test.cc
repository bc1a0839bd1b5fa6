// Transfers that an event loop drives, against a scripted upstream on 127.0.0.1: all tests over
// libcurl and over PlainHttp. Those with a thread of their own are tested by remote/.
#include "net/transfers.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mix.h"
#include "base/strings.h"
#include "support/scripted_upstream.h"
#include "support/thread_count.h"

namespace wick {
namespace {

constexpr int kPatienceMs = 10'000;

// Keeps what it is told, and by which thread.
struct KeptBody final : TransferSink {
  int status = 0;
  std::string text = {};
  std::optional<Error> error = {};
  std::atomic<bool> is_over = false;
  std::thread::id thread = {};
  std::function<void()> on_body = {};
  TransferHead head_seen = {};
  int n_full = 0;  // so many times it takes nothing

  void head(TransferHead head) override {
    EXPECT_EQ(status, 0) << "a second head";
    status = head.status;
    head_seen = std::move(head);
  }

  TransferTake body(std::string_view bytes) override {
    if (n_full > 0) return --n_full, TransferTake::kFull;
    text += bytes;
    thread = std::this_thread::get_id();
    if (on_body) std::exchange(on_body, {})();
    return TransferTake::kProgress;
  }

  void end(std::optional<Error> its_error) override {
    error = std::move(its_error);
    thread = std::this_thread::get_id();
    is_over = true;
  }
};

// What an event loop does, until `sink` has its end.
void drive(DrivenTransfers& transfers, const KeptBody& sink) {
  while (!sink.is_over) {
    pollfd readable = {.fd = transfers.fd(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&readable, 1, kPatienceMs), 1) << "nothing happens";
    transfers.advance();
  }
}

std::shared_ptr<Transfer> start(Transfers& transfers, const std::string& url,
                                const std::shared_ptr<KeptBody>& sink,
                                TransferRequest request = {}) {
  request.url = url;
  request.endpoint = AddressKind::kLoopback;
  auto started = transfers.start(std::move(request), sink);
  EXPECT_TRUE(started) << started.error().message;
  return started ? *started : nullptr;
}

enum class Way : std::uint8_t { kPlain, kCurl };

class LoopTransfers : public testing::TestWithParam<Way> {
 protected:
  static std::shared_ptr<DrivenTransfers> driven() {
    return *Transfers::create_driven({.has_only_curl = GetParam() == Way::kCurl});
  }
};

INSTANTIATE_TEST_SUITE_P(BothWays, LoopTransfers, testing::Values(Way::kPlain, Way::kCurl),
                         [](const auto& one) {
                           return std::string(one.param == Way::kPlain ? "Plain" : "Curl");
                         });

std::vector<test::UpstreamAnswer> hello() {
  return {{.bytes = {test::http_head("200 OK", "text/plain"), "hel", "lo"}, .pause_ms = 5}};
}

TEST_P(LoopTransfers, CallSinksOnTheThreadThatAdvancesWhoeverStartsThem) {
  test::ScriptedUpstream upstream(hello());
  const auto transfers = driven();
  for (int i = 0; i < 3; ++i) {  // the first is started before advance(), the last elsewhere
    const auto sink = std::make_shared<KeptBody>();
    std::thread other;
    if (i < 2) {
      start(*transfers, upstream.url(), sink);
    } else {
      other = std::thread([&] { start(*transfers, upstream.url(), sink); });
    }
    drive(*transfers, *sink);
    if (other.joinable()) other.join();
    EXPECT_EQ(sink->status, 200);
    EXPECT_EQ(sink->text, "hello");
    EXPECT_FALSE(sink->error);
    EXPECT_EQ(sink->thread, std::this_thread::get_id());
  }
}

TEST_P(LoopTransfers, AreAdvancedByThePollerOfALoopAndLeaveIt) {
  test::ScriptedUpstream upstream(
      {{.bytes = {test::http_head("200 OK", "text/plain"), "hel", "lo"}, .pause_ms = 5},
       {.bytes = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}, .stays_open = true}});
  const std::shared_ptr<Poller> poller = *Poller::create();
  auto transfers =
      *Transfers::create_driven({.has_only_curl = GetParam() == Way::kCurl, .poller = poller});
  for (const char* const text : {"hello", "ok"}) {
    const auto sink = std::make_shared<KeptBody>();
    start(*transfers, upstream.url(), sink);
    for (int i = 0; i < 1000 && !sink->is_over; ++i)
      poller->wait(kPatienceMs, {});
    EXPECT_EQ(sink->text, text);
    EXPECT_FALSE(sink->error);
    EXPECT_EQ(sink->thread, std::this_thread::get_id());
  }
  transfers.reset();
  int n_calls = 0;
  poller->wait(0, [&] { ++n_calls; });
  EXPECT_EQ(n_calls, 0);
}

TEST_P(LoopTransfers, HaveNoThread) {
  test::ScriptedUpstream upstream(hello());
  const int before = test::thread_count();
  const auto transfers = driven();
  EXPECT_EQ(test::thread_count(), before);
}

TEST_P(LoopTransfers, SendAtOnceWhatTheirThreadStarts) {
  test::ScriptedUpstream upstream(
      {{.bytes = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}, .stays_open = true}});
  const auto transfers = driven();
  transfers->advance();
  const auto sink = std::make_shared<KeptBody>();
  start(*transfers, upstream.url(), sink);
  // The connection is under way, or was made, without another advance().
  pollfd readable = {.fd = transfers->fd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&readable, 1, kPatienceMs), 1);
  drive(*transfers, *sink);
  EXPECT_EQ(sink->text, "ok");
}

TEST_P(LoopTransfers, ASinkMayStartAnother) {
  test::ScriptedUpstream upstream(hello());
  const auto transfers = driven();
  const auto first = std::make_shared<KeptBody>(), second = std::make_shared<KeptBody>();
  first->on_body = [&] { start(*transfers, upstream.url(), second); };
  start(*transfers, upstream.url(), first);
  drive(*transfers, *second);
  drive(*transfers, *first);
  EXPECT_EQ(first->text, "hello");
  EXPECT_EQ(second->text, "hello");
}

TEST_P(LoopTransfers, TellAnErrorThatIsThereAtOnce) {
  const auto transfers = driven();
  transfers->advance();
  const auto sink = std::make_shared<KeptBody>();
  start(*transfers, "http://127.0.0.1:9", sink);
  drive(*transfers, *sink);
  ASSERT_TRUE(sink->error);
  EXPECT_EQ(sink->error->id, "no_connection");
}

TEST_P(LoopTransfers, EndAtTheirLimitsThoughNothingIsSent) {
  test::ScriptedUpstream upstream({{.bytes = {}, .stays_open = true}});
  const auto transfers = driven();
  transfers->advance();
  const auto sink = std::make_shared<KeptBody>();
  const std::int64_t began = monotonic_ns();
  start(*transfers, upstream.url(), sink, {.first_ms = 50});
  drive(*transfers, *sink);
  ASSERT_TRUE(sink->error);
  EXPECT_EQ(sink->error->id, "first_timeout");
  EXPECT_GE(monotonic_ns() - began, 50'000'000);
}

TEST_P(LoopTransfers, AreCancelledFromAnotherThread) {
  test::ScriptedUpstream upstream({{.bytes = {test::sse_head(), "a"}, .stays_open = true}});
  const auto transfers = driven();
  const auto sink = std::make_shared<KeptBody>();
  const auto transfer = start(*transfers, upstream.url(), sink);
  std::thread other([&] { transfer->cancel(); });
  drive(*transfers, *sink);
  other.join();
  ASSERT_TRUE(sink->error);
  EXPECT_EQ(sink->error->id, "cancelled");
}

TEST_P(LoopTransfers, StopEndsWhatIsUnderWayAndWhatComesLater) {
  test::ScriptedUpstream upstream({{.bytes = {test::sse_head(), "a"}, .stays_open = true}});
  const auto transfers = driven();
  transfers->advance();
  const auto sent = std::make_shared<KeptBody>(), queued = std::make_shared<KeptBody>();
  start(*transfers, upstream.url(), sent);
  std::thread([&] { start(*transfers, upstream.url(), queued); }).join();
  transfers->stop();
  for (const auto& sink : {sent, queued}) {
    ASSERT_TRUE(sink->is_over);
    ASSERT_TRUE(sink->error);
    EXPECT_EQ(sink->error->id, "cancelled");
  }
  const auto late = transfers->start({.url = upstream.url()}, sent);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().id, "cancelled");
}

// Of one answer, byte for byte as the server writes it.
struct AnswerCase {
  const char* name;
  std::string bytes;
  int status = 200;
  std::string text = {};
  std::string id = {};  // of the error
};

std::vector<AnswerCase> answer_cases() {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string of_5 = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  return {
      {"length", of_5 + "hello", 200, "hello"},
      {"no body", "HTTP/1.1 204 No Content\r\n\r\n", 204},
      {"empty body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200},
      {"to the end", "HTTP/1.1 200 OK\r\n\r\nhello", 200, "hello"},
      {"to the end, empty", "HTTP/1.1 200 OK\r\n\r\n", 200},
      {"HTTP/1.0", "HTTP/1.0 404 No\r\nContent-Type: text/plain\r\n\r\nhello", 404, "hello"},
      {"chunks", chunked + "3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\n\r\n", 200, "hello"},
      {"trailers", chunked + "5\r\nhello\r\n0\r\nx-a: 1\r\nx-b: 2\r\n\r\n", 200, "hello"},
      {"1xx", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: a\r\n\r\n" + of_5 + "hello",
       200, "hello"},
      {"cut in the body", of_5 + "hel", 200, "hel", "cut"},
      {"cut in a chunk", chunked + "5\r\nhel", 200, "hel", "cut"},
      {"cut before the last chunk", chunked + "5\r\nhello\r\n", 200, "hello", "cut"},
      {"nothing", "", 0, "", "cut"},
      {"a long head", "HTTP/1.1 200 OK\r\nx: " + std::string(20'000, 'a') + "\r\n\r\n", 0, "",
       "bad_answer"},
  };
}

TEST_P(LoopTransfers, ReadEveryFraming) {
  for (const AnswerCase& one : answer_cases()) {
    test::ScriptedUpstream upstream({{.bytes = {one.bytes}}});
    const auto transfers = driven();
    const auto sink = std::make_shared<KeptBody>();
    start(*transfers, upstream.url(), sink);
    drive(*transfers, *sink);
    EXPECT_EQ(sink->status, one.status) << one.name;
    EXPECT_EQ(sink->text, one.text) << one.name;
    EXPECT_EQ(sink->error ? sink->error->id : "", one.id) << one.name;
  }
}

TEST_P(LoopTransfers, ReadAnAnswerCutAtEveryByte) {
  const std::string bytes =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; a=b\r\n"
      "X-Two:  b \r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nx: y\r\n\r\n";
  std::vector<test::UpstreamAnswer> answers;
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    answers.push_back(
        {.bytes = {bytes.substr(0, at), bytes.substr(at)}, .pause_ms = 1, .goes_on = true});
  }
  test::ScriptedUpstream upstream(answers);
  const auto transfers = driven();
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    const auto sink = std::make_shared<KeptBody>();
    start(*transfers, upstream.url(), sink);
    drive(*transfers, *sink);
    ASSERT_FALSE(sink->error) << at;
    EXPECT_EQ(sink->text, "hello") << at;
    EXPECT_EQ(sink->head_seen.content_type, "text/event-stream") << at;
    EXPECT_EQ(sink->head_seen.header("x-two"), "b") << at;
  }
  EXPECT_EQ(upstream.n_connections(), 1);
}

TEST_P(LoopTransfers, SendTheRequestOnce) {
  test::ScriptedUpstream upstream({{.bytes = {"HTTP/1.1 204 No\r\n\r\n"}, .goes_on = true}});
  const auto transfers = driven();
  const std::string large(std::size_t{8} << 20, 'x');  // more than the buffers of a socket
  for (const std::string& body : {std::string(), std::string("{}"), large}) {
    const auto sink = std::make_shared<KeptBody>();
    start(*transfers, upstream.url("/v1/x?a=b"), sink, {.body = body, .headers = {"X-Key: k"}});
    drive(*transfers, *sink);
    const std::string request = upstream.requests().back();
    EXPECT_TRUE(request.starts_with(cat(body.empty() ? "GET" : "POST", " /v1/x?a=b HTTP/1.1\r\n")));
    EXPECT_NE(request.find(cat("Host: ", upstream.url().substr(7), "\r\n")), std::string::npos);
    EXPECT_NE(request.find("X-Key: k\r\n"), std::string::npos);
    EXPECT_TRUE(request.ends_with(cat("\r\n\r\n", body)));
  }
  EXPECT_EQ(upstream.n_connections(), 1);
  EXPECT_FALSE(transfers->start({.url = upstream.url(), .headers = {"a: b\r\nc: d"}},
                                std::make_shared<KeptBody>()));
}

TEST_P(LoopTransfers, SendAgainWhatAKeptConnectionDidNotTake) {
  test::ScriptedUpstream upstream({{.bytes = {"HTTP/1.1 204 No\r\n\r\n"}}});  // then it closes
  const auto transfers = driven();
  for (int i = 1; i < 4; ++i) {
    const auto sink = std::make_shared<KeptBody>();
    start(*transfers, upstream.url(), sink, {.body = "{}"});
    drive(*transfers, *sink);
    EXPECT_FALSE(sink->error) << sink->error->message;
    EXPECT_EQ(sink->status, 204);
    EXPECT_EQ(upstream.requests().size(), static_cast<std::size_t>(i));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // nobody looks at its end
  }
}

TEST_P(LoopTransfers, ASinkThatIsFullStopsTheReading) {
  std::vector<std::string> pieces = {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"};
  std::string all;
  for (int i = 0; i < 200; ++i) {
    all += std::string(0x4000, static_cast<char>('a' + i % 26));
    pieces.push_back(cat("4000\r\n", all.substr(all.size() - 0x4000), "\r\n"));
  }
  pieces.emplace_back("0\r\n\r\n");
  test::ScriptedUpstream upstream({{.bytes = pieces}});
  const auto transfers = driven();
  const auto sink = std::make_shared<KeptBody>();
  sink->n_full = 2;
  const auto transfer = start(*transfers, upstream.url(), sink, {.idle_ms = 5000});
  while (!sink->is_over) {
    pollfd readable = {.fd = transfers->fd(), .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, 50) == 0) transfer->resume();  // full, so nothing comes
    transfers->advance();
  }
  EXPECT_FALSE(sink->error);
  EXPECT_EQ(sink->n_full, 0);
  EXPECT_EQ(sink->text, all);
}

TEST_P(LoopTransfers, EndAnAnswerThatIsTooLong) {
  test::ScriptedUpstream upstream(
      {{.bytes = {"HTTP/1.1 200 OK\r\n\r\n", std::string(1000, 'a')}, .stays_open = true}});
  const auto transfers = driven();
  const auto sink = std::make_shared<KeptBody>();
  start(*transfers, upstream.url(), sink, {.max_bytes = 999});
  drive(*transfers, *sink);
  ASSERT_TRUE(sink->error);
  EXPECT_EQ(sink->error->id, "answer_too_long");
}

TEST_P(LoopTransfers, FindLocalhostAtEitherOfItsAddresses) {
  test::ScriptedUpstream upstream(hello());
  const auto transfers = driven();
  const auto sink = std::make_shared<KeptBody>();
  std::string url = upstream.url();
  url.replace(url.find("127.0.0.1"), 9, "localhost");
  start(*transfers, url, sink);
  drive(*transfers, *sink);
  EXPECT_EQ(sink->text, "hello");
}

TEST_P(LoopTransfers, ConnectToNoOtherKindOfAddress) {
  test::ScriptedUpstream upstream(hello());
  const auto transfers = driven();
  for (const AddressKind kind : {AddressKind::kPublic, AddressKind::kPrivate}) {
    const auto sink = std::make_shared<KeptBody>();
    ASSERT_TRUE(transfers->start({.url = upstream.url(), .endpoint = kind}, sink));
    drive(*transfers, *sink);
    ASSERT_TRUE(sink->error);
    EXPECT_EQ(sink->error->id, "address_refused");
  }
  EXPECT_EQ(upstream.n_connections(), 0);
}

// A connection that was made for one kind of endpoint serves no other.
TEST_P(LoopTransfers, KeepConnectionsApartByTheirEndpoints) {
  test::ScriptedUpstream upstream({{.bytes = {"HTTP/1.1 204 No\r\n\r\n"}, .goes_on = true}});
  const auto transfers = driven();
  const auto first = std::make_shared<KeptBody>(), second = std::make_shared<KeptBody>();
  start(*transfers, upstream.url(), first);
  drive(*transfers, *first);
  EXPECT_EQ(first->status, 204);
  if (GetParam() == Way::kCurl) return;  // it looks at a socket when it opens it
  ASSERT_TRUE(transfers->start({.url = upstream.url(), .endpoint = AddressKind::kPublic}, second));
  drive(*transfers, *second);
  ASSERT_TRUE(second->error);
  EXPECT_EQ(second->error->id, "address_refused");
}

TEST(HostileUpstream, PlainHttpRefusesWhatItDidNotAskFor) {
  const std::string chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& bytes :
       {std::string("no HTTP at all\r\n\r\n"), std::string("HTTP/2 200\r\n\r\n"),
        std::string("HTTP/1.1 099 Low\r\n\r\n"),
        std::string("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nabc"),
        std::string("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\na"),
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        chunk + "zz\r\n", chunk + "5" + std::string(20'000, ';'),
        chunk + "0\r\nx: " + std::string(20'000, 'a')}) {
    test::ScriptedUpstream upstream({{.bytes = {bytes}, .stays_open = true}});
    const auto transfers = *Transfers::create_driven();
    const auto sink = std::make_shared<KeptBody>();
    start(*transfers, upstream.url(), sink);
    drive(*transfers, *sink);
    ASSERT_TRUE(sink->error) << bytes.substr(0, 80);
    EXPECT_EQ(sink->error->id, "bad_answer") << bytes.substr(0, 80);
    EXPECT_EQ(sink->text, "");
  }
}

// libcurl takes it for a whole answer.
TEST(HostileUpstream, PlainHttpRefusesAHeadThatIsCut) {
  test::ScriptedUpstream upstream({{.bytes = {"HTTP/1.1 200 OK\r\nContent-"}}});
  const auto transfers = *Transfers::create_driven();
  const auto sink = std::make_shared<KeptBody>();
  start(*transfers, upstream.url(), sink);
  drive(*transfers, *sink);
  ASSERT_TRUE(sink->error);
  EXPECT_EQ(sink->error->id, "cut");
  EXPECT_EQ(sink->status, 0);
}

TEST(HostileUpstream, PlainHttpEndsWithEveryMutatedAnswer) {
  constexpr int kAnswers = 400;
  const std::string whole =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
      "Connection: keep-alive\r\n\r\n3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nx: y\r\n\r\n";
  constexpr std::string_view kBytes("\r\n\0 :;0159afHT/,\xFF", 17);
  std::vector<test::UpstreamAnswer> answers(kAnswers);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::string bytes = whole;
    for (std::uint64_t change = 0; change <= i % 4; ++change) {
      const std::uint64_t random = splitmix64(i, change);
      bytes[random % bytes.size()] = kBytes[(random >> 32U) % kBytes.size()];
    }
    answers[i] = {.bytes = {std::move(bytes)}};
  }
  test::ScriptedUpstream upstream(answers);
  const auto transfers = *Transfers::create_driven();
  int n_whole = 0;
  for (int i = 0; i < kAnswers; ++i) {
    const auto sink = std::make_shared<KeptBody>();
    start(*transfers, upstream.url(), sink);
    drive(*transfers, *sink);
    EXPECT_LE(sink->text.size(), whole.size());
    n_whole += !sink->error;
  }
  EXPECT_GT(n_whole, 0);
  EXPECT_LT(n_whole, kAnswers);
}

}  // namespace
}  // namespace wick
