// Kept answers in Redis. A script finds an answer or gives the key to one machine for kMakeMs:
// others wait for it, and one that is gone does not block them for ever. The answers' sizes are
// counted there, and the least recently used ones go when their sum is over max_bytes. While Redis
// cannot be reached each machine makes its own answers.
#include <algorithm>
#include <random>

#include "base/sha256.h"
#include "base/strings.h"
#include "route/redis.h"
#include "route/response_bytes.h"
#include "route/response_cache.h"

namespace wick::route {

namespace {

constexpr std::int64_t kMakeMs = 30'000;
constexpr std::size_t kMaxAnswer = std::size_t{4} << 20U;  // larger ones are not shared
constexpr std::size_t kOverhead = 512;                     // of an answer in Redis, about

// KEYS: answer, its maker, answers by last use. ARGV: who asks, kMakeMs. Returns {answer, ms that
// it is valid}, or {nil, 1 if the asker makes it}.
constexpr std::string_view kLookUp = R"(
local answer = redis.call('GET', KEYS[1])
if answer then
  local time = redis.call('TIME')
  redis.call('ZADD', KEYS[3], 'XX', time[1] * 1000000 + time[2], KEYS[1])
  return {answer, redis.call('PTTL', KEYS[1])}
end
local is_free = redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2])
return {false, is_free and 1 or 0}
)";

// KEYS: as above, sizes of answers. ARGV: who made it, the answer or '', its ms, the most bytes,
// the overhead of an answer. Answers that are too old go first.
constexpr std::string_view kFinish = R"(
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
if ARGV[2] == '' then return 0 end
local ttl, most = tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function drop(key)
  local size = redis.call('HGET', KEYS[4], key)
  if size then redis.call('HINCRBY', KEYS[4], 'all', '-' .. size) end
  redis.call('HDEL', KEYS[4], key)
  redis.call('ZREM', KEYS[3], key)
  redis.call('DEL', key)
end
for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now - ttl * 1000,
                                'LIMIT', 0, 100)) do drop(key) end
drop(KEYS[1])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ttl)
redis.call('ZADD', KEYS[3], now, KEYS[1])
local size = #ARGV[2] + ARGV[5]
redis.call('HSET', KEYS[4], KEYS[1], size)
local all = redis.call('HINCRBY', KEYS[4], 'all', size)
while all > most do
  local oldest = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if oldest == KEYS[1] then  -- Redis has evicted the list: the sum is of answers that are not in it
    redis.call('DEL', KEYS[4])
    redis.call('HSET', KEYS[4], KEYS[1], size, 'all', size)
    break
  end
  drop(oldest)
  all = tonumber(redis.call('HGET', KEYS[4], 'all'))
end
for i = 3, 4 do
  if redis.call('PTTL', KEYS[i]) < ttl then redis.call('PEXPIRE', KEYS[i], ttl) end
end
return 1
)";

class RedisCache final : public CacheStore {
 public:
  RedisCache(std::unique_ptr<Redis> redis, const CacheOptions& options, std::string place)
      : place_(std::move(place)),
        redis_(std::move(redis)),
        max_bytes_(options.max_bytes),
        ttl_ms_(options.ttl_ms),
        me_(cat(std::random_device()(), "-", std::random_device()())) {}

  // The keys there are digests: requests are not in them as they are.
  Found look_up(const std::string& key) override {
    const std::string answer = cat(place_, sha256_text(key)), maker = cat(answer, ":maker");
    const auto reply =
        redis_->run({"EVAL", kLookUp, "3", answer, maker, used_, me_, std::to_string(kMakeMs)});
    if (!reply || reply->items.size() != 2) return {.is_leader = true};
    const RedisReply& text = reply->items[0];
    const std::int64_t number = reply->items[1].integer;
    if (text.is_nil) return {.is_leader = number == 1};
    auto response =
        text.text.size() <= kMaxAnswer ? from_bytes(text.text) : std::optional<CachedResponse>();
    if (!response) return {.is_leader = true};  // somebody else's bytes: the answer replaces them
    return {.response = std::make_shared<const CachedResponse>(*std::move(response)),
            .ttl_ms = number};
  }

  void finish(const std::string& key, const CachedResponse* response) override {
    const std::string answer = cat(place_, sha256_text(key)), maker = cat(answer, ":maker");
    std::string bytes = response == nullptr ? std::string() : to_bytes(*response);
    if (bytes.size() + kOverhead > std::min(kMaxAnswer, max_bytes_)) bytes.clear();
    static_cast<void>(redis_->run({"EVAL", kFinish, "4", answer, maker, used_, sizes_, me_, bytes,
                                   std::to_string(ttl_ms_), std::to_string(max_bytes_),
                                   std::to_string(kOverhead)}));
  }

 private:
  const std::string place_;
  const std::string used_ = cat(place_, "used"), sizes_ = cat(place_, "sizes");
  const std::unique_ptr<Redis> redis_;
  const std::size_t max_bytes_;
  const std::int64_t ttl_ms_;
  const std::string me_;  // this process
};

}  // namespace

Result<std::shared_ptr<CacheStore>> open_redis_cache(const CacheOptions& options,
                                                     std::string place) {
  WICK_DO(load_sha256());
  WICK_TRY(auto redis, Redis::open(options.store, "each process has its own answers meanwhile"));
  return std::shared_ptr<CacheStore>(
      std::make_shared<RedisCache>(std::move(redis), options, std::move(place)));
}

Result<std::shared_ptr<CacheStore>> open_redis_cache(const CacheOptions& options) {
  return open_redis_cache(options, cat("wick:cache:{", kResponseFormat, "}:"));
}

}  // namespace wick::route
