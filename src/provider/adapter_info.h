// A LoRA adapter of a model as requests see it. Plain data.
#pragma once

#include <string>

namespace wick {

struct AdapterInfo {
  int id = 0;  // its number
  std::string name = {}, path = {};
  float scale = 1;  // for requests that choose none
};

}  // namespace wick
