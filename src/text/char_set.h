// Sets of characters for one pattern. The characters fall into elements that the pattern cannot
// tell apart beyond what its sets say: each ASCII character is one, and so is each Unicode atom
// within each interval between the code points that the pattern names itself ("[一-龥]"). The last
// element is the end of the text, which only looks may hold. A set is a bitset of elements, so
// union, intersection and complement are exact and cheap. Load time, but for element_of().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "unicode/table.h"

namespace wick {

inline constexpr char32_t kFirstNonAscii = 0x80;
inline constexpr char32_t kLastCharacter = 0x10FFFF;

class CharUniverse {
 public:
  CharUniverse() = default;
  // `borders`: code points at which a new interval starts, in any order.
  explicit CharUniverse(std::vector<char32_t> borders);

  std::size_t size() const noexcept { return end_of_text() + 1; }

  std::size_t end_of_text() const noexcept { return kFirstNonAscii + n_intervals() * n_atoms_; }

  std::size_t n_intervals() const noexcept { return borders_.size() + 1; }

  std::size_t n_atoms() const noexcept { return n_atoms_; }

  std::size_t interval_of(char32_t code) const noexcept {
    return static_cast<std::size_t>(std::upper_bound(borders_.begin(), borders_.end(), code) -
                                    borders_.begin());
  }

  std::size_t element_of(char32_t code) const noexcept {
    if (code < kFirstNonAscii) return code;
    return kFirstNonAscii + interval_of(code) * n_atoms_ +
           static_cast<std::size_t>(unicode_atom(code));
  }

 private:
  std::size_t n_atoms_ = unicode_atoms().size();
  std::vector<char32_t> borders_ = {};  // ascending, above ASCII
};

class CharSet {
 public:
  CharSet() = default;

  explicit CharSet(const CharUniverse& universe) : bits_((universe.size() + 63) / 64) {}

  void add(std::size_t element) noexcept { bits_[element / 64] |= bit(element); }

  bool has(std::size_t element) const noexcept { return (bits_[element / 64] & bit(element)) != 0; }

  // The characters `first` to `last`, both borders of the universe (or ASCII).
  void add_range(const CharUniverse& universe, char32_t first, char32_t last);
  // \p{`name`}: a general category, its first letter, a script, or Alphabetic. False: not one of
  // the table's.
  bool add_property(const CharUniverse& universe, std::string_view name);
  void add_spaces(const CharUniverse& universe);
  // \w inside of a class.
  void add_words(const CharUniverse& universe);
  void add_all(const CharSet& other) noexcept;
  void keep_common(const CharSet& other) noexcept;
  // All other characters. The end of the text is in the result only where `with_end` says so.
  void complement(const CharUniverse& universe, bool with_end);

  bool is_empty() const noexcept;

 private:
  static std::uint64_t bit(std::size_t element) noexcept {
    return std::uint64_t{1} << (element % 64);
  }

  template <class Wanted>
  void add_atoms(const CharUniverse& universe, const Wanted& is_wanted);

  std::vector<std::uint64_t> bits_ = {};
};

}  // namespace wick
