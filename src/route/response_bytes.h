// A kept answer as bytes, for a store that several machines share. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "route/response_cache.h"

namespace wick::route {

// Of the bytes. It is part of the store's keys: versions of wick with other formats share nothing.
inline constexpr int kResponseFormat = 1;

// Without the error of a DoneEvent: failed answers are not kept.
std::string to_bytes(CachedResponse response);
// None if these are not the bytes of a whole answer. Any bytes; takes at most 64 times their
// memory.
std::optional<CachedResponse> from_bytes(std::string_view bytes);

}  // namespace wick::route
