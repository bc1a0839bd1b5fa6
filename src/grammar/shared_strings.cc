#include "grammar/shared_strings.h"

#include <utility>

namespace wick::grammar {

std::optional<SharedStrings::Key> SharedStrings::key(const regex::ExprPool& pool, regex::ExprId id,
                                                     Kind kind, Copies& copies) {
  const std::lock_guard lock(mutex_);
  for (int n_tries = 0; n_tries < 2; ++n_tries) {
    if (copies.generation != generation_) copies = {.generation = generation_};
    pool_.refuel();
    const regex::ExprId copy = pool_.copy_of(pool, id, copies.ids);
    if (copy != regex::kNoExpr) {
      return Key{generation_, (std::uint64_t{copy} << 8U) | static_cast<std::uint64_t>(kind)};
    }
    forget();
  }
  return std::nullopt;
}

std::shared_ptr<const MaskPart> SharedStrings::find(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto known = parts_.find(key.id);
  const bool is_known = key.generation == generation_ && known != parts_.end();
  return is_known ? known->second : nullptr;
}

void SharedStrings::add(const Key& key, std::shared_ptr<const MaskPart> part) {
  const std::lock_guard lock(mutex_);
  if (key.generation != generation_) return;
  const TokenMask& mask = *part->mask;
  const std::size_t n_words = mask.bits == nullptr ? 0 : mask.bits->size();  // perhaps shared
  n_bytes_ += sizeof(MaskPart) + mask.bytes() + n_words * sizeof(std::uint64_t) +
              part->exits.size() * sizeof(TrieExit);
  if (n_bytes_ > max_bytes_) return forget();
  parts_.try_emplace(key.id, std::move(part));
}

void SharedStrings::forget() {
  parts_.clear();
  n_bytes_ = 0;
  pool_ = regex::ExprPool({.max_bytes = kMaxSharedExprBytes});
  ++generation_;
}

}  // namespace wick::grammar
