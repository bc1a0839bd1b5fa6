// Vectors of length 1 (L2), as embeddings are compared. Sums in double, in the order of the values.
#pragma once

#include <cmath>
#include <span>

namespace wick {

// False if the vector has no length, or none that is finite; then it stays as it is.
inline bool scale_to_unit(std::span<float> values) noexcept {
  double squares = 0;
  for (const float value : values)
    squares += static_cast<double>(value) * static_cast<double>(value);
  if (!(squares > 0) || !std::isfinite(squares)) return false;
  const double scale = 1 / std::sqrt(squares);
  for (float& value : values)
    value = static_cast<float>(static_cast<double>(value) * scale);
  return true;
}

}  // namespace wick
