// Scans over the logits of the whole vocabulary, in chunks of 512. Tokens that are not allowed
// count as -infinity, and NaN never compares as larger, so both are ignored. Any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "base/isa.h"
#include "base/types.h"

namespace wick {

struct Candidate {
  TokenId id = 0;
  float logit = 0;
};

inline constexpr std::size_t kScanChunk = 512;
// Every logit from here up counts: all but -infinity and NaN.
inline constexpr float kLowest = std::numeric_limits<float>::lowest();

struct Vocabulary {
  std::span<const float> logits = {};
  std::span<const std::uint64_t> allowed = {};  // bit t set = token t may follow; empty = all may
};

constexpr std::size_t count_chunks(std::size_t vocab) {
  return (vocab + kScanChunk - 1) / kScanChunk;
}

// The instruction set of the loops over a chunk: kAvx2, otherwise kScalar. WICK_ISA (base/isa.h)
// applies.
Isa scan_isa() noexcept;

// Hot:
// The lowest id among the largest logits; -1 if there is none above -infinity.
TokenId find_largest(const Vocabulary& v) noexcept;
float largest_logit(const Vocabulary& v) noexcept;  // -infinity if there is none

// The k largest that are at least `least` (ties: lowest id first), sorted, into `out`, which holds
// k. `maxima` is scratch for 2 * count_chunks() floats. Returns how many there are.
std::size_t select_top_k(const Vocabulary& v, std::size_t k, float least, std::span<float> maxima,
                         std::span<Candidate> out) noexcept;

// All that are at least `least`, by id. Returns how many there are.
std::size_t select_from(const Vocabulary& v, float least, std::span<Candidate> out) noexcept;

// Of the finite logits that are at least `least`: how many, and the sums of their distances below
// `top` and of the squares of these. Added in one fixed order: eight sums by id modulo 8, each
// chunk's on its own.
struct Moments {
  double n = 0, sum = 0, squares = 0;
};

Moments measure_moments(const Vocabulary& v, float least, float top) noexcept;

// weights[i] = exp(logit of item i - top).
void weigh(std::span<const Candidate> items, float top, std::span<double> weights) noexcept;

// log(sum of exp(logit - top)) + top over all logits, in the same order.
double log_sum_exp(std::span<const float> logits) noexcept;

}  // namespace wick
