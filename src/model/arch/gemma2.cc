// Gemma 2: norms before and after both parts of a layer, soft caps on scores and logits, a window
// in every second layer.
#include <array>

#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"

namespace wick {

namespace {

constexpr auto kNames =
    join(kTableRules, sandwich_norm_rules(Fix::kAddOne), attention_rules(), kGatedRules);

constexpr HfFamily kFamilies[] = {
    {.model_type = "gemma2",
     .defaults =
         R"({"vocab_size": 256000, "hidden_size": 2304, "intermediate_size": 9216,
      "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
      "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh", "max_position_embeddings": 8192,
      "rms_norm_eps": 1e-6, "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 2,
      "tie_word_embeddings": true, "query_pre_attn_scalar": 256, "sliding_window": 4096,
      "final_logit_softcapping": 30.0, "attn_logit_softcapping": 50.0})",
     .window_period = 2}};

constexpr int kLayersOf27B = 46;  // whose queries are scaled otherwise; GGUF has no key for it

Result<DecoderSpec> gemma2_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kHalves,
                                                  .names = kNames,
                                                  .act = Act::kGeluTanh,
                                                  .has_post_norms = true}));
  WICK_DO(set_gemma_scales(spec, file, kLayersOf27B));
  set_window_period(spec, Hparams(file), 2);
  return spec;
}

}  // namespace

Arch gemma2_arch() noexcept {
  return {.gguf_name = "gemma2", .spec = gemma2_spec, .names = kNames, .families = kFamilies};
}

}  // namespace wick
