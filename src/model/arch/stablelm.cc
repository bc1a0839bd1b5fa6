// StableLM 2: LayerNorm and a partial rotation. The 12B normalizes each head of q and k with gains
// of its own and has attention and feed-forward in parallel.
#include <array>

#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"

namespace wick {

namespace {

constexpr auto kNames =
    join(std::array{NameRule{"model.layers.{}.self_attn.q_layernorm.norms.{}.weight",
                             "blk.{}.attn_q_norm.weight", Fix::kStack},
                    NameRule{"model.layers.{}.self_attn.k_layernorm.norms.{}.weight",
                             "blk.{}.attn_k_norm.weight", Fix::kStack}},
         kTableRules, pre_norm_rules(), attention_rules(), kGatedRules);

constexpr HfFamily kFamilies[] = {
    {.model_type = "stablelm",
     .defaults =
         R"({"vocab_size": 50304, "hidden_size": 2560, "intermediate_size": 6912,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "hidden_act": "silu", "max_position_embeddings": 4096, "layer_norm_eps": 1e-5,
      "tie_word_embeddings": false, "bos_token_id": 0, "eos_token_id": 0,
      "partial_rotary_factor": 0.25})",
     .windows = HfFamily::Windows::kNone}};

Result<DecoderSpec> stablelm_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kHalves,
                                                  .names = kNames,
                                                  .norm = Plain::Norm::kLayerWithBias}));
  if (!has_tensor(file, kNames, "blk.{}.ffn_norm.weight", 0)) set_parallel(spec);
  set_norms_per_head(spec, file, kNames);
  return spec;
}

}  // namespace

Arch stablelm_arch() noexcept {
  return {.gguf_name = "stablelm", .spec = stablelm_spec, .names = kNames, .families = kFamilies};
}

}  // namespace wick
