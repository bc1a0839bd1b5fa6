// What the program does with a conversation besides talking: settings by name, and files.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hub/atomic_file.h"
#include "provider/conversation.h"
#include "wick/generation.h"

namespace wick {

// "temperature" "0.2"; "seed"; "max_tokens": a number of the table generation, checked as the
// flag is (config/switches.h).
Result<void> set_parameter(Generation& generation, std::string_view key, std::string_view value);

// As JSON, by the rules of hub/atomic_file.h; `inputs`: files not to replace.
Result<void> save(const Conversation& conversation, const std::string& path,
                  std::span<const FileId> inputs);
Result<void> load(Conversation& conversation, const std::string& path);

}  // namespace wick
