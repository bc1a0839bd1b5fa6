// Downloads, removes and copies models of the store for admins of `wick serve`, and adds them to
// the served models or removes them. Any thread.
#pragma once

#include <memory>

#include "cli/serve_models.h"
#include "server/model_files.h"

namespace wick {

std::shared_ptr<server::ModelFiles> make_model_files(std::shared_ptr<ServedModels> models,
                                                     bool is_offline);

}  // namespace wick
