// The size of a layer's memory per sequence: keys and values of its positions, or a recurrent
// state. Layers with the same kind of memory form a group. Plain data; any thread.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "model/spec.h"

namespace wick {

struct KvShape {
  int n_heads = 0, k_dim = 0, v_dim = 0;
  bool is_latent = false;  // MLA: keys only, a value is the first v_dim features of its key
  int window = 0;          // sliding window in positions; 0 = all
  int from_layer = -1;     // the memory is that of an earlier layer; -1 = its own
};

struct StateShape {
  std::size_t floats = 0;  // of one sequence
};

using MemoryShape = std::variant<KvShape, StateShape>;

constexpr bool is_state(const KvShape&) noexcept {
  return false;
}

constexpr bool is_state(const StateShape&) noexcept {
  return true;
}

constexpr int from_layer(const KvShape& kv) noexcept {
  return kv.from_layer;
}

constexpr int from_layer(const StateShape&) noexcept {
  return -1;
}

MemoryShape memory_shape(const BlockSpec& block) noexcept;

// The distinct sliding windows smaller than `context`, ascending. Sequences free blocks outside
// them.
std::vector<int> windows_of(const DecoderSpec& spec, int context);

}  // namespace wick
