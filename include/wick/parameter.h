// A parameter as it held for an answer, and who set it. Plain data.
//
//   for (const auto& p : answer->parameters)
//     if (p.key == "seed") std::cout << std::get<std::uint64_t>(p.value) << " by " << p.origin;
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace wick {

// A number, a text, or 64 bits. Copied so that what may throw comes before the variant is made:
// libstdc++ 12 takes a variant of these types to be never valueless, and destroys what a copy that
// threw has not made.
class ParameterValue : public std::variant<double, std::string, std::uint64_t> {
 public:
  using variant::variant;
  using variant::operator=;
  ParameterValue() = default;

  ParameterValue(const ParameterValue& other) : variant(0.0) { *this = other; }

  ParameterValue(ParameterValue&&) noexcept = default;
  ParameterValue& operator=(ParameterValue&&) noexcept = default;
  ~ParameterValue() = default;

  ParameterValue& operator=(const ParameterValue& other) {
    if (const auto* const text = std::get_if<std::string>(&other)) {
      emplace<std::string>(std::string(*text));
    } else if (this != &other) {
      variant::operator=(other);
    }
    return *this;
  }
};

struct EffectiveParameter {
  std::string key = {};  // "temperature", "seed", "samplers", "max_tokens", …
  // A text for "samplers", 64 bits for "seed", else a number.
  ParameterValue value = {};
  std::string origin = {};  // "request", "model file", "default"; the program's "flag --temp", too
};

}  // namespace wick
