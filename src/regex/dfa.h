// A pattern as a finite automaton that finds the same match as a backtracking engine: the leftmost
// one, and there the first alternative that matches, with repetitions greedy or lazy as written. It
// reads each character once and needs neither stack nor heap. All states are built at load, so that
// threads share them without a lock; a pattern with more than kMaxDfaStates is refused.
//
//   const auto dfa = Dfa::compile(R"(\p{L}+|\s+(?!\S)|\s+)");
//   dfa->find("ab  c", 2, work, kMost);  // [2, 3): the second space stays with the c
//
// Supported: Oniguruma's Ruby syntax, except the constructs that oniguruma.cc refuses by name.
// Lookbehind, \b and ^ test the previous character; lookahead tests the next one. Lookahead of more
// than one character has an automaton of its own, which reads ahead at each place.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/marked_text.h"
#include "base/result.h"

namespace wick::regex {

class Dfa {
 public:
  // Errors: kInvalid ("regex_syntax") for a syntax error; kUnsupported for a refused construct
  // ("regex_unsupported") or a pattern that is too large ("regex_memory").
  static Result<Dfa> compile(std::string_view pattern);

  // Hot: the first match in `text` (valid UTF-8) that starts at or after `from` and before the
  // text's end. `work` counts the bytes that are read outside of matches. Above `most_work` the
  // search ends without a match, so no pattern takes time quadratic in the text's length.
  std::optional<Span> find(std::string_view text, std::size_t from, std::size_t& work,
                           std::size_t most_work) const noexcept;

 private:
  friend class DfaBuilder;
  // A transition: the next state, and whether the text matches up to where the character starts.
  using Next = std::uint16_t;
  static constexpr Next kMatch = 0x8000;
  static constexpr Next kSlow = 0x7FFF;  // in bytes_: not ASCII, or a long lookahead to answer
  static constexpr Next kDead = 0;
  static constexpr char32_t kBlock = 128;  // characters side by side in the class map
  static constexpr std::uint16_t kMixed = 256;

  // The transition table of the pattern or of one long lookahead. Rows have n_classes_ entries.
  // States of the pattern have a row for each combination of results of the long lookaheads.
  struct Table {
    std::vector<Next> next = {};    // by state, answers and class
    std::vector<Next> ends = {};    // by state and answers: at the end of the text
    std::vector<Next> starts = {};  // by class of the character before; last: at the text's start
    std::vector<bool> asks = {};    // by state: whether lookahead results matter
    bool looks_back = false;        // false: all of `starts` are equal
  };

  struct Char {
    char32_t code;
    std::size_t bytes;
  };

  static Char char_at(const unsigned char* p) noexcept;

  std::size_t class_of(char32_t code) const noexcept {
    const std::uint16_t block = blocks_[code / kBlock];
    return block < kMixed ? block : mixed_[(block - kMixed) * kBlock + code % kBlock];
  }

  Next start_of(const Table& table, const unsigned char* begin,
                const unsigned char* at) const noexcept;
  bool matches(const Table& look, const unsigned char* begin, const unsigned char* at,
               const unsigned char* end, std::size_t& work) const noexcept;
  std::size_t answers(const unsigned char* begin, const unsigned char* at, const unsigned char* end,
                      std::size_t& work) const noexcept;

  std::vector<std::uint16_t> blocks_ = {};  // the class of all characters in a block, or kMixed + …
  std::vector<std::uint8_t> mixed_ = {};    // the classes of blocks that have several
  std::size_t n_classes_ = 0, n_answers_ = 1;
  Table main_ = {};
  std::vector<Table> looks_ = {};
  std::vector<std::array<Next, 256>> bytes_ = {};  // by state and byte: main_.next, or kSlow
  std::array<bool, 256> is_barren_ = {};           // no match starts with this byte
};

}  // namespace wick::regex
