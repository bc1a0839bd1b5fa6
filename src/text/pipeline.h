// The tokenizer behind every file that wick reads: text is cut at added tokens, each run between
// them is normalized, cut into pieces, and a model turns each piece into ids. Loaders fill the
// parts, one for each kind of file; after that all of it is immutable and may be used from any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/result.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/scratch_pool.h"
#include "text/tokenizer.h"
#include "text/unigram.h"
#include "text/vocab.h"
#include "text/wordpiece.h"

namespace wick {

// Each has a Scratch and encode(piece, vocab, scratch, out).
using PieceModel = std::variant<BpeModel, UnigramModel, WordPieceModel, WordLevelModel>;

// The scratch of each model, by its type.
template <class Models>
struct ScratchesOf;

template <class... Model>
struct ScratchesOf<std::variant<Model...>> {
  using Type = std::tuple<typename Model::Scratch...>;
};

struct TokenizerParts {
  Vocab vocab = {};
  PieceModel model = {};
  AddedTokens added = {};             // matched in the text as it is
  AddedTokens added_normalized = {};  // matched after the normalizer
  Normalizer normalizer = {};
  PreTokenizer pre = {};
  DecodingHabits decoding = {};
  std::vector<TokenId> ends = {}, prefix = {}, suffix = {};
  TokenId bos = -1, eos = -1;
};

// The tokenizer of `parts`; refused where they may multiply a text's length by more than wick
// allows.
Result<std::shared_ptr<const Tokenizer>> make_tokenizer(TokenizerParts parts);

class PipelineTokenizer final : public Tokenizer {
 public:
  explicit PipelineTokenizer(TokenizerParts parts);
  ~PipelineTokenizer() override;

  Result<void> encode(const MarkedText& text, std::vector<TokenId>& out) const override;

  std::string_view bytes(TokenId id) const noexcept override { return parts_.vocab.bytes(id); }

  TokenKind kind(TokenId id) const noexcept override { return parts_.vocab.kind(id); }

  int size() const noexcept override { return parts_.vocab.size(); }

 protected:
  void append_bytes(std::span<const TokenId> ids, bool with_control,
                    std::string& out) const override;

 private:
  struct Scratch {
    AddedWork added = {};
    NormalizerScratch normalizer = {};
    SplitScratch split = {};
    ScratchesOf<PieceModel>::Type models = {};

    void begin(std::size_t text_bytes) noexcept;  // a text of that length
    bool has_failed() const noexcept;             // at one of its limits
    Error error() const;
  };

  void encode_run(std::string_view run, RunPlace place, Scratch& scratch,
                  std::vector<TokenId>& out) const;
  void encode_normalized(std::string_view text, RunPlace place, Scratch& scratch,
                         std::vector<TokenId>& out) const;
  // Those in scratch.split.
  void encode_pieces(Scratch& scratch, std::vector<TokenId>& out) const;

  TokenizerParts parts_;
  mutable ScratchPool<Scratch> scratches_;
};

// Fills parts.ends from the ids that `meta` names, parts.eos and the texts of known end tokens.
void find_ends(const Metadata& meta, TokenizerParts& parts);

}  // namespace wick
