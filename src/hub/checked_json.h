// JSON out of foreign hands, with limits on size and depth and no exceptions. Any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wick {

inline constexpr std::size_t kMaxRecordBytes = 1 << 20;  // records of models and downloads
inline constexpr int kMaxStoreJsonDepth = 16;

// kCorrupt, naming `what`, for text that is no JSON or nested deeper than kMaxStoreJsonDepth.
Result<nlohmann::json> parse_checked_json(std::string_view text, std::string_view what);

// The member `key` of an object when it is there and of that kind.
std::optional<std::string> json_text(const nlohmann::json& object, const char* key);
std::optional<std::uint64_t> json_count(const nlohmann::json& object, const char* key);

}  // namespace wick
