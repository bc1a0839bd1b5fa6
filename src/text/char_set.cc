#include "text/char_set.h"

#include <algorithm>

namespace wick {

CharUniverse::CharUniverse(std::vector<char32_t> borders) : borders_(std::move(borders)) {
  std::sort(borders_.begin(), borders_.end());
  borders_.erase(std::unique(borders_.begin(), borders_.end()), borders_.end());
  const auto above = std::upper_bound(borders_.begin(), borders_.end(), kFirstNonAscii);
  borders_.erase(borders_.begin(), above);
}

void CharSet::add_range(const CharUniverse& universe, char32_t first, char32_t last) {
  for (char32_t code = first; code <= last && code < kFirstNonAscii; ++code) {
    add(code);
  }
  if (last < kFirstNonAscii) return;
  const std::size_t from = universe.interval_of(std::max(first, kFirstNonAscii));
  const std::size_t to = universe.interval_of(last);
  const std::size_t n = universe.n_atoms();
  for (std::size_t i = from * n; i < (to + 1) * n; ++i) {
    add(kFirstNonAscii + i);
  }
}

template <class Wanted>
void CharSet::add_atoms(const CharUniverse& universe, const Wanted& is_wanted) {
  const auto atoms = unicode_atoms();
  for (char32_t code = 0; code < kFirstNonAscii; ++code) {
    if (is_wanted(atoms[static_cast<std::size_t>(unicode_atom(code))])) add(code);
  }
  for (std::size_t a = 0; a < atoms.size(); ++a) {
    if (!is_wanted(atoms[a])) continue;
    for (std::size_t i = 0; i < universe.n_intervals(); ++i) {
      add(kFirstNonAscii + i * universe.n_atoms() + a);
    }
  }
}

bool CharSet::add_property(const CharUniverse& universe, std::string_view name) {
  const auto is_member = [&](const UnicodeAtom& atom) {
    if (name.size() == 1) return atom.category.substr(0, 1) == name;
    if (name == "Alphabetic") return atom.is_alphabetic;
    return atom.category == name || atom.script == name;
  };
  const auto atoms = unicode_atoms();
  if (name.empty() || std::none_of(atoms.begin(), atoms.end(), is_member)) return false;
  add_atoms(universe, is_member);
  return true;
}

void CharSet::add_spaces(const CharUniverse& universe) {
  add_atoms(universe, [](const UnicodeAtom& atom) { return atom.is_space; });
}

void CharSet::add_words(const CharUniverse& universe) {
  add_atoms(universe, [](const UnicodeAtom& atom) { return is_word(atom); });
}

void CharSet::add_all(const CharSet& other) noexcept {
  for (std::size_t i = 0; i < bits_.size(); ++i) {
    bits_[i] |= other.bits_[i];
  }
}

void CharSet::keep_common(const CharSet& other) noexcept {
  for (std::size_t i = 0; i < bits_.size(); ++i) {
    bits_[i] &= other.bits_[i];
  }
}

void CharSet::complement(const CharUniverse& universe, bool with_end) {
  for (std::size_t e = 0; e < universe.size(); ++e) {
    bits_[e / 64] ^= bit(e);
  }
  const std::size_t end = universe.end_of_text();
  bits_[end / 64] &= ~bit(end);
  if (with_end) add(end);
}

bool CharSet::is_empty() const noexcept {
  return std::all_of(bits_.begin(), bits_.end(), [](std::uint64_t word) { return word == 0; });
}

}  // namespace wick
