// Nomic BERT: an encoder as BERT, with a rotation instead of learned positions, and a gated
// feed-forward. Checkpoints have the names of the authors' own code, or those of transformers.
#include <array>

#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"

namespace wick {

namespace {

constexpr std::array kOwnNames{
    NameRule{"nomic_bert.embeddings.word_embeddings.weight", "token_embd.weight"},
    NameRule{"nomic_bert.embeddings.token_type_embeddings.weight", "token_types.weight"},
    NameRule{"nomic_bert.emb_ln.weight", "token_embd_norm.weight"},
    NameRule{"nomic_bert.emb_ln.bias", "token_embd_norm.bias"},
    NameRule{"nomic_bert.encoder.layers.{}.attn.Wqkv.weight", "blk.{}.attn_qkv.weight"},
    NameRule{"nomic_bert.encoder.layers.{}.attn.out_proj.weight", "blk.{}.attn_output.weight"},
    NameRule{"nomic_bert.encoder.layers.{}.norm1.weight", "blk.{}.attn_output_norm.weight"},
    NameRule{"nomic_bert.encoder.layers.{}.norm1.bias", "blk.{}.attn_output_norm.bias"},
    NameRule{"nomic_bert.encoder.layers.{}.mlp.fc11.weight", "blk.{}.ffn_up.weight"},
    NameRule{"nomic_bert.encoder.layers.{}.mlp.fc12.weight", "blk.{}.ffn_gate.weight"},
    NameRule{"nomic_bert.encoder.layers.{}.mlp.fc2.weight", "blk.{}.ffn_down.weight"},
    NameRule{"nomic_bert.encoder.layers.{}.norm2.weight", "blk.{}.layer_output_norm.weight"},
    NameRule{"nomic_bert.encoder.layers.{}.norm2.bias", "blk.{}.layer_output_norm.bias"}};

constexpr std::array kTransformersNames{
    NameRule{"nomic_bert.embeddings.LayerNorm.weight", "token_embd_norm.weight"},
    NameRule{"nomic_bert.embeddings.LayerNorm.bias", "token_embd_norm.bias"},
    NameRule{"model.layers.{}.post_attention_layernorm.weight", "blk.{}.attn_output_norm.weight"},
    NameRule{"model.layers.{}.post_attention_layernorm.bias", "blk.{}.attn_output_norm.bias"},
    NameRule{"model.layers.{}.post_mlp_layernorm.weight", "blk.{}.layer_output_norm.weight"},
    NameRule{"model.layers.{}.post_mlp_layernorm.bias", "blk.{}.layer_output_norm.bias"}};

constexpr auto kNames = join(kOwnNames, kTransformersNames, attention_rules(), kGatedRules);

constexpr HfFamily kFamilies[] = {
    {.model_type = "nomic_bert",
     .defaults = R"({"hidden_act": "silu", "layer_norm_eps": 1e-12})",
     .windows = HfFamily::Windows::kNone}};

Result<DecoderSpec> nomic_bert_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kHalves,
                                                  .names = kNames,
                                                  .norm = Plain::Norm::kLayerWithBias}));
  WICK_DO(make_encoder(spec, file, {.has_types = true, .embed_norm = spec.final_norm}));
  set_norms_of_sums(spec);
  return spec;
}

}  // namespace

Arch nomic_bert_arch() noexcept {
  return {.gguf_name = "nomic-bert",
          .spec = nomic_bert_spec,
          .names = kNames,
          .families = kFamilies,
          .is_encoder = true};
}

}  // namespace wick
