// Inputs of each layer beside the hidden state (Gemma 4): made once for all layers from the tokens
// and their embeddings, and added after each feed-forward. bind() at load, the others hot.
#pragma once

#include <array>

#include "model/pass.h"
#include "model/tensors.h"

namespace wick {

struct LayerInputs {              // of all layers, bound to their weights
  const Weight* table = nullptr;  // [vocab, layers * width]; nullptr: the model has none
  std::array<const Weight*, 1> projection = {};
  BoundNorm norm = {};
  int width = 0;  // of a layer
};

struct LayerInput {                                 // of one layer
  std::array<const Weight*, 1> gate = {}, up = {};  // no gate: the layer has no input
  Residual residual = {};
  Act act = Act::kGeluTanh;
  int first = 0, width = 0;  // its columns
};

Result<LayerInputs> bind_layer_inputs(Binder& binder, const DecoderSpec& spec);
Result<LayerInput> bind_layer_input(Binder& binder, const DecoderSpec& spec, int layer);

// Hot:
// From the embeddings in pass.x.
void make_layer_inputs(const LayerInputs& inputs, const Pass& pass) noexcept;
// x = (x + n(up(act(gate(x)) * input))) * scale; overwrites the layer's input.
void forward(const LayerInput& input, const Pass& pass) noexcept;

}  // namespace wick
