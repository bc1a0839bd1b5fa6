// Gated delta layers in architecture files: hyperparameters under llama.cpp's keys, in every layer
// that has their tensors; and the gated attention of the other layers.
#pragma once

#include <span>
#include <vector>

#include "model/arch/common.h"

namespace wick {

// Names of Qwen 3.5's checkpoints, whose gains are stored minus one.
std::span<const NameRule> delta_names() noexcept;

// Layers with a recurrent state get a DeltaSpec in place of the GqaSpec. The others get a gate for
// each head's output and norms of queries and keys.
Result<void> set_delta_layers(DecoderSpec& spec, const Hparams& hparams,
                              std::span<const NameRule> names);

}  // namespace wick
