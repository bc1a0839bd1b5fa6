// Tiny decoders with seeded weights as GGUF files, for tests of modules above the model: they
// answer in a millisecond, always with the same bits. The tokenizer is byte-level, so any text can
// be said; the chat template is ChatML. What the models say is noise.
//
//   test::write_tiny_model(dir.path() / "tiny.gguf");
//   test::write_tiny_model(path, {.arch = "qwen3", .d_model = 256, .type = DType::kQ4_K});
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "quant/dtype.h"

namespace wick::test {

struct TinyModel {
  // llama, qwen2 (with its biases) or qwen3 (with its head norms); with experts llama (Mixtral),
  // qwen2moe or qwen3moe
  std::string arch = "llama";
  int n_layers = 2;
  int d_model = 32;  // and hidden, n_heads * head_dim: multiples of the type's block
  int n_heads = 4, n_kv_heads = 2, head_dim = 8;
  int hidden = 64;
  int context = 256;
  int window = 0;                  // tokens that layers see; 0 = all
  bool window_alternates = false;  // only every second layer has it, the first one does
  int delta_heads = 0;  // gated delta in all layers but each second one, with so many heads
  // Latent attention in the same layers instead, with keys of latent + head_dim features; queries
  // with a rank of their own, and keys and values in one tensor, as older files have them.
  int latent = 0, query_rank = 0;
  bool has_joint_kv = false;
  // Experts in every layer, of which a token uses two; `hidden` features each. With qwen2moe one of
  // them is shared.
  int experts = 0;
  bool is_tied = true;
  DType type = DType::kF32;  // of the matrices; vectors are F32
  bool has_tokenizer = true;
  int vocab = 0;  // only without a tokenizer; 0 = the tokenizer's
  std::uint32_t seed = 1;
  // Called with each tensor's bytes before they are written; a vector has one row.
  using Edit = std::function<void(const std::string& name, DType type, int rows, int cols,
                                  std::span<std::byte> bytes)>;
  Edit edit = {};
};

// Its vocabulary: id b is byte b for b < 256, then six merged or control tokens.
inline constexpr int kTinyVocab = 262;
inline constexpr int kTinyBeginOfText = 259;  // <|endoftext|>
inline constexpr int kTinyImStart = 260;      // <|im_start|>
inline constexpr int kTinyImEnd = 261;        // <|im_end|>, ends the answer

inline constexpr int kTinyConvWidth = 4;

void write_tiny_model(const std::filesystem::path& path, const TinyModel& model = {});

}  // namespace wick::test
