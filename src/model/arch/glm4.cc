// GLM 4: norms before and after both parts of a layer, adjacent pairs of half a head rotate, in
// checkpoints, too; gate and up in one tensor.
#include <array>

#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"

namespace wick {

namespace {

constexpr auto kNames =
    join(kTableRules, final_norm_rules(), attention_rules(),
         std::array{
             NameRule{"model.layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight"},
             NameRule{"model.layers.{}.post_self_attn_layernorm.weight",
                      "blk.{}.post_attention_norm.weight"},
             NameRule{"model.layers.{}.post_attention_layernorm.weight", "blk.{}.ffn_norm.weight"},
             NameRule{"model.layers.{}.post_mlp_layernorm.weight", "blk.{}.post_ffw_norm.weight"},
             NameRule{"model.layers.{}.mlp.gate_up_proj.weight", "blk.{}.ffn_up.weight"},
             NameRule{"model.layers.{}.mlp.down_proj.weight", "blk.{}.ffn_down.weight"}});

constexpr HfFamily kFamilies[] = {
    {.model_type = "glm4",
     .defaults =
         R"({"vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 13696,
      "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 2,
      "head_dim": 128, "hidden_act": "silu", "max_position_embeddings": 131072,
      "rms_norm_eps": 1.5625e-07, "tie_word_embeddings": false, "pad_token_id": 151329,
      "eos_token_id": [151329, 151336, 151338], "partial_rotary_factor": 0.5})",
     .windows = HfFamily::Windows::kNone}};

Result<DecoderSpec> glm4_spec(const ModelFile& file) {
  return plain_decoder(file,
                       {.layout = RopeParams::kPairs, .names = kNames, .has_post_norms = true});
}

}  // namespace

Arch glm4_arch() noexcept {
  return {.gguf_name = "glm4", .spec = glm4_spec, .names = kNames, .families = kFamilies};
}

}  // namespace wick
