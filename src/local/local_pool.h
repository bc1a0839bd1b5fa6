// Loaded models by name, within a memory budget. Any thread; a load blocks callers of that model
// only. Handles keep models alive: unload and replace remove a model from the pool, and its memory
// is freed, and counted, until its last answer ends.
//
//   LocalPool pool({.budget_bytes = 8'000'000'000}, load);   // load: path → LocalModel
//   WICK_TRY(const auto model, pool.get("smollm2-135m"));     // loaded now, or already there
//
// When memory is needed, unused unpinned models are evicted, least recently used first. A model
// that was unused for its keep_alive time is unloaded by the next unload_idle().
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "local/local.h"

namespace wick {

struct PoolLimits {
  std::uint64_t budget_bytes = 0;  // of weights and caches together; 0 = no limit
  // Beyond this limit unused models are unloaded, but a further model is loaded even if none can
  // be; 0 = no limit.
  std::uint64_t target_bytes = 0;
  int max_models = 32;
  std::int64_t keep_ms = -1;  // a model stays so long without use; -1 = for ever
  const Clock* clock = &Clock::machine();
};

class LocalPool final : public Provider {
 public:
  using Held = std::shared_ptr<LocalModel>;
  using Loader = std::function<Result<Held>(std::string_view source)>;

  // `default_name`: the model that the name "" means.
  LocalPool(PoolLimits limits, Loader loader, std::function<std::string()> default_name = {});
  ~LocalPool() override;
  LocalPool(const LocalPool&) = delete;
  LocalPool& operator=(const LocalPool&) = delete;

  // The model of that name, loaded from the source of that name if needed. Concurrent callers wait
  // and share the result or error. kUnavailable, id "pool_full", with the numbers, when it does not
  // fit beside what is used or pinned.
  Result<Held> get(std::string_view name);
  // Replaces the model called `name` by `source`. Running answers end on the old model. After an
  // error the old one stays.
  Result<Held> put(std::string_view name, std::string_view source);
  // The loaded model of that name, or null. Does not count as use.
  Held find(std::string_view name) const;
  // Unloads models that were unused for their keep_alive time, which is measured between calls of
  // this function: called each second, it has the precision of a second. Returns the number of
  // unloaded models.
  int unload_idle();
  void set_limits(const PoolLimits& limits);  // for what is loaded from now on

  // Provider's interface: a call that names a model loads it first, and blocks meanwhile.
  std::string_view name() const noexcept override { return "local pool"; }

  Result<std::unique_ptr<Answer>> start(const Request& request,
                                        std::shared_ptr<Wake> wake = {}) override;
  Result<RequestEstimate> estimate(const Request& request) override;
  Result<std::vector<ModelInfo>> models() override;  // longest unused first
  Result<ModelInfo> load(const std::string& name) override;
  Result<ModelInfo> replace(const std::string& name, const std::string& source) override;
  Result<void> unload(const std::string& name) override;               // kNotFound: not there
  Result<void> pin(const std::string& name, bool is_pinned) override;  // never evicted then
  Result<void> keep(const std::string& name, std::int64_t keep_ms) override;
  Result<std::vector<AdapterInfo>> adapters(const std::string& model) override;
  Result<void> set_adapters(const std::string& model, std::span<const std::string> wanted) override;
  Result<std::vector<TokenId>> tokenize(const std::string& model, std::string_view text) override;
  Result<std::string> detokenize(const std::string& model, std::span<const TokenId> ids) override;
  Result<std::string> apply_template(const Request& request) override;
  Result<std::vector<TokenId>> prompt_tokens(const Request& request) override;
  Result<InfillPrompt> infill_prompt(const std::string& model, const Infill& gap) override;
  Result<std::vector<Embedding>> embed(const EmbedTexts& request) override;
  Result<std::vector<Embedding>> embed_tokens(const std::string& model,
                                              std::span<const std::vector<TokenId>> prompts,
                                              const EmbedOptions& options) override;
  Result<Statistics> statistics(const std::string& model) override;  // counts as no use

 private:
  struct Loading;
  struct Entry;
  struct Leaving;

  Result<Held> load(std::string_view name, std::string_view source,
                    std::unique_lock<std::mutex>& lock);
  Result<ModelInfo> info_of(const std::string& name, const Result<Held>& held);
  Result<void> admit(std::string_view name, std::string_view source, Held model,
                     std::vector<Held>& gone);
  Entry* entry_of(std::string_view name) noexcept;
  std::shared_ptr<Loading> find_loading(std::string_view name) const;
  void retire(std::size_t index, std::vector<Held>& gone);
  std::uint64_t bytes_in_use();

  PoolLimits limits_;
  Loader loader_;
  const std::function<std::string()> default_name_;
  mutable std::mutex mutex_;
  std::condition_variable loaded_;
  std::vector<Entry> entries_;                      // longest unused first
  std::vector<std::shared_ptr<Loading>> loadings_;  // by name, one each
  std::vector<Leaving> leaving_;                    // out of the pool, but still used
};

}  // namespace wick
