// The header of NumPy's .npy files (numpy.lib.format 1.0). Any thread.
#pragma once

#include <cstddef>
#include <string>

#include "base/strings.h"

namespace wick {

// Of a float32 matrix, padded to 64 bytes.
inline std::string npy_header(std::size_t rows, std::size_t cols) {
  std::string dict =
      cat("{'descr': '<f4', 'fortran_order': False, 'shape': (", rows, ", ", cols, "), }");
  dict.append(63 - (10 + dict.size()) % 64, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 255);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

}  // namespace wick
