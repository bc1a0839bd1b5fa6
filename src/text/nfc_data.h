// What Normalization Form C has to look at (tools/goldens/text_nfc.py). Constant data.
#pragma once

#include <span>

namespace wick {

struct NfcRange {
  char32_t first, last;
};

// Characters that may change or join what stands before them: marks, and those that are written
// otherwise. Any other begins a part that is normalized on its own.
std::span<const NfcRange> nfc_active() noexcept;

// Of these, the ones that Hugging Face's library, with tables of Unicode 9, does not know: they
// stay as they are, and so do their neighbors.
std::span<const NfcRange> nfc_left_alone() noexcept;

}  // namespace wick
