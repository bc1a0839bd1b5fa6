// One mutex guards the lists; models are loaded and destroyed outside it, because both take time.
// Invariants: a name is in `entries_` at most once and in `loadings_` at most once; a model whose
// only holder is the pool can get another holder only under the mutex, so "unused" stays true while
// it is held; `entries_` is ordered by last use.
#include "local/local_pool.h"

#include <algorithm>
#include <optional>

#include "base/catch_bad_alloc.h"
#include "base/strings.h"

namespace wick {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

}  // namespace

struct LocalPool::Loading {
  std::string name;
  std::optional<Result<Held>> result;  // set when it is over
};

struct LocalPool::Entry {
  std::string name, source;
  Held model;
  std::uint64_t bytes = 0;
  bool is_pinned = false;
  std::int64_t used_ns = 0;                  // time of the last known use
  std::optional<std::int64_t> keep_ms = {};  // instead of the limits'

  bool is_used() const noexcept { return model.use_count() > 1; }

  ModelInfo info() const {
    ModelInfo info = model->info();
    info.name = name;
    info.source = source;
    info.is_pinned = is_pinned;
    info.is_used = is_used();
    return info;
  }
};

struct LocalPool::Leaving {
  std::weak_ptr<LocalModel> model;
  std::uint64_t bytes = 0;
};

LocalPool::LocalPool(PoolLimits limits, Loader loader, std::function<std::string()> default_name)
    : limits_(limits), loader_(std::move(loader)), default_name_(std::move(default_name)) {}

LocalPool::~LocalPool() = default;

LocalPool::Entry* LocalPool::entry_of(std::string_view name) noexcept {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

LocalPool::Held LocalPool::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.name == name) return entry.model;
  }
  return nullptr;
}

Result<LocalPool::Held> LocalPool::get(std::string_view name) {
  std::string by_default;
  if (name.empty() && default_name_) name = by_default = default_name_();
  std::unique_lock lock(mutex_);
  if (const Entry* entry = entry_of(name)) {
    const auto at = entries_.begin() + (entry - entries_.data());
    std::rotate(at, at + 1, entries_.end());
    entries_.back().used_ns = limits_.clock->now_ns();
    return entries_.back().model;
  }
  if (const auto running = find_loading(name)) {
    loaded_.wait(lock, [&] { return running->result.has_value(); });
    return *running->result;
  }
  return load(name, name, lock);
}

Result<LocalPool::Held> LocalPool::put(std::string_view name, std::string_view source) {
  std::unique_lock lock(mutex_);
  loaded_.wait(lock, [&] { return find_loading(name) == nullptr; });
  return load(name, source, lock);
}

std::shared_ptr<LocalPool::Loading> LocalPool::find_loading(std::string_view name) const {
  const auto found = std::find_if(loadings_.begin(), loadings_.end(),
                                  [&](const auto& other) { return other->name == name; });
  return found == loadings_.end() ? nullptr : *found;
}

// Nobody else loads that name. `lock` is released meanwhile. Those who wait get what the loader
// throws, too.
Result<LocalPool::Held> LocalPool::load(std::string_view name, std::string_view source,
                                        std::unique_lock<std::mutex>& lock) {
  const auto mine = std::make_shared<Loading>();
  mine->name = name;
  loadings_.push_back(mine);
  std::vector<Held> gone;  // destroyed after the lock is released
  lock.unlock();
  auto model = catch_bad_alloc([&] { return loader_(source); });
  lock.lock();
  if (model) {
    if (auto admitted = admit(name, source, *model, gone); !admitted) {
      gone.push_back(*std::move(model));
      model = std::move(admitted).error();
    }
  }
  mine->result = model;
  std::erase(loadings_, mine);
  loaded_.notify_all();
  lock.unlock();
  return model;
}

// Evicts as many models as `model` needs, and adds it.
Result<void> LocalPool::admit(std::string_view name, std::string_view source, Held model,
                              std::vector<Held>& gone) {
  const std::uint64_t bytes = model->memory().total();
  // Bytes left if all evictable models were evicted.
  std::uint64_t stays = bytes_in_use();
  auto count = static_cast<int>(entries_.size());
  for (const Entry& entry : entries_) {
    const bool is_old = entry.name == name;
    if (is_old || (!entry.is_pinned && !entry.is_used())) --count;
    if (!entry.is_used() && (is_old || !entry.is_pinned)) stays -= entry.bytes;
  }
  const std::uint64_t budget = limits_.budget_bytes;
  if ((budget != 0 && (bytes > budget || stays > budget - bytes)) || count >= limits_.max_models) {
    return Error{
        .code = ErrorCode::kUnavailable,
        .id = "pool_full",
        .message = cat("'", printable(name), "' needs ", human_bytes(bytes), "; ", count,
                       " models with ", human_bytes(stays), " are used or pinned, and the ",
                       "pool's limits are ", limits_.max_models, " models and ",
                       budget == 0 ? "any memory" : human_bytes(budget)),
        .hint = "wait for answers to end, unpin or unload a model, or raise the limit"};
  }
  Entry entry{.name = std::string(name),
              .source = std::string(source),
              .model = std::move(model),
              .bytes = bytes,
              .used_ns = limits_.clock->now_ns()};
  if (const Entry* old = entry_of(name)) {
    entry.is_pinned = old->is_pinned;
    entry.keep_ms = old->keep_ms;
    retire(static_cast<std::size_t>(old - entries_.data()), gone);
  }
  const std::uint64_t target = limits_.target_bytes;
  for (std::size_t i = 0; i < entries_.size();) {
    const std::uint64_t sum = bytes_in_use() + bytes;
    const bool fits = (budget == 0 || sum <= budget) && (target == 0 || sum <= target) &&
                      static_cast<int>(entries_.size()) < limits_.max_models;
    if (fits) break;
    if (entries_[i].is_pinned || entries_[i].is_used()) {
      ++i;
    } else {
      retire(i, gone);
    }
  }
  entries_.push_back(std::move(entry));
  return {};
}

// Removes an entry; its model is freed with its last user.
void LocalPool::retire(std::size_t index, std::vector<Held>& gone) {
  Entry& entry = entries_[index];
  if (entry.is_used()) leaving_.push_back({entry.model, entry.bytes});
  gone.push_back(std::move(entry.model));
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
}

std::uint64_t LocalPool::bytes_in_use() {
  std::erase_if(leaving_, [](const Leaving& l) { return l.model.expired(); });
  std::uint64_t sum = 0;
  for (const Leaving& l : leaving_)
    sum += l.bytes;
  for (const Entry& entry : entries_)
    sum += entry.bytes;
  return sum;
}

namespace {

Error not_loaded(std::string_view name) {
  return {.code = ErrorCode::kNotFound,
          .id = "model_not_loaded",
          .message = cat("no model '", printable(name), "' is loaded")};
}

}  // namespace

Result<void> LocalPool::unload(const std::string& name) {
  std::vector<Held> gone;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const Entry* entry = entry_of(name);
  if (entry == nullptr) return not_loaded(name);
  retire(static_cast<std::size_t>(entry - entries_.data()), gone);
  return {};
}

Result<void> LocalPool::pin(const std::string& name, bool is_pinned) {
  const std::lock_guard lock(mutex_);
  Entry* entry = entry_of(name);
  if (entry == nullptr) return not_loaded(name);
  entry->is_pinned = is_pinned;
  return {};
}

Result<void> LocalPool::keep(const std::string& name, std::int64_t keep_ms) {
  const std::lock_guard lock(mutex_);
  Entry* entry = entry_of(name);
  if (entry == nullptr) return not_loaded(name);
  entry->keep_ms = keep_ms;
  entry->used_ns = limits_.clock->now_ns();
  return {};
}

int LocalPool::unload_idle() {
  std::vector<Held> gone;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const std::int64_t now_ns = limits_.clock->now_ns();
  for (std::size_t i = 0; i < entries_.size();) {
    Entry& entry = entries_[i];
    if (entry.is_used()) entry.used_ns = now_ns;
    const std::int64_t keep_ms = entry.keep_ms.value_or(limits_.keep_ms);
    const bool is_over = keep_ms >= 0 && (now_ns - entry.used_ns) / kNsPerMs >= keep_ms;
    if (entry.is_used() || entry.is_pinned || !is_over) {
      ++i;
    } else {
      retire(i, gone);
    }
  }
  return static_cast<int>(gone.size());
}

void LocalPool::set_limits(const PoolLimits& limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
}

Result<std::vector<ModelInfo>> LocalPool::models() {
  const std::lock_guard lock(mutex_);
  std::vector<ModelInfo> list;
  for (const Entry& entry : entries_)
    list.push_back(entry.info());
  return list;
}

Result<ModelInfo> LocalPool::info_of(const std::string& name, const Result<Held>& held) {
  if (!held) return held.error();
  ModelInfo info = (*held)->info();
  info.name = name;
  return info;
}

Result<ModelInfo> LocalPool::load(const std::string& name) {
  return info_of(name, get(name));
}

Result<ModelInfo> LocalPool::replace(const std::string& name, const std::string& source) {
  return info_of(name, put(name, source));
}

Result<std::unique_ptr<Answer>> LocalPool::start(const Request& request,
                                                 std::shared_ptr<Wake> wake) {
  WICK_TRY(const Held model, get(request.model));
  return model->start(request, std::move(wake));
}

Result<RequestEstimate> LocalPool::estimate(const Request& request) {
  WICK_TRY(const Held model, get(request.model));
  return model->estimate(request);
}

Result<std::vector<AdapterInfo>> LocalPool::adapters(const std::string& name) {
  WICK_TRY(const Held model, get(name));
  return model->adapters(name);
}

Result<void> LocalPool::set_adapters(const std::string& name, std::span<const std::string> wanted) {
  WICK_TRY(const Held model, get(name));
  return model->set_adapters(name, wanted);
}

Result<std::vector<TokenId>> LocalPool::tokenize(const std::string& name, std::string_view text) {
  WICK_TRY(const Held model, get(name));
  return model->tokenize(name, text);
}

Result<std::string> LocalPool::detokenize(const std::string& name, std::span<const TokenId> ids) {
  WICK_TRY(const Held model, get(name));
  return model->detokenize(name, ids);
}

Result<std::string> LocalPool::apply_template(const Request& request) {
  WICK_TRY(const Held model, get(request.model));
  return model->apply_template(request);
}

Result<std::vector<TokenId>> LocalPool::prompt_tokens(const Request& request) {
  WICK_TRY(const Held model, get(request.model));
  return model->prompt_tokens(request);
}

Result<InfillPrompt> LocalPool::infill_prompt(const std::string& name, const Infill& gap) {
  WICK_TRY(const Held model, get(name));
  return model->infill_prompt(name, gap);
}

Result<std::vector<Embedding>> LocalPool::embed(const EmbedTexts& request) {
  WICK_TRY(const Held model, get(request.model));
  return model->embed(request);
}

Result<std::vector<Embedding>> LocalPool::embed_tokens(
    const std::string& name, std::span<const std::vector<TokenId>> prompts,
    const EmbedOptions& options) {
  WICK_TRY(const Held model, get(name));
  return model->embed_tokens(name, prompts, options);
}

// A look is no use: who watches each second would keep every model for ever.
Result<Statistics> LocalPool::statistics(const std::string& name) {
  Held model;
  std::int64_t used_ns = 0, keep_ms = -1;
  {
    const std::lock_guard lock(mutex_);
    const Entry* const entry = entry_of(name);
    if (entry == nullptr) return not_loaded(name);
    keep_ms = entry->keep_ms.value_or(limits_.keep_ms);
    used_ns = entry->is_used() ? limits_.clock->now_ns() : entry->used_ns;
    model = entry->model;
  }
  WICK_TRY(Statistics now, model->statistics(name));
  if (keep_ms >= 0) {
    const std::int64_t idle_ms = (limits_.clock->now_ns() - used_ns) / kNsPerMs;
    now.ms_to_unload = std::max<std::int64_t>(0, keep_ms - idle_ms);
  }
  return now;
}

}  // namespace wick
