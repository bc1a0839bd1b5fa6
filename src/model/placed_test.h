// Placements over two devices, for tests: each way to cut a model in two, and one that changes the
// device at every part.
#pragma once

#include <string>
#include <vector>

#include "model/placement.h"

namespace wick::test {

// `parts` empty: all on the first, and there need not be a second one.
inline Placement placed(Device& first, Device* second, const std::vector<int>& parts) {
  if (parts.empty()) return first;
  Placement placement(first);
  placement.devices.push_back(second);
  placement.parts = parts;
  return placement;
}

// Placements of a model with `n_layers` layers: one cut after each part, with the first half on
// either device; and the device alternating at every part.
inline std::vector<std::vector<int>> all_cuts(int n_layers) {
  const int n = 2 * n_layers + 2;
  std::vector<std::vector<int>> all;
  for (const int first : {0, 1}) {
    for (int cut = 1; cut < n; ++cut) {
      std::vector<int>& parts = all.emplace_back();
      for (int part = 0; part < n; ++part)
        parts.push_back(part < cut ? first : 1 - first);
    }
    std::vector<int>& to_and_fro = all.emplace_back();
    for (int part = 0; part < n; ++part)
      to_and_fro.push_back((part + first) % 2);
  }
  return all;
}

inline std::string to_string(const std::vector<int>& parts) {
  std::string text = "parts on ";
  for (const int device : parts)
    text += std::to_string(device);
  return text;
}

}  // namespace wick::test
