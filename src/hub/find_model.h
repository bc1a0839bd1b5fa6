// Resolves a model name to its file: a path, a stored name, or one that can be downloaded.
//
//   WICK_TRY(const auto path, find_model("smollm2-135m", {.may_pull = true}));
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hub/pull.h"

namespace wick {

struct FindOptions {
  bool may_pull = false;
  // Without may_pull: text that is added to the error "the model 'x' is not on this machine" and to
  // its hint "wick model pull x".
  std::string refusal = {}, hint = {};
  std::function<void(std::string_view spec, const CatalogRow* row)> before_pull = {};
  PullOptions pull = {};
};

// kNotFound, id "model_not_here": the model is not on this machine and may not be downloaded.
Result<std::filesystem::path> find_model(std::string_view name, const FindOptions& options);

}  // namespace wick
