#include "grammar/schema/interned.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/mix.h"

namespace wick::grammar {
namespace {

constexpr std::uint32_t kShortChain = 16;  // is walked

std::uint32_t short_hash(std::uint64_t h) noexcept {
  return static_cast<std::uint32_t>(h ^ (h >> 32U));
}

std::uint32_t hash_of(CellId before, std::uint32_t item) noexcept {
  return short_hash(mix_hash(0, std::uint64_t{before} << 32U | item));
}

std::uint32_t hash_of(std::span<const std::uint32_t> list) noexcept {
  std::uint64_t h = list.size();
  for (const std::uint32_t word : list)
    h = mix_hash(h, word);
  return short_hash(h);
}

std::uint32_t hash_of(std::string_view text) noexcept {
  return short_hash(std::hash<std::string_view>()(text));
}

}  // namespace

ListId Lists::of(std::span<const std::uint32_t> list) {
  constexpr std::size_t kBlockWords = 1024;
  const std::uint32_t hash = hash_of(list);
  const ListId known = ids_.find(hash, [&](ListId id) { return std::ranges::equal(at(id), list); });
  if (known != FlatHashMap::kNone) return known;
  const std::size_t n = list.size() + 1;
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < n)
    blocks_.emplace_back().reserve(std::max(n, kBlockWords));
  std::vector<std::uint32_t>& block = blocks_.back();
  block.push_back(static_cast<std::uint32_t>(list.size()));
  block.insert(block.end(), list.begin(), list.end());
  const auto id = static_cast<ListId>(all_.size());
  n_words_ += n + 15;
  all_.push_back(block.data() + block.size() - n);
  ids_.add(hash, id);
  return id;
}

std::size_t Lists::used_bytes() const noexcept {
  return all_.size() * (sizeof(all_[0]) + kHashEntryBytes) + (n_words_ - all_.size() * 15) * 4;
}

// The last list is at the end of the last block.
void Lists::drop(std::size_t n) {
  for (; all_.size() > n; all_.pop_back()) {
    const auto id = static_cast<ListId>(all_.size() - 1);
    const std::size_t n_its = at(id).size() + 1;
    ids_.remove(hash_of(at(id)), id);
    n_words_ -= n_its + 15;
    blocks_.back().resize(blocks_.back().size() - n_its);
    if (blocks_.back().empty()) blocks_.pop_back();
  }
}

std::uint32_t TextTable::of(std::string_view text) {
  const std::uint32_t hash = hash_of(text);
  const std::uint32_t known = ids_.find(hash, [&](std::uint32_t id) { return all_[id] == text; });
  if (known != FlatHashMap::kNone) return known;
  const auto id = static_cast<std::uint32_t>(all_.size());
  all_.emplace_back(text);
  ids_.add(hash, id);
  n_bytes_ += text.size();
  return id;
}

std::size_t TextTable::used_bytes() const noexcept {
  return n_bytes_ + all_.size() * (sizeof(std::string) + 2 * kHashEntryBytes);
}

void TextTable::drop(std::size_t n) {
  for (; all_.size() > n; all_.pop_back()) {
    ids_.remove(hash_of(all_.back()), static_cast<std::uint32_t>(all_.size() - 1));
    n_bytes_ -= all_.back().size();
  }
}

std::size_t Cells::used_bytes() const noexcept {
  return all_.size() * (sizeof(Cell) + kHashEntryBytes) + n_sorted_ * 8;
}

CellId Cells::add(CellId before, std::uint32_t item) {
  const std::uint32_t hash = hash_of(before, item);
  const CellId known = ids_.find(hash, [&](CellId id) {
    return all_[id - 1].before == before && all_[id - 1].item == item;
  });
  if (known != FlatHashMap::kNone) return known;
  all_.push_back({before, item, before == 0 ? 1 : all_[before - 1].n + 1});
  const auto id = static_cast<CellId>(all_.size());
  ids_.add(hash, id);
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
    ids_.remove(hash_of(all_.back().before, all_.back().item), id);
    const auto sorted = sorted_.find(id);
    if (sorted == sorted_.end()) continue;
    n_sorted_ -= sorted->second.items.size();
    sorted_.erase(sorted);
  }
}

}  // namespace wick::grammar
