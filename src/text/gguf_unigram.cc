// tokenizer.ggml.model "t5": a SentencePiece Unigram model under GGUF's keys.
#include "base/strings.h"
#include "text/gguf_vocab.h"
#include "text/sentencepiece_spec.h"

namespace wick {
namespace {

// An array of bytes, of either sign.
std::string read_charsmap(const Metadata& meta) {
  std::string bytes;
  for (const std::int64_t byte :
       meta.integers("tokenizer.ggml.precompiled_charsmap").value_or(std::vector<std::int64_t>())) {
    bytes += static_cast<char>(static_cast<std::uint8_t>(byte & 0xFF));
  }
  return bytes;
}

}  // namespace

Result<void> fill_gguf_unigram(const Metadata& meta, GgufVocab& gguf, TokenizerParts& parts) {
  const auto scores = meta.numbers("tokenizer.ggml.scores");
  if (!scores || scores->size() != gguf.texts.size()) {
    return corrupt_vocab(cat("tokenizer.ggml.scores has ", scores ? scores->size() : 0,
                             " entries for ", gguf.texts.size(), " tokens"));
  }
  const std::int64_t unknown = meta.integer("tokenizer.ggml.unknown_token_id").value_or(2);
  SentencePieceSpec spec;
  for (std::size_t i = 0; i < gguf.texts.size(); ++i) {
    TokenKind& kind = gguf.kinds[i];
    if (static_cast<std::int64_t>(i) == unknown) kind = TokenKind::kUnknown;
    if (kind == TokenKind::kByte) spec.has_byte_fallback = true;
    spec.pieces.push_back({gguf.texts[i], static_cast<float>((*scores)[i]), kind});
  }
  const std::string charsmap = read_charsmap(meta);
  spec.charsmap = charsmap;
  spec.adds_prefix = meta.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
  spec.removes_extra_spaces =
      meta.boolean("tokenizer.ggml.remove_extra_whitespaces").value_or(false);
  std::vector<AddedToken> ignored;  // fill_added_tokens() finds them for every family
  WICK_DO(fill_sentencepiece(spec, parts, ignored));
  fill_special_ids(meta, {.adds_eos = true, .eos = 1}, parts);
  return {};
}

}  // namespace wick
