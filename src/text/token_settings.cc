#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "format/json_text.h"
#include "text/gguf_vocab.h"
#include "text/huggingface_json.h"
#include "text/limits.h"

namespace wick {
namespace {

// A text, or an object with its content.
std::string_view content_of(const Json& object, const char* name) noexcept {
  const Json& node = member(object, name);
  return node.is_string() ? text_member(object, name) : text_member(node, "content");
}

Result<Json> read_object(const Metadata& meta, const char* key, const char* file) {
  const std::string_view text = meta.string(key).value_or(std::string_view());
  if (text.empty()) return Json();
  return parse_json_object(text, file);
}

}  // namespace

Result<TokenSettings> TokenSettings::read(const Metadata& meta) {
  auto files = std::make_shared<Files>();
  WICK_TRY(files->config,
           read_object(meta, "tokenizer.huggingface.config", "tokenizer_config.json"));
  WICK_TRY(files->special_tokens,
           read_object(meta, "tokenizer.huggingface.special_tokens", "special_tokens_map.json"));
  TokenSettings settings;
  settings.files_ = files;
  for (const auto& [key, flags] : member(files->config, "added_tokens_decoder").items()) {
    TokenId id = -1;
    const auto parsed = std::from_chars(key.data(), key.data() + key.size(), id);
    const std::string_view text = text_member(flags, "content");
    const bool is_id = parsed.ec == std::errc() && parsed.ptr == key.data() + key.size() &&
                       id >= 0 && id < static_cast<TokenId>(kMaxTokens);
    if (!is_id || text.empty() || text.size() > kMaxAddedTokenBytes) {
      return corrupt_json(cat("tokenizer_config.json adds a token '", printable(text),
                              "' with the id '", printable(key), "'"));
    }
    settings.added_.push_back({id, text, &flags});
  }
  std::sort(settings.added_.begin(), settings.added_.end(),
            [](const Added& a, const Added& b) { return a.id < b.id; });
  return settings;
}

std::string_view TokenSettings::named(const char* name) const noexcept {
  const std::string_view text = content_of(files_->config, name);
  return text.empty() ? content_of(files_->special_tokens, name) : text;
}

bool TokenSettings::flag(const char* key, bool otherwise) const noexcept {
  return flag_member(files_->config, key, otherwise);
}

std::string_view TokenSettings::text(const char* key) const noexcept {
  return text_member(files_->config, key);
}

AddedToken added_token(std::string_view text, TokenId id, const Json& flags) {
  return {.text = std::string(text),
          .id = id,
          .is_control = flag_member(flags, "special", false),
          .takes_left_space = flag_member(flags, "lstrip", false),
          .takes_right_space = flag_member(flags, "rstrip", false),
          .is_single_word = flag_member(flags, "single_word", false)};
}

Result<void> finish_parts(const Metadata& meta, const TokenSettings& settings, bool adds_bos,
                          std::vector<AddedToken> added, TokenizerParts& parts) {
  Vocab& vocab = parts.vocab;
  const std::size_t most = static_cast<std::size_t>(vocab.size()) + kMaxFreeIds;
  for (const TokenSettings::Added& token : settings.added()) {
    if (static_cast<std::size_t>(token.id) >= most) {
      return corrupt_json(cat("tokenizer_config.json adds the id ", token.id, " to ", vocab.size(),
                              " tokens, wick leaves out at most ", kMaxFreeIds));
    }
    while (vocab.size() < token.id) {
      vocab.add({}, TokenKind::kUnused);
    }
    AddedToken one = added_token(token.text, token.id, *token.flags);
    const TokenKind kind = one.is_control ? TokenKind::kControl : TokenKind::kUserDefined;
    if (vocab.size() == token.id) {
      vocab.add(token.text, kind);
    } else if (vocab.kind(token.id) != TokenKind::kUnknown) {
      vocab.set_kind(token.id, kind);
    }
    const auto same = std::find_if(added.begin(), added.end(),
                                   [&](const AddedToken& a) { return a.id == token.id; });
    if (same == added.end()) {
      added.push_back(std::move(one));
    } else {
      *same = std::move(one);
    }
  }
  const auto id_of = [&](const char* key, const char* name) {
    const std::string_view text = settings.named(name);
    const auto named = std::find_if(added.begin(), added.end(),
                                    [&](const AddedToken& a) { return a.text == text; });
    return vocab.checked(meta.integer(key).value_or(named == added.end() ? -1 : named->id));
  };
  if (const TokenId id = id_of("tokenizer.ggml.bos_token_id", "bos_token"); id >= 0) parts.bos = id;
  if (const TokenId id = id_of("tokenizer.ggml.eos_token_id", "eos_token"); id >= 0) parts.eos = id;
  if (settings.flag("add_bos_token", adds_bos) && parts.bos >= 0) parts.prefix = {parts.bos};
  if (settings.flag("add_eos_token", false) && parts.eos >= 0) parts.suffix = {parts.eos};
  if (!parts.added.build(std::move(added))) return too_large_trie();
  find_ends(meta, parts);
  return {};
}

}  // namespace wick
