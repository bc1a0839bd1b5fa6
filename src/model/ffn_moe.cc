#include "model/ffn_moe.h"

#include <array>
#include <cmath>

#include "base/check.h"

namespace wick {

namespace {

Binder::Matrix router(int n, int d_model) noexcept {
  return {.out = n, .in = d_model, .takes_adapters = false};
}

// Gate and up of an adapter are two tensors or one, whatever they are in the model.
Result<void> bind_expert_changes(MoeFfn& ffn, Binder& binder, const MoeSpec& spec, int d_model,
                                 int layer) {
  const int n = spec.routing.n_experts, hidden = spec.hidden;
  using Part = Binder::ExpertPart;
  const auto half = [&](std::string_view stacked, std::string_view single, int first) {
    return std::array{
        Part{.stacked = stacked, .single = single, .n = n, .out = hidden, .in = d_model},
        Part{.stacked = "blk.{}.ffn_gate_up_exps.weight",
             .n = n,
             .out = hidden,
             .in = d_model,
             .first = first,
             .all = 2 * hidden}};
  };
  const auto gate = half("blk.{}.ffn_gate_exps.weight", "blk.{}.ffn_gate.{}.weight", 0);
  const auto up = half("blk.{}.ffn_up_exps.weight", "blk.{}.ffn_up.{}.weight", hidden);
  const Part down{.stacked = "blk.{}.ffn_down_exps.weight",
                  .single = "blk.{}.ffn_down.{}.weight",
                  .n = n,
                  .out = d_model,
                  .in = hidden};
  WICK_TRY(ffn.gate_changes, binder.expert_changes(gate, layer));
  WICK_TRY(ffn.up_changes, binder.expert_changes(up, layer));
  WICK_TRY(ffn.down_changes, binder.expert_changes({&down, 1}, layer));
  return {};
}

// Gate and up are two tensors, or one that holds an expert's gate and then its up.
Result<void> bind_experts(MoeFfn& ffn, Binder& binder, const MoeSpec& spec, int d_model,
                          int layer) {
  const auto of = [&](std::string_view stacked, std::string_view single) {
    return Binder::Experts{.stacked = stacked,
                           .single = single,
                           .n = spec.routing.n_experts,
                           .n_active = spec.routing.n_active};
  };
  ffn.step.gate.rows = ffn.step.up.rows = spec.hidden;
  ffn.step.down.rows = d_model;
  constexpr std::string_view kFused = "blk.{}.ffn_gate_up_exps.weight";
  if (binder.has(kFused, layer)) {
    WICK_TRY(ffn.gate, binder.experts(of(kFused, {}), {2 * spec.hidden, d_model}, layer));
    ffn.up = ffn.gate;
    ffn.step.up.first_row = spec.hidden;
  } else {
    WICK_TRY(ffn.gate,
             binder.experts(of("blk.{}.ffn_gate_exps.weight", "blk.{}.ffn_gate.{}.weight"),
                            {spec.hidden, d_model}, layer));
    WICK_TRY(ffn.up, binder.experts(of("blk.{}.ffn_up_exps.weight", "blk.{}.ffn_up.{}.weight"),
                                    {spec.hidden, d_model}, layer));
  }
  WICK_TRY(ffn.down, binder.experts(of("blk.{}.ffn_down_exps.weight", "blk.{}.ffn_down.{}.weight"),
                                    {d_model, spec.hidden}, layer));
  WICK_DO(bind_expert_changes(ffn, binder, spec, d_model, layer));
  if (!spec.has_bias) return {};
  const int n = spec.routing.n_experts;
  WICK_TRY(ffn.step.gate.bias, binder.table("blk.{}.ffn_gate_exps.bias", {n, spec.hidden}, layer));
  WICK_TRY(ffn.step.up.bias, binder.table("blk.{}.ffn_up_exps.bias", {n, spec.hidden}, layer));
  WICK_TRY(ffn.step.down.bias, binder.table("blk.{}.ffn_down_exps.bias", {n, d_model}, layer));
  return {};
}

Result<void> bind_shared(SharedExpert& shared, Binder& binder, const MoeSpec& spec, int d_model,
                         int layer) {
  const int hidden = spec.shared_hidden;
  shared.hidden = hidden;
  if (hidden == 0) return {};
  WICK_TRY(shared.gate, binder.matrix("blk.{}.ffn_gate_shexp.weight", {hidden, d_model}, layer));
  WICK_TRY(shared.up, binder.matrix("blk.{}.ffn_up_shexp.weight", {hidden, d_model}, layer));
  WICK_TRY(shared.down, binder.matrix("blk.{}.ffn_down_shexp.weight", {d_model, hidden}, layer));
  if (spec.has_shared_gate) {
    WICK_TRY(shared.router, binder.row("blk.{}.ffn_gate_inp_shexp.weight", d_model, layer));
  }
  return {};
}

}  // namespace

Result<MoeFfn> bind_mixture(Binder& binder, const MoeSpec& spec, int d_model, int layer) {
  MoeFfn ffn{
      .step = {.routing = spec.routing, .act = spec.act, .limit = spec.limit, .alpha = spec.alpha}};
  const int n = spec.routing.n_experts;
  WICK_TRY(ffn.step.router, binder.matrix("blk.{}.ffn_gate_inp.weight", router(n, d_model), layer));
  if (spec.has_router_bias) {
    WICK_TRY(ffn.step.router_bias, binder.vector("blk.{}.ffn_gate_inp.bias", n, layer));
  }
  if (spec.has_choice_bias) {
    WICK_TRY(ffn.step.choice_bias, binder.vector("blk.{}.exp_probs_b.bias", n, layer));
  }
  WICK_DO(bind_experts(ffn, binder, spec, d_model, layer));
  WICK_DO(bind_shared(ffn.step.shared, binder, spec, d_model, layer));
  if (spec.has_router_gain) {
    WICK_TRY(ffn.step.router_gain, binder.vector("blk.{}.ffn_gate_inp.scale", d_model, layer));
    ffn.step.router_scale = 1 / std::sqrt(static_cast<float>(d_model));
  }
  if (spec.has_weight_scale) {
    WICK_TRY(ffn.step.weight_scale, binder.vector("blk.{}.ffn_down_exps.scale", n, layer));
  }
  return ffn;
}

Result<MoeFfn> bind(Binder& binder, const MoeSpec& spec, const BlockSpec& block, int d_model,
                    int layer) {
  WICK_TRY(MoeFfn ffn, bind_mixture(binder, spec, d_model, layer));
  WICK_CHECK(!block.post_ffn && !block.is_parallel && block.residual_scale == 1,
             "experts read the hidden state's norm and are added as they are");
  WICK_TRY(const BoundNorm norm, bind_pre_ffn(binder, block, d_model, layer));
  WICK_CHECK(norm.shift == nullptr, "the norm before experts has no bias");
  ffn.step.gain = norm.gain;
  ffn.step.norm = norm.params;
  return ffn;
}

void mix(const MoeFfn& ffn, const Pass& pass, const Tensor& y, bool adds) noexcept {
  ExpertStep step = ffn.step;
  step.adds = adds;
  step.gate.w = ffn.gate;
  step.up.w = ffn.up;
  step.down.w = ffn.down;
  step.gate.changes = ffn.gate_changes;
  step.up.changes = ffn.up_changes;
  step.down.changes = ffn.down_changes;
  pass.backend.experts(y, pass.x, step);
}

void forward(const MoeFfn& ffn, const Pass& pass) noexcept {
  mix(ffn, pass, pass.x, true);
}

}  // namespace wick
