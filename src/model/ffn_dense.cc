#include "model/ffn_dense.h"

#include <string>

#include "base/strings.h"

namespace wick {

Result<DenseFfn> bind(Binder& binder, const DenseSpec& spec, const BlockSpec& block, int d_model,
                      int layer) {
  DenseFfn ffn{.spec = spec, .n_up = spec.is_gated && !spec.has_joint_gate ? 2U : 1U};
  const std::array<std::string_view, 2> names{"blk.{}.ffn_gate", "blk.{}.ffn_up"};
  const std::int64_t rows = std::int64_t{spec.hidden} * (spec.has_joint_gate ? 2 : 1);
  for (std::size_t i = 0; i < ffn.n_up; ++i) {
    const std::string_view name = names[i + 2 - ffn.n_up];
    WICK_TRY(ffn.up[i], binder.matrix(cat(name, ".weight"), {rows, d_model}, layer));
    if (!spec.bias) continue;
    WICK_TRY(ffn.up_bias[i], binder.vector(cat(name, ".bias"), rows, layer));
  }
  WICK_TRY(ffn.down[0], binder.matrix("blk.{}.ffn_down.weight", {d_model, spec.hidden}, layer));
  if (spec.bias) {
    WICK_TRY(ffn.down_bias[0], binder.vector("blk.{}.ffn_down.bias", d_model, layer));
  }
  WICK_TRY(ffn.norm, bind_pre_ffn(binder, block, d_model, layer));
  WICK_TRY(ffn.residual, bind_post_ffn(binder, block, d_model, layer));
  return ffn;
}

Tensor hidden_of(const DenseFfn& ffn, const Pass& pass) noexcept {
  const Tensor hidden = part(pass.memory.hidden, pass.n, ffn.spec.hidden);
  using Epilogue = Linear::Epilogue;
  Linear up = with_norm({.w = std::span(ffn.up).first(ffn.n_up),
                         .epilogue = ffn.spec.is_gated ? Epilogue::kGate : Epilogue::kAct,
                         .act = ffn.spec.act},
                        ffn.norm);
  if (ffn.spec.bias) up.bias = std::span(ffn.up_bias).first(ffn.n_up);
  pass.backend.linear(hidden, pass.in, up);
  return hidden;
}

Linear down_of(const DenseFfn& ffn) noexcept {
  Linear down{.w = ffn.down};
  if (ffn.spec.bias) down.bias = ffn.down_bias;
  return down;
}

void forward(const DenseFfn& ffn, const Pass& pass) noexcept {
  add_product(pass, hidden_of(ffn, pass), down_of(ffn), ffn.residual);
}

}  // namespace wick
