// Limits of one provider or key that are kept on this side, so that a provider need not refuse:
// requests and tokens in any minute, and requests at the same time. Within this process, or shared
// by several through a store: a new kind of store is one file and one row of kLimitStores. Any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/wake.h"

namespace wick::route {

struct LimitOptions {  // 0 = no limit
  std::int64_t requests_per_minute = 0, tokens_per_minute = 0;
  int parallel = 0;

  bool is_any() const noexcept {
    return requests_per_minute > 0 || tokens_per_minute > 0 || parallel > 0;
  }
};

class Limiter {
 public:
  static constexpr std::int64_t kNever = -1;   // the request is larger than the limit
  static constexpr std::int64_t kOnWake = -2;  // as soon as another request ends

  // A request that was let through.
  struct Pass {
    std::int64_t tokens = 0, second = 0;
    std::uint64_t id = 0;  // in a store
    bool is_taken = false;
  };

  explicit Limiter(const LimitOptions& options) : options_(options) {}

  virtual ~Limiter() = default;
  Limiter(const Limiter&) = delete;
  Limiter& operator=(const Limiter&) = delete;

  // 0: it is let through, and `pass` must be given to end(). Else how many ms to wait before the
  // next try, kNever, or kOnWake: then `wake` is set when another request ends.
  // `tokens`: at most, of prompt and answer.
  virtual std::int64_t take(std::int64_t tokens, std::int64_t now_ms,
                            const std::shared_ptr<Wake>& wake, Pass& pass) = 0;

  // The request is over and has used so many tokens; fewer than it took are free again. Does
  // nothing for a pass that was not taken or has ended.
  void end(Pass& pass, std::int64_t used_tokens) { leave(pass, 0, used_tokens - pass.tokens); }

  // As if the request had never been: it was not sent.
  void undo(Pass& pass) { leave(pass, -1, -pass.tokens); }

  virtual int running() const = 0;  // of this process

  const LimitOptions& options() const noexcept { return options_; }

 protected:
  // A minute lies within 61 seconds of the clock, so 61 sums are never too few.
  static constexpr std::int64_t kSeconds = 61;

  virtual void leave(Pass& pass, std::int64_t requests, std::int64_t tokens) = 0;

 private:
  const LimitOptions options_;
};

std::unique_ptr<Limiter> local_limiter(const LimitOptions& options);

// Where the processes of several machines share limits.
class LimitStore {
 public:
  virtual ~LimitStore() = default;
  // Limiters of one name share their limits.
  virtual std::unique_ptr<Limiter> make(const std::string& name, const LimitOptions& options) = 0;
};

struct LimitStoreKind {
  std::string_view scheme;  // the beginning of the URI
  Result<std::shared_ptr<LimitStore>> (*open)(const std::string& uri);
};

std::span<const LimitStoreKind> limit_stores() noexcept;

// kInvalid, id "bad_setting": no kind of store has this URI. It does not connect yet.
Result<std::shared_ptr<LimitStore>> open_limit_store(const std::string& uri);
Result<std::shared_ptr<LimitStore>> open_redis_limits(const std::string& uri);
// For tests: without the clock of Redis, times are those that take() is given.
Result<std::shared_ptr<LimitStore>> open_redis_limits(const std::string& uri, bool has_own_clock);

// By the store, if there is one and a limit to share; else of this process.
std::unique_ptr<Limiter> make_limiter(LimitStore* store, const std::string& name,
                                      const LimitOptions& options);

}  // namespace wick::route
