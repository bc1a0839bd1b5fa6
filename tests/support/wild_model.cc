#include "support/wild_model.h"

#include <bit>
#include <cstring>
#include <iterator>
#include <random>
#include <string_view>

#include "quant/half.h"

namespace wick::test {

namespace {

constexpr std::uint32_t kWild[] = {
    0x7fc00000, 0xffc00000, 0x7fffffff, 0x7f800001, 0xffabcdef,  // NaN
    0x7f800000, 0xff800000,                                      // infinities
    0x7149f2ca, 0xf149f2ca,                                      // 1e30, -1e30
    0x4af42400, 0xcaf42400,                                      // 8e6, -8e6
    0x7f7fffff, 0x477fef00, 0x000116c2, 0x80000000,              // the largest, 65519, 1e-40, -0
};

// Plants values in a tensor: which and where follow from the seed and the tensor's name.
class Planter {
 public:
  Planter(std::uint32_t seed, std::string_view name) : random_(seed) {
    for (const char c : name)
      random_.seed(random_() ^ static_cast<unsigned char>(c));
  }

  void plant(const std::string& name, DType type, int rows, int cols, std::span<std::byte> bytes) {
    const std::size_t row_bytes = bytes.size() / static_cast<std::size_t>(rows);
    if (name == "token_embd.weight") {
      for (int n = below(4); n > 0; --n) {  // few tokens are bad, the others do not notice
        const auto row = static_cast<std::size_t>(below(kWildTokens));
        plant(type, cols, bytes.subspan(row * row_bytes, row_bytes), below(2) == 0);
      }
    } else if (below(32) == 0) {
      const auto row = static_cast<std::size_t>(below(rows));
      plant(type, cols, bytes.subspan(row * row_bytes, row_bytes), false);
    }
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void plant(DType type, int cols, std::span<std::byte> row, bool everywhere) {
    const float value = std::bit_cast<float>(kWild[below(static_cast<int>(std::size(kWild)))]);
    const int at = below(cols);
    for (int i = everywhere ? 0 : at; i < (everywhere ? cols : at + 1); ++i)
      put(type, value, static_cast<std::size_t>(i), row);
  }

  // Of a block format the scale, with which each block begins.
  static void put(DType type, float value, std::size_t i, std::span<std::byte> row) {
    if (type == DType::kF32) {
      std::memcpy(&row[4 * i], &value, 4);
      return;
    }
    const DTypeInfo& info = dtype_info(type);
    const std::uint16_t half = type == DType::kBF16 ? f32_to_bf16(value) : f32_to_f16(value);
    const std::size_t block = i / static_cast<std::size_t>(info.block_len);
    std::memcpy(&row[block * static_cast<std::size_t>(info.block_bytes)], &half, 2);
  }

  std::mt19937 random_;
};

}  // namespace

TinyModel wild_model(std::uint32_t seed) {
  std::mt19937 random(seed * 2654435761U);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const char* const archs[] = {"llama", "qwen2", "qwen3"};
  const DType types[] = {DType::kF32,  DType::kF32,  DType::kF16, DType::kBF16,
                         DType::kQ8_0, DType::kQ4_0, DType::kQ4_1};
  TinyModel model{.arch = archs[below(3)],
                  .n_layers = 1 + below(3),
                  .d_model = 32 * (1 + below(2)),
                  .n_heads = 2,
                  .n_kv_heads = 1 + below(2),
                  .head_dim = 32,
                  .hidden = 64,
                  .window = below(3) == 0 ? 5 + below(40) : 0,
                  .is_tied = below(2) == 0,
                  .type = types[below(7)],
                  .seed = seed};
  if (seed % 4 == 3) {
    model.arch = "tiny-mla";
    model.latent = 32 * (1 + below(2));
    model.query_rank = 32 * below(2);
    model.has_joint_kv = below(2) == 0;
  }
  model.edit = [seed](const std::string& name, DType type, int rows, int cols,
                      std::span<std::byte> bytes) {
    Planter(seed, name).plant(name, type, rows, cols, bytes);
  };
  return model;
}

}  // namespace wick::test
