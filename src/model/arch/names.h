// Name rules that families of Hugging Face checkpoints share: an architecture file joins them with
// its own.
//
//   constexpr auto kNames = join(kTableRules, attention_rules(), kGatedRules, std::array{…});
#pragma once

#include <array>
#include <cstddef>

#include "model/spec.h"

namespace wick {

template <std::size_t... kSizes>
constexpr auto join(const std::array<NameRule, kSizes>&... parts) {
  std::array<NameRule, (kSizes + ...)> all{};
  std::size_t at = 0;
  const auto add = [&](const auto& part) {
    for (const NameRule& rule : part)
      all[at++] = rule;
  };
  (add(parts), ...);
  return all;
}

inline constexpr std::array kTableRules{NameRule{"model.embed_tokens.weight", "token_embd.weight"},
                                        NameRule{"lm_head.weight", "output.weight"}};

// How a family stores the gains of its norms, and where it permutes q and k.
using Fix = NameRule::Fix;

constexpr std::array<NameRule, 2> final_norm_rules(Fix gain = Fix::kNone) {
  return {
      {{"model.norm.weight", "output_norm.weight", gain}, {"model.norm.bias", "output_norm.bias"}}};
}

// Norms before the two parts of a layer.
constexpr std::array<NameRule, 6> pre_norm_rules(Fix gain = Fix::kNone) {
  const std::array last = final_norm_rules(gain);
  return {{last[0],
           last[1],
           {"model.layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight", gain},
           {"model.layers.{}.input_layernorm.bias", "blk.{}.attn_norm.bias"},
           {"model.layers.{}.post_attention_layernorm.weight", "blk.{}.ffn_norm.weight", gain},
           {"model.layers.{}.post_attention_layernorm.bias", "blk.{}.ffn_norm.bias"}}};
}

// One norm for both parts of a layer.
constexpr std::array<NameRule, 3> one_norm_rules() {
  const std::array last = final_norm_rules();
  return {
      {last[0], last[1], {"model.layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight"}}};
}

// Norms around them.
constexpr std::array<NameRule, 5> sandwich_norm_rules(Fix gain = Fix::kNone) {
  return {
      {final_norm_rules(gain)[0],
       {"model.layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight", gain},
       {"model.layers.{}.post_attention_layernorm.weight", "blk.{}.post_attention_norm.weight",
        gain},
       {"model.layers.{}.pre_feedforward_layernorm.weight", "blk.{}.ffn_norm.weight", gain},
       {"model.layers.{}.post_feedforward_layernorm.weight", "blk.{}.post_ffw_norm.weight", gain}}};
}

constexpr std::array<NameRule, 10> attention_rules(Fix q = Fix::kNone, Fix k = Fix::kNone,
                                                   Fix gain = Fix::kNone) {
  return {{{"model.layers.{}.self_attn.q_proj.weight", "blk.{}.attn_q.weight", q},
           {"model.layers.{}.self_attn.k_proj.weight", "blk.{}.attn_k.weight", k},
           {"model.layers.{}.self_attn.v_proj.weight", "blk.{}.attn_v.weight"},
           {"model.layers.{}.self_attn.o_proj.weight", "blk.{}.attn_output.weight"},
           {"model.layers.{}.self_attn.q_proj.bias", "blk.{}.attn_q.bias", q},
           {"model.layers.{}.self_attn.k_proj.bias", "blk.{}.attn_k.bias", k},
           {"model.layers.{}.self_attn.v_proj.bias", "blk.{}.attn_v.bias"},
           {"model.layers.{}.self_attn.o_proj.bias", "blk.{}.attn_output.bias"},
           {"model.layers.{}.self_attn.q_norm.weight", "blk.{}.attn_q_norm.weight", gain},
           {"model.layers.{}.self_attn.k_norm.weight", "blk.{}.attn_k_norm.weight", gain}}};
}

inline constexpr std::array kGatedRules{
    NameRule{"model.layers.{}.mlp.gate_proj.weight", "blk.{}.ffn_gate.weight"},
    NameRule{"model.layers.{}.mlp.up_proj.weight", "blk.{}.ffn_up.weight"},
    NameRule{"model.layers.{}.mlp.down_proj.weight", "blk.{}.ffn_down.weight"},
    NameRule{"model.layers.{}.mlp.gate_proj.bias", "blk.{}.ffn_gate.bias"},
    NameRule{"model.layers.{}.mlp.up_proj.bias", "blk.{}.ffn_up.bias"},
    NameRule{"model.layers.{}.mlp.down_proj.bias", "blk.{}.ffn_down.bias"}};

}  // namespace wick
