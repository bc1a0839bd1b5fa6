// What Hugging Face's smaller files say about a tokenizer (tokenizer_config.json and
// special_tokens_map.json): which tokens start and end a text, and tokens beyond the vocabulary.
// Load time only.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/metadata.h"
#include "text/huggingface_json.h"

namespace wick {

class TokenSettings {
 public:
  // Of "tokenizer.huggingface.config" and "tokenizer.huggingface.special_tokens"; either may lack.
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

// Gives `parts` the tokens that the settings add, matched together with those in `added`, and from
// the settings and `meta`: BOS, EOS, what stands around a text, and ends. For files that say
// nothing of it themselves; `adds_bos` is for settings that do not either.
Result<void> finish_parts(const Metadata& meta, const TokenSettings& settings, bool adds_bos,
                          std::vector<AddedToken> added, TokenizerParts& parts);

}  // namespace wick
