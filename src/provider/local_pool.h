// Loaded models by name, within a budget of bytes. Any thread; a load blocks those who want that
// model, and nobody else. Who holds a model keeps it: unloading and replacing take it out of the
// pool, and its memory goes when the last answer on it is over. Until then its bytes still count.
//
//   LocalPool pool({.budget_bytes = 8'000'000'000}, load);   // load: path → LocalModel
//   WICK_TRY(const auto model, pool.get("smollm2-135m"));     // loaded now, or already there
//
// When there is no room, what nobody uses and nobody has pinned goes, longest unused first.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/local.h"

namespace wick {

struct PoolLimits {
  std::uint64_t budget_bytes = 0;  // of weights and caches together; 0 = no limit
  int max_models = 32;
};

struct PoolEntry {
  std::string name = {}, source = {};
  std::uint64_t bytes = 0;
  bool is_pinned = false;
  bool is_used = false;  // someone holds it
};

class LocalPool {
 public:
  using Held = std::shared_ptr<LocalModel>;
  using Loader = std::function<Result<Held>(std::string_view source)>;

  LocalPool(PoolLimits limits, Loader loader);
  ~LocalPool();
  LocalPool(const LocalPool&) = delete;
  LocalPool& operator=(const LocalPool&) = delete;

  // The model of that name, loaded from the source of the same name if it is not there yet. Callers
  // that come while it loads wait and share it, or its error. kUnavailable, id "pool_full", with
  // the numbers, when it does not fit beside what is used or pinned.
  Result<Held> get(std::string_view name);
  // Loads `source` and gives it the name, whatever had it before. Answers that run end on the old
  // model; who asks from now on gets the new one. On an error the old one stays.
  Result<Held> replace(std::string_view name, std::string_view source);
  bool unload(std::string_view name);               // false if it is not there
  bool pin(std::string_view name, bool is_pinned);  // likewise; a pinned one is never evicted
  std::vector<PoolEntry> list() const;              // longest unused first

 private:
  struct Loading;
  struct Entry;
  struct Leaving;

  Result<Held> load(std::string_view name, std::string_view source,
                    std::unique_lock<std::mutex>& lock);
  Result<void> admit(std::string_view name, std::string_view source, Held model,
                     std::vector<Held>& gone);
  Entry* find(std::string_view name) noexcept;
  std::shared_ptr<Loading> find_loading(std::string_view name) const;
  void retire(std::size_t index, std::vector<Held>& gone);
  std::uint64_t bytes_in_use();

  PoolLimits limits_;
  Loader loader_;
  mutable std::mutex mutex_;
  std::condition_variable loaded_;
  std::vector<Entry> entries_;                      // longest unused first
  std::vector<std::shared_ptr<Loading>> loadings_;  // by name, one each
  std::vector<Leaving> leaving_;                    // out of the pool, but still used
};

}  // namespace wick
