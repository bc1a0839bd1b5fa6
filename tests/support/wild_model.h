// Tiny models with values in them that no training makes: NaN of any bits, infinities, 1e30, 8e6 in
// any tensor, in the scales of quantized ones, too. Which shape, format and places follow from a
// seed.
//
//   test::write_tiny_model(path, test::wild_model(seed));
#pragma once

#include <cstdint>

#include "support/tiny_model.h"

namespace wick::test {

inline constexpr int kWildTokens = 64;  // bad rows of the embedding are among the first so many

// Heads of 32, so that every type of cache can hold them. Each fourth has latent attention and the
// architecture that model/tiny_archs_test.h has for it.
TinyModel wild_model(std::uint32_t seed);

}  // namespace wick::test
