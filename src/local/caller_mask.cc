#include "local/caller_mask.h"

#include <algorithm>
#include <exception>

#include "base/strings.h"

namespace wick {

namespace {

Error mask_failed(std::string_view what) {
  return {.code = ErrorCode::kInvalid,
          .id = "callback_failed",
          .message = cat("the token mask failed: ", printable(what))};
}

void allow(std::span<std::uint64_t> allowed, TokenId id) {
  allowed[static_cast<std::size_t>(id) / 64] |= std::uint64_t{1} << (id % 64);
}

bool is_allowed(std::span<const std::uint64_t> allowed, TokenId id) {
  const auto bit = static_cast<std::size_t>(id);
  return bit / 64 < allowed.size() && ((allowed[bit / 64] >> (bit % 64)) & 1U) != 0;
}

}  // namespace

CallerMask::CallerMask(TokenMaskHook hook, const Tokenizer& tokenizer) : hook_(std::move(hook)) {
  place_.ends = tokenizer.ends();
  place_.bytes = [&tokenizer](TokenId id) {
    const bool has_text = id >= 0 && id < tokenizer.size() && !tokenizer.is_hidden(id);
    return has_text ? tokenizer.bytes(id) : std::string_view();
  };
}

void CallerMask::add(TokenId id) {
  tokens_.push_back(id);
  text_ += place_.bytes(id);
}

Result<void> CallerMask::apply(std::span<const float> logits, std::span<std::uint64_t> allowed) {
  place_.text = text_;
  place_.tokens = tokens_;
  place_.logits = logits;
  before_.assign(allowed.begin(), allowed.end());
  // The hook is the caller's code, which may throw; the engine's thread must not end by it.
  try {
    hook_(place_, allowed);
  } catch (const std::exception& e) {
    return mask_failed(e.what());
  } catch (...) {
    return mask_failed("it threw something that is no std::exception");
  }
  for (std::size_t i = 0; i < allowed.size(); ++i)
    if ((allowed[i] & ~before_[i]) != 0) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "bad_token_mask",
                   .message = cat("the token mask sets bits of word ", i,
                                  ", which were not set before; it may only clear bits")};
    }
  return {};
}

TokenMaskHook to_token_mask(TextConstraint constraint) {
  return [rule = std::move(constraint)](const TokenPlace& place, std::span<std::uint64_t> allowed) {
    const std::vector<std::uint64_t> asked(allowed.begin(), allowed.end());
    std::fill(allowed.begin(), allowed.end(), 0);
    std::vector<TokenId> candidates;
    for (TokenId id = 0; id < static_cast<TokenId>(place.logits.size()); ++id)
      if (is_allowed(asked, id) && !place.bytes(id).empty()) candidates.push_back(id);
    for (const TokenId id : place.ends)
      std::erase(candidates, id);
    const auto is_less_likely = [&](TokenId a, TokenId b) {
      const float x = place.logits[static_cast<std::size_t>(a)];
      const float y = place.logits[static_cast<std::size_t>(b)];
      return x != y ? x < y : a > b;
    };
    std::make_heap(candidates.begin(), candidates.end(), is_less_likely);
    for (int n = 0; !candidates.empty() && (rule.candidates <= 0 || n < rule.candidates);) {
      std::pop_heap(candidates.begin(), candidates.end(), is_less_likely);
      const TokenId id = candidates.back();
      candidates.pop_back();
      if (!rule.is_valid_next_token(place.text, place.bytes(id))) continue;
      allow(allowed, id);
      ++n;
    }
    if (!rule.is_complete || !rule.is_complete(place.text)) return;
    for (const TokenId id : place.ends)
      if (is_allowed(asked, id)) allow(allowed, id);
  };
}

}  // namespace wick
