// Gemma 4 (E2B, E4B, 26B-A4B, 31B), its text part: heads of layers with a window and of those that
// see everything differ in size and number; the last layers read the keys and values of earlier
// ones; layers may have inputs of their own beside the hidden state, and experts beside the dense
// feed-forward.
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "base/strings.h"
#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/experts.h"
#include "model/arch/names.h"
#include "model/limits.h"
#include "model/tensors.h"

namespace wick {

namespace {

constexpr auto kNames = join(
    kTableRules, sandwich_norm_rules(), attention_rules(), kGatedRules,
    std::array{
        NameRule{"model.layers.{}.layer_scalar", "blk.{}.layer_output_scale.weight"},
        NameRule{"model.embed_tokens_per_layer.weight", "per_layer_token_embd.weight"},
        NameRule{"model.per_layer_model_projection.weight", "per_layer_model_proj.weight"},
        NameRule{"model.per_layer_projection_norm.weight", "per_layer_proj_norm.weight"},
        NameRule{"model.layers.{}.per_layer_input_gate.weight", "blk.{}.inp_gate.weight"},
        NameRule{"model.layers.{}.per_layer_projection.weight", "blk.{}.proj.weight"},
        NameRule{"model.layers.{}.post_per_layer_input_norm.weight", "blk.{}.post_norm.weight"},
        NameRule{"model.layers.{}.router.proj.weight", "blk.{}.ffn_gate_inp.weight"},
        NameRule{"model.layers.{}.router.scale", "blk.{}.ffn_gate_inp.scale"},
        NameRule{"model.layers.{}.router.per_expert_scale", "blk.{}.ffn_down_exps.scale"},
        NameRule{"model.layers.{}.experts.gate_up_proj", "blk.{}.ffn_gate_up_exps.weight"},
        NameRule{"model.layers.{}.experts.down_proj", "blk.{}.ffn_down_exps.weight"},
        NameRule{"model.layers.{}.pre_feedforward_layernorm_2.weight",
                 "blk.{}.pre_ffw_norm_2.weight"},
        NameRule{"model.layers.{}.post_feedforward_layernorm_1.weight",
                 "blk.{}.post_ffw_norm_1.weight"},
        NameRule{"model.layers.{}.post_feedforward_layernorm_2.weight",
                 "blk.{}.post_ffw_norm_2.weight"}});

constexpr HfFamily kFamilies[] = {
    {.model_type = "gemma4_text",
     .defaults =
         R"({"vocab_size": 262144, "hidden_size": 2304, "intermediate_size": 9216,
      "num_hidden_layers": 30, "num_attention_heads": 8, "num_key_value_heads": 4,
      "head_dim": 256, "global_head_dim": 512, "hidden_activation": "gelu_pytorch_tanh",
      "max_position_embeddings": 131072, "rms_norm_eps": 1e-6, "pad_token_id": 0,
      "eos_token_id": 1, "bos_token_id": 2, "tie_word_embeddings": true, "sliding_window": 512,
      "hidden_size_per_layer_input": 256, "enable_moe_block": false, "rope_parameters": {
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
        "full_attention": {"rope_type": "proportional", "rope_theta": 1000000.0,
                           "partial_rotary_factor": 0.25}}})",
     .window_period = 6}};

// The size of heads with a window, and what all attention of the family has in common.
Result<void> set_heads(DecoderSpec& spec, const Hparams& hparams) {
  const int full = gqa(spec, 0).head_dim;
  WICK_TRY(const int local, hparams.integer_or("attention.key_length_swa", full, 1, kMaxHeadDim));
  WICK_TRY(const int local_rope,
           hparams.integer_or("rope.dimension_count_swa", local, 1, kMaxHeadDim));
  WICK_DO(set_local_rotation(spec, hparams, 1e4));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    GqaSpec& attention = gqa(spec, i);
    const bool is_local = attention.window > 0;
    attention.head_dim = attention.v_dim = is_local ? local : full;
    attention.rope.dim = is_local ? local_rope : full;
    if (attention.rope.dim > attention.head_dim || attention.rope.dim % 2 != 0) {
      return hparams.invalid(cat("rotates ", attention.rope.dim, " of ", attention.head_dim,
                                 " features of a head (", hparams.key("rope.dimension_count_swa"),
                                 "), wanted an even number of them"));
    }
    if (attention.n_heads * attention.head_dim > kMaxWidth) {
      return hparams.invalid(cat(attention.n_heads, " heads of ", attention.head_dim, " features (",
                                 hparams.key("attention.key_length_swa"), "), wick takes ",
                                 kMaxWidth, " features in all"));
    }
    attention.scale = 1;
    attention.qk_norm = QkNormSpec{.params = spec.final_norm.params};
  }
  return {};
}

// Layers that see everything may have no values of their own, but their keys before norm and
// rotation: config.json says so, a GGUF file leaves out the tensor.
void set_values(DecoderSpec& spec, const ModelFile& file) {
  const std::optional<bool> said = file.metadata().boolean("wick.values_are_keys");
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    GqaSpec& attention = gqa(spec, i);
    attention.normalizes_values = true;
    if (attention.window > 0 || attention.has_joint_qkv) continue;
    attention.are_values_keys = said.value_or(!has_tensor(file, kNames, "blk.{}.attn_v.weight", i));
  }
}

// The last layers read the cache of the last layer of their kind before them.
Result<void> share_caches(DecoderSpec& spec, const Hparams& hparams) {
  const int layers = static_cast<int>(spec.blocks.size());
  WICK_TRY(const int shared, hparams.integer_or("attention.shared_kv_layers", 0, 0, layers - 1));
  const int first = layers - shared;
  for (int i = first; i < layers; ++i) {
    GqaSpec& attention = gqa(spec, i);
    int from = first - 1;
    while (from >= 0 && gqa(spec, from).window != attention.window)
      --from;
    if (from < 0 || gqa(spec, from).n_kv_heads != attention.n_kv_heads) {
      return hparams.invalid(cat("layer ", i, " shares the keys of an earlier layer (",
                                 hparams.key("attention.shared_kv_layers"), " is ", shared,
                                 "), and none before layer ", first, " has its window and heads"));
    }
    attention.kv_from_layer = from;
    attention.are_values_keys = false;
  }
  return {};
}

Result<void> add_layer_inputs(DecoderSpec& spec, const Hparams& hparams) {
  WICK_TRY(const int width,
           hparams.integer_or("embedding_length_per_layer_input", 0, 0, kMaxWidth));
  if (width == 0) return {};
  if (width > kMaxWidth / static_cast<int>(spec.blocks.size())) {
    return hparams.invalid(cat("has ", width, " features of input for each of ", spec.blocks.size(),
                               " layers, wick takes ", kMaxWidth, " in all"));
  }
  spec.layer_inputs = LayerInputSpec{.width = width, .act = dense(spec, 0).act};
  for (BlockSpec& block : spec.blocks)
    block.has_layer_input = true;
  return {};
}

// Experts beside the dense feed-forward, in all layers or none: dense files may name a number, too.
Result<void> add_experts_beside(DecoderSpec& spec, const Hparams& hparams) {
  const std::vector<BlockSpec> plain = spec.blocks;
  if (!has_tensor(hparams.file(), kNames, "blk.{}.ffn_gate_inp.weight", 0)) return {};
  WICK_DO(add_experts(spec, hparams, kNames, {}));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    MoeSpec* const experts = experts_of(spec, i);
    if (experts == nullptr) {
      return missing_tensor(
          hparams.file(),
          find_tensor(hparams.file(), kNames, "blk.{}.ffn_gate_inp.weight", i).name);
    }
    BlockSpec& block = spec.blocks[static_cast<std::size_t>(i)];
    DenseMoeSpec both{.experts = *experts, .norm = spec.final_norm};
    block = plain[static_cast<std::size_t>(i)];
    both.dense = dense(spec, i);
    both.experts.act = both.dense.act;
    both.experts.has_router_gain = true;
    both.experts.has_weight_scale =
        has_tensor(hparams.file(), kNames, "blk.{}.ffn_down_exps.scale", i);
    block.ffn = both;
  }
  return {};
}

Result<DecoderSpec> gemma4_spec(const ModelFile& file) {
  const Hparams hparams(file);
  if (file.metadata().boolean("wick.is_bidirectional").value_or(false)) {
    return hparams.unsupported("attends to later tokens (use_bidirectional_attention)");
  }
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kHalves,
                                                  .names = kNames,
                                                  .act = Act::kGeluTanh,
                                                  .takes_experts = true,
                                                  .has_post_norms = true}));
  spec.embed_scale = std::sqrt(static_cast<float>(spec.d_model));
  set_window_period(spec, hparams, 6);
  WICK_DO(set_heads(spec, hparams));
  set_values(spec, file);
  WICK_DO(share_caches(spec, hparams));
  WICK_DO(add_layer_inputs(spec, hparams));
  WICK_DO(add_experts_beside(spec, hparams));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    spec.blocks[static_cast<std::size_t>(i)].has_output_scale =
        has_tensor(file, kNames, "blk.{}.layer_output_scale.weight", i);
  }
  return spec;
}

}  // namespace

Arch gemma4_arch() noexcept {
  return {.gguf_name = "gemma4", .spec = gemma4_spec, .names = kNames, .families = kFamilies};
}

}  // namespace wick
