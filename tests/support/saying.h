// A logits hook with which a tiny model (support/tiny_model.h) says a given text.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "support/tiny_model.h"
#include "wick/generation.h"

namespace wick::test {

// Draws these bytes, then the end. `n_prompt`: tokens of the prompt.
inline LogitsHook saying(std::string text, std::size_t n_prompt) {
  return [text = std::move(text), n_prompt](std::span<float> logits,
                                            std::span<const TokenId> history) {
    const std::size_t at = history.size() - n_prompt;
    const auto id = at < text.size()
                        ? static_cast<std::size_t>(static_cast<unsigned char>(text[at]))
                        : std::size_t{kTinyImEnd};
    std::fill(logits.begin(), logits.end(), -1e9F);
    logits[id] = 0;
  };
}

}  // namespace wick::test
