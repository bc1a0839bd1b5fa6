// Replies of a server that is none: bounded, and each an error.
#include "route/redis.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/strings.h"
#include "support/temp_dir.h"

namespace wick::route {

namespace {

// Answers each connection's first bytes with `reply`, byte by byte, and hangs up.
class FakeRedis {
 public:
  explicit FakeRedis(std::string reply, const std::string& path = {})
      : path_(path.empty() ? (dir_.path() / "redis.sock").string() : path),
        listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::copy(path_.begin(), path_.end(), address.sun_path);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 4), 0);
    thread_ = std::jthread([this, text = std::move(reply)] { serve(text); });
  }

  ~FakeRedis() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  FakeRedis(const FakeRedis&) = delete;
  FakeRedis& operator=(const FakeRedis&) = delete;

  Result<RedisReply> ask() const {
    return (*Redis::open(cat("redis+unix://", path_)))->run({"GET", "x"});
  }

 private:
  void serve(const std::string& reply) const {
    for (;;) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0) return;
      char bytes[256];
      static_cast<void>(::recv(fd, bytes, sizeof bytes, 0));
      for (const char byte : reply) {
        if (::send(fd, &byte, 1, MSG_NOSIGNAL) != 1) break;
      }
      ::close(fd);
    }
  }

  const wick::test::TempDir dir_;
  const std::string path_;
  const int listener_;
  std::jthread thread_;
};

TEST(Redis, ReadsEachKindOfReply) {
  EXPECT_EQ(FakeRedis("+OK\r\n").ask()->text, "OK");
  EXPECT_EQ(FakeRedis(":-42\r\n").ask()->integer, -42);
  EXPECT_EQ(FakeRedis("$4\r\na\r\nb\r\n").ask()->text, "a\r\nb");
  EXPECT_TRUE(FakeRedis("$-1\r\n").ask()->is_nil);
  EXPECT_TRUE(FakeRedis("*-1\r\n").ask()->is_nil);
  const auto list = FakeRedis("*3\r\n:1\r\n$0\r\n\r\n*1\r\n+x\r\n").ask();
  ASSERT_EQ(list->items.size(), 3U);
  EXPECT_EQ(list->items[2].items[0].text, "x");
}

TEST(Redis, AServerThatIsDownAtFirstIsTriedAgain) {
  const wick::test::TempDir dir;
  const std::string path = (dir.path() / "redis.sock").string();
  const auto redis = *Redis::open(cat("redis+unix://", path));
  const auto refused = redis->run({"GET", "x"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(path), std::string::npos) << refused.error().message;
  const FakeRedis server(":7\r\n", path);
  Result<RedisReply> reply = redis->run({"GET", "x"});
  for (int n_tries = 1; !reply; ++n_tries) {
    ASSERT_LT(n_tries, 1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    reply = redis->run({"GET", "x"});
  }
  EXPECT_EQ(reply->integer, 7);
}

TEST(Redis, AnErrorIsTold) {
  const auto refused = FakeRedis("-NOAUTH Authentication required.\r\n").ask();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "redis_unavailable");
  EXPECT_NE(refused.error().message.find("NOAUTH"), std::string::npos);
}

TEST(HostileRedis, WhatIsNoReplyIsAnError) {
  const std::string deep = "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n";
  for (const std::string& bad :
       {std::string(), std::string("\r\n"), std::string("?\r\n"), std::string(":x\r\n"),
        std::string("$5\r\nabc"), std::string("$99999999999\r\n"), std::string("*999999\r\n"),
        std::string("$-\r\n"), std::string("*2\r\n:1\r\n"), std::string(9000, 'x'), deep})
    EXPECT_FALSE(FakeRedis(bad).ask()) << bad.substr(0, 40);
}

}  // namespace

}  // namespace wick::route
