#include "text/gguf_vocab.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/strings.h"
#include "text/limits.h"
#include "text/sentencepiece_spec.h"
#include "text/wordpiece.h"

namespace wick {

namespace {

// Texts that only a control token can have. Some files call them ordinary.
bool is_control_text(std::string_view text) noexcept {
  constexpr std::string_view kTexts[] = {"<|im_start|>",  "<|im_end|>",      "<|eot_id|>",
                                         "<|endoftext|>", "<start_of_turn>", "<end_of_turn>",
                                         "<|eom_id|>",    "<|end_of_text|>", "<|begin_of_text|>"};
  return std::find(std::begin(kTexts), std::end(kTexts), text) != std::end(kTexts);
}

Result<void> read_kinds(const Metadata& meta, GgufVocab& vocab) {
  vocab.kinds.assign(vocab.texts.size(), TokenKind::kNormal);
  if (!meta.has("tokenizer.ggml.token_type")) return {};
  const auto types = meta.integers("tokenizer.ggml.token_type");
  if (!types || types->size() != vocab.texts.size()) {
    return corrupt_vocab(cat("tokenizer.ggml.token_type has ", types ? types->size() : 0,
                             " entries for ", vocab.texts.size(), " tokens"));
  }
  vocab.has_kinds = true;
  for (std::size_t i = 0; i < types->size(); ++i) {
    const auto kind = kind_of_type((*types)[i]);
    if (!kind) {
      return corrupt_vocab(cat("token ", i, " is of type ", (*types)[i], ", GGUF knows 0 to 6"));
    }
    vocab.kinds[i] = *kind;
  }
  return {};
}

// Phi-3's control tokens swallow the white space after them; GGUF does not say so.
bool takes_right_space(const Metadata& meta, std::string_view text) {
  return meta.string("general.architecture").value_or("") == "phi3" &&
         meta.string("tokenizer.ggml.model").value_or("") == "llama" && text != "<unk>" &&
         text != "<s>" && text != "<|endoftext|>";
}

}  // namespace

std::optional<TokenKind> kind_of_type(std::int64_t type) noexcept {
  constexpr TokenKind kKinds[] = {TokenKind::kNormal,  TokenKind::kNormal,      TokenKind::kUnknown,
                                  TokenKind::kControl, TokenKind::kUserDefined, TokenKind::kUnused,
                                  TokenKind::kByte};
  if (type < 0 || type >= static_cast<std::int64_t>(std::size(kKinds))) return std::nullopt;
  return kKinds[type];
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, done)) {
    out.append(text, done, at - done);
    out += to;
    done = at + from.size();
  }
  if (done == 0) return;
  out.append(text, done);
  text = std::move(out);
}

Error corrupt_vocab(std::string what) {
  return Error{.code = ErrorCode::kCorrupt,
               .id = "tokenizer_vocab",
               .message = cat("the tokenizer in this file is damaged: ", what),
               .hint = "fetch the file again, or another conversion of the model"};
}

Error too_large_trie() {
  return corrupt_vocab(cat("its trie has more than ", kMaxTrieNodes, " nodes"));
}

Error collision(std::string_view what) {
  return corrupt_vocab(cat(what, " are made to collide in a hash table"));
}

std::optional<std::uint8_t> byte_of_token(std::string_view text) noexcept {
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text.back() != '>') return std::nullopt;
  std::uint8_t byte = 0;
  const char* const end = text.data() + 5;
  const auto parsed = std::from_chars(text.data() + 3, end, byte, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return byte;
}

Result<std::uint8_t> add_byte_token(std::string_view text, Vocab& vocab) {
  const auto byte = byte_of_token(text);
  if (!byte) {
    return corrupt_vocab(cat("token ", vocab.size(), " is called a byte but written '",
                             printable(text), "', not '<0xHH>'"));
  }
  const char raw = static_cast<char>(*byte);
  vocab.add(std::string_view(&raw, 1), TokenKind::kByte);
  return *byte;
}

Result<void> check_added_text(std::string_view text, std::size_t id) {
  if (text.size() <= kMaxAddedTokenBytes) return {};
  return corrupt_vocab(cat("token ", id, ", which is matched in text, has ", text.size(),
                           " bytes, wick takes ", kMaxAddedTokenBytes));
}

Result<std::vector<double>> read_scores(const Metadata& meta, std::size_t n) {
  auto scores = meta.numbers("tokenizer.ggml.scores");
  if (scores && scores->size() == n) return *std::move(scores);
  return corrupt_vocab(cat("tokenizer.ggml.scores has ", scores ? scores->size() : 0,
                           " entries for ", n, " tokens"));
}

Result<GgufVocab> read_gguf_vocab(const Metadata& meta) {
  GgufVocab vocab;
  auto texts = meta.strings("tokenizer.ggml.tokens");
  if (!texts || texts->empty() || texts->size() > kMaxTokens) {
    return corrupt_vocab(cat("tokenizer.ggml.tokens has ", texts ? texts->size() : 0,
                             " entries, wick takes 1 to ", kMaxTokens));
  }
  vocab.texts = *std::move(texts);
  for (std::size_t i = 0; i < vocab.texts.size(); ++i) {
    const std::size_t bytes = vocab.texts[i].size();
    vocab.total_bytes += bytes;
    if (bytes > kMaxTokenBytes || vocab.total_bytes > kMaxVocabBytes) {
      return corrupt_vocab(cat("token ", i, " has ", bytes, " bytes, wick takes ", kMaxTokenBytes,
                               ", and ", kMaxVocabBytes, " of all tokens together"));
    }
  }
  WICK_DO(read_kinds(meta, vocab));
  for (std::size_t i = 0; i < vocab.texts.size(); ++i) {
    if (vocab.kinds[i] == TokenKind::kNormal && is_control_text(vocab.texts[i])) {
      vocab.kinds[i] = TokenKind::kControl;
    }
  }
  return vocab;
}

Result<void> add_pre_tokenizer(const PreTokenizerInfo& info, TokenizerParts& parts) {
  if (info.is_nfc) parts.normalizer.add(make_form(UnicodeForm::kNfc));
  for (const std::string_view pattern : info.patterns) {
    WICK_TRY(Pattern compiled, Pattern::compile(pattern));
    parts.pre.add({.pattern = std::move(compiled)});
  }
  return {};
}

void fill_special_ids(const Metadata& meta, const SpecialDefaults& defaults,
                      TokenizerParts& parts) {
  const auto id_of = [&](std::string_view key, TokenId other) {
    return parts.vocab.checked(meta.integer(key).value_or(other));
  };
  parts.bos = id_of("tokenizer.ggml.bos_token_id", defaults.bos);
  parts.eos = id_of("tokenizer.ggml.eos_token_id", defaults.eos);
  const bool adds_bos = meta.boolean("tokenizer.ggml.add_bos_token").value_or(defaults.adds_bos);
  const bool adds_eos = meta.boolean("tokenizer.ggml.add_eos_token").value_or(defaults.adds_eos);
  if (adds_bos && parts.bos >= 0) parts.prefix.push_back(parts.bos);
  if (adds_eos && parts.eos >= 0) parts.suffix.push_back(parts.eos);
}

Result<void> fill_added_tokens(const Metadata& meta, const GgufVocab& gguf, TokenizerParts& parts) {
  std::vector<AddedToken> added;
  for (std::size_t i = 0; i < gguf.texts.size(); ++i) {
    const TokenKind kind = gguf.kinds[i];
    const bool is_control = kind == TokenKind::kControl || kind == TokenKind::kUnknown;
    if (!is_control && kind != TokenKind::kUserDefined) continue;
    const std::string_view text = gguf.texts[i];
    WICK_DO(check_added_text(text, i));
    added.push_back({.text = std::string(text),
                     .id = static_cast<TokenId>(i),
                     .is_control = is_control,
                     .takes_right_space = takes_right_space(meta, text)});
  }
  if (!parts.added.build(std::move(added))) return too_large_trie();
  return {};
}

// tokenizer.ggml.model "t5": a SentencePiece Unigram model under GGUF's keys.

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
  WICK_TRY(const std::vector<double> scores, read_scores(meta, gguf.texts.size()));
  const std::int64_t unknown = meta.integer("tokenizer.ggml.unknown_token_id").value_or(2);
  SentencePieceSpec spec;
  for (std::size_t i = 0; i < gguf.texts.size(); ++i) {
    TokenKind& kind = gguf.kinds[i];
    if (static_cast<std::int64_t>(i) == unknown) kind = TokenKind::kUnknown;
    if (kind == TokenKind::kByte) spec.has_byte_fallback = true;
    spec.pieces.push_back({gguf.texts[i], static_cast<float>(scores[i]), kind});
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

// tokenizer.ggml.model "bert". The converter rewrites the texts: a token that starts a word is
// "▁word", one that goes on is bare; control tokens stand as they are.

Result<void> fill_gguf_wordpiece(const Metadata& meta, GgufVocab& gguf, TokenizerParts& parts) {
  WordPieceModel& model = parts.model.emplace<WordPieceModel>();
  std::vector<ByteTrie::Key> starts;
  std::vector<ByteTrie::Key> continuations;
  for (std::size_t i = 0; i < gguf.texts.size(); ++i) {
    const std::string_view text = gguf.texts[i];
    const bool is_word = gguf.kinds[i] == TokenKind::kNormal;
    const bool is_start = is_word && text.starts_with(kSpaceMark);
    const std::string_view word = is_start ? text.substr(kSpaceMark.size()) : text;
    if (is_word) {
      (is_start ? starts : continuations).push_back({word, static_cast<std::int32_t>(i)});
    }
    parts.vocab.add(is_start ? cat(" ", word) : std::string(word), gguf.kinds[i]);
  }
  if (!model.build(std::move(starts), std::move(continuations))) return too_large_trie();
  const bool lowers = meta.boolean("tokenizer.ggml.normalizer.lowercase").value_or(true);
  const bool strips = meta.boolean("tokenizer.ggml.normalizer.strip_accents").value_or(lowers);
  parts.normalizer.add(make_bert({.strips_accents = strips, .lowers = lowers}));
  WICK_DO(add_bert_splits(parts.pre));
  parts.decoding.strips_leading_space = true;

  const auto id_of = [&](std::string_view key, std::int64_t otherwise) {
    return parts.vocab.checked(meta.integer(key).value_or(otherwise));
  };
  model.unknown = id_of("tokenizer.ggml.unknown_token_id", 100);
  if (model.unknown >= 0) parts.vocab.set_kind(model.unknown, TokenKind::kUnknown);
  const TokenId sep = id_of("tokenizer.ggml.seperator_token_id", 102);  // spelled so in GGUF
  parts.bos = id_of("tokenizer.ggml.bos_token_id", id_of("tokenizer.ggml.cls_token_id", 101));
  parts.eos = id_of("tokenizer.ggml.eos_token_id", sep);
  const bool adds_bos = meta.boolean("tokenizer.ggml.add_bos_token").value_or(true);
  const bool adds_sep = meta.boolean("tokenizer.ggml.add_sep_token").value_or(true);
  const bool adds_eos = meta.boolean("tokenizer.ggml.add_eos_token").value_or(false);
  if (adds_bos && parts.bos >= 0) parts.prefix.push_back(parts.bos);
  if ((adds_sep || adds_eos) && sep >= 0) parts.suffix.push_back(sep);
  return {};
}

}  // namespace wick
