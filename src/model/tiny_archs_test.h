// Architectures for tests only, passed to Decoder::load(): one per mechanism, without the rest of a
// real model family. tests/support/tiny_model.h makes the files.
#pragma once

#include <cmath>
#include <string_view>

#include "model/arch/common.h"
#include "model/limits.h"
#include "model/tensors.h"
#include "support/tiny_model.h"

namespace wick::test {

// Layers that have the tensors of gated delta use it. Its sizes are llama.cpp's keys of qwen35;
// without these keys there are as many key heads as value heads, with the head size of attention.
inline Result<DecoderSpec> delta_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kHalves}));
  const Hparams hparams(file);
  for (int layer = 0; layer < static_cast<int>(spec.blocks.size()); ++layer) {
    const FoundTensor beta = find_tensor(file, {}, "blk.{}.ssm_beta.weight", layer);
    if (beta.view == nullptr) continue;
    const auto heads = static_cast<int>(beta.view->shape.dim[0]);
    const int dim = gqa(spec, layer).head_dim;
    DeltaSpec delta{
        .n_v_heads = heads, .conv_width = kTinyConvWidth, .norm = spec.final_norm.params};
    WICK_TRY(delta.n_k_heads, hparams.integer_or("ssm.group_count", heads, 1, heads));
    WICK_TRY(delta.k_dim, hparams.integer_or("ssm.state_size", dim, 1, kMaxHeadDim));
    WICK_TRY(const int values, hparams.integer_or("ssm.inner_size", heads * dim, 1, kMaxWidth));
    WICK_TRY(const int is_tiled, hparams.integer_or("ssm.has_tiled_heads", 0, 0, 1));
    delta.v_dim = values / heads;
    delta.are_heads_tiled = is_tiled == 1;
    spec.blocks[static_cast<std::size_t>(layer)].mixer = delta;
  }
  return spec;
}

// Layers that have the tensors of latent attention use it. Its sizes are llama.cpp's keys of
// deepseek2.
inline Result<DecoderSpec> mla_spec(const ModelFile& file) {
  WICK_TRY(DecoderSpec spec, plain_decoder(file, {.layout = RopeParams::kPairs}));
  const Hparams hparams(file);
  WICK_TRY(const int q_rank, hparams.integer_or("attention.q_lora_rank", 0, 0, kMaxWidth));
  WICK_TRY(const int kv_rank, hparams.need("attention.kv_lora_rank", 1, kMaxHeadDim / 2));
  WICK_TRY(const int key_dim, hparams.need("attention.key_length_mla", 1, kMaxHeadDim));
  WICK_TRY(const int v_dim, hparams.need("attention.value_length_mla", 1, kMaxHeadDim));
  WICK_TRY(const int rope_dim, hparams.need("rope.dimension_count", 1, key_dim - 1));
  for (int layer = 0; layer < static_cast<int>(spec.blocks.size()); ++layer) {
    const auto has = [&](std::string_view name) {
      return find_tensor(file, {}, name, layer).view != nullptr;
    };
    if (!has("blk.{}.attn_kv_a_mqa.weight")) continue;
    const GqaSpec plain = gqa(spec, layer);
    spec.blocks[static_cast<std::size_t>(layer)].mixer =
        MlaSpec{.n_heads = plain.n_heads,
                .q_rank = q_rank,
                .kv_rank = kv_rank,
                .nope_dim = key_dim - rope_dim,
                .rope_dim = rope_dim,
                .v_dim = v_dim,
                .has_joint_kv = has("blk.{}.attn_kv_b.weight"),
                .norm = spec.final_norm.params,
                .rope = plain.rope,
                .scale = 1 / std::sqrt(static_cast<float>(key_dim))};
  }
  return spec;
}

// TinyModel{.arch = "tiny-delta", .delta_heads = n}: gated delta in every other layer.
inline constexpr Arch kTinyDelta{.gguf_name = "tiny-delta", .spec = delta_spec, .names = {}};

// TinyModel{.arch = "tiny-mla", .latent = n}: latent attention in every other layer.
inline constexpr Arch kTinyMla{.gguf_name = "tiny-mla", .spec = mla_spec, .names = {}};

// The row for `name`, nullptr: none of these.
inline const Arch* tiny_arch(std::string_view name) noexcept {
  for (const Arch* const arch : {&kTinyDelta, &kTinyMla}) {
    if (name == arch->gguf_name) return arch;
  }
  return nullptr;
}

}  // namespace wick::test
