// The tokenizer behind every file that wick reads today: text is cut at added tokens, each run
// between them is normalised, cut into pieces and merged. Loaders fill the parts, one for each kind
// of file; after that all of it is immutable and may be used from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/nfc.h"
#include "text/pre_tokenizer.h"
#include "text/scratch_pool.h"
#include "text/tokenizer.h"
#include "text/vocab.h"

namespace wick {

struct NormaliserStep {
  enum class Kind : std::uint8_t {
    kNfc,
    kPrepend,    // `to` before every run
    kReplace,    // every `from` by `to`
    kLead,       // `to` before a run that does not start with it
    kLeadFirst,  // the same, at the very start of the text only
  };
  Kind kind = Kind::kNfc;
  std::string from = {}, to = {};
};

struct TokenizerParts {
  Vocab vocab = {};
  BpeModel model = {};
  AddedTokens added = {};             // matched in the text as it is
  AddedTokens added_normalised = {};  // matched after the normaliser
  std::vector<NormaliserStep> normaliser = {};
  std::vector<NormaliserStep> opening = {};  // what the pre-tokenizer does before it cuts
  PreTokenizer pre = {};
  bool strips_leading_space = false;
  std::vector<TokenId> ends = {}, prefix = {}, suffix = {};
  TokenId bos = -1, eos = -1;
};

// Memory that outlives a run.
struct RunScratch {
  std::string a = {}, b = {};
  NfcScratch nfc = {};
};

// What a place is to the normaliser, and to the steps behind it.
inline EncodePoint::Place in_run(EncodePoint::Place place) noexcept {
  using Place = EncodePoint::Place;
  return place == Place::kPartStart ? Place::kInside : place;
}

inline EncodePoint::Place in_part(EncodePoint::Place place) noexcept {
  using Place = EncodePoint::Place;
  return place == Place::kPartStart ? Place::kRunStart : place;
}

// `text` after `steps`; the result lies in `text` itself or in the scratch.
std::string_view normalise(const std::vector<NormaliserStep>& steps, std::string_view text,
                           EncodePoint::Place place, RunScratch& scratch);

class BpeTokenizer final : public Tokenizer {
 public:
  explicit BpeTokenizer(TokenizerParts parts);
  ~BpeTokenizer() override;

  void encode(const MarkedText& text, std::vector<TokenId>& out) const override;
  EncodePoint encode_settled(const MarkedText& text, EncodePoint from,
                             std::vector<TokenId>& out) const override;
  void encode_rest(const MarkedText& text, EncodePoint from,
                   std::vector<TokenId>& out) const override;

  std::string_view bytes(TokenId id) const noexcept override { return parts_.vocab.bytes(id); }

  TokenKind kind(TokenId id) const noexcept override { return parts_.vocab.kind(id); }

  int size() const noexcept override { return parts_.vocab.size(); }

  bool strips_leading_space() const noexcept override { return parts_.strips_leading_space; }

 protected:
  void append_bytes(std::span<const TokenId> ids, bool with_control,
                    std::string& out) const override;

 private:
  struct Scratch {
    SplitScratch split = {};
    BpeScratch bpe = {};
    RunScratch normaliser = {}, opening = {};
  };

  using Place = EncodePoint::Place;
  void encode_run(std::string_view run, Place place, Scratch& scratch,
                  std::vector<TokenId>& out) const;
  void encode_normalised(std::string_view text, Place place, Scratch& scratch,
                         std::vector<TokenId>& out) const;
  OpenSplit split_open_part(std::string_view text, Scratch& scratch) const;
  // The start of a run that may go on; how many of its bytes were encoded, and what comes then.
  EncodePoint encode_open_run(std::string_view run, Place place, Scratch& scratch,
                              std::vector<TokenId>& out) const;

  TokenizerParts parts_;
  mutable ScratchPool<Scratch> scratches_;
};

// The loaders.
Result<TokenizerParts> load_gguf_tokenizer(const Metadata& meta);
// `config` is the text of tokenizer_config.json, or empty; `meta` may name BOS, EOS and ends.
Result<TokenizerParts> load_huggingface_tokenizer(std::string_view json, std::string_view config,
                                                  const Metadata& meta);

// Fills parts.ends from the ids that `meta` names, parts.eos and the texts of known end tokens.
void find_ends(const Metadata& meta, TokenizerParts& parts);

// A run of text after `steps`.
std::string normalised_text(const std::vector<NormaliserStep>& steps, std::string_view run);

// Whether `steps` may multiply a text's length by more than wick allows.
bool grows_too_much(const std::vector<NormaliserStep>& steps) noexcept;

}  // namespace wick
