// Phi 1, 1.5 and 2: attention and feed-forward in parallel from one LayerNorm, biases everywhere, a
// partial rotation, no gate.
#include <array>

#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"

namespace wick {

namespace {

constexpr auto kNames = join(
    std::array{NameRule{"model.layers.{}.self_attn.dense.weight", "blk.{}.attn_output.weight"},
               NameRule{"model.layers.{}.self_attn.dense.bias", "blk.{}.attn_output.bias"},
               NameRule{"model.embed_tokens.weight", "token_embd.weight"},
               NameRule{"lm_head.weight", "output.weight"}, NameRule{"lm_head.bias", "output.bias"},
               NameRule{"model.final_layernorm.weight", "output_norm.weight"},
               NameRule{"model.final_layernorm.bias", "output_norm.bias"},
               NameRule{"model.layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight"},
               NameRule{"model.layers.{}.input_layernorm.bias", "blk.{}.attn_norm.bias"},
               NameRule{"model.layers.{}.mlp.fc1.weight", "blk.{}.ffn_up.weight"},
               NameRule{"model.layers.{}.mlp.fc1.bias", "blk.{}.ffn_up.bias"},
               NameRule{"model.layers.{}.mlp.fc2.weight", "blk.{}.ffn_down.weight"},
               NameRule{"model.layers.{}.mlp.fc2.bias", "blk.{}.ffn_down.bias"}},
    attention_rules());

constexpr HfFamily kFamilies[] = {
    {.model_type = "phi",
     .defaults =
         R"({"vocab_size": 51200, "hidden_size": 2048, "intermediate_size": 8192,
      "num_hidden_layers": 24, "num_attention_heads": 32, "hidden_act": "gelu_new",
      "max_position_embeddings": 2048, "layer_norm_eps": 1e-5, "tie_word_embeddings": false,
      "bos_token_id": 1, "eos_token_id": 2, "partial_rotary_factor": 0.5})",
     .windows = HfFamily::Windows::kNone}};

Result<DecoderSpec> phi2_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kHalves,
                                                  .names = kNames,
                                                  .norm = Plain::Norm::kLayerWithBias,
                                                  .is_gated = false,
                                                  .act = Act::kGeluTanh}));
  set_parallel(spec);
  spec.has_head_bias = has_tensor(file, kNames, "output.bias", 0);
  if (file.find("model.layers.0.self_attn.q_layernorm.weight") != nullptr) {
    return Hparams(file).unsupported("normalizes q and k (qk_layernorm), which wick lacks for Phi");
  }
  return spec;
}

}  // namespace

Arch phi2_arch() noexcept {
  return {.gguf_name = "phi2", .spec = phi2_spec, .names = kNames, .families = kFamilies};
}

}  // namespace wick
