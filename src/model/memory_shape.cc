#include "model/memory_shape.h"

#include <algorithm>

#include "model/mixer_delta.h"

namespace wick {

namespace {

MemoryShape shape_of(const GqaSpec& gqa) noexcept {
  return KvShape{.n_heads = gqa.n_kv_heads,
                 .k_dim = gqa.head_dim,
                 .v_dim = gqa.v_dim > 0 ? gqa.v_dim : gqa.head_dim,
                 .window = gqa.window,
                 .from_layer = gqa.kv_from_layer};
}

MemoryShape shape_of(const MlaSpec& mla) noexcept {
  return KvShape{
      .n_heads = 1, .k_dim = mla.key_dim(), .v_dim = mla.kv_rank, .is_latent = true, .window = 0};
}

MemoryShape shape_of(const DeltaSpec& delta) noexcept {
  return StateShape{.floats = sizes_of(delta).state_floats()};
}

int window_of(const KvShape& kv) noexcept {
  return kv.window;
}

int window_of(const StateShape&) noexcept {
  return 0;
}

}  // namespace

MemoryShape memory_shape(const BlockSpec& block) noexcept {
  return std::visit([](const auto& mixer) noexcept { return shape_of(mixer); }, block.mixer);
}

std::vector<int> windows_of(const DecoderSpec& spec, int context) {
  std::vector<int> windows;
  for (const BlockSpec& block : spec.blocks) {
    const int window = std::visit([](const auto& shape) noexcept { return window_of(shape); },
                                  memory_shape(block));
    if (window > 0 && window < context) windows.push_back(window);
  }
  std::sort(windows.begin(), windows.end());
  windows.erase(std::unique(windows.begin(), windows.end()), windows.end());
  return windows;
}

}  // namespace wick
