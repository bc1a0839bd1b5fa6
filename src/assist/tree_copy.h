// A folder copied with its files, links and modes, and the differences of two such folders. For
// the sandbox.
#pragma once

#include <filesystem>
#include <vector>

#include "assist/sandbox.h"
#include "base/result.h"

namespace wick::assist {

// `to` is there and empty. Sockets, pipes and devices are left out. kUnsupported, id "no_sandbox",
// beyond the limits of assist/limits.h, and where a file cannot be read.
Result<void> copy_tree(const std::filesystem::path& from, const std::filesystem::path& to);

// What `after` has that `before` has not; sorted, at most kMaxSandboxChanges + 1.
std::vector<SandboxChange> compare_trees(const std::filesystem::path& before,
                                         const std::filesystem::path& after);

}  // namespace wick::assist
