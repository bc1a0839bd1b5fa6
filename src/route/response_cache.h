// Answers that were given before, for requests that are the same in every byte (request_key.h).
// While one request is being answered, others with the same key wait for it. Bounded by bytes, the
// least recently used one goes first. In the memory of this process, behind which several may share
// a store: a new kind of store is one file and one row of kCacheStores. Any thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/wake.h"
#include "provider/answer_report.h"
#include "wick/event.h"

namespace wick::route {

struct CacheOptions {
  std::size_t max_bytes = 0;  // 0 = no cache
  std::int64_t ttl_ms = 3'600'000;
  bool has_sampled = false;  // also answers to requests that are not repeatable
  // "local/MODEL", whose embeddings find answers to similar questions (similar_answers.h); "" =
  // off.
  std::string similar_by = {};
  double similarity = 0.95;  // at least, of two questions
  std::string store = {};    // the URI of a CacheStore; "" = none
};

struct CachedResponse {
  std::vector<Event> events = {};  // to the DoneEvent
  AnswerReport report = {};
};

// Answers that several machines share. It is only ever a help: without it each machine makes its
// own. Any thread.
class CacheStore {
 public:
  struct Found {
    std::shared_ptr<const CachedResponse> response = {};
    std::int64_t ttl_ms = 0;  // of the response
    // The caller makes the answer and must call finish(). If neither is set, another machine makes
    // it.
    bool is_leader = false;
  };

  virtual ~CacheStore() = default;
  virtual Found look_up(const std::string& key) = 0;
  // The end of a leader's answer; null if it may not be kept.
  virtual void finish(const std::string& key, const CachedResponse* response) = 0;
};

struct CacheStoreKind {
  std::string_view scheme;  // the beginning of the URI
  Result<std::shared_ptr<CacheStore>> (*open)(const CacheOptions& options);
};

std::span<const CacheStoreKind> cache_stores() noexcept;

// options.store; null if it is "". kInvalid, id "bad_setting": no kind of store has this URI. It
// does not connect yet.
Result<std::shared_ptr<CacheStore>> open_cache_store(const CacheOptions& options);
Result<std::shared_ptr<CacheStore>> open_redis_cache(const CacheOptions& options);
// For tests: `place` is the beginning of all keys.
Result<std::shared_ptr<CacheStore>> open_redis_cache(const CacheOptions& options,
                                                     std::string place);

class ResponseCache {
 public:
  struct Found {
    std::shared_ptr<const CachedResponse> response = {};
    // The caller makes the answer and must call finish(). If neither is set, another one makes it,
    // and `wake` will be set.
    bool is_leader = false;
    // Another machine makes it: the leader asks look_up_again() after this time.
    std::int64_t wait_ms = 0;
  };

  struct Counts {
    std::uint64_t hits = 0, misses = 0;
    std::size_t bytes = 0, entries = 0;
  };

  explicit ResponseCache(const CacheOptions& options, std::shared_ptr<CacheStore> store = {})
      : options_(options), store_(std::move(store)) {}

  const CacheOptions& options() const noexcept { return options_; }

  Found look_up(const std::string& key, std::int64_t now_ms, const std::shared_ptr<Wake>& wake);
  Found look_up_again(const std::string& key, std::int64_t now_ms);
  // The answer, if it is there.
  std::shared_ptr<const CachedResponse> peek(const std::string& key, std::int64_t now_ms);
  // The end of a leader's answer; null if it may not be kept.
  void finish(const std::string& key, std::shared_ptr<const CachedResponse> response,
              std::int64_t now_ms);
  Counts counts() const;

 private:
  struct Entry {
    std::string key = {};
    std::shared_ptr<const CachedResponse> response = {};
    std::size_t bytes = 0;
    std::int64_t until_ms = 0;
  };

  using Entries = std::list<Entry>;

  void keep(const std::string& key, std::shared_ptr<const CachedResponse> response,
            std::int64_t until_ms);
  void erase(Entries::iterator entry);

  const CacheOptions options_;
  const std::shared_ptr<CacheStore> store_;  // null: none
  mutable std::mutex mutex_;
  Entries entries_ = {};  // the most recently used one first
  std::unordered_map<std::string_view, Entries::iterator> by_key_ = {};
  std::unordered_map<std::string, std::vector<std::weak_ptr<Wake>>> making_ = {};  // who waits
  Counts counts_ = {};
};

// Bytes that an event takes in memory, about.
std::size_t bytes_of(const Event& event);

}  // namespace wick::route
