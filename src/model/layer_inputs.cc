#include "model/layer_inputs.h"

#include <cmath>
#include <numbers>

namespace wick {

Result<LayerInputs> bind_layer_inputs(Binder& binder, const DecoderSpec& spec) {
  LayerInputs inputs;
  if (!spec.layer_inputs) return inputs;
  const int all = spec.layer_inputs_width();
  inputs.width = spec.layer_inputs->width;
  WICK_TRY(inputs.table, binder.lookup("per_layer_token_embd.weight", spec.vocab, all));
  WICK_TRY(inputs.projection[0],
           binder.matrix("per_layer_model_proj.weight",
                         {.out = all, .in = spec.d_model, .takes_adapters = false}));
  WICK_TRY(inputs.norm,
           binder.norm("per_layer_proj_norm", {.params = spec.final_norm.params}, inputs.width));
  return inputs;
}

Result<LayerInput> bind_layer_input(Binder& binder, const DecoderSpec& spec, int layer) {
  LayerInput input;
  if (!spec.layer_inputs) return input;
  const BlockSpec& block = spec.blocks[static_cast<std::size_t>(layer)];
  input.act = spec.layer_inputs->act;
  input.width = spec.layer_inputs->width;
  input.first = layer * input.width;
  WICK_TRY(input.gate[0], binder.matrix("blk.{}.inp_gate.weight",
                                        {.out = input.width, .in = spec.d_model}, layer));
  WICK_TRY(input.up[0],
           binder.matrix("blk.{}.proj.weight", {.out = spec.d_model, .in = input.width}, layer));
  WICK_TRY(input.residual.norm, binder.norm("blk.{}.post_norm", {.params = spec.final_norm.params},
                                            spec.d_model, layer));
  if (block.has_output_scale) {
    WICK_TRY(input.residual.sum_scale, binder.number("blk.{}.layer_output_scale.weight", layer));
  }
  return input;
}

namespace {

// `all` of a pass, of which each layer has `width` columns, as rows of one layer each.
Tensor by_layer(const Tensor& all, int width) noexcept {
  return {
      .data = all.data, .rows = all.rows * (all.cols / width), .cols = width, .row_stride = width};
}

}  // namespace

void make_layer_inputs(const LayerInputs& inputs, const Pass& pass) noexcept {
  if (inputs.table == nullptr) return;
  const int cols = pass.memory.layer_inputs.cols;
  const Tensor all = part(pass.memory.layer_inputs, pass.n, cols);
  const Tensor projected = part(pass.memory.hidden, pass.n, cols);
  pass.backend.embed(all, *inputs.table, pass.batch.tokens,
                     {.scale = std::sqrt(static_cast<float>(inputs.width))});
  pass.backend.linear(
      projected, pass.x,
      {.w = inputs.projection, .scale = 1 / std::sqrt(static_cast<float>(pass.x.cols))});
  pass.backend.normalize(by_layer(all, inputs.width), by_layer(projected, inputs.width),
                         {.gain = inputs.norm.gain,
                          .norm = inputs.norm.params,
                          .adds = true,
                          .scale = 1 / std::numbers::sqrt2_v<float>});
}

void forward(const LayerInput& input, const Pass& pass) noexcept {
  if (input.gate[0] == nullptr) return;
  const Tensor& all = pass.memory.layer_inputs;
  const Tensor own{
      .data = all.data + input.first, .rows = pass.n, .cols = input.width, .row_stride = all.cols};
  pass.backend.linear(own, pass.x,
                      {.w = input.gate, .epilogue = Linear::Epilogue::kMultiply, .act = input.act});
  add_product(pass, own, {.w = input.up}, input.residual);
}

}  // namespace wick
