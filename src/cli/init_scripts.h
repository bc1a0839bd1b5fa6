// The scripts of wick init. "@KEY@" stands for the key, spelled as the shell's binding has it, and
// "@FILE@" for a quoted path in a folder of the user.
#pragma once

namespace wick {

extern const char* const kBashWidget;
extern const char* const kZshWidget;
extern const char* const kFishWidget;

}  // namespace wick
