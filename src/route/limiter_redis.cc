// Limits in Redis: a script does in one step what LocalLimiter does under its lock, by the clock of
// Redis. A request that runs is a member of a sorted set until its process removes it, or until
// kRunMs have passed, so a process that is gone does not block the others for ever. While Redis
// cannot be reached no request is let through: the limits are never passed.
#include <atomic>
#include <random>

#include "base/mix.h"
#include "base/strings.h"
#include "route/limiter.h"
#include "route/redis.h"

namespace wick::route {

namespace {

constexpr std::int64_t kRunMs = 15 * 60 * 1000;
constexpr std::int64_t kTakenMs = 100;  // between tries, where all places are taken
constexpr std::int64_t kAwayMs = 1000;  // where Redis is not there

// KEYS: sums by second, running requests. ARGV: time in ms or -1, tokens, limits of requests,
// tokens and parallel, id, kRunMs. Returns {0, second} or {wait in ms, 0}; -2: all places are
// taken.
constexpr std::string_view kTake = R"(
local now = tonumber(ARGV[1])
if now < 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local tokens, per_minute = tonumber(ARGV[2]), tonumber(ARGV[3])
local tokens_per_minute, parallel = tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if parallel > 0 and redis.call('ZCARD', KEYS[2]) >= parallel then return {-2, 0} end
local second = math.floor(now / 1000)
local recent, requests, all = {}, 1, tokens
local mine = {second, 0, 0}
local sums = redis.call('HVALS', KEYS[1])
for i = 1, #sums do
  local s, r, t = string.match(sums[i], '^(%d+) (%-?%d+) (%-?%d+)$')
  local sum = {tonumber(s), tonumber(r), tonumber(t)}
  if sum[1] == second then mine = sum end
  if sum[1] > second - 61 then
    recent[#recent + 1] = sum
    requests = requests + sum[2]
    all = all + sum[3]
  end
end
table.sort(recent, function(a, b) return a[1] < b[1] end)
local wait = 0
for i = 1, #recent do
  if (per_minute == 0 or requests <= per_minute)
      and (tokens_per_minute == 0 or all <= tokens_per_minute) then break end
  requests = requests - recent[i][2]
  all = all - recent[i][3]
  wait = (recent[i][1] + 61) * 1000 - now
end
if wait > 0 then return {wait, 0} end
redis.call('HSET', KEYS[1], second % 61,
           string.format('%.0f %.0f %.0f', second, mine[2] + 1, mine[3] + tokens))
redis.call('EXPIRE', KEYS[1], 120)
redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[7]), ARGV[6])
redis.call('PEXPIRE', KEYS[2], ARGV[7])
return {0, second}
)";

// ARGV: second, change of requests, change of tokens, id.
constexpr std::string_view kLeave = R"(
redis.call('ZREM', KEYS[2], ARGV[4])
local second = tonumber(ARGV[1])
local s, r, t = string.match(redis.call('HGET', KEYS[1], second % 61) or '',
                             '^(%d+) (%-?%d+) (%-?%d+)$')
if tonumber(s) == second then
  redis.call('HSET', KEYS[1], second % 61,
             string.format('%.0f %.0f %.0f', second, r + ARGV[2], t + ARGV[3]))
end
)";

struct Shared {
  std::unique_ptr<Redis> redis;
  const std::uint64_t seed = std::uint64_t{std::random_device()()} << 32U | std::random_device()();
  std::atomic<std::uint64_t> n_ids = 0;
};

class RedisLimiter final : public Limiter {
 public:
  RedisLimiter(std::shared_ptr<Shared> shared, const std::string& name, const LimitOptions& options,
               bool has_own_clock)
      : Limiter(options),
        shared_(std::move(shared)),
        sums_(cat("wick:limit:{", name, "}:sums")),
        runs_(cat("wick:limit:{", name, "}:running")),
        has_own_clock_(has_own_clock) {}

  std::int64_t take(std::int64_t tokens, std::int64_t now_ms, const std::shared_ptr<Wake>& /*wake*/,
                    Pass& pass) override {
    const LimitOptions& limits = options();
    if (limits.tokens_per_minute > 0 && tokens > limits.tokens_per_minute) return kNever;
    const std::uint64_t id = splitmix64(shared_->seed, shared_->n_ids.fetch_add(1));
    const auto reply = shared_->redis->run(
        {"EVAL", kTake, "2", sums_, runs_, std::to_string(has_own_clock_ ? -1 : now_ms),
         std::to_string(tokens), std::to_string(limits.requests_per_minute),
         std::to_string(limits.tokens_per_minute), std::to_string(limits.parallel),
         std::to_string(id), std::to_string(kRunMs)});
    if (!reply || reply->items.size() != 2) return kAwayMs;
    const std::int64_t wait = reply->items[0].integer;
    if (wait == kOnWake) return kTakenMs;  // another process's request may end first
    if (wait != 0) return wait;
    pass = {.tokens = tokens, .second = reply->items[1].integer, .id = id, .is_taken = true};
    running_ += 1;
    return 0;
  }

  int running() const override { return running_; }

 protected:
  void leave(Pass& pass, std::int64_t requests, std::int64_t tokens) override {
    if (!pass.is_taken) return;
    pass.is_taken = false;
    running_ -= 1;
    static_cast<void>(shared_->redis->run({"EVAL", kLeave, "2", sums_, runs_,
                                           std::to_string(pass.second), std::to_string(requests),
                                           std::to_string(tokens), std::to_string(pass.id)}));
  }

 private:
  const std::shared_ptr<Shared> shared_;
  const std::string sums_, runs_;
  const bool has_own_clock_;  // of Redis
  std::atomic<int> running_ = 0;
};

class RedisLimits final : public LimitStore {
 public:
  RedisLimits(std::unique_ptr<Redis> redis, bool has_own_clock)
      : shared_(std::make_shared<Shared>()), has_own_clock_(has_own_clock) {
    shared_->redis = std::move(redis);
  }

  std::unique_ptr<Limiter> make(const std::string& name, const LimitOptions& options) override {
    return std::make_unique<RedisLimiter>(shared_, name, options, has_own_clock_);
  }

 private:
  const std::shared_ptr<Shared> shared_;
  const bool has_own_clock_;
};

}  // namespace

Result<std::shared_ptr<LimitStore>> open_redis_limits(const std::string& uri, bool has_own_clock) {
  WICK_TRY(auto redis, Redis::open(uri, "requests with limits wait for it"));
  return std::shared_ptr<LimitStore>(
      std::make_shared<RedisLimits>(std::move(redis), has_own_clock));
}

Result<std::shared_ptr<LimitStore>> open_redis_limits(const std::string& uri) {
  return open_redis_limits(uri, true);
}

}  // namespace wick::route
