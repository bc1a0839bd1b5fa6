// The "Unigram" model of tokenizer.json.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "text/huggingface_json.h"
#include "text/limits.h"

namespace wick {

Result<void> read_unigram_model(const HuggingFaceContext& context) {
  const auto& entries = context.file.entries;
  if (context.is_byte_level) context.spell_bytes();
  UnigramModel& model = context.parts.model.emplace<UnigramModel>();
  const std::int64_t unknown = integer_member(context.model(), "unk_id", -1);
  if (unknown >= static_cast<std::int64_t>(entries.size())) {
    return corrupt_json(cat("unk_id is ", unknown, ", of ", entries.size(), " tokens"));
  }
  std::vector<ByteTrie::Key> keys;
  bool is_first = true;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& entry = entries[i];
    const auto id = static_cast<TokenId>(i);
    context.add_token(entry);
    model.scores.push_back(entry.score);
    if (i < context.file.n_vocab) {
      model.lowest_score = is_first ? entry.score : std::min(model.lowest_score, entry.score);
      is_first = false;
    }
    // Control tokens are for trusted text alone, and a byte's token stands for no text "<0x41>".
    const TokenKind kind = context.parts.vocab.kind(id);
    const bool is_word = kind == TokenKind::kNormal || kind == TokenKind::kUserDefined;
    if (is_word && id != unknown && i < context.file.n_vocab) keys.push_back({entry.text, id});
    const std::string_view bytes = context.parts.vocab.bytes(id);
    if (kind == TokenKind::kByte) model.byte_ids[static_cast<unsigned char>(bytes[0])] = id;
  }
  if (unknown >= 0) {
    model.unknown = static_cast<TokenId>(unknown);
    context.parts.vocab.set_kind(model.unknown, TokenKind::kUnknown);
  }
  if (model.build(std::move(keys))) return {};
  return corrupt_json(cat("the vocabulary's trie has more than ", kMaxTrieNodes, " nodes"));
}

}  // namespace wick
