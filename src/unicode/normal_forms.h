// Unicode's normalization forms, as Hugging Face's tokenizers 0.23.3 has them; NFC, which the qwen2
// tokenizers want, is the fast one. Pure function, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wick {

enum class UnicodeForm : std::uint8_t { kNfc, kNfd, kNfkc, kNfkd };

using NfcScratch = std::vector<std::int32_t>;  // memory that a caller keeps

// Appends `text` in `form`, as Hugging Face's library does. Bytes that are not UTF-8 are copied;
// the text before and after them is normalized separately. Linear time, except n log n over a run
// of combining marks.
void append_form(std::string& out, std::string_view text, UnicodeForm form, NfcScratch& scratch);

// The largest number of output bytes per input byte: U+0390 takes 2 bytes and becomes 6 in form D;
// U+FDFA takes 3 and becomes 33 in KD.
constexpr std::size_t max_growth(UnicodeForm form) noexcept {
  return form == UnicodeForm::kNfkc || form == UnicodeForm::kNfkd ? 11 : 3;
}

// The tables (tools/goldens/unicode_normal_forms.py).
struct NfcRange {
  char32_t first, last;
};

// Characters that may combine with the text before them, or change in the form. Text before any
// other character can be normalized separately.
std::span<const NfcRange> nfc_active() noexcept;

// Those of them that Hugging Face's library (Unicode 9) does not know: they and their neighbors
// stay unchanged.
std::span<const NfcRange> nfc_left_alone() noexcept;

}  // namespace wick
