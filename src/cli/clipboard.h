// The clipboard and the user's editor, for wick ask.
#pragma once

#include <string>

#include "base/result.h"

namespace wick {

// By the program of the desktop if there is one (wl-copy, xclip, pbcopy), else by the terminal
// (OSC 52), which may not support it.
Result<void> copy_to_clipboard(const std::string& text);

// The text after $VISUAL has edited it in a private file; at most `limit` bytes.
Result<std::string> edit_in_program(const std::string& text, std::size_t limit);

}  // namespace wick
