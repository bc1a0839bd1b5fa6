// Operations of admins on model files (pull, delete, copy). The routes see only this interface;
// cli/ implements it with the store. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wick::server {

struct FetchProgress {
  std::string_view what = {};       // a file
  std::uint64_t done = 0, all = 0;  // bytes; all 0: not known yet
};

class ModelFiles {
 public:
  virtual ~ModelFiles() = default;
  // Fetches a model, which can then be asked for by its name.
  virtual Result<void> pull(const std::string& name,
                            const std::function<void(const FetchProgress&)>& progress,
                            std::stop_token stop) = 0;
  // It can no longer be asked for, and its files go. kNotFound: the store has none of that name.
  virtual Result<void> remove(const std::string& name) = 0;
  virtual Result<void> copy(const std::string& source, const std::string& destination) = 0;
};

}  // namespace wick::server
