// The parts of Hugging Face's tokenizer.json → TokenizerParts. Load time only; with the settings
// (text/token_settings.h), the only header of this module that sees a JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/json_reader.h"
#include "text/pipeline.h"

namespace wick {

using Json = nlohmann::json;

// Members of an object; anything else reads as absent.
const Json& member(const Json& object, const char* key) noexcept;  // null if absent
std::string_view text_member(const Json& object, const char* key) noexcept;
bool flag_member(const Json& object, const char* key, bool otherwise) noexcept;
std::int64_t integer_member(const Json& object, const char* key, std::int64_t otherwise) noexcept;
std::string_view type_of(const Json& object) noexcept;  // its "type"

// "tokenizer.json: the normalizer 'Lowercase' …".
Error unsupported_part(std::string_view section, std::string_view what);
Error corrupt_json(std::string what);

// What a tokenizer.json holds. Texts are views into the file, or into the reader.
struct HuggingFaceFile {
  struct Entry {  // of the vocabulary, by id
    std::string_view text = {};
    bool is_there = false;
    bool is_word = false;  // stands in model.vocab, and is not only added
    TokenKind kind = TokenKind::kNormal;
    double score = 0;  // of a Unigram model
  };

  struct MergeText {
    std::string_view left = {}, right = {};
  };

  explicit HuggingFaceFile(std::string_view json) : reader(json) {}

  JsonReader reader;
  Json root = {};  // all but model.vocab and model.merges, which are:
  std::vector<Entry> entries = {};
  std::vector<MergeText> merges = {};
  std::size_t n_vocab = 0;  // entries of model.vocab; the others are added tokens
};

// `more_added`: tokens, as "added_tokens" lists them, that count where the file has none of their
// id.
Result<void> read_huggingface_file(HuggingFaceFile& file, const std::vector<Json>& more_added);

// A small JSON text as a tree; `name` is for messages.
Result<Json> parse_json_object(std::string_view text, std::string_view name);

// How a decoder reads the texts of tokens.
struct TokenSpelling {
  bool is_byte_level = false;  // bytes as characters
  bool has_decoder =
      false;               // false: tokens are shown with spaces between them, or as the model does
  bool has_words = false;  // WordPiece: a space before each token without `continuing_prefix`
  bool cleans_up = false;  // " ." becomes ".", and so on
  std::string continuing_prefix = {};
  std::string word_end = {};  // BPEDecoder's "</w>", which becomes a space
  std::vector<std::pair<std::string, std::string>> replaced = {};
  std::string blank = {};  // CTC: the token that is shown as nothing
  bool is_fused = false;   // Fuse or ByteLevel came: what follows sees the whole text

  // What a token adds to a text that goes on.
  std::string shown(std::string_view text) const;
};

// All that the readers of models see.
struct HuggingFaceContext {
  const HuggingFaceFile& file;
  const TokenSpelling& spelling;
  bool is_byte_level;  // the pre-tokenizer ends in ByteLevel
  TokenizerParts& parts;

  const Json& model() const noexcept { return member(file.root, "model"); }

  // Appends the token of an entry to parts.vocab.
  void add_token(const HuggingFaceFile::Entry& entry) const;
  // The id of a text in model.vocab, -1 if it is not there. Looks through all of them.
  TokenId find(std::string_view text) const noexcept;
  // For models that look bytes up as characters: the pre-tokenizer's ByteLevel becomes a rewriting.
  void spell_bytes() const;
};

// One for each type of "model".
Result<void> read_bpe_model(const HuggingFaceContext& context);
Result<void> read_unigram_model(const HuggingFaceContext& context);
Result<void> read_wordpiece_model(const HuggingFaceContext& context);
Result<void> read_wordlevel_model(const HuggingFaceContext& context);

Result<void> read_normalizer(const Json& node, Normalizer& steps);
// Sets is_byte_level where the pre-tokenizer spells bytes as characters (ByteLevel).
Result<void> read_pre_tokenizer(const Json& node, TokenizerParts& parts, bool& is_byte_level);
// Prefix and suffix.
Result<void> read_post_processor(const Json& node, TokenizerParts& parts);
Result<void> read_decoder(const Json& node, TokenSpelling& spelling, DecodingHabits& habits);

}  // namespace wick
