// GPT-2's way of writing bytes as printable characters: token texts of byte-level vocabularies are
// spelled in it ("Ġhello" is " hello").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wick {

// Appends the bytes that `spelled` stands for and returns true; false (with `out` as it was) where
// it holds a character that is none of the 256.
bool append_unspelled(std::string& out, std::string_view spelled);

// Appends the character that stands for `byte`.
void append_spelled(std::string& out, char byte);

}  // namespace wick
