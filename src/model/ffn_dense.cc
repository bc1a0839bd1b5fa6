#include "model/ffn_dense.h"

namespace wick {

Result<DenseFfn> bind(Binder& binder, const DenseSpec& spec, const BlockSpec& block, int d_model,
                      int layer) {
  DenseFfn ffn{.has_bias = spec.bias, .act = spec.act, .hidden = spec.hidden};
  auto& [gate, up] = ffn.gate_up;
  WICK_TRY(gate, binder.matrix("blk.{}.ffn_gate.weight", {spec.hidden, d_model}, layer));
  WICK_TRY(up, binder.matrix("blk.{}.ffn_up.weight", {spec.hidden, d_model}, layer));
  WICK_TRY(ffn.down[0], binder.matrix("blk.{}.ffn_down.weight", {d_model, spec.hidden}, layer));
  if (spec.bias) {
    auto& [gate_bias, up_bias] = ffn.gate_up_bias;
    WICK_TRY(gate_bias, binder.vector("blk.{}.ffn_gate.bias", spec.hidden, layer));
    WICK_TRY(up_bias, binder.vector("blk.{}.ffn_up.bias", spec.hidden, layer));
    WICK_TRY(ffn.down_bias[0], binder.vector("blk.{}.ffn_down.bias", d_model, layer));
  }
  if (block.pre_ffn) {
    ffn.norm = *block.pre_ffn;
    WICK_TRY(ffn.gain, binder.vector("blk.{}.ffn_norm.weight", d_model, layer));
  }
  return ffn;
}

void forward(const DenseFfn& ffn, const Pass& pass) noexcept {
  const Tensor hidden = part(pass.memory.hidden, pass.n, ffn.hidden);
  Linear up{.w = ffn.gate_up,
            .gain = ffn.gain,
            .norm = ffn.norm,
            .epilogue = Linear::Epilogue::kGate,
            .act = ffn.act};
  if (ffn.has_bias) up.bias = ffn.gate_up_bias;
  Linear down{.w = ffn.down, .epilogue = Linear::Epilogue::kAdd};
  if (ffn.has_bias) down.bias = ffn.down_bias;

  pass.backend.linear(hidden, pass.x, up);
  pass.backend.linear(pass.x, hidden, down);
}

}  // namespace wick
