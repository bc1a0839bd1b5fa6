// tokenizer.ggml.* → TokenizerParts: byte-level BPE ("gpt2"), SentencePiece BPE by scores ("llama")
// and the same by merges ("gemma4").
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/strings.h"
#include "text/bpe.h"
#include "text/byte_spelling.h"
#include "text/gguf_vocab.h"
#include "text/limits.h"
#include "text/pipeline.h"
#include "text/sentencepiece_spec.h"

namespace wick {
namespace {

// --- byte-level BPE -----------------------------------------------------------------------------

Result<void> fill_byte_level_vocab(const GgufVocab& gguf, TokenizerParts& parts, BpeModel& model) {
  parts.vocab.reserve(gguf.texts.size(), gguf.total_bytes);
  model.words.reserve(gguf.texts.size());
  std::vector<TokenId> spelled, not_spelled;
  spelled.reserve(gguf.texts.size());
  for (std::size_t i = 0; i < gguf.texts.size(); ++i) {
    const TokenKind kind = gguf.kinds[i];
    const bool is_word = is_word_kind(kind);
    const bool is_spelled = is_word && append_unspelled(parts.vocab.arena(), gguf.texts[i]);
    if (!is_spelled) parts.vocab.arena() += gguf.texts[i];
    parts.vocab.seal(kind);
    if (is_word) (is_spelled ? spelled : not_spelled).push_back(static_cast<TokenId>(i));
  }
  for (const TokenId id : spelled) {
    WICK_DO(add_word(id, false, parts.vocab, model));
  }
  // Some files hold a text as it is beside the same text in the byte alphabet, which is the one
  // that merges make.
  for (const TokenId id : not_spelled) {
    WICK_DO(add_word(id, true, parts.vocab, model));
  }
  fill_byte_ids(parts.vocab, model);
  return {};
}

// Some merges at a time: each step waits for memory, and those of all of them wait together.
class MergeLines {
 public:
  MergeLines(const Vocab& vocab, BpeModel& model) : vocab_(vocab), model_(model) {}

  // "LEFT RIGHT"; of characters halves may hold line breaks, never a space. One that names no
  // tokens can never happen and is passed over, as llama.cpp does: some files carry such lines.
  // False: the tables are made to collide.
  bool add(std::string_view line, std::uint32_t rank) {
    const std::size_t gap = line.find(' ', 1);
    if (gap == std::string_view::npos || line.size() > 2 * kMaxTokenBytes) return true;
    Line& made = lines_[n_];
    made.rank = rank;
    made.text.clear();
    if (!append_half(line.substr(0, gap), made.text)) return true;
    made.left_bytes = made.text.size();
    if (!append_half(line.substr(gap + 1), made.text)) return true;
    __builtin_prefetch(model_.words.place(made.left()));
    __builtin_prefetch(model_.words.place(made.right()));
    return ++n_ < lines_.size() || flush();
  }

  bool flush() {
    for (std::size_t i = 0; i < n_; ++i) {
      find(lines_[i]);
      __builtin_prefetch(model_.pairs.place(lines_[i].left_id, lines_[i].right_id), 1);
    }
    bool is_fine = true;
    for (std::size_t i = 0; i < n_ && is_fine; ++i) {
      const Line& line = lines_[i];
      if (line.merged < 0 || line.left_id < 0 || line.right_id < 0) continue;
      is_fine = model_.pairs.add(line.left_id, line.right_id, {line.rank, line.merged});
    }
    n_ = 0;
    return is_fine;
  }

 private:
  struct Line {
    std::string text = {};
    std::size_t left_bytes = 0;
    std::uint32_t rank = 0;
    TokenId left_id = -1, right_id = -1, merged = -1;

    std::string_view left() const noexcept { return std::string_view(text).substr(0, left_bytes); }

    std::string_view right() const noexcept { return std::string_view(text).substr(left_bytes); }
  };

  bool is_bytes() const noexcept { return model_.alphabet == BpeModel::Alphabet::kBytes; }

  bool append_half(std::string_view half, std::string& out) const {
    if (is_bytes()) return append_unspelled(out, half);
    out += half;
    return true;
  }

  void find(Line& line) {
    const bool is_guessed =
        is_bytes() && line.text == vocab_.bytes(guess_) && is_word_kind(vocab_.kind(guess_));
    if (!is_guessed) guess_ = model_.find(line.text, vocab_);
    line.merged = guess_++;
    line.left_id = find_half(line.left());
    line.right_id = find_half(line.right());
  }

  // A quarter of all halves are single bytes, which need no hashing.
  TokenId find_half(std::string_view text) const {
    if (is_bytes() && text.size() == 1) {
      return model_.byte_ids[static_cast<unsigned char>(text[0])];
    }
    return model_.find(text, vocab_);
  }

  const Vocab& vocab_;
  BpeModel& model_;
  std::array<Line, kAhead> lines_ = {};
  std::size_t n_ = 0;
  TokenId guess_ = 0;  // most often, the tokens stand in the order of their merges
};

Result<void> fill_merges(const Metadata& meta, const Vocab& vocab, BpeModel& model) {
  const auto merges = meta.strings("tokenizer.ggml.merges");
  if (!merges) {
    return corrupt_vocab(cat("tokenizer.ggml.merges is missing, a ",
                             meta.string("tokenizer.ggml.model").value_or(""),
                             " tokenizer needs it"));
  }
  if (merges->size() > kMaxMerges) {
    return corrupt_vocab(
        cat("tokenizer.ggml.merges has ", merges->size(), " entries, wick takes ", kMaxMerges));
  }
  model.pairs.reserve(merges->size());
  MergeLines lines(vocab, model);
  bool is_fine = true;
  for (std::size_t rank = 0; rank < merges->size() && is_fine; ++rank) {
    is_fine = lines.add((*merges)[rank], static_cast<std::uint32_t>(rank));
  }
  if (is_fine && lines.flush()) return {};
  return collision("the merges");
}

Result<void> fill_byte_level(const Metadata& meta, GgufVocab& gguf, TokenizerParts& parts) {
  const std::string_view name = meta.string("tokenizer.ggml.pre").value_or("default");
  const auto info = find_pre_tokenizer(name);
  if (!info) {
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "tokenizer_pre",
                 .message = cat("tokenizer.ggml.pre is '", printable(name),
                                "', a pre-tokenizer that wick does not know"),
                 .hint = "docs/tokenizers.md lists those that it knows"};
  }
  WICK_DO(add_pre_tokenizer(*info, parts));
  BpeModel& model = parts.model.emplace<BpeModel>();
  model.ignore_merges = info->ignore_merges;
  WICK_DO(fill_byte_level_vocab(gguf, parts, model));
  WICK_DO(fill_merges(meta, parts.vocab, model));
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
  WICK_TRY(const std::vector<double> scores, read_scores(meta, n));
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(scores[i])) {
      return corrupt_vocab(cat("the score of token ", i, " is not a finite number"));
    }
  }
  return dense_ranks(scores);
}

// Gemma's runs of spaces are written with spaces and called user-defined; they are words.
bool is_run_of_spaces(std::string_view text) noexcept {
  return text.size() > 1 && text.find_first_not_of(' ') == std::string_view::npos;
}

Result<void> fill_sentencepiece_vocab(GgufVocab& gguf, TokenizerParts& parts, BpeModel& model) {
  const std::size_t n = gguf.texts.size();
  parts.vocab.reserve(n, gguf.total_bytes);
  model.spelled.reserve(n, gguf.total_bytes);
  model.words.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string_view text = gguf.texts[i];
    TokenKind& kind = gguf.kinds[i];
    if (kind == TokenKind::kByte || (!gguf.has_kinds && byte_of_token(text))) {
      kind = TokenKind::kByte;
      WICK_TRY(const std::uint8_t value, add_byte_token(text, parts.vocab));
      model.byte_ids[value] = static_cast<TokenId>(i);
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
    WICK_DO(add_word(static_cast<TokenId>(i), is_run_of_spaces(gguf.texts[i]), parts.vocab, model));
  }
  return {};
}

// What a character without a token becomes. Some files call it a control token, which no text of a
// person may become.
TokenId find_unknown(const Metadata& meta, TokenId otherwise, Vocab& vocab) {
  const TokenId unknown =
      vocab.checked(meta.integer("tokenizer.ggml.unknown_token_id").value_or(otherwise));
  if (vocab.kind(unknown) == TokenKind::kControl) vocab.set_kind(unknown, TokenKind::kUnknown);
  return unknown;
}

Result<void> fill_gemma4(const Metadata& meta, GgufVocab& gguf, TokenizerParts& parts) {
  BpeModel& model = parts.model.emplace<BpeModel>();
  model.alphabet = BpeModel::Alphabet::kCharacters;
  model.fuse_unknown = true;
  WICK_DO(fill_sentencepiece_vocab(gguf, parts, model));
  WICK_DO(fill_merges(meta, parts.vocab, model));
  model.unknown = find_unknown(meta, 3, parts.vocab);
  parts.normalizer.add(make_replace(" ", std::string(kSpaceMark)));
  fill_special_ids(meta, {.adds_bos = true, .bos = 2, .eos = 1}, parts);
  return {};
}

Result<void> fill_scored(const Metadata& meta, GgufVocab& gguf, TokenizerParts& parts) {
  BpeModel& model = parts.model.emplace<BpeModel>();
  model.alphabet = BpeModel::Alphabet::kCharacters;
  model.by_score = true;
  model.fuse_unknown = true;
  WICK_DO(fill_sentencepiece_vocab(gguf, parts, model));
  WICK_TRY(model.ranks, ranks_of(meta, gguf.texts.size()));
  model.unknown = find_unknown(meta, 0, parts.vocab);
  const bool has_prefix = meta.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
  if (has_prefix) parts.normalizer.add(make_prepend(std::string(kSpaceMark)));
  parts.normalizer.add(make_replace(" ", std::string(kSpaceMark)));
  parts.decoding.strips_leading_space = has_prefix;
  fill_special_ids(meta, {.adds_bos = true, .bos = 1, .eos = 2}, parts);
  return {};
}

struct Row {
  std::string_view name;  // tokenizer.ggml.model
  Result<void> (*fill)(const Metadata&, GgufVocab&, TokenizerParts&);
};

constexpr auto kRows = std::to_array<Row>({
    {"gpt2", fill_byte_level},
    {"llama", fill_scored},
    {"gemma4", fill_gemma4},
    {"t5", fill_gguf_unigram},
    {"bert", fill_gguf_wordpiece},
});

}  // namespace

Result<TokenizerParts> load_gguf_tokenizer(const Metadata& meta) {
  const auto model = meta.string("tokenizer.ggml.model");
  if (!model) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "tokenizer_missing",
                 .message = "the model file holds no tokenizer: tokenizer.ggml.model is missing"};
  }
  const auto* const row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.name == *model; });
  if (row == kRows.end()) {
    std::string names;
    for (const Row& known : kRows) {
      names += cat(names.empty() ? "'" : ", '", known.name, "'");
    }
    return Error{
        .code = ErrorCode::kUnsupported,
        .id = "tokenizer_model",
        .message = cat("tokenizer.ggml.model is '", printable(*model), "', wick reads ", names)};
  }
  WICK_TRY(GgufVocab gguf, read_gguf_vocab(meta));
  TokenizerParts parts;
  WICK_DO(row->fill(meta, gguf, parts));
  WICK_DO(fill_added_tokens(meta, gguf, parts));
  find_ends(meta, parts);
  return parts;
}

}  // namespace wick
