// The state behind the handles Model and Session: any provider.
#pragma once

#include <memory>
#include <string_view>

#include "provider/conversation.h"
#include "provider/provider.h"
#include "wick/model.h"

namespace wick {

class LocalModel;

struct Model::State {
  std::shared_ptr<Provider> provider;
};

struct Session::State {
  std::shared_ptr<Provider> provider;
  Conversation conversation;
  bool is_busy = false;  // a stream of it is on its way
};

// Loads the local model that Model::open's name stands for.
Result<std::shared_ptr<LocalModel>> load_model(std::string_view path_or_name,
                                               const ModelOptions& options);

}  // namespace wick
