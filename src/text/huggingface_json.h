// The parts of Hugging Face's tokenizer.json → TokenizerParts. Load time only; the only header of
// the room that sees a JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/bpe_tokenizer.h"
#include "text/json_reader.h"

namespace wick {

using Json = nlohmann::json;

// Members of an object; anything else reads as absent.
const Json& member(const Json& object, const char* key) noexcept;  // null if absent
std::string_view text_member(const Json& object, const char* key) noexcept;
bool flag_member(const Json& object, const char* key, bool otherwise) noexcept;
std::string_view type_of(const Json& object) noexcept;  // its "type"

// "tokenizer.json: the normalizer 'Lowercase' …".
Error unsupported_part(std::string_view section, std::string_view what);
Error corrupt_json(std::string what);

// What a tokenizer.json holds. Texts are views into the file, or into the reader.
struct HuggingFaceFile {
  struct Entry {  // of the vocabulary, by id
    std::string_view text = {};
    bool is_there = false;
    TokenKind kind = TokenKind::kNormal;
  };

  struct MergeText {
    std::string_view left = {}, right = {};
  };

  explicit HuggingFaceFile(std::string_view json) : reader(json) {}

  JsonReader reader;
  Json root = {};  // all but model.vocab and model.merges, which are:
  std::vector<Entry> entries = {};
  std::vector<MergeText> merges = {};
};

Result<void> read_huggingface_file(HuggingFaceFile& file);

// A small JSON text as a tree; `name` is for messages.
Result<Json> parse_json_object(std::string_view text, std::string_view name);

Result<void> read_normaliser(const Json& node, std::vector<NormaliserStep>& steps);
// Sets is_byte_level where the pre-tokenizer spells bytes as characters (ByteLevel).
Result<void> read_pre_tokenizer(const Json& node, TokenizerParts& parts, bool& is_byte_level);
// Prefix and suffix.
Result<void> read_post_processor(const Json& node, TokenizerParts& parts);
// Whether decoding drops one leading space.
Result<bool> read_decoder(const Json& node);

}  // namespace wick
