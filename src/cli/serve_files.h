// What admins may do with the store through `wick serve`: fetch, remove and copy models, which can
// then be asked for, or no longer. Any thread.
#pragma once

#include <memory>

#include "cli/serve_models.h"
#include "server/model_files.h"

namespace wick {

std::shared_ptr<server::ModelFiles> make_model_files(std::shared_ptr<ServedModels> models,
                                                     bool is_offline);

}  // namespace wick
