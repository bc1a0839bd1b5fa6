#include "wick/pool.h"

#include "library/model_state.h"
#include "provider/local_pool.h"

namespace wick {

struct ModelPool::State {
  State(const PoolLimits& limits, LocalPool::Loader loader) : pool(limits, std::move(loader)) {}

  LocalPool pool;
};

namespace {

Result<std::shared_ptr<LocalModel>> load_for_pool(std::string_view source,
                                                  const PoolOptions& options) {
  WICK_TRY(auto model, load_model(source, options.model));
  if (options.warm_up) {  // reads every weight once, so that the first answer does not wait for it
    WICK_DO(model->complete({.prompt = "a", .settings = {.max_tokens = 1}}, [](const ChatEvent&) {},
                            {}));
  }
  return model;
}

}  // namespace

ModelPool::ModelPool(const PoolOptions& options)
    : state_(std::make_unique<State>(
          PoolLimits{.budget_bytes = options.budget_bytes, .max_models = options.max_models},
          [options](std::string_view source) { return load_for_pool(source, options); })) {}

ModelPool::ModelPool(ModelPool&&) noexcept = default;
ModelPool& ModelPool::operator=(ModelPool&&) noexcept = default;
ModelPool::~ModelPool() = default;

Result<Model> ModelPool::get(std::string_view path_or_name) {
  WICK_TRY(auto held, state_->pool.get(path_or_name));
  return Model(std::make_shared<Model::State>(Model::State{std::move(held)}));
}

Result<Model> ModelPool::replace(std::string_view name, std::string_view source) {
  WICK_TRY(auto held, state_->pool.replace(name, source));
  return Model(std::make_shared<Model::State>(Model::State{std::move(held)}));
}

bool ModelPool::unload(std::string_view name) {
  return state_->pool.unload(name);
}

bool ModelPool::pin(std::string_view name, bool is_pinned) {
  return state_->pool.pin(name, is_pinned);
}

std::vector<PooledModel> ModelPool::list() const {
  std::vector<PooledModel> list;
  for (const PoolEntry& entry : state_->pool.list()) {
    list.push_back({.name = entry.name,
                    .source = entry.source,
                    .bytes = entry.bytes,
                    .is_pinned = entry.is_pinned,
                    .is_used = entry.is_used});
  }
  return list;
}

}  // namespace wick
