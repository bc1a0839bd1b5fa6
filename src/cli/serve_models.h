// The models of `wick serve`: files, folders and names as --model has them, resolved (and fetched)
// before the server listens; each is loaded at its first request, the first one at once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "provider/provider.h"
#include "server/routes.h"

namespace wick {

struct ServedModels {
  std::shared_ptr<Provider> provider = {};
  std::vector<server::ServedModel> names = {};  // in the order of --model
};

// `models` empty: that of local.model_path.
Result<ServedModels> open_models(const Config& config, std::vector<std::string> models);

}  // namespace wick
