// GPT-2's alphabet, in which the tokens of byte-level vocabularies are spelled ("Ġhello" is
// " hello"). Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wick {

// Appends the bytes that `spelled` stands for and returns true. Returns false, and leaves `out`
// unchanged, if a character is not in the alphabet.
bool append_unspelled(std::string& out, std::string_view spelled);

// Appends the character that stands for `byte`.
void append_spelled(std::string& out, char byte);

}  // namespace wick
