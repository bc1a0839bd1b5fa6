// Unicode Normalisation Form C, as the qwen2 tokenizers want it. Pure function, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wick {

using NfcScratch = std::vector<std::int32_t>;  // memory that a caller keeps

// Appends the NFC of `text`; bytes that are not UTF-8 stay as they are and end what surrounds them.
// Linear in the text, but for n log n over a run of combining marks.
void append_nfc(std::string& out, std::string_view text, NfcScratch& scratch);

// Whether NFC never joins or reorders across the start of `text` (not empty), whatever comes
// before.
bool starts_nfc_part(std::string_view text) noexcept;

}  // namespace wick
