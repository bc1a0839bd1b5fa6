// What the handles Model and Session point at.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "provider/local.h"
#include "wick/model.h"

namespace wick {

struct Model::State {
  std::shared_ptr<LocalModel> local;
};

struct Session::State {
  std::shared_ptr<LocalModel> model;
  std::vector<Message> messages;
  bool is_busy = false;  // a stream of it is on its way
};

// Loads what Model::open's name stands for.
Result<std::shared_ptr<LocalModel>> load_model(std::string_view path_or_name,
                                               const ModelOptions& options);

}  // namespace wick
