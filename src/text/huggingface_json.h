// The parts of Hugging Face's tokenizer.json → TokenizerParts. Load time only; the only header of
// the room that sees a JSON library.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.h"
#include "text/bpe_tokenizer.h"

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

Result<void> read_normaliser(const Json& node, std::vector<NormaliserStep>& steps);
// Sets is_byte_level where the pre-tokenizer spells bytes as characters (ByteLevel).
Result<void> read_pre_tokenizer(const Json& node, TokenizerParts& parts, bool& is_byte_level);
// Prefix and suffix.
Result<void> read_post_processor(const Json& node, TokenizerParts& parts);
// Whether decoding drops one leading space.
Result<bool> read_decoder(const Json& node);

}  // namespace wick
