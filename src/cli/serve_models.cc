#include "cli/serve_models.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/strings.h"
#include "cli/options.h"
#include "local/local_pool.h"
#include "provider/openers.h"

namespace wick {

namespace {

// "models/SmolLM2-135M.Q4_K_M.gguf" as "SmolLM2-135M.Q4_K_M"; what is no path as it is.
std::string name_of(const std::string& model) {
  std::error_code ignored;
  if (!std::filesystem::exists(model, ignored)) return model;
  const auto path = std::filesystem::weakly_canonical(model, ignored);
  return path.extension() == ".gguf" ? path.stem().string() : path.filename().string();
}

// Files by the names that requests use; nothing else is ever opened for a request.
using Sources = std::map<std::string, std::filesystem::path, std::less<>>;

LocalPool::Loader loader_of(Sources sources, LocalOptions options) {
  return [sources = std::move(sources),
          options = std::move(options)](std::string_view name) -> Result<LocalPool::Held> {
    const auto found = sources.find(name);
    if (found == sources.end()) {
      return Error{.code = ErrorCode::kNotFound,
                   .id = "model_not_found",
                   .message = cat("this server has no model '", printable(name), "'"),
                   .hint = "GET /v1/models lists those there are"};
    }
    return LocalModel::open(found->second, options);
  };
}

}  // namespace

Result<ServedModels> open_models(const Config& config, std::vector<std::string> models) {
  if (models.empty()) models.push_back(config.text("local.model_path"));
  if (const FoundOpener found = find_opener(models.front()); found.open && models.size() == 1) {
    WICK_TRY(auto provider, (*found.open)(found.name));
    return ServedModels{.provider = std::move(provider), .names = {{.name = models.front()}}};
  }
  ServedModels served;
  Sources sources;
  for (const std::string& model : models) {
    WICK_TRY(auto path, find_model(model, config.boolean("hub.offline")));
    server::ServedModel one{.name = name_of(model)};
    if (one.name != model) one.aliases = {model};
    if (!sources.emplace(one.name, std::move(path)).second) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "model_twice",
                   .message = cat("two models are called '", printable(one.name), "'"),
                   .hint = "give one of the files another name"};
    }
    served.names.push_back(std::move(one));
  }
  WICK_TRY(LocalOptions options, local_options(config));
  options.engine.max_seqs = static_cast<int>(config.integer("server.parallel"));
  const auto pool = std::make_shared<LocalPool>(
      PoolLimits{.budget_bytes = static_cast<std::uint64_t>(config.integer("local.memory_limit")),
                 .max_models = std::max(static_cast<int>(models.size()), PoolLimits{}.max_models)},
      loader_of(std::move(sources), std::move(options)));
  WICK_TRY([[maybe_unused]] const auto first, pool->get(served.names.front().name));
  served.provider = pool;
  return served;
}

}  // namespace wick
