// Command R7B and A: as Command R, with a window in three layers of four, which alone rotate.
#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"

namespace wick {

namespace {

constexpr auto kNames = join(kTableRules, one_norm_rules(), attention_rules(), kGatedRules);

constexpr HfFamily kFamilies[] = {
    {.model_type = "cohere2",
     .defaults =
         R"({"vocab_size": 256000, "hidden_size": 8192, "intermediate_size": 22528,
      "logit_scale": 0.0625, "num_hidden_layers": 40, "num_attention_heads": 64,
      "hidden_act": "silu", "max_position_embeddings": 8192, "layer_norm_eps": 1e-5,
      "pad_token_id": 0, "bos_token_id": 5, "eos_token_id": 255001, "tie_word_embeddings": true,
      "sliding_window": 4096})",
     .window_period = 4}};

Result<DecoderSpec> cohere2_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec,
           plain_decoder(
               file, {.layout = RopeParams::kPairs, .names = kNames, .norm = Plain::Norm::kLayer}));
  const Hparams hparams(file);
  set_parallel(spec);
  set_window_period(spec, hparams, 4);
  WICK_DO(set_logit_scale(spec, hparams));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    if (gqa(spec, i).window == 0) gqa(spec, i).rope.layout = RopeParams::kNone;
  }
  return spec;
}

}  // namespace

Arch cohere2_arch() noexcept {
  return {.gguf_name = "cohere2", .spec = cohere2_spec, .names = kNames, .families = kFamilies};
}

}  // namespace wick
