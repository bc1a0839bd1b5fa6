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
#include "text/normaliser.h"
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
  std::string_view text = {};     // the result: what the pieces are spans of,
  std::vector<Span> pieces = {};  // and the pieces
  std::vector<Span> before = {}, certain = {};
  std::string rewritten = {}, other = {};
  NormaliserScratch normaliser = {};
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
  void add(Split split);
  void add(Normaliser rewriting);

  bool is_empty() const noexcept { return stages_.empty(); }

  std::size_t size() const noexcept { return stages_.size(); }

  // Of all rewriting together: bytes for each byte.
  std::size_t growth() const noexcept;

  // Fills scratch.pieces with the pieces of `text`, none of them empty, in order. For a split, a
  // byte that is not UTF-8 is a piece by itself, and the text on either side of it one of its own.
  void split(std::string_view text, RunPlace place, SplitScratch& scratch) const;

  // The same in three steps, for a text that may go on. What stands before the first split rewrites
  // the text; the result lies in `text` itself or in the scratch.
  std::string_view rewrite(std::string_view text, RunPlace place, SplitScratch& scratch) const;
  // The splits behind that: scratch.pieces are those that nothing to come can change.
  OpenSplit split_open(std::string_view text, SplitScratch& scratch) const;
  // What stands behind those splits, on scratch.pieces, which begin at `place`. Nothing, or a stage
  // that rewrites and splits; then no open piece may be cut.
  void finish(RunPlace place, SplitScratch& scratch) const;

  bool finishes_pieces() const noexcept { return splits_end_ < stages_.size(); }

  // Whether each piece can be finished whatever the others are; of rewrite(), append_reaches() says
  // what decides.
  bool can_grow() const noexcept { return n_late_ <= 1; }

  void append_reaches(std::vector<Reach>& out) const;

 private:
  const Split& split_at(std::size_t stage) const { return *std::get_if<Split>(&stages_[stage]); }

  void run_stages(std::size_t first, std::size_t end, RunPlace place, SplitScratch& scratch) const;
  void append_certain(Span piece, std::size_t first, SplitScratch& scratch) const;
  void split_open_valid(std::string_view text, std::size_t offset, SplitScratch& scratch,
                        OpenSplit& open) const;

  std::vector<std::variant<Split, Normaliser>> stages_ = {};
  std::size_t splits_begin_ = 0, splits_end_ = 0;  // the first splits that stand side by side
  std::size_t n_late_ = 0;                         // stages behind those that rewrite
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
