// Lists, chains and texts with one number for each content: equal ones have equal numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammar/flat_map.h"

namespace wick::grammar {

using ListId = std::uint32_t;
using CellId = std::uint32_t;

class Lists {
 public:
  ListId of(std::span<const std::uint32_t> list);

  // Stays where it is.
  std::span<const std::uint32_t> at(ListId id) const noexcept { return {all_[id] + 1, *all_[id]}; }

  std::vector<std::uint32_t> copy(ListId id) const { return {at(id).begin(), at(id).end()}; }

  std::size_t size() const noexcept { return all_.size(); }

  std::size_t n_words() const noexcept { return n_words_; }

  std::size_t used_bytes() const noexcept;

  // Forgets those that came after the first `n`.
  void drop(std::size_t n);

 private:
  FlatHashMap ids_ = {};
  std::vector<const std::uint32_t*> all_ = {};  // the length, then the numbers
  std::deque<std::vector<std::uint32_t>> blocks_ = {};
  std::size_t n_words_ = 0;
};

class TextTable {
 public:
  std::uint32_t of(std::string_view text);

  // Stays where it is.
  const std::string& at(std::uint32_t id) const noexcept { return all_[id]; }

  std::size_t size() const noexcept { return all_.size(); }

  std::size_t used_bytes() const noexcept;

  // Forgets those that came after the first `n`.
  void drop(std::size_t n);

 private:
  FlatHashMap ids_ = {};
  std::deque<std::string> all_ = {};
  std::size_t n_bytes_ = 0;
};

// A chain grows at its end and shares its prefix with other chains; 0 is the empty chain.
class Cells {
 public:
  CellId add(CellId before, std::uint32_t item);

  CellId before(CellId id) const noexcept { return all_[id - 1].before; }

  std::uint32_t item(CellId id) const noexcept { return all_[id - 1].item; }

  // Whether the chain has `item`. O(log² n); the lists are built at the first calls, in O(n log n)
  // for all cells of a chain together.
  bool has(CellId id, std::uint32_t item);

  std::size_t size() const noexcept { return all_.size(); }

  std::size_t used_bytes() const noexcept;

  // Numbers in the lists that has() looks into.
  std::size_t n_sorted() const noexcept { return n_sorted_; }

  // Forgets those that came after the first `n`.
  void drop(std::size_t n);

 private:
  struct Cell {
    CellId before;
    std::uint32_t item;
    std::uint32_t n;  // cells of the chain
  };

  FlatHashMap ids_ = {};
  std::vector<Cell> all_ = {};

  // The last k items of a chain of n items, ascending; k is the lowest set bit of n (as in a
  // Fenwick tree). So a chain is the disjoint union of at most log₂ n such lists.
  struct Sorted {
    std::vector<std::uint32_t> items;
    CellId before;
  };

  std::unordered_map<CellId, Sorted> sorted_ = {};
  std::size_t n_sorted_ = 0;
};

}  // namespace wick::grammar
