// The user's rules about commands, for wick ask.
//
//   [[deny]]
//   argv = ["git", "push", "--force"]
//   reason = "use --force-with-lease"
//   [[ask]]                    # level: at least as a command of this level (default moderate)
//   argv = ["docker"]
//   level = "high"
//   [[allow]]                  # level: as a command of this level (default safe)
//   argv = ["make", "test"]
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "assist/rules.h"
#include "base/result.h"

namespace wick {

// A rule that is wrong makes the whole file wrong: kInvalid, "FILE:LINE: …".
Result<std::vector<assist::Rule>> parse_rules(std::string_view text, std::string_view path);
Result<std::vector<assist::Rule>> read_rules(const std::filesystem::path& path);

}  // namespace wick
