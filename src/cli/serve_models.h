// The models of `wick serve`: files, folders and names as --model has them, each loaded when it is
// first asked for. Found again at a reload, which swaps what has changed while answers go on. Any
// thread.
//
//   WICK_TRY(const auto models, ServedModels::create(config, {"a.gguf", "folder/"}));
//   WICK_DO(models->find());   // may fetch; nothing can be asked for before it returns
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "local/local_pool.h"
#include "server/routes.h"

namespace wick {

class ServedModels {
 public:
  // `models` empty: those of server.models, else that of local.model_path.
  static Result<std::shared_ptr<ServedModels>> create(const Config& config,
                                                      std::vector<std::string> models);
  ServedModels(const ServedModels&) = delete;
  ServedModels& operator=(const ServedModels&) = delete;

  const std::shared_ptr<Provider>& provider() const noexcept { return provider_; }

  std::vector<server::ServedModel> names() const;  // in the order of --model

  // Finds the files, fetches what is missing, and loads the first one unless it is one of a folder.
  Result<void> find();
  // Finds them anew by these settings, without the network. What is loaded and has another file or
  // other settings now is swapped, what is gone is unloaded; answers under way end on what they
  // began with. On an error all stays as it was.
  Result<void> reload(const Config& config);
  // A model of the store that came meanwhile, or goes. It stays over a reload, not over the end.
  void add(const std::string& name, const std::filesystem::path& path);
  void drop(const std::string& name);

  bool is_local() const noexcept { return pool_ != nullptr; }

  // What is unused for its keep_alive goes. To be called about each second.
  void unload_idle();

 private:
  struct Catalog;

  ServedModels() = default;
  Result<std::shared_ptr<const Catalog>> look(const Config& config, bool is_offline) const;
  std::shared_ptr<const Catalog> catalog() const;
  Result<LocalPool::Held> load(std::string_view name) const;
  Result<void> swap(const Catalog& before, const Catalog& now);

  std::vector<std::string> given_;  // by flags; they hold at a reload, too
  Config config_;
  std::map<std::string, std::filesystem::path> added_;  // by add(); under the mutex
  std::shared_ptr<Provider> provider_;
  std::shared_ptr<LocalPool> pool_;  // the same, if the models are local
  mutable std::mutex mutex_;
  std::shared_ptr<const Catalog> catalog_;  // never null
};

}  // namespace wick
