// A parameter as it held for an answer, and who set it. Plain data.
//
//   for (const auto& p : answer->parameters)
//     if (p.key == "seed") std::cout << std::get<double>(p.value) << " by " << p.origin;
#pragma once

#include <string>
#include <variant>

namespace wick {

struct EffectiveParameter {
  std::string key = {};  // "temperature", "seed", "samplers", "max_tokens", …
  std::variant<double, std::string> value = {};  // a text for "samplers" alone
  std::string origin = {};  // "request", "model file", "default"; the program's "flag --temp", too
};

}  // namespace wick
