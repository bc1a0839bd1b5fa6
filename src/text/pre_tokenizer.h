// Cuts text into the pieces that byte-pair merges may not cross: a row of splits by regular
// expressions, each applied to the pieces of the one before, exactly as Hugging Face's Split.
// Immutable, any thread; the scratch belongs to one call.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/marked_text.h"
#include "base/result.h"
#include "text/pattern.h"

namespace wick {

// What becomes of the matches ("delimiters") of a split; the names are Hugging Face's.
enum class SplitBehaviour : std::uint8_t {
  kIsolated,
  kRemoved,
  kContiguous,
  kMergedWithPrevious,
  kMergedWithNext
};

struct Split {
  Pattern pattern;
  SplitBehaviour behaviour = SplitBehaviour::kIsolated;
  bool is_inverted = false;  // the delimiters are what does not match
};

struct SplitScratch {
  Matcher matcher = {};
  std::vector<Span> pieces = {};  // the result
  std::vector<Span> before = {};
};

// What is left open at the end of a text that may go on. Behind the pieces that are certain, the
// text [begin, known) belongs to one piece, which may grow; what is behind it is not cut yet.
struct OpenSplit {
  std::size_t begin = 0, known = 0;
  std::vector<std::size_t> cuts = {};  // ascending: here the text may be cut in two, and each split
  std::size_t free = 0;                // and so anywhere in [begin, known) from here on
};

class PreTokenizer {
 public:
  void add(Split split) { splits_.push_back(std::move(split)); }

  bool is_empty() const noexcept { return splits_.empty(); }

  std::size_t size() const noexcept { return splits_.size(); }

  // Fills scratch.pieces with the pieces of `text`, none of them empty, in order. A byte that is
  // not UTF-8 is a piece by itself, and the text on either side of it is split on its own.
  void split(std::string_view text, SplitScratch& scratch) const;

  // The same for a text that may go on: scratch.pieces are those that nothing to come can change.
  OpenSplit split_open(std::string_view text, SplitScratch& scratch) const;

 private:
  void split_valid(std::string_view text, std::size_t offset, std::size_t first_stage,
                   SplitScratch& scratch) const;
  void split_open_valid(std::string_view text, std::size_t offset, SplitScratch& scratch,
                        OpenSplit& open) const;

  std::vector<Split> splits_ = {};
};

// What GGUF's "tokenizer.ggml.pre" stands for: a row of isolated splits and two habits of the
// family that the file does not say otherwise.
struct PreTokenizerInfo {
  std::string_view name;
  std::vector<std::string_view> patterns;
  bool is_nfc = false;         // text is normalised first
  bool ignore_merges = false;  // a piece that is a token is that token, whatever the merges say
  bool adds_bos = false;       // unless tokenizer.ggml.add_bos_token says otherwise
};

// The row of `name`, if wick knows it.
std::optional<PreTokenizerInfo> find_pre_tokenizer(std::string_view name);

// GPT-2's pattern, which is also that of Hugging Face's ByteLevel.
std::string_view gpt2_pattern() noexcept;

// That of its Digits: a number, or each of its digits.
std::string_view digits_pattern(bool is_individual) noexcept;

}  // namespace wick
