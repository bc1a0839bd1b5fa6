// A client of Redis: commands and replies of its protocol (RESP2) over TCP or a Unix socket, one
// after another, with timeouts. Replies are bounded. Any thread.
//
//   WICK_TRY(const auto redis, Redis::open("redis://:password@10.0.0.5:6379/0"));
//   WICK_TRY(const RedisReply reply, redis->run({"INCR", "n"}));   // reply.integer
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wick::route {

struct RedisReply {
  bool is_nil = false;
  std::int64_t integer = 0;
  std::string text = {};
  std::vector<RedisReply> items = {};
};

class Redis {
 public:
  // "redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]", or "redis+unix:///PATH/OF/SOCKET". Does not
  // connect yet. kInvalid, id "bad_setting".
  // `meanwhile`: what happens without it, logged at the first failure and at the first one after
  // each success; "" = nothing is.
  static Result<std::unique_ptr<Redis>> open(const std::string& uri, std::string meanwhile = {});
  ~Redis();
  Redis(const Redis&) = delete;
  Redis& operator=(const Redis&) = delete;

  // kUnavailable, id "redis_unavailable": no server, a timeout, or its error. After a lost
  // connection the next try is a second later.
  Result<RedisReply> run(std::initializer_list<std::string_view> words);

 private:
  Redis() = default;

  Result<RedisReply> try_run(std::initializer_list<std::string_view> words);
  Result<void> connect();
  Result<int> connect_socket() const;
  Result<RedisReply> command(std::initializer_list<std::string_view> words);
  Result<void> send_all(std::string_view bytes) const;
  Result<void> receive();
  Result<std::string> line();
  Result<RedisReply> read(int depth);
  void close() noexcept;

  std::string host_ = {}, port_ = "6379", path_ = {}, user_ = {}, password_ = {}, database_ = {};
  std::string meanwhile_ = {};
  std::mutex mutex_;  // of the rest
  bool was_told_ = false;
  int fd_ = -1;
  std::int64_t retry_ns_ = 0, deadline_ns_ = 0;
  std::string received_ = {};
  std::size_t at_ = 0;  // of what is not read yet
};

}  // namespace wick::route
