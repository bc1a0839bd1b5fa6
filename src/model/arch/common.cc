#include "model/arch/common.h"

#include <cmath>
#include <variant>

#include "base/check.h"
#include "base/strings.h"
#include "model/arch/names.h"
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
  if (error.hint.empty()) error.hint = kVerifyHint;
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
  return Error{ErrorCode::kCorrupt, "bad_hyperparameter", cat(file_.path().string(), ": ", what),
               kVerifyHint};
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

// Keys that would change the result if they were ignored: refused.
Result<void> refuse_unknown(const Hparams& hparams, bool takes_experts) {
  WICK_TRY(const int experts, hparams.integer_or("expert_count", 0, 0, kMaxHidden));
  if (experts > 0 && !takes_experts) {
    return hparams.unsupported(cat("is a mixture of ", experts, " experts (",
                                   hparams.key("expert_count"),
                                   "), which wick does not know of this architecture"));
  }
  return {};
}

struct ActName {
  std::string_view name;
  Act act;
};

// As transformers names them.
constexpr ActName kActs[] = {{"silu", Act::kSilu},
                             {"swish", Act::kSilu},
                             {"gelu", Act::kGelu},
                             {"gelu_new", Act::kGeluTanh},
                             {"gelu_pytorch_tanh", Act::kGeluTanh},
                             {"relu2", Act::kRelu2}};

// What config.json says; GGUF has no key for it.
Result<Act> activation(const Hparams& hparams, Act otherwise) {
  const auto given = hparams.file().metadata().string("wick.hidden_act");
  if (!given) return otherwise;
  std::string known;
  for (const ActName& row : kActs) {
    if (row.name == *given) return row.act;
    known += cat(known.empty() ? "" : ", ", row.name);
  }
  return hparams.unsupported(
      cat("has the activation '", printable(*given), "', wick knows ", known));
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

struct PerLayer {  // by layer
  std::vector<int> heads, kv_heads, hidden, window;
};

Result<PerLayer> per_layer(const Hparams& hparams, int n_layers, bool takes_experts) {
  PerLayer all;
  WICK_TRY(all.heads, hparams.need_per_layer("attention.head_count", n_layers, 1, kMaxHeads));
  all.kv_heads = all.heads;
  if (hparams.has("attention.head_count_kv")) {
    WICK_TRY(all.kv_heads,
             hparams.need_per_layer("attention.head_count_kv", n_layers, 1, kMaxHeads));
  }
  if (takes_experts && !hparams.has("feed_forward_length")) {
    all.hidden.assign(static_cast<std::size_t>(n_layers), 1);  // no layer is dense
  } else {
    WICK_TRY(all.hidden, hparams.need_per_layer("feed_forward_length", n_layers, 1, kMaxHidden));
  }
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

GqaSpec* attention_of(DecoderSpec& spec, int i) noexcept {
  return std::visit(AttentionOf{}, spec.blocks[static_cast<std::size_t>(i)].mixer);
}

GqaSpec& gqa(DecoderSpec& spec, int i) noexcept {
  GqaSpec* const mixer = attention_of(spec, i);
  WICK_CHECK(mixer != nullptr, "a layer without attention was asked for its attention");
  return *mixer;
}

namespace {

struct DenseOf {
  DenseSpec* operator()(DenseSpec& ffn) const noexcept { return &ffn; }

  DenseSpec* operator()(MoeSpec&) const noexcept { return nullptr; }

  DenseSpec* operator()(DenseMoeSpec& ffn) const noexcept { return &ffn.dense; }
};

}  // namespace

DenseSpec& dense(DecoderSpec& spec, int i) noexcept {
  DenseSpec* const ffn = std::visit(DenseOf{}, spec.blocks[static_cast<std::size_t>(i)].ffn);
  WICK_CHECK(ffn != nullptr, "a layer with experts was asked for its dense feed-forward");
  return *ffn;
}

namespace {

struct ExpertsOf {
  MoeSpec* operator()(DenseSpec&) const noexcept { return nullptr; }

  MoeSpec* operator()(MoeSpec& ffn) const noexcept { return &ffn; }

  MoeSpec* operator()(DenseMoeSpec& ffn) const noexcept { return &ffn.experts; }
};

}  // namespace

MoeSpec* experts_of(DecoderSpec& spec, int i) noexcept {
  return std::visit(ExpertsOf{}, spec.blocks[static_cast<std::size_t>(i)].ffn);
}

bool has_tensor(const ModelFile& file, std::span<const NameRule> names, std::string_view canonical,
                int layer) {
  return find_tensor(file, names, canonical, layer).view != nullptr;
}

namespace {

// One block of `layers`; tensors that a file may have or not are looked for.
Result<BlockSpec> plain_block(const Hparams& hparams, const Plain& plain, const PerLayer& layers,
                              const DecoderSpec& spec, int i) {
  const auto at = static_cast<std::size_t>(i);
  const auto has = [&](std::string_view tensor) {
    return has_tensor(hparams.file(), plain.names, tensor, i);
  };
  WICK_TRY(const HeadShape heads,
           head_shape(hparams, spec.d_model, layers.heads[at], layers.kv_heads[at]));
  WICK_TRY(const RopeSpec rope, rope_spec(hparams, plain.layout, heads.head_dim));
  const bool has_joint_qkv = has("blk.{}.attn_qkv.weight");
  const GqaSpec mixer{
      .n_heads = heads.n_heads,
      .n_kv_heads = heads.n_kv_heads,
      .head_dim = heads.head_dim,
      .v_dim = heads.v_dim,
      .has_joint_qkv = has_joint_qkv,
      .qkv_bias = has(has_joint_qkv ? "blk.{}.attn_qkv.bias" : "blk.{}.attn_q.bias"),
      .out_bias = has("blk.{}.attn_output.bias"),
      .rope = rope.params,
      .rope_factors = rope.factors,
      .dynamic_factor = rope.dynamic_factor,
      .scale = 1 / std::sqrt(static_cast<float>(heads.head_dim)),
      .window = layers.window[at]};
  WICK_TRY(const Act act, activation(hparams, plain.act));
  const DenseSpec ffn{.hidden = layers.hidden[at],
                      .act = act,
                      .is_gated = plain.is_gated,
                      .has_joint_gate = plain.is_gated && !has("blk.{}.ffn_gate.weight"),
                      .bias = has("blk.{}.ffn_up.bias")};
  BlockSpec block{
      .mixer = mixer, .ffn = ffn, .pre_mixer = spec.final_norm, .pre_ffn = spec.final_norm};
  if (plain.has_post_norms) block.post_mixer = block.post_ffn = spec.final_norm;
  return block;
}

}  // namespace

Result<DecoderSpec> plain_decoder(const ModelFile& file, const Plain& plain) {
  const Hparams hparams(file);
  WICK_DO(refuse_unknown(hparams, plain.takes_experts));
  DecoderSpec spec;
  WICK_TRY(const int n_layers, hparams.need("block_count", 1, kMaxLayers));
  WICK_TRY(spec.d_model, hparams.need("embedding_length", 1, kMaxWidth));
  WICK_TRY(spec.ctx_train, hparams.need("context_length", 1, kMaxContext));
  WICK_TRY(spec.vocab, vocab_of(hparams, plain.names));
  const bool is_rms = plain.norm == Plain::Norm::kRms;
  WICK_TRY(const double eps,
           hparams.need_number(
               is_rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon", 0, 1));
  WICK_TRY(const PerLayer layers, per_layer(hparams, n_layers, plain.takes_experts));
  spec.final_norm = {.params = {.rms = is_rms, .eps = static_cast<float>(eps)},
                     .has_bias = plain.norm == Plain::Norm::kLayerWithBias};
  WICK_TRY(const double cap, hparams.number_or("final_logit_softcapping", 0, 0, 1e6));
  spec.logit_soft_cap = static_cast<float>(cap);
  const bool has_head = has_tensor(file, plain.names, "output.weight", 0);
  spec.is_tied = file.metadata().boolean("wick.tie_word_embeddings").value_or(!has_head);
  WICK_TRY(const double score_cap, hparams.number_or("attn_logit_softcapping", 0, 0, 1e6));
  for (int i = 0; i < n_layers; ++i) {
    WICK_TRY(BlockSpec block, plain_block(hparams, plain, layers, spec, i));
    spec.blocks.push_back(std::move(block));
    gqa(spec, i).soft_cap = static_cast<float>(score_cap);
  }
  return spec;
}

void set_window_period(DecoderSpec& spec, const Hparams& hparams, int period) {
  if (hparams.has("attention.sliding_window_pattern")) return;
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    if ((i + 1) % period == 0) gqa(spec, i).window = 0;
  }
}

Result<void> set_local_rotation(DecoderSpec& spec, const Hparams& hparams, double theta) {
  WICK_TRY(const double local, hparams.number_or("rope.freq_base_swa", theta, 1, kMaxTheta));
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    GqaSpec& attention = gqa(spec, i);
    if (attention.window == 0) continue;
    attention.rope = {.layout = attention.rope.layout,
                      .dim = attention.rope.dim,
                      .theta = static_cast<float>(local)};
    attention.rope_factors = RopeFactors::kNone;
    attention.dynamic_factor = 0;
  }
  return {};
}

Result<void> set_gemma_scales(DecoderSpec& spec, const ModelFile& file, int layers_of_largest) {
  spec.embed_scale = std::sqrt(static_cast<float>(spec.d_model));
  const int layers = static_cast<int>(spec.blocks.size());
  for (int i = 0; i < layers; ++i) {
    GqaSpec& attention = gqa(spec, i);
    const int usual =
        layers == layers_of_largest ? spec.d_model / attention.n_heads : attention.head_dim;
    const double scalar = file.metadata().number("wick.query_pre_attn_scalar").value_or(usual);
    if (!(scalar > 0)) {
      return Hparams(file).invalid(
          cat("query_pre_attn_scalar is ", scalar, ", wanted a positive number"));
    }
    attention.scale = static_cast<float>(1 / std::sqrt(scalar));
  }
  return {};
}

Result<void> make_encoder(DecoderSpec& spec, const ModelFile& file, const EncoderSpec& parts) {
  const Hparams hparams(file);
  if (file.metadata().boolean(hparams.key("attention.causal")).value_or(false)) {
    return hparams.unsupported(cat(hparams.key("attention.causal"),
                                   " is true, wick reads this architecture as an encoder"));
  }
  spec.encoder = parts;
  spec.is_tied = true;
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i)
    gqa(spec, i).is_causal = false;
  std::vector<int>& dense = spec.encoder->dense;
  for (int in = spec.d_model;; in = dense.back()) {
    const std::string name = cat("dense_", dense.size() + 2, ".weight");
    const TensorView* const matrix = file.find(name);
    if (matrix == nullptr) return {};
    const std::int64_t out = matrix->shape.dim[0];
    if (matrix->shape.rank != 2 || matrix->shape.dim[1] != in || out < 1 || out > kMaxWidth) {
      return hparams.invalid(cat("tensor '", name, "' is ", to_string(matrix->shape),
                                 ", wanted a matrix of rows of ", in, " features"));
    }
    dense.push_back(static_cast<int>(out));
  }
}

Result<void> add_classifier(DecoderSpec& spec, const ModelFile& file,
                            std::span<const NameRule> names) {
  const TensorView* const types = find_tensor(file, names, "token_types.weight").view;
  if (types != nullptr && types->shape.rank == 2) {
    spec.encoder->n_types = static_cast<int>(std::min<std::int64_t>(2, types->shape.dim[0]));
  }
  const auto has = [&](std::string_view name) {
    return find_tensor(file, names, name).view != nullptr;
  };
  const FoundTensor out = find_tensor(file, names, "cls.output.weight");
  if (out.view == nullptr) return {};
  const std::int64_t n_labels = out.view->shape.dim[0];
  if (out.view->shape.rank != 2 || out.view->shape.dim[1] != spec.d_model || n_labels < 1 ||
      n_labels > kMaxWidth) {
    return Hparams(file).invalid(cat("tensor '", out.name, "' is ", to_string(out.view->shape),
                                     ", wanted a matrix of rows of ", spec.d_model, " features"));
  }
  spec.encoder->classifier = {.n_labels = static_cast<int>(n_labels),
                              .has_dense = has("cls.weight"),
                              .has_dense_bias = has("cls.bias"),
                              .has_bias = has("cls.output.bias")};
  return {};
}

void set_norms_of_sums(DecoderSpec& spec) {
  for (BlockSpec& block : spec.blocks) {
    block.norms_sums = true;
    block.pre_mixer.reset();
    block.pre_ffn.reset();
    block.post_mixer = block.post_ffn = spec.final_norm;
  }
}

void set_parallel(DecoderSpec& spec) {
  for (BlockSpec& block : spec.blocks) {
    block.is_parallel = true;
    block.pre_ffn.reset();
  }
}

Result<void> set_logit_scale(DecoderSpec& spec, const Hparams& hparams) {
  WICK_TRY(const double scale, hparams.number_or("logit_scale", 1, 1e-6, 1e6));
  spec.logit_scale = static_cast<float>(scale);
  return {};
}

void set_norms_per_head(DecoderSpec& spec, const ModelFile& file, std::span<const NameRule> names) {
  for (int i = 0; i < static_cast<int>(spec.blocks.size()); ++i) {
    if (!has_tensor(file, names, "blk.{}.attn_q_norm.weight", i)) continue;
    gqa(spec, i).qk_norm =
        QkNormSpec{.gain = QkNormSpec::Gain::kPerHead, .params = spec.final_norm.params};
  }
}

namespace {

constexpr auto kPlainNames = join(kTableRules, pre_norm_rules(), attention_rules(), kGatedRules);
constexpr auto kPermutedNames = join(kTableRules, pre_norm_rules(),
                                     attention_rules(Fix::kPermuteQ, Fix::kPermuteK), kGatedRules);

}  // namespace

std::span<const NameRule> plain_names() noexcept {
  return kPlainNames;
}

std::span<const NameRule> permuted_names() noexcept {
  return kPermutedNames;
}

}  // namespace wick
