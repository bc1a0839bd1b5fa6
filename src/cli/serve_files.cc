#include "cli/serve_files.h"

#include <utility>

#include "base/strings.h"
#include "hub/pull.h"
#include "hub/store.h"

namespace wick {

namespace {

// A request names no URL: the server would fetch from wherever the client says.
Result<void> check_source(const std::string& name) {
  if (is_model_name(name) || name.starts_with("hf:")) return {};
  return Error{.code = ErrorCode::kInvalid,
               .id = "bad_model_name",
               .message = cat("'", printable(name, 80), "' is neither a name of the catalog nor ",
                              "hf:org/repo[:file or quant]")};
}

class StoreFiles final : public server::ModelFiles {
 public:
  StoreFiles(std::shared_ptr<ServedModels> models, bool is_offline)
      : models_(std::move(models)), is_offline_(is_offline) {}

  Result<void> pull(const std::string& name,
                    const std::function<void(const server::FetchProgress&)>& progress,
                    std::stop_token stop) override {
    WICK_DO(check_source(name));
    if (is_offline_) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "offline",
                   .message = "this server was told to stay off the network (hub.offline)"};
    }
    WICK_TRY(Store store, Store::open());
    const PullOptions options{.progress =
                                  [&](const PullProgress& p) {
                                    progress({p.what, p.done, p.all});
                                  },
                              .stop = std::move(stop)};
    WICK_TRY(const StoredModel model, wick::pull(store, name, options));
    models_->add(model.name, store.path_of(model));
    return {};
  }

  Result<void> remove(const std::string& name) override {
    WICK_TRY(Store store, Store::open());
    WICK_DO(store.find(name));
    models_->drop(name);
    return store.remove(name);
  }

  Result<void> copy(const std::string& source, const std::string& destination) override {
    WICK_TRY(Store store, Store::open());
    WICK_TRY(StoredModel model, store.find(source));
    if (store.find(destination)) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "model_twice",
                   .message = cat("there is a model '", printable(destination, 80), "' already")};
    }
    model.name = destination;
    WICK_DO(store.add(model));
    models_->add(destination, store.path_of(model));
    return {};
  }

 private:
  std::shared_ptr<ServedModels> models_;
  bool is_offline_;
};

}  // namespace

std::shared_ptr<server::ModelFiles> make_model_files(std::shared_ptr<ServedModels> models,
                                                     bool is_offline) {
  return std::make_shared<StoreFiles>(std::move(models), is_offline);
}

}  // namespace wick
