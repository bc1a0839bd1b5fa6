// Several models within a budget of memory: each is loaded when it is first asked for, once however
// many ask, and the longest unused goes when room is needed. Any thread.
//
//   wick::ModelPool pool({.budget_bytes = 8'000'000'000});
//   auto model = pool.get("smollm2-135m");          // Result<Model>: loaded now, or already there
//
// A Model that was handed out, a session or a stream keeps its model loaded, so that answers end on
// the model they began with whatever happens in the pool; its memory counts until they let go.
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
  std::uint64_t budget_bytes = 0;  // of weights and caches together; 0 = no limit
  int max_models = 32;
  bool warm_up = false;  // a model answers one token before it is handed out
  ModelOptions model = {};
};

class WICK_API ModelPool {
 public:
  explicit ModelPool(const PoolOptions& options);
  ModelPool(ModelPool&&) noexcept;
  ModelPool& operator=(ModelPool&&) noexcept;
  ~ModelPool();

  // `path_or_name` as for Model::open(). kUnavailable (id "pool_full"), with the numbers, when it
  // does not fit beside what is used or pinned.
  Result<Model> get(std::string_view path_or_name);
  // Loads `source` under the name of another: who asks for `name` from now on gets it. Both models
  // are loaded for a moment. On an error the old one stays.
  Result<Model> replace(std::string_view name, std::string_view source);
  bool unload(std::string_view name);               // false if it is not there
  bool pin(std::string_view name, bool is_pinned);  // likewise; a pinned model never goes by itself
  std::vector<ModelInfo> list() const;              // longest unused first

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wick
