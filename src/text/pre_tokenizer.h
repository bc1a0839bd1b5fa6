// Cuts text into the pieces that no token crosses: a row of stages, each applied to the pieces of
// the one before, exactly as Hugging Face's pre-tokenizers. A stage splits by a regular expression
// or rewrites each piece. Immutable, any thread; the scratch belongs to one call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/marked_text.h"
#include "base/result.h"
#include "text/normalizer.h"
#include "text/pattern.h"

namespace wick {

// How a split treats its matches ("delimiters"); the names are Hugging Face's.
enum class SplitBehavior : std::uint8_t {
  kIsolated,
  kRemoved,
  kContiguous,
  kMergedWithPrevious,
  kMergedWithNext
};

struct Split {
  Pattern pattern;
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool is_inverted = false;  // the delimiters are what does not match
};

struct SplitScratch {
  Matcher matcher = {};
  std::string_view text = {};     // the result: what the pieces are spans of,
  std::vector<Span> pieces = {};  // and the pieces
  std::vector<Span> before = {};
  std::string rewritten = {}, other = {};
  NormalizerScratch normalizer = {};
};

class PreTokenizer {
 public:
  void add(Split split) { stages_.emplace_back(std::move(split)); }

  void add(Normalizer rewriting) { stages_.emplace_back(std::move(rewriting)); }

  bool is_empty() const noexcept { return stages_.empty(); }

  std::size_t size() const noexcept { return stages_.size(); }

  // The product over all rewriting stages: most bytes of output for each byte of input.
  std::size_t growth() const noexcept;
  bool rewrites() const noexcept;  // the text of pieces

  // Most bytes of input for each byte of the pieces; 0: no limit, as where a split removes text.
  std::size_t shrinkage() const noexcept;

  // Fills scratch.pieces with the pieces of `text`, none of them empty, in order. A byte that is
  // not UTF-8 is a piece of its own; the texts before and after it are split separately.
  void split(std::string_view text, RunPlace place, SplitScratch& scratch) const;

 private:
  std::vector<std::variant<Split, Normalizer>> stages_ = {};
};

// A pre-tokenizer of GGUF's "tokenizer.ggml.pre": its splits (all isolated), and properties of the
// family that the file does not contain.
struct PreTokenizerInfo {
  std::string_view name;
  std::vector<std::string_view> patterns;
  bool is_nfc = false;         // text is normalized first
  bool ignore_merges = false;  // a piece that is a token is that token, whatever the merges say
  bool adds_bos = false;       // unless tokenizer.ggml.add_bos_token says otherwise
};

// The row of `name`, if wick knows it.
std::optional<PreTokenizerInfo> find_pre_tokenizer(std::string_view name);

// GPT-2's pattern, which is also that of Hugging Face's ByteLevel.
std::string_view gpt2_pattern() noexcept;

// The pattern of Hugging Face's Digits: a run of digits, or each digit.
std::string_view digits_pattern(bool is_individual) noexcept;

}  // namespace wick
