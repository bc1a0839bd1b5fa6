// Command R and R+: attention and feed-forward in parallel from one LayerNorm without a bias;
// adjacent pairs rotate in checkpoints, too; logits are scaled. R+ normalizes each head of q and k
// with gains of its own.
#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"

namespace wick {

namespace {

constexpr auto kNames = join(kTableRules, one_norm_rules(), attention_rules(), kGatedRules);

constexpr HfFamily kFamilies[] = {
    {.model_type = "cohere",
     .defaults =
         R"({"vocab_size": 256000, "hidden_size": 8192, "intermediate_size": 22528,
      "logit_scale": 0.0625, "num_hidden_layers": 40, "num_attention_heads": 64,
      "hidden_act": "silu", "max_position_embeddings": 8192, "layer_norm_eps": 1e-5,
      "pad_token_id": 0, "bos_token_id": 5, "eos_token_id": 255001, "tie_word_embeddings": true,
      "rope_theta": 500000.0})",
     .windows = HfFamily::Windows::kNone}};

Result<DecoderSpec> command_r_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec,
           plain_decoder(
               file, {.layout = RopeParams::kPairs, .names = kNames, .norm = Plain::Norm::kLayer}));
  set_parallel(spec);
  WICK_DO(set_logit_scale(spec, Hparams(file)));
  set_norms_per_head(spec, file, kNames);
  return spec;
}

}  // namespace

Arch command_r_arch() noexcept {
  return {.gguf_name = "command-r", .spec = command_r_spec, .names = kNames, .families = kFamilies};
}

}  // namespace wick
