// Thousands of words as one expression (ExprKind::kWords). What may follow some of their bytes is a
// range of the sorted list again, so only the expressions that an automaton visits are made: the
// tree of all of them would take a node for each byte.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regex/byte_set.h"

namespace wick::regex {

class WordList {
 public:
  // Ascending by bytes, each once.
  explicit WordList(std::span<const std::string_view> words) {
    std::size_t n_bytes = 0;
    for (const std::string_view word : words)
      n_bytes += word.size();
    text_.reserve(n_bytes);
    begins_.reserve(words.size() + 1);
    for (const std::string_view word : words) {
      text_ += word;
      begins_.push_back(static_cast<std::uint32_t>(text_.size()));
    }
    for (const char c : text_)
      bytes_.add(static_cast<unsigned char>(c));
  }

  // What is behind the first `skip` bytes of word `i`, which has them.
  std::string_view rest(std::uint32_t i, std::uint32_t skip) const noexcept {
    return std::string_view(text_).substr(begins_[i] + skip, begins_[i + 1] - begins_[i] - skip);
  }

  // The words from `from` to before `to` share `skip` bytes, and each has more. The first that goes
  // on with another byte than word `from`.
  std::uint32_t end_of_byte(std::uint32_t from, std::uint32_t to,
                            std::uint32_t skip) const noexcept {
    return lower(from + 1, to, skip, byte(from, skip) + 1U);
  }

  // Of such words the first that goes on with at least `least`.
  std::uint32_t lower(std::uint32_t from, std::uint32_t to, std::uint32_t skip,
                      unsigned least) const noexcept {
    while (from < to) {
      const std::uint32_t middle = from + (to - from) / 2;
      if (byte(middle, skip) < least) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }

  unsigned char byte(std::uint32_t i, std::uint32_t skip) const noexcept {
    return static_cast<unsigned char>(text_[begins_[i] + skip]);
  }

  // All that are in some word.
  const ByteSet& bytes() const noexcept { return bytes_; }

  std::size_t used_bytes() const noexcept {
    return text_.size() + begins_.size() * sizeof(begins_[0]);
  }

  friend bool operator==(const WordList&, const WordList&) = default;

 private:
  std::string text_ = {};
  std::vector<std::uint32_t> begins_ = {0};
  ByteSet bytes_ = {};
};

}  // namespace wick::regex
