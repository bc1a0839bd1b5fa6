// Mixtures of experts in architecture files: hyperparameters under llama.cpp's keys, in every layer
// that has a router.
#pragma once

#include <span>
#include <vector>

#include "model/arch/common.h"

namespace wick {

struct ExpertDefaults {  // where the file does not say
  Routing::Score score = Routing::Score::kSoftmax;
  bool normalizes = true;
};

// Drops the last `nextn_predict_layers` blocks, which are for multi-token prediction (MTP).
Result<void> drop_nextn_layers(DecoderSpec& spec, const Hparams& hparams);

// Layers with a router get a MoeSpec in place of the DenseSpec; the others stay. A file without
// experts stays as it is.
Result<void> add_experts(DecoderSpec& spec, const Hparams& hparams, std::span<const NameRule> names,
                         const ExpertDefaults& defaults);

// The names of experts, latents and routers behind others.
std::vector<NameRule> with_experts(std::span<const NameRule> plain);
// plain_names() and permuted_names() with these.
std::span<const NameRule> expert_names();
std::span<const NameRule> permuted_expert_names();

}  // namespace wick
