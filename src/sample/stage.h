// What a sampler stage sees and does. A stage is one file and one row of samplers(); adding one
// adds its flag, its API field, its range check and its property tests. Engine thread; apply
// functions are hot.
#pragma once

#include <span>
#include <string_view>

#include "base/types.h"
#include "sample/elementary.h"
#include "sample/random.h"
#include "sample/sampler.h"

namespace wick {

struct Candidate {
  TokenId id = 0;
  float logit = 0;
};

// The random numbers of a request, in the order in which its stages ask for them.
struct Draws {
  std::uint64_t seed = 0, count = 0;

  double next() noexcept { return uniform(seed, count++); }
};

// The tokens still in play. Sorted: by logit descending, equal logits by id ascending; shrinking
// keeps the order.
struct Candidates {
  std::span<Candidate> items = {};
  bool is_sorted = false;
  std::span<double> weights = {};               // scratch, at least as long as items
  std::span<const float> logits = {};           // of the whole vocabulary
  std::span<const std::uint64_t> allowed = {};  // of it; empty = all
  Draws* draws = nullptr;
};

void sort(Candidates& c) noexcept;  // nothing if sorted already
// weights[i] = exp(logit[i] - max logit); returns their sum, added in the order of items. Sorts
// first.
double exp_weights(Candidates& c) noexcept;

// The same, and the entropy of the distribution in nats.
struct Spread {
  double log_sum = 0;  // of the weights: token i has -log p = log_sum - (logit[i] - max logit)
  double entropy = 0;
};

Spread measure_spread(Candidates& c) noexcept;

inline bool is_allowed(std::span<const std::uint64_t> allowed, std::size_t i) noexcept {
  return allowed.empty() || (allowed[i / 64] >> (i % 64) & 1) != 0;
}

struct SamplerInfo {
  std::string_view name;
  std::span<const SamplerParam> params;
  bool (*is_on)(const SamplingParams&) noexcept;
  void (*apply)(Candidates& c,
                const SamplingParams&) noexcept;  // nullptr: works on the logits, see sampler.cc
};

// In the order of the chain.
std::span<const SamplerInfo> samplers() noexcept;

// Hot:
// The k largest of `logits` (ties: lowest id first) whose bit in `allowed` is set (empty = all),
// sorted, into `out`, which holds at least k. NaN counts as absent. Returns how many there are:
// fewer than k if fewer are allowed.
int select_top_k(std::span<const float> logits, std::span<const std::uint64_t> allowed, int k,
                 std::span<Candidate> out) noexcept;
void apply_top_n_sigma(Candidates& c, const SamplingParams& p) noexcept;
void apply_typical(Candidates& c, const SamplingParams& p) noexcept;
void apply_top_p(Candidates& c, const SamplingParams& p) noexcept;
void apply_min_p(Candidates& c, const SamplingParams& p) noexcept;
void apply_xtc(Candidates& c, const SamplingParams& p) noexcept;
void apply_temperature(Candidates& c, const SamplingParams& p) noexcept;
// Makes the tokens of the window less likely. `counts`: one for each token, all zero on entry and
// on return.
void penalise(std::span<float> logits, std::span<const TokenId> history, const SamplingParams& p,
              std::span<std::int32_t> counts) noexcept;

}  // namespace wick
