// Text to token ids and back, identical to Hugging Face's tokenizers. A Tokenizer is immutable
// after load and may be used from any thread; a TextStream belongs to one reader.
//
//   WICK_TRY(const auto tokenizer, Tokenizer::from(file.metadata()));
//   WICK_DO(tokenizer->encode(marked, ids));     // control tokens only in the trusted spans
//   TextStream stream(*tokenizer);
//   show(stream.push(id));                       // never half a character
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/marked_text.h"
#include "base/result.h"
#include "base/types.h"
#include "format/metadata.h"

namespace wick {

enum class TokenKind : std::uint8_t { kNormal, kUnknown, kControl, kUserDefined, kUnused, kByte };

// Rules of decoding, beyond concatenating the tokens' bytes.
struct DecodingHabits {
  bool strips_leading_space = false;   // one, at the very start of a text (SentencePiece's prefix)
  bool strips_trailing_space = false;  // one, at the end (words that end in "</w>")
  bool joins_repeats = false;          // a token that follows itself is shown once (CTC)
};

enum class TextEdge : std::uint8_t { kStart, kEnd };

class Tokenizer {
 public:
  // From "tokenizer.huggingface.json" if the file has this key, else from GGUF keys
  // (tokenizer.ggml.*).
  static Result<std::shared_ptr<const Tokenizer>> from(const Metadata& meta);
  // From a tokenizer file (tokenizer.json, tokenizer.model, tekken.json, tiktoken.model), a folder
  // that holds one, or a model file.
  static Result<std::shared_ptr<const Tokenizer>> open(const std::filesystem::path& path);

  virtual ~Tokenizer() = default;

  // Appends the ids of `text`. Control tokens are recognized in trusted spans only; user-defined
  // ones everywhere. Any bytes are accepted. Never adds BOS or EOS. Fails, and appends nothing, if
  // the tokenizer's patterns need too much work (id "tokenizer_work") or its normalizer makes the
  // text too long ("tokenizer_growth"). The limits are in text/limits.h; no real file reached them
  // with natural text.
  virtual Result<void> encode(const MarkedText& text, std::vector<TokenId>& out) const = 0;

  // A person's text: nothing trusted, no BOS or EOS.
  Result<std::vector<TokenId>> encode_plain(std::string_view text) const;
  // All of it trusted, as Hugging Face's encode(text, add_special_tokens=False).
  Result<std::vector<TokenId>> encode_special(std::string_view text) const;

  // The bytes that a token appends to a text; may be a part of a UTF-8 character. For control
  // tokens the name ("<|im_end|>"), which a TextStream does not show. Empty for an id out of range.
  virtual std::string_view bytes(TokenId id) const noexcept = 0;
  virtual TokenKind kind(TokenId id) const noexcept = 0;
  virtual int size() const noexcept = 0;  // ids are 0 .. size()-1

  // The text of a token at the start or end of a text. Nothing if it is bytes(id), except for one
  // space that decoding() strips there.
  virtual std::optional<std::string_view> edge_text(TokenId /*id*/,
                                                    TextEdge /*edge*/) const noexcept {
    return std::nullopt;
  }

  // Whether decoding leaves the token out.
  bool is_hidden(TokenId id) const noexcept {
    return kind(id) == TokenKind::kControl || kind(id) == TokenKind::kUnknown;
  }

  const DecodingHabits& decoding() const noexcept { return decoding_; }

  // End of generation is a set: <|im_end|>, <|endoftext|>, <|eot_id|>, … (docs/tokenizers.md says
  // how it is found).
  bool is_end(TokenId id) const noexcept;

  std::span<const TokenId> ends() const noexcept { return ends_; }

  // The tokens that the tokenizer adds before and after plain text (BOS, EOS), perhaps none. A chat
  // template writes its own.
  std::span<const TokenId> prefix() const noexcept { return prefix_; }

  std::span<const TokenId> suffix() const noexcept { return suffix_; }

  TokenId bos() const noexcept { return bos_; }  // -1 = none

  TokenId eos() const noexcept { return eos_; }  // -1 = none

  // Of the longest token; a TextStream sizes its memory by it.
  std::size_t longest_token_bytes() const noexcept { return longest_; }

  // encode() makes no fewer tokens of `text`. Much faster than encode(). 0 if nothing is known:
  // where one token may stand for a text of any length.
  virtual std::size_t fewest_tokens(std::string_view /*text*/) const noexcept { return 0; }

  // All of `ids` as text, invalid UTF-8 replaced by U+FFFD; control tokens are left out unless
  // asked for.
  std::string decode(std::span<const TokenId> ids, bool with_control = false) const;

 protected:
  // Appends the bytes of all tokens that are shown.
  virtual void append_bytes(std::span<const TokenId> ids, bool with_control,
                            std::string& out) const;

  std::vector<TokenId> ends_, prefix_, suffix_;
  TokenId bos_ = -1, eos_ = -1;
  DecodingHabits decoding_ = {};
  std::size_t longest_ = 0;
};

// Converts a stream of ids to text. Holds back incomplete characters, and text that may become a
// stop sequence. push() and finish() never allocate.
class TextStream {
 public:
  // `is_continuing`: the text goes on behind other text, so a leading space is kept.
  // `shown`: control tokens that are shown nevertheless.
  explicit TextStream(const Tokenizer& tokenizer, bool is_continuing = false,
                      std::vector<std::string> stops = {}, std::vector<TokenId> shown = {});

  // Text now safe to show, often empty; valid until the next call. After a stop sequence: the text
  // before it, and stopped().
  std::string_view push(TokenId id) noexcept;
  // What was held back; an unfinished character becomes U+FFFD.
  std::string_view finish() noexcept;

  bool stopped() const noexcept { return stopped_; }

 private:
  std::string_view release(bool is_last) noexcept;

  const Tokenizer* tokenizer_;
  std::vector<std::string> stops_;
  std::vector<TokenId> shown_tokens_;
  std::string held_;   // not yet shown
  std::string shown_;  // what the last call returned
  bool strip_space_ = false;
  bool stopped_ = false;
  std::size_t n_last_ = 0;  // bytes of the last token, if it stands for others at the end
  TokenId last_ = -1;       // the last token that is shown
};

}  // namespace wick
