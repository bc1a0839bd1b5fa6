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

// A decoder whose layers are RMSNorm → grouped-query attention → RMSNorm → gated SiLU feed-forward.
// Biases are there where the file has them. `layout` is how GGUF files of this family rotate.
Result<DecoderSpec> plain_decoder(const ModelFile& file, RopeParams::Layout layout,
                                  std::span<const NameRule> names);

// Tensor names of Llama-like Hugging Face checkpoints; the second permutes q and k to adjacent
// pairs, as in GGUF's llama.
std::span<const NameRule> plain_names() noexcept;
std::span<const NameRule> permuted_names() noexcept;

// The attention of layer `i`, for files that adjust it.
GqaSpec& gqa(DecoderSpec& spec, int i) noexcept;

}  // namespace wick
