// Saves and restores cached prefixes. Restored bytes are untrusted: all of them are checked, on the
// caller's thread, before the cache is touched.
#include <algorithm>

#include "base/strings.h"
#include "engine/state.h"

namespace wick {

namespace {

Error bad_prefix(std::string message) {
  return {.code = ErrorCode::kCorrupt, .id = "bad_prefix", .message = std::move(message)};
}

// Truncates the prefix before the first block that check_prefix() would refuse.
void cut_invalid(const SequenceMemory& memory, SavedPrefix& prefix) {
  std::span<const std::byte> rest = prefix.blocks;
  std::size_t n_blocks = 0;
  while (const std::size_t n = memory.exported_bytes(rest)) {
    if (!memory.is_valid(rest.first(n))) break;
    rest = rest.subspan(n);
    ++n_blocks;
  }
  prefix.blocks.resize(prefix.blocks.size() - rest.size());
  prefix.tokens.resize(std::min(prefix.tokens.size(), n_blocks * kBlockTokens));
}

}  // namespace

SavedPrefix Engine::save_prefix(PrefixOwner owner, std::vector<TokenId> tokens) {
  SavedPrefix saved;
  // Allocates everything, so that the engine thread does not.
  saved.blocks.reserve(
      state_->memory.most_exported_bytes(static_cast<int>(blocks_for(tokens.size()))));
  int n = 0;
  state_->wait_for([&] { n = state_->scheduler.save(owner, tokens, saved.blocks); });
  tokens.resize(static_cast<std::size_t>(n));
  saved.tokens = std::move(tokens);
  cut_invalid(state_->memory, saved);
  return saved;
}

Result<int> Engine::restore_prefix(PrefixOwner owner, const SavedPrefix& prefix) {
  WICK_DO(check_prefix(prefix));
  int n = 0;
  state_->wait_for([&] { n = state_->scheduler.restore(owner, prefix.tokens, prefix.blocks); });
  return n;
}

Result<void> Engine::check_prefix(const SavedPrefix& prefix) const {
  const int vocab = tokenizer().size();
  for (std::size_t i = 0; i < prefix.tokens.size(); ++i) {
    const TokenId id = prefix.tokens[i];
    if (id >= 0 && id < vocab) continue;
    return bad_prefix(cat("token ", i, " has the id ", id, ", the vocabulary ends at ", vocab - 1));
  }
  const SequenceMemory& memory = state_->memory;
  const std::size_t n_tail = prefix.tokens.size() % kBlockTokens;
  if (n_tail != 0 && !memory.can_cut_blocks()) {
    return bad_prefix(cat("holds ", prefix.tokens.size(),
                          " tokens; a model with states resumes at multiples of ", kBlockTokens));
  }
  std::span<const std::byte> rest = prefix.blocks;
  for (std::size_t i = 0; i < blocks_for(prefix.tokens.size()); ++i) {
    const std::size_t n = memory.exported_bytes(rest), position = i * kBlockTokens;
    if (n == 0) {
      return bad_prefix(cat("the block of position ", position,
                            " is not one of this model's: ", rest.size(),
                            " bytes are left, a block has at least ", memory.least_block_bytes()));
    }
    if (!memory.is_valid(rest.first(n))) {
      return bad_prefix(cat("the block of position ", position,
                            " holds NaN, infinity or a code that no cache writes"));
    }
    rest = rest.subspan(n);
  }
  if (!rest.empty()) {
    return bad_prefix(cat("holds ", rest.size(), " bytes behind the block of its last token"));
  }
  return {};
}

std::size_t Engine::least_block_bytes() const noexcept {
  return state_->memory.least_block_bytes();
}

}  // namespace wick
