// BERT, RoBERTa, XLM-R: encoders with learned positions and token types, a LayerNorm after each
// sum, GELU; with a classifier cross-encoders, which rank texts.
#include <algorithm>
#include <array>

#include "base/strings.h"
#include "model/arch/archs.h"
#include "model/arch/common.h"
#include "model/arch/names.h"

namespace wick {

namespace {

// BERT's checkpoints and RoBERTa's differ in the first part of the names.
#define WICK_RULE(name, canonical)              \
  NameRule{"bert." name, canonical}, NameRule { \
    "roberta." name, canonical                  \
  }
constexpr std::array kNames{
    WICK_RULE("embeddings.word_embeddings.weight", "token_embd.weight"),
    WICK_RULE("embeddings.position_embeddings.weight", "position_embd.weight"),
    WICK_RULE("embeddings.token_type_embeddings.weight", "token_types.weight"),
    WICK_RULE("embeddings.LayerNorm.weight", "token_embd_norm.weight"),
    WICK_RULE("embeddings.LayerNorm.bias", "token_embd_norm.bias"),
    WICK_RULE("encoder.layer.{}.attention.self.query.weight", "blk.{}.attn_q.weight"),
    WICK_RULE("encoder.layer.{}.attention.self.query.bias", "blk.{}.attn_q.bias"),
    WICK_RULE("encoder.layer.{}.attention.self.key.weight", "blk.{}.attn_k.weight"),
    WICK_RULE("encoder.layer.{}.attention.self.key.bias", "blk.{}.attn_k.bias"),
    WICK_RULE("encoder.layer.{}.attention.self.value.weight", "blk.{}.attn_v.weight"),
    WICK_RULE("encoder.layer.{}.attention.self.value.bias", "blk.{}.attn_v.bias"),
    WICK_RULE("encoder.layer.{}.attention.output.dense.weight", "blk.{}.attn_output.weight"),
    WICK_RULE("encoder.layer.{}.attention.output.dense.bias", "blk.{}.attn_output.bias"),
    WICK_RULE("encoder.layer.{}.attention.output.LayerNorm.weight",
              "blk.{}.attn_output_norm.weight"),
    WICK_RULE("encoder.layer.{}.attention.output.LayerNorm.bias", "blk.{}.attn_output_norm.bias"),
    WICK_RULE("encoder.layer.{}.intermediate.dense.weight", "blk.{}.ffn_up.weight"),
    WICK_RULE("encoder.layer.{}.intermediate.dense.bias", "blk.{}.ffn_up.bias"),
    WICK_RULE("encoder.layer.{}.output.dense.weight", "blk.{}.ffn_down.weight"),
    WICK_RULE("encoder.layer.{}.output.dense.bias", "blk.{}.ffn_down.bias"),
    WICK_RULE("encoder.layer.{}.output.LayerNorm.weight", "blk.{}.layer_output_norm.weight"),
    WICK_RULE("encoder.layer.{}.output.LayerNorm.bias", "blk.{}.layer_output_norm.bias"),
    NameRule{"bert.pooler.dense.weight", "cls.weight"},
    NameRule{"bert.pooler.dense.bias", "cls.bias"},
    NameRule{"classifier.dense.weight", "cls.weight"},
    NameRule{"classifier.dense.bias", "cls.bias"},
    NameRule{"classifier.weight", "cls.output.weight"},
    NameRule{"classifier.bias", "cls.output.bias"},
    NameRule{"classifier.out_proj.weight", "cls.output.weight"},
    NameRule{"classifier.out_proj.bias", "cls.output.bias"}};
#undef WICK_RULE

// Positions begin behind that of padding, which is 1.
constexpr const char* kRobertaDefaults =
    R"({"vocab_size": 30522, "hidden_size": 768, "intermediate_size": 3072,
      "num_hidden_layers": 12, "num_attention_heads": 12, "hidden_act": "gelu",
      "max_position_embeddings": 512, "layer_norm_eps": 1e-12, "pad_token_id": 1,
      "bos_token_id": 0, "eos_token_id": 2, "position_offset": 2})";

constexpr HfFamily kFamilies[] = {
    {.model_type = "bert",
     .defaults =
         R"({"vocab_size": 30522, "hidden_size": 768, "intermediate_size": 3072,
      "num_hidden_layers": 12, "num_attention_heads": 12, "hidden_act": "gelu",
      "max_position_embeddings": 512, "layer_norm_eps": 1e-12, "pad_token_id": 0})",
     .windows = HfFamily::Windows::kNone},
    {.model_type = "xlm-roberta",
     .gguf = "bert",
     .defaults = kRobertaDefaults,
     .windows = HfFamily::Windows::kNone},
    {.model_type = "roberta",
     .gguf = "bert",
     .defaults = kRobertaDefaults,
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
  EncoderSpec parts{.has_positions = true, .has_types = true, .embed_norm = spec.final_norm};
  WICK_TRY(parts.position_offset, Hparams(file).integer_or("position_offset", 0, 0, 16));
  spec.ctx_train = std::max(1, spec.ctx_train - parts.position_offset);
  WICK_DO(make_encoder(spec, file, parts));
  WICK_DO(add_classifier(spec, file, kNames));
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
