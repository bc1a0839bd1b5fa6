// DRY, "don't repeat yourself" (p-e-w 2024): if the last n tokens stood somewhere in the window
// before, the token that followed them there would go on with the repetition. Its logit loses
// multiplier * base^(n - allowed_length) for the longest such n, once n reaches allowed_length. No
// repetition reaches past a breaker, such as the end of a line.
//
// All n at once: read backwards, the window is a text, and n at each place is how much of the
// text's own beginning stands there: its Z function (Gusfield 1997, §1.4), one pass.
// Hot: all of it.
#include <algorithm>

#include "sample/stage.h"

namespace wick {

namespace {

std::size_t window_of(const SamplingParams& p, std::size_t history) noexcept {
  return p.dry_penalty_last_n < 0
             ? history
             : std::min(history, static_cast<std::size_t>(p.dry_penalty_last_n));
}

// Number of tokens at the end of `h` after the last breaker.
std::size_t find_breaker(std::span<const TokenId> h, const SamplerMemory& m,
                         const DryBreakers& breakers) noexcept {
  for (std::size_t n = 0; n < h.size(); ++n) {
    const auto id = static_cast<std::size_t>(h[h.size() - 1 - n]);
    if (id < m.breaks.size() && m.breaks[id]) return n;
    const std::span<const TokenId> before = h.first(h.size() - n);
    for (const auto& run : breakers.runs) {
      if (run.size() <= before.size() &&
          std::equal(run.begin(), run.end(),
                     before.end() - static_cast<std::ptrdiff_t>(run.size())))
        return n;
    }
  }
  return h.size();
}

// z[i] = how many of the tokens that end i before the end of `h` equal its last ones, at most
// `limit`; z[0] is not set.
void match_ends(std::span<const TokenId> h, std::size_t limit, std::span<std::int32_t> z) noexcept {
  const std::size_t n = h.size();
  const auto back = [&](std::size_t i) { return h[n - 1 - i]; };
  std::size_t begin = 0, end = 0;  // the match found so far that reaches furthest
  for (std::size_t i = 1; i < n; ++i) {
    std::size_t length = 0;
    if (i < end) length = std::min(end - i, static_cast<std::size_t>(z[i - begin]));
    while (length < limit && i + length < n && back(length) == back(i + length))
      ++length;
    z[i] = static_cast<std::int32_t>(length);
    if (i + length > end) {
      begin = i;
      end = i + length;
    }
  }
}

}  // namespace

void prepare_dry(SamplerMemory& m, const SamplingParams& p, const ChainSizes& sizes) {
  const auto vocab = static_cast<std::size_t>(sizes.vocab);
  const std::size_t window = window_of(p, static_cast<std::size_t>(sizes.history));
  m.matches.resize(window);
  m.repeating.resize(std::min(window, vocab));
  m.longest.resize(vocab);
  m.breaks.resize(vocab);
  for (const TokenId id : p.dry_sequence_breakers.tokens) {
    if (static_cast<std::size_t>(id) < vocab) m.breaks[static_cast<std::size_t>(id)] = true;
  }
  m.edits.resize(m.edits.size() + m.repeating.size());
}

void apply_dry(Candidates& c, const SamplingParams& p) noexcept {
  SamplerMemory& m = *c.memory;
  const auto h = c.history.last(std::min(c.history.size(), m.matches.size()));
  const std::size_t limit = find_breaker(h, m, p.dry_sequence_breakers);
  if (limit < static_cast<std::size_t>(p.dry_allowed_length)) return;
  match_ends(h, limit, m.matches);
  std::size_t n = 0;
  for (std::size_t i = 1; i < h.size(); ++i) {
    const auto next = static_cast<std::size_t>(h[h.size() - i]);
    if (m.matches[i] < std::max(1, p.dry_allowed_length) || next >= m.longest.size()) continue;
    if (m.breaks[next]) continue;  // it may always come
    std::int32_t& longest = m.longest[next];
    if (longest == 0) m.repeating[n++] = static_cast<TokenId>(next);
    longest = std::max(longest, m.matches[i]);
  }
  const std::span<const TokenId> ids = std::span(m.repeating).first(n);
  const double log_base = log_of(static_cast<double>(p.dry_base));
  edit(c, ids, [&](TokenId id, float logit) {
    const std::int32_t length = m.longest[static_cast<std::size_t>(id)];
    if (length == 0) return logit;
    constexpr double kMost = 1e6;  // as good as a ban, and finite
    const double grown = exp_of(log_base * (length - p.dry_allowed_length));
    return logit -
           static_cast<float>(std::min(kMost, static_cast<double>(p.dry_multiplier) * grown));
  });
  for (const TokenId id : ids)
    m.longest[static_cast<std::size_t>(id)] = 0;
}

}  // namespace wick
