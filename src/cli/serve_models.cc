#include "cli/serve_models.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/machine_memory.h"
#include "base/strings.h"
#include "cli/model_folder.h"
#include "cli/options.h"
#include "provider/openers.h"
#include "server/durations.h"

namespace wick {

// What can be asked for. Immutable: a reload makes another one.
struct ServedModels::Catalog {
  std::vector<server::ServedModel> names;
  std::map<std::string, std::filesystem::path, std::less<>> paths;  // by name
  LocalOptions options;
  std::vector<OptionValue> settings;  // what `options` was made of
  bool begins_with_folder = false;
};

namespace {

// What a loaded model depends on.
std::vector<OptionValue> computing_settings(const Config& config) {
  std::vector<OptionValue> all;
  for (const Option& row : options()) {
    const auto is_of = [&](std::string_view table) { return row.key.starts_with(table); };
    const bool is_limit = row.key == "local.memory_limit" || row.key == "local.model_path";
    if ((is_of("local.") && !is_limit) || is_of("cache.") || is_of("optimize.") ||
        row.key == "server.parallel" || row.key == "server.max_queue")
      all.push_back(config.value(row.key));
  }
  return all;
}

// Unless a limit is set, models make room for each other within 9/10 of the machine's memory.
Result<PoolLimits> pool_limits(const Config& config) {
  WICK_TRY(const std::int64_t keep_ms, server::parse_keep_alive(config.text("server.keep_alive")));
  return PoolLimits{
      .budget_bytes = static_cast<std::uint64_t>(config.integer("local.memory_limit")),
      .target_bytes = machine_memory_bytes() / 10 * 9,
      .max_models = static_cast<int>(config.integer("server.max_models")),
      .keep_ms = keep_ms};
}

Error two_of_one_name(std::string_view name) {
  return {.code = ErrorCode::kInvalid,
          .id = "model_twice",
          .message = cat("two models are called '", printable(name), "'"),
          .hint = "give one of the files another name"};
}

// True if the loaded model was read from the current file at `path`.
bool is_of(const LocalModel& model, const std::filesystem::path& path) {
  const std::vector<FileId> read = model.files();
  const std::vector<FileId> there = files_at(path);
  return std::any_of(there.begin(), there.end(), [&](const FileId& id) {
    return std::find(read.begin(), read.end(), id) != read.end();
  });
}

}  // namespace

Result<std::shared_ptr<ServedModels>> ServedModels::create(const Config& config,
                                                           std::vector<std::string> models,
                                                           bool may_be_none) {
  const std::shared_ptr<ServedModels> made(new ServedModels);
  made->given_ = std::move(models);
  made->may_be_none_ = may_be_none;
  made->config_ = config;
  made->catalog_ = std::make_shared<const Catalog>();
  if (made->given_.size() <= 1 && !may_be_none) {
    const std::string name =
        made->given_.empty() ? config.text("local.model_path") : made->given_.front();
    if (const FoundOpener found = find_opener(name); found.open) {
      WICK_TRY(made->provider_, (*found.open)(found.name));
      Catalog catalog;
      catalog.names = {{.name = name}};
      made->catalog_ = std::make_shared<const Catalog>(std::move(catalog));
      return made;
    }
  }
  WICK_TRY(const PoolLimits limits, pool_limits(config));
  made->pool_ = std::make_shared<LocalPool>(
      limits,
      [weak = std::weak_ptr(made)](std::string_view name) -> Result<LocalPool::Held> {
        const auto self = weak.lock();
        if (self == nullptr) return Error{.message = "the server has ended"};
        return self->load(name);
      },
      [weak = std::weak_ptr(made)] {
        const auto self = weak.lock();
        if (self == nullptr) return std::string();
        const server::ServedModelList names = self->names();
        return names->empty() ? std::string() : names->front().name;
      });
  made->provider_ = made->pool_;
  return made;
}

std::shared_ptr<const ServedModels::Catalog> ServedModels::catalog() const {
  const std::lock_guard lock(mutex_);
  return catalog_;
}

server::ServedModelList ServedModels::names() const {
  auto now = catalog();
  const auto* const names = &now->names;
  return {std::move(now), names};
}

std::optional<std::filesystem::path> ServedModels::path_of(std::string_view name) const {
  const auto now = catalog();
  if (name.empty() && !now->names.empty()) name = now->names.front().name;
  const auto found = now->paths.find(name);
  return found == now->paths.end() ? std::nullopt : std::optional(found->second);
}

// A request can only open models of the catalog.
Result<LocalPool::Held> ServedModels::load(std::string_view name) const {
  const auto now = catalog();
  const auto found = now->paths.find(name);
  if (found == now->paths.end()) {
    return Error{.code = ErrorCode::kNotFound,
                 .id = "model_not_found",
                 .message = name.empty() ? "this server has no model of its own"
                                         : cat("this server has no model '", printable(name), "'"),
                 .hint = "GET /v1/models lists those there are"};
  }
  LocalOptions options = now->options;
  if (name != now->names.front().name) options.adapters.clear();  // they are the first model's
  return LocalModel::open(found->second, options);
}

Result<std::shared_ptr<const ServedModels::Catalog>> ServedModels::look(const Config& config,
                                                                        bool is_offline) const {
  std::vector<std::string> wanted = given_;
  if (wanted.empty() && !may_be_none_) wanted = config.texts("server.models");
  if (wanted.empty() && !may_be_none_) wanted.push_back(config.text("local.model_path"));
  auto made = std::make_shared<Catalog>();
  for (const std::string& model : wanted) {
    WICK_TRY(const std::vector<NamedModel> found, models_in_folder(model));
    if (made->names.empty()) made->begins_with_folder = !found.empty();
    for (const NamedModel& one : found) {
      if (!made->paths.emplace(one.name, one.path).second) return two_of_one_name(one.name);
      made->names.push_back({.name = one.name});
    }
    if (!found.empty()) continue;
    WICK_TRY(auto path, find_model(model, is_offline));
    server::ServedModel one{.name = name_of_model(model)};
    if (one.name != model) one.aliases = {model};
    if (!made->paths.emplace(one.name, std::move(path)).second) return two_of_one_name(one.name);
    made->names.push_back(std::move(one));
  }
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, path] : added_) {
      if (made->paths.emplace(name, path).second) made->names.push_back({.name = name});
    }
  }
  WICK_TRY(made->options, local_options(config));
  for (const AdapterOption& adapter : made->options.adapters) {
    if (!made->names.empty()) made->names.front().adapters.push_back(adapter.name);
  }
  made->options.engine.max_seqs = static_cast<int>(config.integer("server.parallel"));
  made->options.engine.max_queue = static_cast<int>(config.integer("server.max_queue"));
  made->settings = computing_settings(config);
  return std::shared_ptr<const Catalog>(std::move(made));
}

Result<void> ServedModels::find() {
  if (pool_ == nullptr) return {};
  WICK_TRY(auto found, look(config_, config_.boolean("hub.offline")));
  {
    const std::lock_guard lock(mutex_);
    catalog_ = found;
  }
  if (found->names.empty() || found->begins_with_folder) return {};
  WICK_TRY([[maybe_unused]] const auto first, pool_->get(found->names.front().name));
  return {};
}

Result<void> ServedModels::reload(const Config& config) {
  if (pool_ == nullptr) return {};
  WICK_TRY(const PoolLimits limits, pool_limits(config));
  WICK_TRY(auto now, look(config, true));
  const auto before = catalog();
  pool_->set_limits(limits);
  {
    const std::lock_guard lock(mutex_);
    catalog_ = now;
  }
  const auto swapped = swap(*before, *now);
  if (swapped) return {};
  const std::lock_guard lock(mutex_);
  catalog_ = before;
  return swapped;
}

// Unloads models that are gone, and replaces those whose file or settings changed.
Result<void> ServedModels::swap(const Catalog& before, const Catalog& now) {
  WICK_TRY(const auto loaded, pool_->models());
  for (const ModelInfo& info : loaded) {
    const auto found = now.paths.find(info.name);
    if (found == now.paths.end()) {
      static_cast<void>(pool_->unload(info.name));  // it may have gone meanwhile
      log_message(LogLevel::kInfo, cat(printable(info.name), " is served no longer"));
      continue;
    }
    const auto old = before.paths.find(info.name);
    const bool is_same = before.settings == now.settings && old != before.paths.end() &&
                         old->second == found->second;
    if (const auto held = pool_->find(info.name); is_same && held && is_of(*held, found->second))
      continue;
    WICK_TRY([[maybe_unused]] const auto made, pool_->replace(info.name, info.name));
    log_message(LogLevel::kInfo, cat(printable(info.name), " was swapped"));
  }
  return {};
}

void ServedModels::add(const std::string& name, const std::filesystem::path& path) {
  const std::lock_guard lock(mutex_);
  auto made = std::make_shared<Catalog>(*catalog_);
  const bool is_new = made->paths.find(name) == made->paths.end();
  made->paths[name] = path;
  if (is_new) made->names.push_back({.name = name});
  added_[name] = path;
  catalog_ = std::move(made);
}

void ServedModels::drop(const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    auto made = std::make_shared<Catalog>(*catalog_);
    made->paths.erase(name);
    std::erase_if(made->names, [&](const server::ServedModel& one) { return one.name == name; });
    added_.erase(name);
    catalog_ = std::move(made);
  }
  if (pool_ != nullptr) static_cast<void>(pool_->unload(name));  // it may not be loaded
}

void ServedModels::unload_idle() {
  if (pool_ == nullptr) return;
  const int n = pool_->unload_idle();
  if (n > 0)
    log_message(LogLevel::kInfo, cat(n, n == 1 ? " model was" : " models were",
                                     " unloaded, for nobody used it for its keep_alive"));
}

}  // namespace wick
