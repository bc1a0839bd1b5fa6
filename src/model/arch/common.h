// Shared parts of architecture files: hyperparameters, read under the architecture's prefix and
// checked against limits, and the common decoder (pre-norm, GQA, gated feed-forward), which each
// file adjusts. Load time only; any thread.
//
//   const Hparams hparams(file);
//   WICK_TRY(const int layers, hparams.need("block_count", 1, kMaxLayers));  // llama.block_count
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec.h"

namespace wick {

class Hparams {
 public:
  explicit Hparams(const ModelFile& file);

  const ModelFile& file() const noexcept { return file_; }

  // "llama.block_count" for "block_count".
  std::string key(std::string_view suffix) const;

  // Errors name the file, the key, the value seen and the range.
  Result<int> need(std::string_view suffix, std::int64_t min, std::int64_t max) const;
  Result<double> need_number(std::string_view suffix, double min, double max) const;
  Result<std::vector<int>> need_per_layer(std::string_view suffix, int layers, std::int64_t min,
                                          std::int64_t max) const;
  // The same for optional keys; a value that is present must be valid.
  Result<int> integer_or(std::string_view suffix, int otherwise, std::int64_t min,
                         std::int64_t max) const;
  Result<double> number_or(std::string_view suffix, double otherwise, double min, double max) const;
  std::optional<std::string_view> string(std::string_view suffix) const;
  bool has(std::string_view suffix) const;

  Error invalid(std::string_view what) const;      // "m.gguf: <what>", kCorrupt
  Error unsupported(std::string_view what) const;  // the same, kUnsupported

 private:
  const ModelFile& file_;
  std::string prefix_;
};

// A decoder whose layers are norm → grouped-query attention → norm → feed-forward, each added to
// the hidden state. Biases and fused tensors are there where the file has them. A file with experts
// is refused unless the caller adds them (arch/experts.h).
struct Plain {
  RopeParams::Layout layout = RopeParams::kHalves;  // how GGUF files of this family rotate
  std::span<const NameRule> names = {};
  enum class Norm : std::uint8_t { kRms, kLayer, kLayerWithBias } norm = Norm::kRms;
  bool is_gated = true;  // the feed-forward
  Act act = Act::kSilu;  // where the file does not say
  bool takes_experts = false;
  bool has_post_norms = false;  // after both parts of each layer
};

Result<DecoderSpec> plain_decoder(const ModelFile& file, const Plain& plain);

// Tensor names of Llama-like Hugging Face checkpoints; the second permutes q and k to adjacent
// pairs, as in GGUF's llama.
std::span<const NameRule> plain_names() noexcept;
std::span<const NameRule> permuted_names() noexcept;

bool has_tensor(const ModelFile& file, std::span<const NameRule> names, std::string_view canonical,
                int layer);

// The attention of layer `i`, for files that adjust it. The first: nullptr if it has another mixer.
GqaSpec* attention_of(DecoderSpec& spec, int i) noexcept;
GqaSpec& gqa(DecoderSpec& spec, int i) noexcept;
DenseSpec& dense(DecoderSpec& spec, int i) noexcept;
// nullptr: layer `i` is dense.
MoeSpec* experts_of(DecoderSpec& spec, int i) noexcept;

// Each `period`-th layer sees the whole context, where the file does not say which do.
void set_window_period(DecoderSpec& spec, const Hparams& hparams, int period);
// Layers with a window rotate with a base of their own, without scaling.
Result<void> set_local_rotation(DecoderSpec& spec, const Hparams& hparams, double theta);
// Embeddings times the root of their width; q·k by config.json's query_pre_attn_scalar, or else by
// the size of heads, which the model with so many layers has as d_model / heads.
Result<void> set_gemma_scales(DecoderSpec& spec, const ModelFile& file, int layers_of_largest);
// Attention in both directions, no LM head, and the dense layers after pooling that the file has.
// The head of a cross-encoder, where the file has one, and the number of token types.
Result<void> add_classifier(DecoderSpec& spec, const ModelFile& file,
                            std::span<const NameRule> names);
Result<void> make_encoder(DecoderSpec& spec, const ModelFile& file, const EncoderSpec& parts);
// x = n(x + mixer(x)), then x = n(x + ffn(x)) in all layers; no other norms.
void set_norms_of_sums(DecoderSpec& spec);
// x + mixer(n(x)) + ffn(n(x)) in all layers.
void set_parallel(DecoderSpec& spec);
// Logits times the file's logit_scale.
Result<void> set_logit_scale(DecoderSpec& spec, const Hparams& hparams);
// Each head of q and k is normalized with a gain of its own in layers that have these tensors.
void set_norms_per_head(DecoderSpec& spec, const ModelFile& file, std::span<const NameRule> names);

}  // namespace wick
