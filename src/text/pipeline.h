// The tokenizer behind every file that wick reads: text is cut at added tokens; each run between
// them is normalized and cut into pieces; a model converts each piece to ids. A loader for each
// kind of file fills the parts. Then the tokenizer is immutable and may be used from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
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
  // Tokenizer::edge_text, by TextEdge.
  std::array<std::unordered_map<TokenId, std::string>, 2> edge_texts = {};
  std::vector<TokenId> ends = {}, prefix = {}, suffix = {};
  TokenId bos = -1, eos = -1;
};

// The tokenizer of `parts`. An error if normalization could lengthen a text beyond kMaxGrowth.
Result<std::shared_ptr<const Tokenizer>> make_tokenizer(TokenizerParts parts);

class PipelineTokenizer final : public Tokenizer {
 public:
  explicit PipelineTokenizer(TokenizerParts parts);
  ~PipelineTokenizer() override;

  Result<void> encode(const MarkedText& text, std::vector<TokenId>& out) const override;

  std::size_t fewest_tokens(std::string_view text) const noexcept override;

  std::string_view bytes(TokenId id) const noexcept override { return parts_.vocab.bytes(id); }

  std::optional<std::string_view> edge_text(TokenId id, TextEdge edge) const noexcept override {
    const auto& texts = parts_.edge_texts[static_cast<std::size_t>(edge)];
    const auto found = texts.empty() ? texts.end() : texts.find(id);
    return found == texts.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  }

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
  // Encodes the pieces in scratch.split.
  void encode_pieces(Scratch& scratch, std::vector<TokenId>& out) const;

  TokenizerParts parts_;
  std::size_t most_bytes_ = 0;  // of a text that becomes one token; 0: no limit
  mutable ScratchPool<Scratch> scratches_;
};

// Fills parts.ends from the ids that `meta` names, parts.eos and the texts of known end tokens.
void find_ends(const Metadata& meta, TokenizerParts& parts);

// --- One loader for each kind of file that holds a tokenizer ---

// tokenizer.ggml.* of a GGUF file.
Result<TokenizerParts> load_gguf_tokenizer(const Metadata& meta);
// Hugging Face's tokenizer.json.
Result<TokenizerParts> load_huggingface_tokenizer(std::string_view json, const Metadata& meta);
// SentencePiece's tokenizer.model.
Result<TokenizerParts> load_sentencepiece_tokenizer(std::string_view bytes, const Metadata& meta);
// Mistral's tekken.json.
Result<TokenizerParts> load_tekken_tokenizer(std::string_view json, const Metadata& meta);
// Whether a file is tiktoken.model, judged by its first line.
bool is_tiktoken_file(std::string_view bytes);
// Lines of a token in base64 and its rank (tiktoken.model, tokenizer.model of Llama 3).
Result<TokenizerParts> load_tiktoken_tokenizer(std::string_view lines, const Metadata& meta);

}  // namespace wick
