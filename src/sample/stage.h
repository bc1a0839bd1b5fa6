// What a sampler stage sees and does. A stage is one file and one row of samplers(); adding one
// adds its flag, its API field, its range check and its property tests. Engine thread; apply
// functions are hot.
#pragma once

#include <span>
#include <string_view>

#include "base/types.h"
#include "sample/sampler.h"

namespace wick {

struct Candidate {
  TokenId id = 0;
  float logit = 0;
};

// The tokens still in play. Sorted: by logit descending, equal logits by id ascending; shrinking
// keeps the order.
struct Candidates {
  std::span<Candidate> items = {};
  bool is_sorted = false;
  std::span<double> weights = {};  // scratch, at least as long as items
};

void sort(Candidates& c) noexcept;  // nothing if sorted already
// weights[i] = exp(logit[i] - max logit); returns their sum, added in the order of items. Sorts
// first.
double exp_weights(Candidates& c) noexcept;

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
void apply_top_p(Candidates& c, const SamplingParams& p) noexcept;
void apply_min_p(Candidates& c, const SamplingParams& p) noexcept;
void apply_temperature(Candidates& c, const SamplingParams& p) noexcept;
// Divides positive and multiplies negative logits of the tokens in the window (Keskar et al. 2019,
// CTRL). `seen`: one bit a token, all zero on entry and on return.
void penalise(std::span<float> logits, std::span<const TokenId> history, const SamplingParams& p,
              std::span<std::uint64_t> seen) noexcept;

}  // namespace wick
