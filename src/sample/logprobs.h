// Log-probabilities of tokens under the model's own distribution: log softmax of the logits before
// any sampler, in double precision and one fixed order, so that they are the same bits whatever the
// batch or the processor. One owner, one thread; the constructor allocates.
//
//   Scorer scorer(vocab, 5);
//   scorer.score(logits, token, out);   // out[0] the token itself, out[1..5] the top 5
#pragma once

#include <span>
#include <vector>

#include "base/types.h"
#include "sample/scan.h"

namespace wick {

inline constexpr int kMaxTopLogprobs = 20;

struct IdLogprob {
  TokenId id = -1;    // -1 = there is none
  float logprob = 0;  // natural
};

class Scorer {
 public:
  Scorer() = default;                     // switched off
  Scorer(int vocab, int n_top_logprobs);  // below 0 = switched off

  bool is_on() const noexcept { return n_top_ >= 0; }

  // Entries that score() fills.
  std::size_t per_token() const noexcept { return static_cast<std::size_t>(n_top_ + 1); }

  // Hot:
  void score(std::span<const float> logits, TokenId token, std::span<IdLogprob> out) noexcept;

 private:
  int n_top_ = -1;
  std::vector<float> maxima_;
  std::vector<Candidate> top_;
};

}  // namespace wick
