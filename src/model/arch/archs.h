// The rows of the architecture table, one from each file of this folder; registry.cc lists them.
#pragma once

#include "model/spec.h"

namespace wick {

Arch llama_arch() noexcept;
Arch qwen2_arch() noexcept;
Arch qwen3_arch() noexcept;

}  // namespace wick
