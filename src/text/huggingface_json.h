// The parts of Hugging Face's tokenizer.json → TokenizerParts, and the settings beside it. Load
// time only; the only header of this module that sees a JSON library.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/strings.h"
#include "format/json_reader.h"
#include "format/metadata.h"
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

// How parts of one type are read.
template <class Read>
struct PartRow {
  std::string_view type;
  Read* read;
};

// Hands the row of a part's type to `read_part(row, part)`: of `node`, or, if that is a "Sequence",
// of each part of its list `parts`. Null is no part.
template <class Rows, class ReadPart>
Result<void> read_parts(const Json& node, std::string_view section, const char* parts,
                        const Rows& rows, const ReadPart& read_part) {
  if (node.is_null()) return {};
  const std::string_view type = type_of(node);
  if (parts != nullptr && type == "Sequence") {
    for (const Json& part : member(node, parts))
      WICK_DO(read_parts(part, section, parts, rows, read_part));
    return {};
  }
  const auto row =
      std::find_if(std::begin(rows), std::end(rows), [&](const auto& r) { return r.type == type; });
  if (row == std::end(rows)) return unsupported_part(section, cat("'", printable(type), "'"));
  return read_part(*row, node);
}

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

// `more_added`: further entries of "added_tokens". They count only if the file has no added token
// with their id.
Result<void> read_huggingface_file(HuggingFaceFile& file, const std::vector<Json>& more_added);

// How a decoder reads the texts of tokens.
struct TokenSpelling {
  bool is_byte_level = false;  // bytes as characters
  bool has_decoder =
      false;               // false: tokens are shown with spaces between them, or as the model does
  bool has_words = false;  // WordPiece: a space before each token without `continuing_prefix`
  bool cleans_up = false;  // " ." becomes ".", and so on
  std::string continuing_prefix = {};
  std::string word_end = {};    // BPEDecoder's "</w>", which becomes a space
  std::string start_mark = {};  // Metaspace's "▁", which the first token loses
  std::vector<std::pair<std::string, std::string>> replaced = {};
  std::string blank = {};  // CTC: the token that is shown as nothing
  bool is_fused = false;   // Fuse or ByteLevel came: what follows sees the whole text

  // The text of a token inside of a text, or at its start or end (`edge`).
  std::string shown(std::string_view text, std::optional<TextEdge> edge = std::nullopt) const;
};

// The input and output of the readers of models.
struct HuggingFaceContext {
  const HuggingFaceFile& file;
  const TokenSpelling& spelling;
  bool is_byte_level;  // the pre-tokenizer ends in ByteLevel
  TokenizerParts& parts;

  const Json& model() const noexcept { return member(file.root, "model"); }

  // Appends the token of an entry to parts.vocab.
  void add_token(const HuggingFaceFile::Entry& entry) const;
  // Stores the edge texts of the next token, whose text is `text` (Tokenizer::edge_text).
  void note_edges(std::string_view text) const;
  // The id of a text in model.vocab, -1 if it is not there. Looks through all of them.
  TokenId find(std::string_view text) const noexcept;
  // For models that look bytes up as characters: adds a pre-tokenizer stage that rewrites bytes in
  // GPT-2's alphabet (ByteLevel).
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

// --- tokenizer_config.json and special_tokens_map.json ---

// Which tokens start and end a text, and tokens beyond the vocabulary.
class TokenSettings {
 public:
  // Reads the keys "tokenizer.huggingface.config" and "tokenizer.huggingface.special_tokens";
  // either may be absent.
  static Result<TokenSettings> read(const Metadata& meta);

  // The text of "bos_token", "eos_token", …; empty if no file names it.
  std::string_view named(const char* name) const noexcept;
  bool flag(const char* key, bool otherwise) const noexcept;
  std::string_view text(const char* key) const noexcept;  // of tokenizer_config.json

  // Of "added_tokens_decoder", ascending by id; texts are views into this object.
  struct Added {
    TokenId id = -1;
    std::string_view text = {};
    const Json* flags = nullptr;  // "special", "lstrip", …
  };

  const std::vector<Added>& added() const noexcept { return added_; }

 private:
  // Behind a pointer, so that views into it outlive a move.
  struct Files {
    Json config = {}, special_tokens = {};
  };

  std::shared_ptr<const Files> files_ = std::make_shared<const Files>();
  std::vector<Added> added_ = {};
};

// The flags of an added token as tokenizer.json and added_tokens_decoder write them.
AddedToken added_token(std::string_view text, TokenId id, const Json& flags);

// Completes `parts` for files that do not define these things themselves. From `added` and the
// settings: the added tokens. From the settings and `meta`: BOS, EOS, the tokens before and after a
// text, and the EOG tokens. `adds_bos`: the default if the settings have no add_bos_token.
Result<void> finish_parts(const Metadata& meta, const TokenSettings& settings, bool adds_bos,
                          std::vector<AddedToken> added, TokenizerParts& parts);

}  // namespace wick
