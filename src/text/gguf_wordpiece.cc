// tokenizer.ggml.model "bert". The converter rewrites the texts: a token that starts a word is
// "▁word", one that goes on is bare; control tokens stand as they are.
#include "base/strings.h"
#include "text/gguf_vocab.h"
#include "text/limits.h"
#include "text/wordpiece_parts.h"

namespace wick {
namespace {

constexpr std::string_view kStartMark = "▁";

}  // namespace

Result<void> fill_gguf_wordpiece(const Metadata& meta, GgufVocab& gguf, TokenizerParts& parts) {
  WordPieceModel& model = parts.model.emplace<WordPieceModel>();
  std::vector<ByteTrie::Key> starts;
  std::vector<ByteTrie::Key> continuations;
  for (std::size_t i = 0; i < gguf.texts.size(); ++i) {
    const std::string_view text = gguf.texts[i];
    const bool is_word = gguf.kinds[i] == TokenKind::kNormal;
    const bool is_start = is_word && text.starts_with(kStartMark);
    const std::string_view word = is_start ? text.substr(kStartMark.size()) : text;
    if (is_word) {
      (is_start ? starts : continuations).push_back({word, static_cast<std::int32_t>(i)});
    }
    parts.vocab.add(is_start ? cat(" ", word) : std::string(word), gguf.kinds[i]);
  }
  WICK_DO(build_wordpiece(std::move(starts), std::move(continuations), model));
  const bool lowers = meta.boolean("tokenizer.ggml.normalizer.lowercase").value_or(true);
  const bool strips = meta.boolean("tokenizer.ggml.normalizer.strip_accents").value_or(lowers);
  parts.normalizer.add(make_bert({.strips_accents = strips, .lowers = lowers}));
  WICK_DO(add_bert_splits(parts.pre));
  parts.decoding.strips_leading_space = true;

  const auto id_of = [&](std::string_view key, std::int64_t otherwise) {
    const std::int64_t id = meta.integer(key).value_or(otherwise);
    return id >= 0 && id < parts.vocab.size() ? static_cast<TokenId>(id) : TokenId{-1};
  };
  model.unknown = id_of("tokenizer.ggml.unknown_token_id", 100);
  if (model.unknown >= 0) parts.vocab.set_kind(model.unknown, TokenKind::kUnknown);
  const TokenId cls = id_of("tokenizer.ggml.cls_token_id", 101);
  const TokenId sep = id_of("tokenizer.ggml.seperator_token_id", 102);  // spelled so in GGUF
  parts.bos = id_of("tokenizer.ggml.bos_token_id", cls);
  parts.eos = id_of("tokenizer.ggml.eos_token_id", sep);
  const bool adds_bos = meta.boolean("tokenizer.ggml.add_bos_token").value_or(true);
  const bool adds_sep = meta.boolean("tokenizer.ggml.add_sep_token").value_or(true);
  if (adds_bos && parts.bos >= 0) parts.prefix.push_back(parts.bos);
  if (adds_sep && sep >= 0) parts.suffix.push_back(sep);
  return {};
}

}  // namespace wick
