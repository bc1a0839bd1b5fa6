#include "grammar/schema/interned.h"

#include <algorithm>
#include <utility>

#include "base/mix.h"

namespace wick::grammar {
namespace {

constexpr std::uint32_t kShortChain = 16;  // is walked

std::uint64_t key_of(CellId before, std::uint32_t item) noexcept {
  return (std::uint64_t{before} << 32U) | item;
}

}  // namespace

ListId Lists::of(std::vector<std::uint32_t> list) {
  std::uint64_t hash = list.size();
  for (const std::uint32_t word : list)
    hash = mix_hash(hash, word);
  const ListId known = ids_.find(hash, [&](ListId id) { return all_[id] == list; });
  if (known != FlatMap::kNone) return known;
  const auto id = static_cast<ListId>(all_.size());
  n_words_ += list.size() + 16;
  all_.push_back(std::move(list));
  ids_.add(hash, id);
  return id;
}

CellId Cells::add(CellId before, std::uint32_t item) {
  const std::uint64_t key = key_of(before, item);
  if (const CellId known = ids_.find(key); known != FlatMap::kNone) return known;
  all_.push_back({before, item, before == 0 ? 1 : all_[before - 1].n + 1});
  const auto id = static_cast<CellId>(all_.size());
  ids_.add(key, id);
  return id;
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
    const auto id = static_cast<CellId>(all_.size());
    ids_.remove(key_of(all_.back().before, all_.back().item), id);
    const auto sorted = sorted_.find(id);
    if (sorted == sorted_.end()) continue;
    n_sorted_ -= sorted->second.items.size();
    sorted_.erase(sorted);
  }
}

}  // namespace wick::grammar
