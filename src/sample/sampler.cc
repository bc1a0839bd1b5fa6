#include "sample/sampler.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "sample/stage.h"

namespace wick {

struct SamplerChain::State {
  SamplingParams params;
  Draws draws;
  std::vector<Candidate> candidates;
  std::vector<double> weights;
  std::vector<float> logits;         // a copy to edit and penalise; empty while nothing does
  std::vector<std::int32_t> counts;  // one a token, for the penalties
  std::shared_ptr<LogitsEditor> editor;
};

SamplerChain::SamplerChain() = default;
SamplerChain::SamplerChain(SamplerChain&&) noexcept = default;
SamplerChain& SamplerChain::operator=(SamplerChain&&) noexcept = default;
SamplerChain::~SamplerChain() = default;

namespace {

bool is_penalising(const SamplingParams& p) noexcept {
  return samplers()[0].is_on(p);
}

// The first of the largest logits, -1 if there is none.
TokenId greedy(std::span<const float> logits, std::span<const std::uint64_t> allowed) noexcept {
  TokenId best = -1;
  float most = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if ((best < 0 ? !std::isnan(logits[i]) : logits[i] > most) && is_allowed(allowed, i)) {
      best = static_cast<TokenId>(i);
      most = logits[i];
    }
  }
  return best;
}

}  // namespace

SamplerChain::SamplerChain(const SamplingParams& params, int vocab,
                           std::shared_ptr<LogitsEditor> editor)
    : state_(std::make_unique<State>()) {  // cold: a request begins
  const auto n = static_cast<std::size_t>(vocab);
  state_->params = params;
  state_->draws.seed = params.seed;
  const bool needs_all = params.top_k == 0;
  const std::size_t kept = needs_all ? n : std::min(n, static_cast<std::size_t>(params.top_k));
  state_->candidates.resize(params.temperature == 0 ? 0 : kept);
  state_->weights.resize(state_->candidates.size());
  if (is_penalising(params)) state_->counts.resize(n);
  if (is_penalising(params) || editor != nullptr) state_->logits.resize(n);
  state_->editor = std::move(editor);
}

const SamplingParams& SamplerChain::params() const noexcept {
  return state_->params;
}

TokenId SamplerChain::sample(std::span<const float> logits, std::span<const std::uint64_t> allowed,
                             std::span<const TokenId> history) noexcept {
  State& s = *state_;
  if (!s.logits.empty()) {
    WICK_CHECK(logits.size() == s.logits.size(),
               "a chain samples from the vocabulary it was built for");
    std::copy(logits.begin(), logits.end(), s.logits.begin());
    if (s.editor != nullptr && !s.editor->edit(s.logits, history)) return -1;
    if (is_penalising(s.params)) penalise(s.logits, history, s.params, s.counts);
    logits = s.logits;
  }
  if (s.params.temperature == 0) return greedy(logits, allowed);

  Candidates c{.items = s.candidates,
               .weights = s.weights,
               .logits = logits,
               .allowed = allowed,
               .draws = &s.draws};
  if (s.params.top_k > 0) {
    const int k = static_cast<int>(std::min(s.candidates.size(), logits.size()));
    c.items = c.items.first(static_cast<std::size_t>(select_top_k(logits, allowed, k, c.items)));
    c.is_sorted = true;
  } else {
    std::size_t n = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (!std::isnan(logits[i]) && is_allowed(allowed, i)) {
        c.items[n++] = {static_cast<TokenId>(i), logits[i]};
      }
    }
    c.items = c.items.first(n);
  }
  if (c.items.empty()) return -1;
  for (const SamplerInfo& stage : samplers()) {
    if (stage.apply != nullptr && stage.is_on(s.params)) stage.apply(c, s.params);
  }

  const double target = s.draws.next() * exp_weights(c);
  double sum = 0;
  for (std::size_t i = 0; i + 1 < c.items.size(); ++i) {
    sum += c.weights[i];
    if (target < sum) return c.items[i].id;
  }
  return c.items.back().id;
}

}  // namespace wick
