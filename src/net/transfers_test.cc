// Transfers that an event loop drives, against a scripted upstream on 127.0.0.1. Those with a
// thread of their own are tested by remote/.
#include "net/transfers.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
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

  void head(TransferHead head) override { status = head.status; }

  TransferTake body(std::string_view bytes) override {
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

std::vector<test::UpstreamAnswer> hello() {
  return {{.bytes = {test::http_head("200 OK", "text/plain"), "hel", "lo"}, .pause_ms = 5}};
}

TEST(DrivenTransfers, CallSinksOnTheThreadThatAdvancesWhoeverStartsThem) {
  test::ScriptedUpstream upstream(hello());
  const auto transfers = *Transfers::create_driven();
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

TEST(DrivenTransfers, HaveNoThread) {
  test::ScriptedUpstream upstream(hello());
  const int before = test::thread_count();
  const auto transfers = *Transfers::create_driven();
  EXPECT_EQ(test::thread_count(), before);
}

TEST(DrivenTransfers, SendAtOnceWhatTheirThreadStarts) {
  test::ScriptedUpstream upstream(
      {{.bytes = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}, .stays_open = true}});
  const auto transfers = *Transfers::create_driven();
  transfers->advance();
  const auto sink = std::make_shared<KeptBody>();
  start(*transfers, upstream.url(), sink);
  // The connection is under way, or was made, without another advance().
  pollfd readable = {.fd = transfers->fd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&readable, 1, kPatienceMs), 1);
  drive(*transfers, *sink);
  EXPECT_EQ(sink->text, "ok");
}

TEST(DrivenTransfers, ASinkMayStartAnother) {
  test::ScriptedUpstream upstream(hello());
  const auto transfers = *Transfers::create_driven();
  const auto first = std::make_shared<KeptBody>(), second = std::make_shared<KeptBody>();
  first->on_body = [&] { start(*transfers, upstream.url(), second); };
  start(*transfers, upstream.url(), first);
  drive(*transfers, *second);
  drive(*transfers, *first);
  EXPECT_EQ(first->text, "hello");
  EXPECT_EQ(second->text, "hello");
}

TEST(DrivenTransfers, TellAnErrorThatIsThereAtOnce) {
  const auto transfers = *Transfers::create_driven();
  transfers->advance();
  const auto sink = std::make_shared<KeptBody>();
  start(*transfers, "http://127.0.0.1:9", sink);
  drive(*transfers, *sink);
  ASSERT_TRUE(sink->error);
  EXPECT_EQ(sink->error->id, "no_connection");
}

TEST(DrivenTransfers, EndAtTheirLimitsThoughNothingIsSent) {
  test::ScriptedUpstream upstream({{.bytes = {}, .stays_open = true}});
  const auto transfers = *Transfers::create_driven();
  transfers->advance();
  const auto sink = std::make_shared<KeptBody>();
  const std::int64_t began = monotonic_ns();
  start(*transfers, upstream.url(), sink, {.first_ms = 50});
  drive(*transfers, *sink);
  ASSERT_TRUE(sink->error);
  EXPECT_EQ(sink->error->id, "first_timeout");
  EXPECT_GE(monotonic_ns() - began, 50'000'000);
}

TEST(DrivenTransfers, AreCancelledFromAnotherThread) {
  test::ScriptedUpstream upstream({{.bytes = {test::sse_head(), "a"}, .stays_open = true}});
  const auto transfers = *Transfers::create_driven();
  const auto sink = std::make_shared<KeptBody>();
  const auto transfer = start(*transfers, upstream.url(), sink);
  std::thread other([&] { transfer->cancel(); });
  drive(*transfers, *sink);
  other.join();
  ASSERT_TRUE(sink->error);
  EXPECT_EQ(sink->error->id, "cancelled");
}

TEST(DrivenTransfers, StopEndsWhatIsUnderWayAndWhatComesLater) {
  test::ScriptedUpstream upstream({{.bytes = {test::sse_head(), "a"}, .stays_open = true}});
  const auto transfers = *Transfers::create_driven();
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

}  // namespace
}  // namespace wick
