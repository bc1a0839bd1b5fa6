// StarCoder 2: LayerNorm, biases everywhere, no gate.
#include <array>

#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"

namespace wick {

namespace {

constexpr auto kNames =
    join(kTableRules, pre_norm_rules(), attention_rules(),
         std::array{NameRule{"model.layers.{}.mlp.c_fc.weight", "blk.{}.ffn_up.weight"},
                    NameRule{"model.layers.{}.mlp.c_fc.bias", "blk.{}.ffn_up.bias"},
                    NameRule{"model.layers.{}.mlp.c_proj.weight", "blk.{}.ffn_down.weight"},
                    NameRule{"model.layers.{}.mlp.c_proj.bias", "blk.{}.ffn_down.bias"}});

constexpr HfFamily kFamilies[] = {
    {.model_type = "starcoder2",
     .defaults =
         R"({"vocab_size": 49152, "hidden_size": 3072, "intermediate_size": 12288,
      "num_hidden_layers": 30, "num_attention_heads": 24, "num_key_value_heads": 2,
      "hidden_act": "gelu_pytorch_tanh", "max_position_embeddings": 4096, "norm_epsilon": 1e-5,
      "bos_token_id": 50256, "eos_token_id": 50256, "tie_word_embeddings": true})",
     .windows = HfFamily::Windows::kAll}};

Result<DecoderSpec> starcoder2_spec(const ModelFile& file) {
  return plain_decoder(file, {.layout = RopeParams::kHalves,
                              .names = kNames,
                              .norm = Plain::Norm::kLayerWithBias,
                              .is_gated = false,
                              .act = Act::kGeluTanh});
}

}  // namespace

Arch starcoder2_arch() noexcept {
  return {
      .gguf_name = "starcoder2", .spec = starcoder2_spec, .names = kNames, .families = kFamilies};
}

}  // namespace wick
