// OLMo 2, OLMo 3: no norms before attention and feed-forward, but one after each; q and k are
// normalized over all of their heads together. OLMo 3 has a window in three of four layers.
#include <array>

#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"
#include "model/limits.h"

namespace wick {

namespace {

constexpr auto kNames =
    join(kTableRules, attention_rules(), kGatedRules,
         std::array{NameRule{"model.norm.weight", "output_norm.weight"},
                    NameRule{"model.layers.{}.post_attention_layernorm.weight",
                             "blk.{}.post_attention_norm.weight"},
                    NameRule{"model.layers.{}.post_feedforward_layernorm.weight",
                             "blk.{}.post_ffw_norm.weight"}});

constexpr int kWindowPeriod = 4;

constexpr HfFamily kFamilies[] = {
    {.model_type = "olmo2",
     .defaults =
         R"({"vocab_size": 50304, "hidden_size": 4096, "intermediate_size": 11008,
      "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
      "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "pad_token_id": 1,
      "eos_token_id": 50279, "tie_word_embeddings": false})",
     .windows = HfFamily::Windows::kNone},
    {.model_type = "olmo3",
     .defaults =
         R"({"vocab_size": 50304, "hidden_size": 4096, "intermediate_size": 11008,
      "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
      "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "pad_token_id": 1,
      "eos_token_id": 50279, "tie_word_embeddings": false, "rope_theta": 500000.0,
      "sliding_window": 4096})",
     .window_period = kWindowPeriod}};

Result<DecoderSpec> olmo2_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kHalves, .names = kNames}));
  const Hparams hparams(file);
  set_window_period(spec, hparams, kWindowPeriod);
  WICK_TRY(const double theta, hparams.number_or("rope.freq_base", 1e4, 1, kMaxTheta));
  WICK_DO(set_local_rotation(spec, hparams, theta));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    BlockSpec& block = spec.blocks[static_cast<std::size_t>(i)];
    block.pre_mixer.reset();
    block.pre_ffn.reset();
    block.post_mixer = block.post_ffn = spec.final_norm;
    gqa(spec, i).qk_norm =
        QkNormSpec{.gain = QkNormSpec::Gain::kJoint, .params = spec.final_norm.params};
  }
  return spec;
}

}  // namespace

Arch olmo2_arch() noexcept {
  return {.gguf_name = "olmo2", .spec = olmo2_spec, .names = kNames, .families = kFamilies};
}

}  // namespace wick
