// The models "WordPiece" and "WordLevel" of tokenizer.json.
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "text/huggingface_json.h"
#include "text/limits.h"
#include "text/wordpiece_parts.h"

namespace wick {
namespace {

constexpr std::int64_t kMaxWordChars = 1'000'000;

// Appends all tokens; without a decoder, Hugging Face shows them with spaces between.
std::vector<ByteTrie::Key> read_words(const HuggingFaceContext& context) {
  if (context.is_byte_level) context.spell_bytes();
  TokenSpelling spaced = context.spelling;
  if (!spaced.has_decoder) {
    spaced.has_words = true;
    spaced.replaced.clear();
  }
  if (spaced.has_words) context.parts.decoding.strips_leading_space = true;
  const HuggingFaceContext shown{context.file, spaced, context.is_byte_level, context.parts};
  std::vector<ByteTrie::Key> words;
  for (std::size_t i = 0; i < context.file.entries.size(); ++i) {
    const auto& entry = context.file.entries[i];
    shown.add_token(entry);
    const bool is_word = entry.is_word && entry.kind != TokenKind::kControl;
    if (is_word) words.push_back({entry.text, static_cast<std::int32_t>(i)});
  }
  return words;
}

TokenId read_unknown(const HuggingFaceContext& context) {
  const std::string_view text = text_member(context.model(), "unk_token");
  const TokenId unknown = context.find(text.empty() ? "[UNK]" : text);
  if (unknown >= 0) context.parts.vocab.set_kind(unknown, TokenKind::kUnknown);
  return unknown;
}

Error too_large() {
  return corrupt_json(cat("the vocabulary's trie has more than ", kMaxTrieNodes, " nodes"));
}

}  // namespace

Result<void> read_wordpiece_model(const HuggingFaceContext& context) {
  WordPieceModel& model = context.parts.model.emplace<WordPieceModel>();
  const Json& node = context.model();
  const std::string_view prefix = member(node, "continuing_subword_prefix").is_string()
                                      ? text_member(node, "continuing_subword_prefix")
                                      : "##";
  const std::int64_t most = integer_member(node, "max_input_chars_per_word", 100);
  if (most < 0 || most > kMaxWordChars) {
    return corrupt_json(
        cat("max_input_chars_per_word is ", most, ", wick takes 0 to ", kMaxWordChars));
  }
  model.max_word_chars = static_cast<std::size_t>(most);
  std::vector<ByteTrie::Key> starts = read_words(context);
  std::vector<ByteTrie::Key> continuations;
  for (const ByteTrie::Key& key : starts) {
    if (!key.text.starts_with(prefix)) continue;
    continuations.push_back({key.text.substr(prefix.size()), key.number});
  }
  model.unknown = read_unknown(context);
  if (!model.build(std::move(starts), std::move(continuations))) return too_large();
  return {};
}

Result<void> read_wordlevel_model(const HuggingFaceContext& context) {
  WordLevelModel& model = context.parts.model.emplace<WordLevelModel>();
  std::vector<ByteTrie::Key> words = read_words(context);
  model.unknown = read_unknown(context);
  if (!model.build(std::move(words))) return too_large();
  return {};
}

}  // namespace wick
