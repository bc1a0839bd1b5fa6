// Top-k: the k most likely tokens. One pass over the logits: a heap holds the best k so far, and a
// run of 32 logits none of which beats the heap's least is skipped by one vectorised comparison,
// which after the first few hundred is nearly all of them.
#include <algorithm>
#include <cmath>

#include "sample/stage.h"

namespace wick {

namespace {

constexpr std::size_t kRun = 32;

bool is_better(const Candidate& a, const Candidate& b) noexcept {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

bool any_above(const float* run, float threshold) noexcept {
  int any = 0;
  for (std::size_t i = 0; i < kRun; ++i)
    any |= static_cast<int>(run[i] > threshold);
  return any != 0;
}

}  // namespace

int select_top_k(std::span<const float> logits, std::span<const std::uint64_t> allowed, int k,
                 std::span<Candidate> out) noexcept {
  const auto limit = static_cast<std::size_t>(k);
  std::size_t n = 0;
  const auto offer = [&](std::size_t i) {
    if (std::isnan(logits[i])) return;
    if (!allowed.empty() && (allowed[i / 64] >> (i % 64) & 1) == 0) return;
    const Candidate candidate{static_cast<TokenId>(i), logits[i]};
    if (n < limit) {
      out[n++] = candidate;
      if (n == limit) std::make_heap(out.begin(), out.begin() + k, is_better);
    } else if (is_better(candidate, out[0])) {  // out[0] is the least of the best
      std::pop_heap(out.begin(), out.begin() + k, is_better);
      out[limit - 1] = candidate;
      std::push_heap(out.begin(), out.begin() + k, is_better);
    }
  };
  std::size_t i = 0;
  for (; i + kRun <= logits.size(); i += kRun) {
    // Ids ascend, so a logit equal to the least one kept loses against it.
    if (n == limit && !any_above(logits.data() + i, out[0].logit)) continue;
    for (std::size_t j = i; j < i + kRun; ++j)
      offer(j);
  }
  for (; i < logits.size(); ++i)
    offer(i);
  std::sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n), is_better);
  return static_cast<int>(n);
}

}  // namespace wick
