// An effective parameter of an answer: its value and where it came from. Plain data.
//
//   for (const auto& p : answer->parameters)
//     if (p.key == "seed") std::cout << std::get<std::uint64_t>(p.value) << " by " << p.origin;
#pragma once

#include <cstdint>
#include <string>

#include "wick/variant.h"

namespace wick {

// A number, a text, or an unsigned 64-bit integer.
using ParameterValue = Variant<double, std::string, std::uint64_t>;

struct EffectiveParameter {
  std::string key = {};  // "temperature", "seed", "samplers", "max_tokens", …
  // Text for "samplers", an integer for "seed", else a number.
  ParameterValue value = {};
  // "request", "model file" or "default"; the program also sets "flag --temp", "config.toml:3", …
  std::string origin = {};
};

}  // namespace wick
