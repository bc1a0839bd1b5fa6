// tokenizer.ggml.* → TokenizerParts: byte-level BPE ("gpt2"), SentencePiece BPE by scores ("llama")
// and the same by merges ("gemma4").
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/strings.h"
#include "text/bpe_tokenizer.h"
#include "text/byte_alphabet.h"
#include "text/gguf_vocab.h"
#include "text/limits.h"

namespace wick {
namespace {

constexpr std::string_view kSpaceMark = "▁";  // SentencePiece's spelling of a space

// --- byte-level BPE -----------------------------------------------------------------------------

Result<void> add_word(TokenizerParts& parts, TokenId id, bool may_repeat) {
  const Vocab& texts = parts.model.spelled.size() > 0 ? parts.model.spelled : parts.vocab;
  const std::string_view text = texts.bytes(id);
  if (text.empty()) return {};
  const auto text_of = [&](TokenId other) { return texts.bytes(other); };
  const auto added = parts.model.words.add(text, id, text_of);
  if (added == StringIndex::Added::kTooManyCollisions) {
    return corrupt_vocab("the texts of the tokens are made to collide in a hash table");
  }
  if (added == StringIndex::Added::kAlreadyThere && !may_repeat) {
    return corrupt_vocab(cat("token ", id, " repeats token ", parts.model.words.find(text, text_of),
                             ", '", printable(text), "'"));
  }
  parts.model.longest_word = std::max(parts.model.longest_word, text.size());
  return {};
}

// Whether merges may make the token: control tokens are for trusted text alone.
bool is_word_kind(TokenKind kind) noexcept {
  return kind == TokenKind::kNormal || kind == TokenKind::kUnused;
}

Result<void> fill_byte_level_vocab(const GgufVocab& gguf, TokenizerParts& parts) {
  parts.vocab.reserve(gguf.texts.size(), gguf.total_bytes);
  parts.model.words.reserve(gguf.texts.size());
  std::vector<TokenId> not_spelled;
  for (std::size_t i = 0; i < gguf.texts.size(); ++i) {
    const TokenKind kind = gguf.kinds[i];
    const auto id = static_cast<TokenId>(i);
    const bool is_word = is_word_kind(kind);
    const bool is_spelled = is_word && append_unspelled(parts.vocab.arena(), gguf.texts[i]);
    if (!is_spelled) parts.vocab.arena() += gguf.texts[i];
    parts.vocab.seal(kind);
    if (is_spelled) WICK_DO(add_word(parts, id, false));
    if (is_word && !is_spelled) not_spelled.push_back(id);
  }
  // Some files hold a text as it is beside the same text in the byte alphabet, which is the one
  // that merges make.
  for (const TokenId id : not_spelled) {
    WICK_DO(add_word(parts, id, true));
  }
  for (int byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    parts.model.byte_ids[static_cast<std::size_t>(byte)] =
        parts.model.find(std::string_view(&text, 1), parts.vocab);
  }
  return {};
}

// A quarter of all halves are single bytes, which need no hashing.
TokenId find_half(std::string_view text, const TokenizerParts& parts) {
  if (text.size() == 1) return parts.model.byte_ids[static_cast<unsigned char>(text[0])];
  return parts.model.find(text, parts.vocab);
}

// A merge is "LEFT RIGHT". One that names no tokens can never happen and is passed over, as
// llama.cpp does: some files carry such lines.
Result<void> fill_merges(const Metadata& meta, TokenizerParts& parts) {
  const auto merges = meta.strings("tokenizer.ggml.merges");
  if (!merges) {
    return corrupt_vocab("tokenizer.ggml.merges is missing, a gpt2 tokenizer needs it");
  }
  if (merges->size() > kMaxMerges) {
    return corrupt_vocab(
        cat("tokenizer.ggml.merges has ", merges->size(), " entries, wick takes ", kMaxMerges));
  }
  parts.model.pairs.reserve(merges->size());
  std::string both;
  TokenId guess = 0;  // most often, the tokens stand in the order of their merges
  for (std::size_t rank = 0; rank < merges->size(); ++rank) {
    const std::string_view line = (*merges)[rank];
    const std::size_t gap = line.find(' ', 1);
    if (gap == std::string_view::npos || line.size() > 2 * kMaxTokenBytes) continue;
    both.clear();
    if (!append_unspelled(both, line.substr(0, gap))) continue;
    const std::size_t left_bytes = both.size();
    if (!append_unspelled(both, line.substr(gap + 1))) continue;
    const std::string_view text = both;
    if (text != parts.vocab.bytes(guess) || !is_word_kind(parts.vocab.kind(guess))) {
      guess = parts.model.find(text, parts.vocab);
    }
    const TokenId merged = guess++;
    const TokenId left = find_half(text.substr(0, left_bytes), parts);
    const TokenId right = find_half(text.substr(left_bytes), parts);
    if (merged < 0 || left < 0 || right < 0) continue;
    if (!parts.model.pairs.add(left, right, {static_cast<std::uint32_t>(rank), merged})) {
      return corrupt_vocab("the merges are made to collide in a hash table");
    }
  }
  return {};
}

Result<void> fill_byte_level(const Metadata& meta, const GgufVocab& gguf, TokenizerParts& parts) {
  const std::string_view name = meta.string("tokenizer.ggml.pre").value_or("default");
  const auto info = find_pre_tokenizer(name);
  if (!info) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "tokenizer_pre",
                 .message = cat("tokenizer.ggml.pre is '", printable(name),
                                "', a pre-tokenizer that wick does not know"),
                 .hint = "docs/tokenizers.md lists those that it knows"};
  }
  for (const std::string_view pattern : info->patterns) {
    WICK_TRY(Pattern compiled, Pattern::compile(pattern));
    parts.pre.add({.pattern = std::move(compiled)});
  }
  if (info->is_nfc) parts.normaliser.push_back({.kind = NormaliserStep::Kind::kNfc});
  parts.model.ignore_merges = info->ignore_merges;
  WICK_DO(fill_byte_level_vocab(gguf, parts));
  WICK_DO(fill_merges(meta, parts));
  fill_special_ids(meta, {.adds_bos = info->adds_bos}, parts);
  return {};
}

// --- SentencePiece BPE --------------------------------------------------------------------------

// Dense ranks from scores: the best is 0, equals share one.
Result<std::vector<std::uint32_t>> ranks_of(const Metadata& meta, std::size_t n) {
  std::vector<std::uint32_t> ranks(n);
  // Gemma's scores do not follow the order in which its merges were learned; the ids do.
  if (meta.string("general.architecture").value_or("").substr(0, 5) == "gemma") {
    std::iota(ranks.begin(), ranks.end(), 0U);
    return ranks;
  }
  const auto scores = meta.numbers("tokenizer.ggml.scores");
  if (!scores || scores->size() != n) {
    return corrupt_vocab(cat("tokenizer.ggml.scores has ", scores ? scores->size() : 0,
                             " entries for ", n, " tokens"));
  }
  std::vector<TokenId> order(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite((*scores)[i])) {
      return corrupt_vocab(cat("the score of token ", i, " is not a finite number"));
    }
    order[i] = static_cast<TokenId>(i);
  }
  const auto score = [&](TokenId id) { return (*scores)[static_cast<std::size_t>(id)]; };
  std::sort(order.begin(), order.end(), [&](TokenId a, TokenId b) { return score(a) > score(b); });
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0 && score(order[i]) != score(order[i - 1])) ++rank;
    ranks[static_cast<std::size_t>(order[i])] = rank;
  }
  return ranks;
}

std::string with_spaces(std::string_view text) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t next = text.find(kSpaceMark, at);
    out += text.substr(at, next - at);
    if (next == std::string_view::npos) return out;
    out += ' ';
    at = next + kSpaceMark.size();
  }
}

// Gemma's runs of spaces are written with spaces and called user-defined; they are words.
bool is_run_of_spaces(std::string_view text) noexcept {
  return text.size() > 1 && text.find_first_not_of(' ') == std::string_view::npos;
}

Result<void> fill_sentencepiece_vocab(GgufVocab& gguf, TokenizerParts& parts) {
  BpeModel& model = parts.model;
  const std::size_t n = gguf.texts.size();
  parts.vocab.reserve(n, gguf.total_bytes);
  model.spelled.reserve(n, gguf.total_bytes);
  model.words.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string_view text = gguf.texts[i];
    const auto byte = byte_of_token(text);
    TokenKind& kind = gguf.kinds[i];
    if (kind == TokenKind::kByte || (!gguf.has_kinds && byte)) {
      kind = TokenKind::kByte;
      if (!byte) {
        return corrupt_vocab(cat("token ", i, " is called a byte but written '", printable(text),
                                 "', not '<0xHH>'"));
      }
      model.byte_ids[*byte] = static_cast<TokenId>(i);
      const char raw = static_cast<char>(*byte);
      parts.vocab.add(std::string_view(&raw, 1), kind);
      model.spelled.add({}, kind);
      continue;
    }
    if (kind == TokenKind::kUserDefined && is_run_of_spaces(text)) kind = TokenKind::kNormal;
    const bool is_word = is_word_kind(kind) || kind == TokenKind::kUserDefined;
    parts.vocab.add(is_word ? with_spaces(text) : std::string(text), kind);
    std::string spelled;
    if (is_word && is_run_of_spaces(text)) {
      for (std::size_t k = 0; k < text.size(); ++k) {
        spelled += kSpaceMark;
      }
    } else if (is_word) {
      spelled = text;
    }
    model.spelled.add(spelled, kind);
  }
  for (std::size_t i = 0; i < n; ++i) {
    WICK_DO(add_word(parts, static_cast<TokenId>(i), is_run_of_spaces(gguf.texts[i])));
  }
  return {};
}

// What a character without a token becomes. Some files call it a control token, which no text of a
// person may become.
void set_unknown(const Metadata& meta, TokenId otherwise, TokenizerParts& parts) {
  const std::int64_t id = meta.integer("tokenizer.ggml.unknown_token_id").value_or(otherwise);
  if (id < 0 || id >= parts.vocab.size()) return;
  parts.model.unknown = static_cast<TokenId>(id);
  if (parts.vocab.kind(parts.model.unknown) == TokenKind::kControl) {
    parts.vocab.set_kind(parts.model.unknown, TokenKind::kUnknown);
  }
}

// Merges of characters, as Gemma 4 has them: halves may hold line breaks, never a space.
Result<void> fill_character_merges(const Metadata& meta, TokenizerParts& parts) {
  const auto merges = meta.strings("tokenizer.ggml.merges");
  if (!merges || merges->size() > kMaxMerges) {
    return corrupt_vocab(cat("tokenizer.ggml.merges is missing or has more than ", kMaxMerges,
                             " entries, a gemma4 tokenizer needs it"));
  }
  BpeModel& model = parts.model;
  model.pairs.reserve(merges->size());
  std::string both;
  for (std::size_t rank = 0; rank < merges->size(); ++rank) {
    const std::string_view line = (*merges)[rank];
    const std::size_t gap = line.find(' ', 1);
    if (gap == std::string_view::npos || line.size() > 2 * kMaxTokenBytes) continue;
    both = line.substr(0, gap);
    both += line.substr(gap + 1);
    const TokenId left = model.find(line.substr(0, gap), parts.vocab);
    const TokenId right = model.find(line.substr(gap + 1), parts.vocab);
    const TokenId merged = model.find(both, parts.vocab);
    if (merged < 0 || left < 0 || right < 0) continue;
    if (!model.pairs.add(left, right, {static_cast<std::uint32_t>(rank), merged})) {
      return corrupt_vocab("the merges are made to collide in a hash table");
    }
  }
  return {};
}

Result<void> fill_gemma4(const Metadata& meta, GgufVocab& gguf, TokenizerParts& parts) {
  BpeModel& model = parts.model;
  model.alphabet = BpeModel::Alphabet::kCharacters;
  model.fuse_unknown = true;
  WICK_DO(fill_sentencepiece_vocab(gguf, parts));
  WICK_DO(fill_character_merges(meta, parts));
  set_unknown(meta, 3, parts);
  parts.normaliser.push_back(
      {.kind = NormaliserStep::Kind::kReplace, .from = " ", .to = std::string(kSpaceMark)});
  fill_special_ids(meta, {.adds_bos = true, .bos = 2, .eos = 1}, parts);
  return {};
}

Result<void> fill_sentencepiece(const Metadata& meta, GgufVocab& gguf, TokenizerParts& parts) {
  BpeModel& model = parts.model;
  model.alphabet = BpeModel::Alphabet::kCharacters;
  model.by_score = true;
  model.fuse_unknown = true;
  WICK_DO(fill_sentencepiece_vocab(gguf, parts));
  WICK_TRY(model.ranks, ranks_of(meta, gguf.texts.size()));
  set_unknown(meta, 0, parts);
  const bool has_prefix = meta.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
  if (has_prefix) {
    parts.normaliser.push_back(
        {.kind = NormaliserStep::Kind::kPrepend, .to = std::string(kSpaceMark)});
  }
  parts.normaliser.push_back(
      {.kind = NormaliserStep::Kind::kReplace, .from = " ", .to = std::string(kSpaceMark)});
  parts.strips_leading_space = has_prefix;
  fill_special_ids(meta, {.adds_bos = true, .bos = 1, .eos = 2}, parts);
  return {};
}

}  // namespace

Result<TokenizerParts> load_gguf_tokenizer(const Metadata& meta) {
  const auto model = meta.string("tokenizer.ggml.model");
  if (!model) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "tokenizer_missing",
                 .message = "the model file holds no tokenizer: tokenizer.ggml.model is missing"};
  }
  if (*model != "gpt2" && *model != "llama" && *model != "gemma4") {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "tokenizer_model",
                 .message = cat("tokenizer.ggml.model is '", printable(*model),
                                "', wick reads 'gpt2', 'llama' and 'gemma4'")};
  }
  WICK_TRY(GgufVocab gguf, read_gguf_vocab(meta));
  TokenizerParts parts;
  if (*model == "gpt2") {
    WICK_DO(fill_byte_level(meta, gguf, parts));
  } else if (*model == "gemma4") {
    WICK_DO(fill_gemma4(meta, gguf, parts));
  } else {
    WICK_DO(fill_sentencepiece(meta, gguf, parts));
  }
  WICK_DO(fill_added_tokens(meta, gguf, parts));
  find_ends(meta, parts);
  return parts;
}

}  // namespace wick
