// Answers that were given before, for requests that are the same in every byte (request_key.h).
// While one request is being answered, others with the same key wait for it. Bounded by bytes, the
// least recently used one goes first. Any thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

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
};

struct CachedResponse {
  std::vector<Event> events = {};  // to the DoneEvent
  AnswerReport report = {};
};

class ResponseCache {
 public:
  struct Found {
    std::shared_ptr<const CachedResponse> response = {};
    // The caller makes the answer and must call finish(). If neither is set, another one makes it,
    // and `wake` will be set.
    bool is_leader = false;
  };

  struct Counts {
    std::uint64_t hits = 0, misses = 0;
    std::size_t bytes = 0, entries = 0;
  };

  explicit ResponseCache(const CacheOptions& options) : options_(options) {}

  const CacheOptions& options() const noexcept { return options_; }

  Found look_up(const std::string& key, std::int64_t now_ms, const std::shared_ptr<Wake>& wake);
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

  void erase(Entries::iterator entry);

  const CacheOptions options_;
  mutable std::mutex mutex_;
  Entries entries_ = {};  // the most recently used one first
  std::unordered_map<std::string_view, Entries::iterator> by_key_ = {};
  std::unordered_map<std::string, std::vector<std::weak_ptr<Wake>>> making_ = {};  // who waits
  Counts counts_ = {};
};

// Bytes that an event takes in memory, about.
std::size_t bytes_of(const Event& event);

}  // namespace wick::route
