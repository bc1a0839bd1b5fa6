// What a layer keeps of a sequence, as sizes: keys and values of its positions, or a recurrent
// state. Layers whose memory behaves alike form a group. Plain data; any thread.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "model/spec.h"

namespace wick {

struct KvShape {
  int n_heads = 0, k_dim = 0, v_dim = 0;
  bool is_latent = false;  // keys alone: a value is the first v_dim features of its key
  int window = 0;          // positions seen; 0 = all
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

MemoryShape memory_shape(const BlockSpec& block) noexcept;

// The windows by which a sequence of `context` positions gives blocks back, each once, ascending.
// One that reaches as far as the context gives nothing back and is not listed.
std::vector<int> windows_of(const DecoderSpec& spec, int context);

}  // namespace wick
