// Several models within a memory budget. The first get() loads a model; the least recently used one
// is unloaded when memory is needed. Any thread.
//
//   wick::ModelPool pool({.budget_bytes = 8'000'000'000});
//   auto model = pool.get("smollm2-135m");          // Result<Model>: loaded now, or already there
//
// A Model handle, session or stream keeps its model loaded, and the model counts in the budget.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wick/model.h"
#include "wick/result.h"

namespace wick {

struct PoolOptions {
  std::uint64_t budget_bytes = 0;  // for weights and KV caches together; 0 = no limit
  int max_models = 32;
  bool warm_up = false;  // generate one token before get() returns a newly loaded model
  ModelOptions model = {};
};

class WICK_API ModelPool {
 public:
  explicit ModelPool(const PoolOptions& options);
  ModelPool(ModelPool&&) noexcept;
  ModelPool& operator=(ModelPool&&) noexcept;
  ~ModelPool();

  // `path_or_name` as for Model::open(). kUnavailable (id "pool_full") if it does not fit beside
  // the models that are in use or pinned.
  Result<Model> get(std::string_view path_or_name);
  // Replaces the model called `name` by `source`: later calls of get(name) return the new model.
  // During the replacement both are in memory. If loading fails, the old model stays.
  Result<Model> replace(std::string_view name, std::string_view source);
  bool unload(std::string_view name);  // false if it is not loaded
  // A pinned model is never unloaded automatically. Returns false if it is not loaded.
  bool pin(std::string_view name, bool is_pinned);
  std::vector<ModelInfo> list() const;  // least recently used first

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wick
