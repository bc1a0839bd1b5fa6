#include "grammar/schema/interned.h"

#include <algorithm>

namespace wick::grammar {
namespace {

constexpr std::uint32_t kShortChain = 16;  // is walked

std::uint64_t key_of(CellId before, std::uint32_t item) noexcept {
  return (std::uint64_t{before} << 32U) | item;
}

}  // namespace

CellId Cells::add(CellId before, std::uint32_t item) {
  const auto [known, is_new] =
      ids_.try_emplace(key_of(before, item), static_cast<CellId>(all_.size() + 1));
  if (is_new) all_.push_back({before, item, before == 0 ? 1 : all_[before - 1].n + 1});
  return known->second;
}

bool Cells::has(CellId id, std::uint32_t item) {
  while (id != 0) {
    const Cell cell = all_[id - 1];
    const std::uint32_t n_last = cell.n & (~cell.n + 1);
    if (n_last < kShortChain) {
      if (cell.item == item) return true;
      id = cell.before;
      continue;
    }
    const auto [known, is_new] = sorted_.try_emplace(id);
    Sorted& last = known->second;
    if (is_new) {
      CellId at = id;
      for (std::uint32_t i = 0; i < n_last; ++i, at = before(at))
        last.items.push_back(this->item(at));
      last.before = at;
      std::sort(last.items.begin(), last.items.end());
      n_sorted_ += n_last;
    }
    if (std::binary_search(last.items.begin(), last.items.end(), item)) return true;
    id = last.before;
  }
  return false;
}

void Cells::drop(std::size_t n) {
  for (; all_.size() > n; all_.pop_back()) {
    ids_.erase(key_of(all_.back().before, all_.back().item));
    const auto sorted = sorted_.find(static_cast<CellId>(all_.size()));
    if (sorted == sorted_.end()) continue;
    n_sorted_ -= sorted->second.items.size();
    sorted_.erase(sorted);
  }
}

}  // namespace wick::grammar
