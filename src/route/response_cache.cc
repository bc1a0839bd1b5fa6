#include "route/response_cache.h"

#include "base/strings.h"

namespace wick::route {

namespace {

constexpr std::size_t kEntryBytes = 512;  // of lists and maps, about
constexpr std::int64_t kWaitMs = 50;      // between looks for an answer of another machine

std::size_t bytes_of(const std::vector<TokenLogprob>& tokens) {
  std::size_t n = tokens.capacity() * sizeof(TokenLogprob);
  for (const TokenLogprob& one : tokens)
    n += one.bytes.size() + bytes_of(one.top_logprobs);
  return n;
}

}  // namespace

std::size_t bytes_of(const Event& event) {
  std::size_t n = sizeof(Event);
  if (const auto* const text = std::get_if<TextEvent>(&event)) n += text->text.capacity();
  if (const auto* const text = std::get_if<ReasoningEvent>(&event)) n += text->text.capacity();
  if (const auto* const text = std::get_if<ArgumentsEvent>(&event)) n += text->text.capacity();
  if (const auto* const call = std::get_if<ToolCallEvent>(&event))
    n += call->id.capacity() + call->name.capacity();
  if (const auto* const logprobs = std::get_if<LogprobsEvent>(&event))
    n += bytes_of(logprobs->tokens);
  if (const auto* const done = std::get_if<DoneEvent>(&event)) {
    n += bytes_of(done->prompt_logprobs);
    n += done->parameters.capacity() * (sizeof(EffectiveParameter) + 64);
  }
  return n;
}

ResponseCache::Found ResponseCache::look_up(const std::string& key, std::int64_t now_ms,
                                            const std::shared_ptr<Wake>& wake) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
      const Entries::iterator entry = found->second;
      if (now_ms < entry->until_ms) {
        entries_.splice(entries_.begin(), entries_, entry);
        counts_.hits += 1;
        return {.response = entry->response};
      }
      erase(entry);
    }
    const auto [making, is_new] = making_.try_emplace(key);
    if (!is_new) {
      if (wake != nullptr) making->second.push_back(wake);
      return {};
    }
  }
  return look_up_again(key, now_ms);
}

// Without the lock while the store is asked: the key is in making_ meanwhile.
ResponseCache::Found ResponseCache::look_up_again(const std::string& key, std::int64_t now_ms) {
  const CacheStore::Found found =
      store_ == nullptr ? CacheStore::Found{.is_leader = true} : store_->look_up(key);
  if (found.response != nullptr) keep(key, found.response, now_ms + found.ttl_ms);
  const std::lock_guard lock(mutex_);
  if (found.response != nullptr) {
    counts_.hits += 1;
    return {.response = found.response};
  }
  if (!found.is_leader) return {.is_leader = true, .wait_ms = kWaitMs};
  counts_.misses += 1;
  return {.is_leader = true};
}

std::shared_ptr<const CachedResponse> ResponseCache::peek(const std::string& key,
                                                          std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end() || now_ms >= found->second->until_ms) return nullptr;
  return found->second->response;
}

// The store first: whoever is woken finds the key free there.
void ResponseCache::finish(const std::string& key, std::shared_ptr<const CachedResponse> response,
                           std::int64_t now_ms) {
  if (store_ != nullptr) store_->finish(key, response.get());
  keep(key, std::move(response), now_ms + options_.ttl_ms);
}

// Ends the making of the key, and wakes those who wait for it.
void ResponseCache::keep(const std::string& key, std::shared_ptr<const CachedResponse> response,
                         std::int64_t until_ms) {
  std::vector<std::weak_ptr<Wake>> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (const auto making = making_.find(key); making != making_.end()) {
      waiting = std::move(making->second);
      making_.erase(making);
    }
    if (response != nullptr && !by_key_.contains(key)) {
      Entry entry{.key = key,
                  .response = std::move(response),
                  .bytes = kEntryBytes + key.capacity(),
                  .until_ms = until_ms};
      for (const Event& event : entry.response->events)
        entry.bytes += wick::route::bytes_of(event);
      if (entry.bytes <= options_.max_bytes) {
        counts_.bytes += entry.bytes;
        entries_.push_front(std::move(entry));
        by_key_.emplace(entries_.front().key, entries_.begin());
      }
      while (counts_.bytes > options_.max_bytes)
        erase(std::prev(entries_.end()));
    }
  }
  for (const auto& one : waiting) {
    if (const auto wake = one.lock()) wake->set();
  }
}

void ResponseCache::erase(Entries::iterator entry) {
  counts_.bytes -= entry->bytes;
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

ResponseCache::Counts ResponseCache::counts() const {
  const std::lock_guard lock(mutex_);
  Counts out = counts_;
  out.entries = entries_.size();
  return out;
}

namespace {

constexpr CacheStoreKind kCacheStores[] = {
    {"redis://", open_redis_cache},
    {"redis+unix://", open_redis_cache},
};

}  // namespace

std::span<const CacheStoreKind> cache_stores() noexcept {
  return kCacheStores;
}

Result<std::shared_ptr<CacheStore>> open_cache_store(const CacheOptions& options) {
  if (options.store.empty()) return std::shared_ptr<CacheStore>();
  std::string known;
  for (const CacheStoreKind& kind : kCacheStores) {
    if (options.store.starts_with(kind.scheme)) return kind.open(options);
    known += cat(known.empty() ? "" : " or ", kind.scheme);
  }
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_setting",
               .message = cat("the store of the response cache does not begin with ", known)};
}

}  // namespace wick::route
