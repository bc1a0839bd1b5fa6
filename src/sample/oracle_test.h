// What the tests of samplers share: the chain once more, naively, in double precision on the whole
// vocabulary, and a goodness-of-fit test.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <vector>

#include "sample/sampler.h"

namespace wick::test {

std::vector<float> random_logits(int n, unsigned seed);

// One token; the logits must come back as they were.
TokenId draw(SamplerChain& chain, std::vector<float> logits, std::span<const std::uint64_t> allowed,
             std::span<const TokenId> history);

// Token → probability of the first draw of a request with these parameters.
std::map<TokenId, double> oracle(const std::vector<float>& logits, const SamplingParams& params,
                                 std::span<const TokenId> history);

// DRY by its definition: token → length of the longest repetition that it would go on with.
std::map<TokenId, int> dry_lengths(std::span<const TokenId> history, const SamplingParams& params);

// That `seen` was drawn from `wanted`: the same set as far as `draws` can show it, and chi-square
// with p > 0.001.
void expect_drawn_from(const std::map<TokenId, double>& wanted, const std::map<TokenId, int>& seen,
                       int draws);

}  // namespace wick::test
