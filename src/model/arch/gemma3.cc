// Gemma 3, its text part: five layers with a window and a base of rotation of their own to each
// that sees everything; q and k of each head are normalized; norms before and after both parts.
#include <array>

#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"

namespace wick {

namespace {

constexpr auto kNames = join(kTableRules, sandwich_norm_rules(Fix::kAddOne),
                             attention_rules(Fix::kNone, Fix::kNone, Fix::kAddOne), kGatedRules);

constexpr HfFamily kFamilies[] = {
    {.model_type = "gemma3_text",
     .defaults =
         R"({"vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216,
      "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
      "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh",
      "max_position_embeddings": 131072, "rms_norm_eps": 1e-6, "pad_token_id": 0,
      "eos_token_id": 1, "bos_token_id": 2, "tie_word_embeddings": true, "rope_theta": 1000000.0,
      "rope_local_base_freq": 10000.0, "query_pre_attn_scalar": 256, "sliding_window": 4096})",
     .window_period = 6}};

constexpr int kLayersOf27B = 62;  // whose queries are scaled otherwise; GGUF has no key for it

Result<DecoderSpec> gemma3_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kHalves,
                                                  .names = kNames,
                                                  .act = Act::kGeluTanh,
                                                  .has_post_norms = true}));
  const Hparams hparams(file);
  WICK_DO(set_gemma_scales(spec, file, kLayersOf27B));
  set_window_period(spec, hparams, 6);
  WICK_DO(set_local_rotation(spec, hparams, 1e4));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i)
    gqa(spec, i).qk_norm = QkNormSpec{.params = spec.final_norm.params};
  return spec;
}

}  // namespace

Arch gemma3_arch() noexcept {
  return {.gguf_name = "gemma3", .spec = gemma3_spec, .names = kNames, .families = kFamilies};
}

}  // namespace wick
