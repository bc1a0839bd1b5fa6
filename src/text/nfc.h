// Unicode Normalisation Form C, as the qwen2 tokenizers want it. Pure function, any thread.
#pragma once

#include <string>
#include <string_view>

namespace wick {

// Appends the NFC of `text`; bytes that are not UTF-8 stay as they are and end what surrounds them.
// Linear in the text, but for n log n over a run of combining marks.
void append_nfc(std::string& out, std::string_view text);

}  // namespace wick
