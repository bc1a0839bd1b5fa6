// Phi 3, 3.5, 4 and 4-mini: q, k and v in one tensor, gate and up in one tensor; LongRoPE.
#include <array>

#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"

namespace wick {

namespace {

constexpr auto kNames = join(
    kTableRules, pre_norm_rules(),
    std::array{NameRule{"model.layers.{}.self_attn.qkv_proj.weight", "blk.{}.attn_qkv.weight"},
               NameRule{"model.layers.{}.self_attn.o_proj.weight", "blk.{}.attn_output.weight"},
               NameRule{"model.layers.{}.mlp.gate_up_proj.weight", "blk.{}.ffn_up.weight"},
               NameRule{"model.layers.{}.mlp.down_proj.weight", "blk.{}.ffn_down.weight"}});

constexpr HfFamily kFamilies[] = {
    {.model_type = "phi3",
     .defaults =
         R"({"vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192,
      "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
      "max_position_embeddings": 4096, "original_max_position_embeddings": 4096,
      "rms_norm_eps": 1e-5, "tie_word_embeddings": false, "bos_token_id": 1,
      "eos_token_id": 32000, "pad_token_id": 32000})",
     .windows = HfFamily::Windows::kAll}};

Result<DecoderSpec> phi3_spec(const ModelFile& file) {
  return plain_decoder(file, {.layout = RopeParams::kHalves, .names = kNames});
}

}  // namespace

Arch phi3_arch() noexcept {
  return {.gguf_name = "phi3", .spec = phi3_spec, .names = kNames, .families = kFamilies};
}

}  // namespace wick
