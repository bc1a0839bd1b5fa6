// One member out of a zip archive (a Python wheel), by libzip. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace wick {

inline constexpr std::uint64_t kMaxMemberBytes = std::uint64_t{1} << 40;

// Gives the member's bytes to `sink` in order, with the size that the archive claims; the sink's
// error ends it. Only stored and deflated members without a password; size and CRC are checked.
// kNotFound when the archive has no such member, kCorrupt when it contradicts itself.
Result<void> read_zip_member(
    const std::filesystem::path& archive, std::string_view member,
    const std::function<Result<void>(std::span<const std::byte>, std::uint64_t all)>& sink);

}  // namespace wick
