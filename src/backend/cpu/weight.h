// A weight on the CPU: a matrix is a pointer into the mapped file, with a row map if rows are
// permuted; a vector is a copy in floats. Immutable after upload; any thread; matrices borrow the
// file's mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/device.h"
#include "backend/memory_account.h"

namespace wick {

struct CpuWeight final : Weight {
  int rows = 0, cols = 0;  // of a matrix; a vector is one row
  // Matrix: row r starts at data + row_bytes * (row_map empty ? r : row_map[r]).
  const std::byte* data = nullptr;
  std::size_t row_bytes = 0;
  std::vector<std::int32_t> row_map = {};
  std::vector<float> values = {};  // vector only
  MemoryHold hold = {};

  // Bytes beside the file's.
  std::size_t own_bytes() const noexcept {
    return row_map.size() * sizeof(row_map[0]) + values.size() * sizeof(values[0]);
  }
};

// Implements upload(). kUnsupported: more than two dimensions, or a matrix type without kernels;
// kInvalid: a transform that does not fit the tensor.
Result<std::unique_ptr<CpuWeight>> make_cpu_weight(const TensorView& tensor,
                                                   const WeightTransform& fix);

inline const CpuWeight& as_cpu(const Weight& weight) noexcept {
  return static_cast<const CpuWeight&>(weight);
}

}  // namespace wick
