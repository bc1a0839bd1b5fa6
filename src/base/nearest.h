// "Did you mean": the known names nearest to a mistyped one. Any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace wick {

// Up to three names similar to `wanted`, as "a, b, c"; empty if there are none. Similar: the name
// contains `wanted`, or at most a third of the letters differ.
std::string nearest_names(std::string_view wanted, std::span<const std::string> names);

}  // namespace wick
