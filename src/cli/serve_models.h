// The models of `wick serve`: files, folders and names of --model. Each is loaded at its first
// request. A reload finds them again and swaps changed models; running answers continue. Any
// thread.
//
//   WICK_TRY(const auto models, ServedModels::create(config, {"a.gguf", "folder/"}));
//   WICK_DO(models->find());   // may fetch; nothing can be asked for before it returns
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "local/local_pool.h"
#include "server/routes.h"

namespace wick {

class ServedModels {
 public:
  // `models` empty: those of server.models, else that of local.model_path; with `may_be_none` none.
  static Result<std::shared_ptr<ServedModels>> create(const Config& config,
                                                      std::vector<std::string> models,
                                                      bool may_be_none = false);
  ServedModels(const ServedModels&) = delete;
  ServedModels& operator=(const ServedModels&) = delete;

  const std::shared_ptr<Provider>& provider() const noexcept { return provider_; }

  server::ServedModelList names() const;  // in the order of --model
  // Of a model by its name; empty: there is none. "" is the first one.
  std::optional<std::filesystem::path> path_of(std::string_view name) const;

  // Finds the files, fetches what is missing, and loads the first one unless it is one of a folder.
  Result<void> find();
  // Finds them again with these settings, without the network. A loaded model whose file or
  // settings changed is swapped; a model that is gone is unloaded. Running answers end on the model
  // they began with. After an error nothing has changed.
  Result<void> reload(const Config& config);
  // Adds or removes a model of the store. Added models survive a reload, but not a restart.
  void add(const std::string& name, const std::filesystem::path& path);
  void drop(const std::string& name);

  bool is_local() const noexcept { return pool_ != nullptr; }

  // Unloads models that were unused for their keep_alive time. Call it about once per second.
  void unload_idle();

 private:
  struct Catalog;

  ServedModels() = default;
  Result<std::shared_ptr<const Catalog>> look(const Config& config, bool is_offline) const;
  std::shared_ptr<const Catalog> catalog() const;
  Result<LocalPool::Held> load(std::string_view name) const;
  Result<void> swap(const Catalog& before, const Catalog& now);

  std::vector<std::string> given_;  // by flags; they hold at a reload, too
  bool may_be_none_ = false;
  Config config_;
  std::map<std::string, std::filesystem::path> added_;  // by add(); under the mutex
  std::shared_ptr<Provider> provider_;
  std::shared_ptr<LocalPool> pool_;  // the same, if the models are local
  mutable std::mutex mutex_;
  std::shared_ptr<const Catalog> catalog_;  // never null
};

}  // namespace wick
