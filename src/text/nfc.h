// Unicode's normalization forms; NFC, which the qwen2 tokenizers want, is the fast one. Pure
// function, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/normalizer.h"

namespace wick {

using NfcScratch = std::vector<std::int32_t>;  // memory that a caller keeps

// Appends `text` in `form`, as Hugging Face's library has it; bytes that are not UTF-8 stay as they
// are and end what surrounds them. Linear in the text, but for n log n over a run of combining
// marks.
void append_form(std::string& out, std::string_view text, UnicodeForm form, NfcScratch& scratch);

}  // namespace wick
