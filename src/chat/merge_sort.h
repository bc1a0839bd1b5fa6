// A stable sort as Python's sorted() is one, in a render's memory: merges of runs of 1, 2, 4 …
// items between `items` and a buffer of the same size, n·log n comparisons at most. An order that
// is none (two keys that cannot be compared) does no harm.
#pragma once

#include <algorithm>

#include "chat/run.h"

namespace wick::jinja {

// `is_before(a, b)` may fail the run.
template <class T, class IsBefore>
void merge_sort(Run& run, Vector<T>& items, const IsBefore& is_before) {
  const std::size_t n = items.size();
  Vector<T> merged(n, T(), run.memory());
  for (std::size_t width = 1; width < n; width *= 2) {
    for (std::size_t begin = 0; begin < n; begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, n), end = std::min(middle + width, n);
      std::size_t left = begin, right = middle;
      for (std::size_t to = begin; to < end; ++to) {
        run.charge(1);
        const bool takes_right =
            left == middle || (right < end && is_before(items[right], items[left]));
        merged[to] = items[takes_right ? right++ : left++];
      }
    }
    items.swap(merged);
  }
}

}  // namespace wick::jinja
