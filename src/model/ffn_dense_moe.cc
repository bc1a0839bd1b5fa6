#include "model/ffn_dense_moe.h"

#include "base/check.h"

namespace wick {

Result<DenseMoeFfn> bind(Binder& binder, const DenseMoeSpec& spec, const BlockSpec& block,
                         int d_model, int layer) {
  WICK_CHECK(block.post_ffn && !block.norms_sums && !block.is_parallel,
             "the sum of a dense feed-forward and experts is normalized");
  DenseMoeFfn ffn;
  WICK_TRY(ffn.dense, bind(binder, spec.dense, block, d_model, layer));
  WICK_TRY(ffn.experts, bind_mixture(binder, spec.experts, d_model, layer));
  WICK_TRY(const BoundNorm before, binder.norm("blk.{}.pre_ffw_norm_2", spec.norm, d_model, layer));
  ffn.experts.step.gain = before.gain;
  ffn.experts.step.norm = before.params;
  WICK_TRY(ffn.dense_norm, binder.norm("blk.{}.post_ffw_norm_1", spec.norm, d_model, layer));
  WICK_TRY(ffn.experts_norm, binder.norm("blk.{}.post_ffw_norm_2", spec.norm, d_model, layer));
  return ffn;
}

void forward(const DenseMoeFfn& ffn, const Pass& pass) noexcept {
  const Tensor sum = part(pass.memory.branch, pass.n, pass.x.cols);
  const Tensor mixture = part(pass.memory.mixture, pass.n, pass.x.cols);
  pass.backend.linear(sum, hidden_of(ffn.dense, pass), down_of(ffn.dense));
  pass.backend.normalize(sum, sum, {.gain = ffn.dense_norm.gain, .norm = ffn.dense_norm.params});
  mix(ffn.experts, pass, mixture, false);
  pass.backend.normalize(
      sum, mixture, {.gain = ffn.experts_norm.gain, .norm = ffn.experts_norm.params, .adds = true});
  pass.backend.normalize(pass.x, sum, norm_of(ffn.dense.residual));
}

}  // namespace wick
