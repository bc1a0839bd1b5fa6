// BERT: an encoder with learned positions and token types, a LayerNorm after each sum, GELU.
#include <array>

#include "base/strings.h"
#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"

namespace wick {

namespace {

constexpr std::array kNames{
    NameRule{"bert.embeddings.word_embeddings.weight", "token_embd.weight"},
    NameRule{"bert.embeddings.position_embeddings.weight", "position_embd.weight"},
    NameRule{"bert.embeddings.token_type_embeddings.weight", "token_types.weight"},
    NameRule{"bert.embeddings.LayerNorm.weight", "token_embd_norm.weight"},
    NameRule{"bert.embeddings.LayerNorm.bias", "token_embd_norm.bias"},
    NameRule{"bert.encoder.layer.{}.attention.self.query.weight", "blk.{}.attn_q.weight"},
    NameRule{"bert.encoder.layer.{}.attention.self.query.bias", "blk.{}.attn_q.bias"},
    NameRule{"bert.encoder.layer.{}.attention.self.key.weight", "blk.{}.attn_k.weight"},
    NameRule{"bert.encoder.layer.{}.attention.self.key.bias", "blk.{}.attn_k.bias"},
    NameRule{"bert.encoder.layer.{}.attention.self.value.weight", "blk.{}.attn_v.weight"},
    NameRule{"bert.encoder.layer.{}.attention.self.value.bias", "blk.{}.attn_v.bias"},
    NameRule{"bert.encoder.layer.{}.attention.output.dense.weight", "blk.{}.attn_output.weight"},
    NameRule{"bert.encoder.layer.{}.attention.output.dense.bias", "blk.{}.attn_output.bias"},
    NameRule{"bert.encoder.layer.{}.attention.output.LayerNorm.weight",
             "blk.{}.attn_output_norm.weight"},
    NameRule{"bert.encoder.layer.{}.attention.output.LayerNorm.bias",
             "blk.{}.attn_output_norm.bias"},
    NameRule{"bert.encoder.layer.{}.intermediate.dense.weight", "blk.{}.ffn_up.weight"},
    NameRule{"bert.encoder.layer.{}.intermediate.dense.bias", "blk.{}.ffn_up.bias"},
    NameRule{"bert.encoder.layer.{}.output.dense.weight", "blk.{}.ffn_down.weight"},
    NameRule{"bert.encoder.layer.{}.output.dense.bias", "blk.{}.ffn_down.bias"},
    NameRule{"bert.encoder.layer.{}.output.LayerNorm.weight", "blk.{}.layer_output_norm.weight"},
    NameRule{"bert.encoder.layer.{}.output.LayerNorm.bias", "blk.{}.layer_output_norm.bias"}};

constexpr HfFamily kFamilies[] = {
    {.model_type = "bert",
     .defaults =
         R"({"vocab_size": 30522, "hidden_size": 768, "intermediate_size": 3072,
      "num_hidden_layers": 12, "num_attention_heads": 12, "hidden_act": "gelu",
      "max_position_embeddings": 512, "layer_norm_eps": 1e-12, "pad_token_id": 0})",
     .windows = HfFamily::Windows::kNone}};

Result<DecoderSpec> bert_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kNone,
                                                  .names = kNames,
                                                  .norm = Plain::Norm::kLayerWithBias,
                                                  .is_gated = false,
                                                  .act = Act::kGelu}));
  const auto positions = file.metadata().string("wick.position_embedding_type");
  if (positions && *positions != "absolute") {
    return Hparams(file).unsupported(cat("has positions of type '", printable(*positions),
                                         "', wick knows 'absolute' ones of BERT"));
  }
  WICK_DO(make_encoder(spec, file, {.has_positions = true,
                                    .has_types = true,
                                    .embed_norm = spec.final_norm}));
  set_norms_of_sums(spec);
  return spec;
}

}  // namespace

Arch bert_arch() noexcept {
  return {.gguf_name = "bert",
          .spec = bert_spec,
          .names = kNames,
          .families = kFamilies,
          .is_encoder = true};
}

}  // namespace wick
