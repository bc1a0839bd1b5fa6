#include "model/arch/common.h"

#include <cmath>
#include <limits>
#include <variant>

#include "base/check.h"
#include "base/strings.h"
#include "model/limits.h"
#include "model/rope.h"
#include "model/tensors.h"

namespace wick {

Hparams::Hparams(const ModelFile& file)
    : file_(file), prefix_(cat(file.metadata().string("general.architecture").value_or(""), ".")) {}

std::string Hparams::key(std::string_view suffix) const {
  return cat(prefix_, suffix);
}

bool Hparams::has(std::string_view suffix) const {
  return file_.metadata().has(key(suffix));
}

std::optional<std::string_view> Hparams::string(std::string_view suffix) const {
  return file_.metadata().string(key(suffix));
}

namespace {

Error in_file(const ModelFile& file, Error error) {
  error.message = cat(file.path().string(), ": ", error.message);
  return error;
}

}  // namespace

Result<int> Hparams::need(std::string_view suffix, std::int64_t min, std::int64_t max) const {
  auto value = file_.metadata().need_integer(key(suffix), min, max);
  if (!value) return in_file(file_, std::move(value).error());
  return static_cast<int>(*value);
}

Result<double> Hparams::need_number(std::string_view suffix, double min, double max) const {
  auto value = file_.metadata().need_number(key(suffix), min, max);
  if (!value) return in_file(file_, std::move(value).error());
  return *value;
}

Result<std::vector<int>> Hparams::need_per_layer(std::string_view suffix, int layers,
                                                 std::int64_t min, std::int64_t max) const {
  auto values = file_.metadata().need_per_layer(key(suffix), layers, min, max);
  if (!values) return in_file(file_, std::move(values).error());
  return std::vector<int>(values->begin(), values->end());
}

Result<int> Hparams::integer_or(std::string_view suffix, int otherwise, std::int64_t min,
                                std::int64_t max) const {
  if (!has(suffix)) return otherwise;
  return need(suffix, min, max);
}

Result<double> Hparams::number_or(std::string_view suffix, double otherwise, double min,
                                  double max) const {
  if (!has(suffix)) return otherwise;
  return need_number(suffix, min, max);
}

Error Hparams::invalid(std::string_view what) const {
  return Error{ErrorCode::kCorrupt, "bad_hyperparameter", cat(file_.path().string(), ": ", what)};
}

Error Hparams::unsupported(std::string_view what) const {
  return Error{ErrorCode::kUnsupported, "unsupported_model", cat(file_.path().string(), ": ", what),
               "a newer wick may know it; `wick model list` names models that work"};
}

namespace {

struct HeadShape {
  int n_heads = 0, n_kv_heads = 0, head_dim = 0, v_dim = 0;
};

Result<HeadShape> head_shape(const Hparams& hparams, int d_model, int n_heads, int n_kv_heads) {
  if (n_heads % n_kv_heads != 0) {
    return hparams.invalid(cat(n_heads, " heads cannot share ", n_kv_heads,
                               " key-value heads evenly (", hparams.key("attention.head_count_kv"),
                               ")"));
  }
  if (!hparams.has("attention.key_length") && d_model % n_heads != 0) {
    return hparams.invalid(cat(d_model, " features do not divide into ", n_heads,
                               " heads, and the file does not say ",
                               hparams.key("attention.key_length")));
  }
  WICK_TRY(const int head_dim,
           hparams.integer_or("attention.key_length", d_model / n_heads, 1, kMaxHeadDim));
  WICK_TRY(const int v_dim, hparams.integer_or("attention.value_length", head_dim, 1, kMaxHeadDim));
  if (head_dim < 1 || head_dim > kMaxHeadDim || std::int64_t{n_heads} * head_dim > kMaxWidth ||
      std::int64_t{n_heads} * v_dim > kMaxWidth) {
    return hparams.invalid(cat(n_heads, " heads of ", head_dim,
                               " features: wick takes heads of 1 to ", kMaxHeadDim, " and ",
                               kMaxWidth, " features in all"));
  }
  return HeadShape{n_heads, n_kv_heads, head_dim, v_dim};
}

// x becomes cap * tanh(x / cap), as in Gemma 2.
Result<void> refuse_soft_cap(const Hparams& hparams, std::string_view key, std::string_view of) {
  WICK_TRY(const double cap, hparams.number_or(key, 0, 0, std::numeric_limits<double>::max()));
  if (cap == 0) return {};
  return hparams.unsupported(cat("has a soft cap on ", of, " (", hparams.key(key), " is ", cap,
                                 "), which wick cannot run yet"));
}

// Keys that would change the result if they were ignored: refused.
Result<void> refuse_unknown(const Hparams& hparams) {
  WICK_DO(refuse_soft_cap(hparams, "attn_logit_softcapping", "attention scores"));
  WICK_DO(refuse_soft_cap(hparams, "final_logit_softcapping", "logits"));
  WICK_TRY(const int experts, hparams.integer_or("expert_count", 0, 0, kMaxHidden));
  if (experts > 0) {
    return hparams.unsupported(
        cat("is a mixture of ", experts, " experts, which wick cannot run yet"));
  }
  const auto act = hparams.file().metadata().string("wick.hidden_act").value_or("silu");
  if (act != "silu" && act != "swish") {
    return hparams.unsupported(cat("has the activation '", printable(act), "', wick knows silu"));
  }
  return {};
}

// Sliding window attention: in all layers, or in those the pattern marks.
Result<std::vector<int>> windows(const Hparams& hparams, int n_layers) {
  std::vector<int> window(static_cast<std::size_t>(n_layers), 0);
  WICK_TRY(const int tokens, hparams.integer_or("attention.sliding_window", 0, 0, kMaxContext));
  if (tokens == 0) return window;
  std::vector<int> is_local(window.size(), 1);
  if (hparams.has("attention.sliding_window_pattern")) {
    WICK_TRY(is_local, hparams.need_per_layer("attention.sliding_window_pattern", n_layers, 0, 1));
  }
  for (std::size_t i = 0; i < window.size(); ++i)
    window[i] = is_local[i] != 0 ? tokens : 0;
  return window;
}

struct PerLayer {
  std::vector<int> heads, kv_heads, hidden, window;
};

Result<PerLayer> per_layer(const Hparams& hparams, int n_layers) {
  PerLayer all;
  WICK_TRY(all.heads, hparams.need_per_layer("attention.head_count", n_layers, 1, kMaxHeads));
  all.kv_heads = all.heads;
  if (hparams.has("attention.head_count_kv")) {
    WICK_TRY(all.kv_heads,
             hparams.need_per_layer("attention.head_count_kv", n_layers, 1, kMaxHeads));
  }
  WICK_TRY(all.hidden, hparams.need_per_layer("feed_forward_length", n_layers, 1, kMaxHidden));
  WICK_TRY(all.window, windows(hparams, n_layers));
  return all;
}

Result<int> vocab_of(const Hparams& hparams, std::span<const NameRule> names) {
  const FoundTensor table = find_tensor(hparams.file(), names, "token_embd.weight");
  if (table.view == nullptr) return missing_tensor(hparams.file(), table.name);
  const std::int64_t vocab = table.view->shape.dim[0];
  if (vocab < 1 || vocab > kMaxVocab) {
    return hparams.invalid(cat("tensor '", table.name, "' has ", vocab, " rows, wick takes 1 to ",
                               kMaxVocab, " tokens"));
  }
  return static_cast<int>(vocab);
}

}  // namespace

namespace {

struct AttentionOf {
  GqaSpec* operator()(GqaSpec& mixer) const noexcept { return &mixer; }

  GqaSpec* operator()(MlaSpec&) const noexcept { return nullptr; }

  GqaSpec* operator()(DeltaSpec&) const noexcept { return nullptr; }
};

}  // namespace

GqaSpec& gqa(DecoderSpec& spec, int i) noexcept {
  GqaSpec* const mixer = std::visit(AttentionOf{}, spec.blocks[static_cast<std::size_t>(i)].mixer);
  WICK_CHECK(mixer != nullptr, "a layer without attention was asked for its attention");
  return *mixer;
}

Result<DecoderSpec> plain_decoder(const ModelFile& file, RopeParams::Layout layout,
                                  std::span<const NameRule> names) {
  const Hparams hparams(file);
  WICK_DO(refuse_unknown(hparams));
  DecoderSpec spec;
  WICK_TRY(const int n_layers, hparams.need("block_count", 1, kMaxLayers));
  WICK_TRY(spec.d_model, hparams.need("embedding_length", 1, kMaxWidth));
  WICK_TRY(spec.ctx_train, hparams.need("context_length", 1, kMaxContext));
  WICK_TRY(spec.vocab, vocab_of(hparams, names));
  WICK_TRY(const double eps, hparams.need_number("attention.layer_norm_rms_epsilon", 0, 1));
  WICK_TRY(const PerLayer layers, per_layer(hparams, n_layers));
  const NormParams norm{.rms = true, .eps = static_cast<float>(eps)};
  spec.final_norm = norm;
  const bool has_head = find_tensor(file, names, "output.weight").view != nullptr;
  spec.is_tied = file.metadata().boolean("wick.tie_word_embeddings").value_or(!has_head);
  const auto has = [&](std::string_view tensor, int layer) {
    return find_tensor(file, names, tensor, layer).view != nullptr;
  };
  for (int i = 0; i < n_layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    WICK_TRY(const HeadShape heads,
             head_shape(hparams, spec.d_model, layers.heads[at], layers.kv_heads[at]));
    WICK_TRY(const RopeSpec rope, rope_spec(hparams, layout, heads.head_dim));
    const GqaSpec mixer{.n_heads = heads.n_heads,
                        .n_kv_heads = heads.n_kv_heads,
                        .head_dim = heads.head_dim,
                        .v_dim = heads.v_dim,
                        .qkv_bias = has("blk.{}.attn_q.bias", i),
                        .out_bias = has("blk.{}.attn_output.bias", i),
                        .rope = rope.params,
                        .has_rope_factors = rope.has_factors,
                        .scale = 1 / std::sqrt(static_cast<float>(heads.head_dim)),
                        .window = layers.window[at]};
    const DenseSpec ffn{.hidden = layers.hidden[at], .bias = has("blk.{}.ffn_up.bias", i)};
    spec.blocks.push_back({.mixer = mixer, .ffn = ffn, .pre_mixer = norm, .pre_ffn = norm});
  }
  return spec;
}

namespace {

using Fix = NameRule::Fix;

// Tensor name rules of a family of checkpoints; `q` and `k` permute the rows of those projections.
constexpr std::array<NameRule, 21> name_rules(Fix q, Fix k) {
  return {{{"model.embed_tokens.weight", "token_embd.weight"},
           {"model.norm.weight", "output_norm.weight"},
           {"lm_head.weight", "output.weight"},
           {"model.layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight"},
           {"model.layers.{}.post_attention_layernorm.weight", "blk.{}.ffn_norm.weight"},
           {"model.layers.{}.self_attn.q_proj.weight", "blk.{}.attn_q.weight", q},
           {"model.layers.{}.self_attn.k_proj.weight", "blk.{}.attn_k.weight", k},
           {"model.layers.{}.self_attn.v_proj.weight", "blk.{}.attn_v.weight"},
           {"model.layers.{}.self_attn.o_proj.weight", "blk.{}.attn_output.weight"},
           {"model.layers.{}.self_attn.q_proj.bias", "blk.{}.attn_q.bias", q},
           {"model.layers.{}.self_attn.k_proj.bias", "blk.{}.attn_k.bias", k},
           {"model.layers.{}.self_attn.v_proj.bias", "blk.{}.attn_v.bias"},
           {"model.layers.{}.self_attn.o_proj.bias", "blk.{}.attn_output.bias"},
           {"model.layers.{}.self_attn.q_norm.weight", "blk.{}.attn_q_norm.weight"},
           {"model.layers.{}.self_attn.k_norm.weight", "blk.{}.attn_k_norm.weight"},
           {"model.layers.{}.mlp.gate_proj.weight", "blk.{}.ffn_gate.weight"},
           {"model.layers.{}.mlp.up_proj.weight", "blk.{}.ffn_up.weight"},
           {"model.layers.{}.mlp.down_proj.weight", "blk.{}.ffn_down.weight"},
           {"model.layers.{}.mlp.gate_proj.bias", "blk.{}.ffn_gate.bias"},
           {"model.layers.{}.mlp.up_proj.bias", "blk.{}.ffn_up.bias"},
           {"model.layers.{}.mlp.down_proj.bias", "blk.{}.ffn_down.bias"}}};
}

constexpr auto kPlainNames = name_rules(Fix::kNone, Fix::kNone);
constexpr auto kPermutedNames = name_rules(Fix::kPermuteQ, Fix::kPermuteK);

}  // namespace

std::span<const NameRule> plain_names() noexcept {
  return kPlainNames;
}

std::span<const NameRule> permuted_names() noexcept {
  return kPermutedNames;
}

}  // namespace wick
