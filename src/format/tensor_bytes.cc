#include "format/tensor_bytes.h"

#include <cstddef>
#include <limits>

namespace wick {

std::optional<std::uint64_t> checked_tensor_bytes(DType type, const Shape& shape) noexcept {
  if (shape.rank < 0 || shape.rank > static_cast<int>(shape.dim.size())) return std::nullopt;
  const auto rank = static_cast<std::size_t>(shape.rank);
  const std::int64_t row_len = rank == 0 ? 1 : shape.dim[rank - 1];
  if (row_len < 1) return std::nullopt;
  const auto row = row_bytes(type, row_len);
  if (!row) return std::nullopt;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t total = *row;
  if (total > kMax) return std::nullopt;
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    if (shape.dim[i] < 1) return std::nullopt;
    const auto dim = static_cast<std::uint64_t>(shape.dim[i]);
    if (total > kMax / dim) return std::nullopt;
    total *= dim;
  }
  return total;
}

}  // namespace wick
