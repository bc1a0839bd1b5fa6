// Adapts a caller's LogitsHook to the engine. An exception is kept and reported when the answer
// ends.
#pragma once

#include <optional>

#include "base/result.h"
#include "sample/sampler.h"
#include "wick/generation.h"

namespace wick {

class HookEditor final : public LogitsEditor {
 public:
  explicit HookEditor(LogitsHook hook) : hook_(std::move(hook)) {}

  bool edit(std::span<float> logits, std::span<const TokenId> history) noexcept override;

  // Once the answer is over.
  const std::optional<Error>& failure() const noexcept { return failure_; }

 private:
  LogitsHook hook_;
  std::optional<Error> failure_;
};

}  // namespace wick
