// Hugging Face's tokenizer.json → TokenizerParts.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "text/byte_spelling.h"
#include "text/gguf_vocab.h"
#include "text/huggingface_json.h"
#include "text/limits.h"
#include "text/pipeline.h"
#include "text/wordpiece.h"

namespace wick {
namespace {

struct ModelRow {
  std::string_view type;
  Result<void> (*read)(const HuggingFaceContext&);
};

constexpr auto kModels = std::to_array<ModelRow>({
    {"BPE", read_bpe_model},
    {"Unigram", read_unigram_model},
    {"WordPiece", read_wordpiece_model},
    {"WordLevel", read_wordlevel_model},
});

Result<void> read_model(const HuggingFaceContext& context) {
  std::string_view type = type_of(context.model());
  if (type.empty() && member(context.model(), "merges").is_array()) type = "BPE";
  const ModelRow* const row = row_of(kModels, type);
  if (row == nullptr) return unsupported_part("model", cat("'", printable(type), "'"));
  return row->read(context);
}

Result<void> read_added(const HuggingFaceFile& file, TokenizerParts& parts) {
  std::vector<AddedToken> raw;
  std::vector<AddedToken> normalized;
  NormalizerScratch scratch;
  const Json& listed = member(file.root, "added_tokens");
  // "normalized" tokens are matched after the others, even without a normalizer.
  const bool has_two_passes =
      !parts.normalizer.is_empty() || std::any_of(listed.begin(), listed.end(), [](const Json& t) {
        return !flag_member(t, "normalized", false);
      });
  for (const Json& item : listed) {
    const auto id = static_cast<TokenId>(member(item, "id").get<std::int64_t>());
    AddedToken token = added_token(text_member(item, "content"), id, item);
    // A token may be listed twice; the last entry counts.
    token.is_control = file.entries[static_cast<std::size_t>(id)].kind == TokenKind::kControl;
    if (token.text.size() > kMaxAddedTokenBytes) {
      return corrupt_json(cat("the added token '", printable(token.text), "' has ",
                              token.text.size(), " bytes, wick takes ", kMaxAddedTokenBytes));
    }
    // Trust is known of the text as it is, so control tokens are always looked for there.
    const bool is_raw =
        token.is_control || !has_two_passes || !flag_member(item, "normalized", false);
    if (!is_raw) {
      token.text = parts.normalizer.apply(std::string(token.text), RunPlace::kRunStart, scratch);
    }
    (is_raw ? raw : normalized).push_back(std::move(token));
  }
  const bool is_built =
      parts.added.build(std::move(raw)) && parts.added_normalized.build(std::move(normalized));
  if (!is_built) return too_large_trie();
  return {};
}

TokenId id_of_added(const Json& root, std::string_view text) {
  if (text.empty()) return -1;
  for (const Json& added : member(root, "added_tokens")) {
    if (text_member(added, "content") == text) {
      return static_cast<TokenId>(member(added, "id").get<std::int64_t>());
    }
  }
  return -1;
}

// The settings' tokens as "added_tokens" would list them.
std::vector<Json> more_added(const TokenSettings& settings) {
  std::vector<Json> tokens;
  for (const TokenSettings::Added& token : settings.added()) {
    tokens.push_back(*token.flags);
    tokens.back()["id"] = token.id;
  }
  return tokens;
}

}  // namespace

const Json& member(const Json& object, const char* key) noexcept {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string_view text_member(const Json& object, const char* key) noexcept {
  const Json& value = member(object, key);
  return value.is_string() ? std::string_view(*value.get_ptr<const std::string*>())
                           : std::string_view();
}

bool flag_member(const Json& object, const char* key, bool otherwise) noexcept {
  const Json& value = member(object, key);
  return value.is_boolean() ? *value.get_ptr<const bool*>() : otherwise;
}

std::int64_t integer_member(const Json& object, const char* key, std::int64_t otherwise) noexcept {
  const Json& value = member(object, key);
  const auto* const number = value.get_ptr<const Json::number_integer_t*>();
  return number == nullptr ? otherwise : *number;
}

std::string_view type_of(const Json& object) noexcept {
  return text_member(object, "type");
}

Error unsupported_part(std::string_view section, std::string_view what) {
  return Error{
      .code = ErrorCode::kUnsupported,
      .id = "tokenizer_part",
      .message = cat("tokenizer.json: the ", section, " has ", what, ", which wick does not build"),
      .hint = "docs/tokenizers.md lists what it does; a GGUF file of the model may work"};
}

Error corrupt_json(std::string what) {
  return Error{.code = ErrorCode::kCorrupt,
               .id = "tokenizer_json",
               .message = cat("tokenizer.json is damaged: ", what),
               .hint = "fetch the file again"};
}

std::string TokenSpelling::shown(std::string_view text, std::optional<TextEdge> edge) const {
  if (!blank.empty() && text == blank) return {};
  std::string out;
  if (is_byte_level) {
    if (!append_unspelled(out, text)) out = text;
    return out;
  }
  if (has_words && edge != TextEdge::kStart) {
    const bool goes_on = !continuing_prefix.empty() && text.starts_with(continuing_prefix);
    if (!goes_on) out = " ";
    text.remove_prefix(goes_on ? continuing_prefix.size() : 0);
  }
  out += text;
  if (!start_mark.empty() && edge == TextEdge::kStart) replace_all(out, start_mark, "");
  for (const auto& [from, to] : replaced)
    replace_all(out, from, to);
  if (!word_end.empty()) replace_all(out, word_end, edge == TextEdge::kEnd ? "" : " ");
  return cleans_up ? cleaned_up(std::move(out)) : out;
}

void HuggingFaceContext::add_token(const HuggingFaceFile::Entry& entry) const {
  const auto byte = byte_of_token(entry.text);
  if (!entry.is_there) {
    parts.vocab.add({}, TokenKind::kUnused);
  } else if (entry.kind == TokenKind::kNormal && byte &&
             flag_member(model(), "byte_fallback", false)) {
    const char raw = static_cast<char>(*byte);
    parts.vocab.add(std::string_view(&raw, 1), TokenKind::kByte);
  } else if (entry.kind == TokenKind::kControl ||
             (entry.kind == TokenKind::kUserDefined && spelling.is_byte_level)) {
    parts.vocab.add(entry.text, entry.kind);
  } else {
    note_edges(entry.text);
    parts.vocab.add(spelling.shown(entry.text), entry.kind);
  }
}

void HuggingFaceContext::note_edges(std::string_view text) const {
  const std::string shown = spelling.shown(text);
  const auto note = [&](TextEdge edge, std::string_view usual) {
    std::string here = spelling.shown(text, edge);
    if (here == usual) return;
    parts.edge_texts[static_cast<std::size_t>(edge)].emplace(parts.vocab.size(), std::move(here));
  };
  if (spelling.has_words || !spelling.start_mark.empty()) {
    note(TextEdge::kStart, std::string_view(shown).substr(shown.starts_with(' ') ? 1 : 0));
  }
  if (!spelling.word_end.empty()) {
    note(TextEdge::kEnd, std::string_view(shown).substr(0, shown.size() - shown.ends_with(' ')));
  }
}

TokenId HuggingFaceContext::find(std::string_view text) const noexcept {
  for (std::size_t i = 0; i < file.entries.size(); ++i) {
    if (file.entries[i].is_there && file.entries[i].text == text) return static_cast<TokenId>(i);
  }
  return -1;
}

void HuggingFaceContext::spell_bytes() const {
  Normalizer rewriting;
  rewriting.add(make_byte_alphabet());
  parts.pre.add(std::move(rewriting));
}

Result<TokenizerParts> load_huggingface_tokenizer(std::string_view json, const Metadata& meta) {
  WICK_TRY(const TokenSettings settings, TokenSettings::read(meta));
  HuggingFaceFile file(json);
  WICK_DO(read_huggingface_file(file, more_added(settings)));
  const Json& root = file.root;
  TokenizerParts parts;
  bool is_byte_level = false;
  TokenSpelling spelling;
  WICK_DO(read_normalizer(member(root, "normalizer"), parts.normalizer));
  WICK_DO(read_pre_tokenizer(member(root, "pre_tokenizer"), parts, is_byte_level));
  WICK_DO(read_decoder(member(root, "decoder"), spelling, parts.decoding));
  WICK_DO(read_model({file, spelling, is_byte_level, parts}));
  WICK_DO(read_added(file, parts));
  WICK_DO(read_post_processor(member(root, "post_processor"), parts));
  const auto id_of = [&](const char* key, const char* name) {
    return parts.vocab.checked(meta.integer(key).value_or(id_of_added(root, settings.named(name))));
  };
  parts.bos = id_of("tokenizer.ggml.bos_token_id", "bos_token");
  parts.eos = id_of("tokenizer.ggml.eos_token_id", "eos_token");
  find_ends(meta, parts);
  return parts;
}

}  // namespace wick
