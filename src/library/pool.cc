#include "wick/pool.h"

#include "base/catch_bad_alloc.h"
#include "library/model_state.h"
#include "local/local_pool.h"
#include "provider/gather.h"

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
    WICK_DO(ask(*model, {.prompt = "a", .generation = {.max_tokens = 1}}));
  }
  return model;
}

// Runs `work` on the state of a pool; an error if there is none or if `work` throws.
template <class State, class Work>
auto inside(State* state, Work work) noexcept -> decltype(work(*state)) {
  return catch_bad_alloc([&]() -> decltype(work(*state)) {
    if (state != nullptr) return work(*state);
    return Error{.code = ErrorCode::kNoMemory,
                 .id = "out_of_memory",
                 .message = "there was no memory for this pool"};
  });
}

}  // namespace

ModelPool::ModelPool(const PoolOptions& options) {
  auto made = catch_bad_alloc([&]() -> Result<std::unique_ptr<State>> {
    return std::make_unique<State>(
        PoolLimits{.budget_bytes = options.budget_bytes, .max_models = options.max_models},
        [options](std::string_view source) { return load_for_pool(source, options); });
  });
  if (made) state_ = *std::move(made);
}

ModelPool::ModelPool(ModelPool&&) noexcept = default;
ModelPool& ModelPool::operator=(ModelPool&&) noexcept = default;
ModelPool::~ModelPool() = default;

Result<Model> ModelPool::get(std::string_view path_or_name) {
  return inside(state_.get(), [&](State& state) -> Result<Model> {
    WICK_TRY(auto held, state.pool.get(path_or_name));
    return Model(std::make_shared<Model::State>(Model::State{std::move(held)}));
  });
}

Result<Model> ModelPool::replace(std::string_view name, std::string_view source) {
  return inside(state_.get(), [&](State& state) -> Result<Model> {
    WICK_TRY(auto held, state.pool.put(name, source));
    return Model(std::make_shared<Model::State>(Model::State{std::move(held)}));
  });
}

bool ModelPool::unload(std::string_view name) {
  return static_cast<bool>(
      inside(state_.get(), [&](State& state) { return state.pool.unload(std::string(name)); }));
}

bool ModelPool::pin(std::string_view name, bool is_pinned) {
  return static_cast<bool>(inside(
      state_.get(), [&](State& state) { return state.pool.pin(std::string(name), is_pinned); }));
}

std::vector<ModelInfo> ModelPool::list() const {
  auto list = inside(state_.get(), [](State& state) { return state.pool.models(); });
  return list ? *std::move(list) : std::vector<ModelInfo>{};
}

}  // namespace wick
