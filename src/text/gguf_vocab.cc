#include "text/gguf_vocab.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/strings.h"
#include "text/limits.h"

namespace wick {
namespace {

// GGUF's token types; 0 stands in some old files for "not said".
std::optional<TokenKind> kind_of(std::int64_t type) noexcept {
  switch (type) {
    case 0:
    case 1:
      return TokenKind::kNormal;
    case 2:
      return TokenKind::kUnknown;
    case 3:
      return TokenKind::kControl;
    case 4:
      return TokenKind::kUserDefined;
    case 5:
      return TokenKind::kUnused;
    case 6:
      return TokenKind::kByte;
    default:
      return std::nullopt;
  }
}

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
    const auto kind = kind_of((*types)[i]);
    if (!kind) {
      return corrupt_vocab(cat("token ", i, " is of type ", (*types)[i], ", GGUF knows 0 to 6"));
    }
    vocab.kinds[i] = *kind;
  }
  return {};
}

// Phi-3's control tokens swallow the white space behind them; GGUF does not say so.
bool takes_right_space(const Metadata& meta, std::string_view text) {
  return meta.string("general.architecture").value_or("") == "phi3" &&
         meta.string("tokenizer.ggml.model").value_or("") == "llama" && text != "<unk>" &&
         text != "<s>" && text != "<|endoftext|>";
}

}  // namespace

Error corrupt_vocab(std::string what) {
  return Error{.code = ErrorCode::kCorrupt,
               .id = "tokenizer_vocab",
               .message = cat("the tokenizer in this file is damaged: ", what),
               .hint = "fetch the file again, or another conversion of the model"};
}

std::optional<std::uint8_t> byte_of_token(std::string_view text) noexcept {
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text.back() != '>') return std::nullopt;
  std::uint8_t byte = 0;
  const char* const end = text.data() + 5;
  const auto parsed = std::from_chars(text.data() + 3, end, byte, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return byte;
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

void fill_special_ids(const Metadata& meta, const SpecialDefaults& defaults,
                      TokenizerParts& parts) {
  const auto id_of = [&](std::string_view key, TokenId other) {
    const std::int64_t id = meta.integer(key).value_or(other);
    return id >= 0 && id < parts.vocab.size() ? static_cast<TokenId>(id) : TokenId{-1};
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
    if (text.size() > kMaxAddedTokenBytes) {
      return corrupt_vocab(cat("token ", i, ", which is matched in text, has ", text.size(),
                               " bytes, wick takes ", kMaxAddedTokenBytes));
    }
    added.push_back({.text = std::string(text),
                     .id = static_cast<TokenId>(i),
                     .is_control = is_control,
                     .takes_right_space = takes_right_space(meta, text)});
  }
  parts.added.build(std::move(added));
  return {};
}

}  // namespace wick
