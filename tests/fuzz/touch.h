// Uses everything that a reader handed out, so that a sanitizer sees what is not there.
#pragma once

#include <cstddef>
#include <span>

#include "base/check.h"
#include "format/metadata.h"
#include "format/model_file.h"

namespace wick::test {

// The compiler may not drop the reads that made `value`.
inline void keep(std::size_t value) {
  asm volatile("" : : "r"(value));
}

inline void touch(const Metadata& meta) {
  std::size_t read = 0;
  for (const MetaEntry& entry : meta.entries()) {
    WICK_CHECK(meta.find(entry.key) == &entry.value, "a key finds its own entry");
    read += meta.integer(entry.key).has_value() + meta.number(entry.key).has_value() +
            meta.boolean(entry.key).has_value();
    read += meta.integers(entry.key).has_value() + meta.numbers(entry.key).has_value();
    if (const auto text = meta.string(entry.key)) {
      for (const char c : *text)
        read += c == 'x';
    }
    if (const auto texts = meta.strings(entry.key)) {
      for (const std::string_view text : *texts)
        read += text.empty() ? 0 : text.back() == 'x';
    }
    if (!meta.need_per_layer(entry.key, 4, 0, 100)) ++read;  // builds a message
  }
  keep(read);
}

// Every view lies inside `file`, and its first and last byte can be read.
inline void touch(std::span<const TensorView> tensors, std::span<const std::byte> file) {
  for (const TensorView& tensor : tensors) {
    WICK_CHECK(!tensor.name.empty() && !tensor.bytes.empty(), "a tensor has a name and bytes");
    WICK_CHECK(tensor.bytes.data() >= file.data() &&
                   tensor.bytes.data() + tensor.bytes.size() <= file.data() + file.size(),
               "a tensor lies inside its file");
    keep(std::to_integer<std::size_t>(tensor.bytes.front() ^ tensor.bytes.back()));
  }
}

}  // namespace wick::test
