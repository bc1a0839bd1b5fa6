// The choice of a token's experts. Pure functions; any thread.
// Hot: all of it.
#pragma once

#include <span>

#include "backend/backend.h"

namespace wick {

// `scores` [n_experts]: the router's products, overwritten, as is `choice` [n_experts].
// `choice_bias` is empty or [n_experts]. Writes the n_active chosen experts, best first, of equal
// ones the first, and their weights.
void route(const Routing& routing, std::span<float> scores, std::span<const float> choice_bias,
           std::span<float> choice, std::span<int> chosen, std::span<float> weights) noexcept;

float sigmoid(float x) noexcept;

}  // namespace wick
