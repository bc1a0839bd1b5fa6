// Files of tiktoken → TokenizerParts: a line for each token, its bytes in base64 and its rank,
// which is its id. Neither the pattern that cuts a text nor the control tokens stand in them: the
// pattern goes by the family, control tokens come from tokenizer_config.json. A new family is one
// row of kFamilies.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/strings.h"
#include "text/base64.h"
#include "text/bpe_vocab.h"
#include "text/gguf_vocab.h"
#include "text/limits.h"
#include "text/loaders.h"
#include "text/pre_tokenizer.h"
#include "text/token_settings.h"

namespace wick {
namespace {

struct Family {
  std::string_view tokenizer_class;  // of tokenizer_config.json
  std::size_t n_ranks;               // of the families' files, where no such file is beside
  std::string_view pre;              // the same pre-tokenizer in GGUF's names
};

constexpr auto kFamilies = std::to_array<Family>({
    {"PreTrainedTokenizerFast", 128000, "llama-bpe"},  // Llama 3's tokenizer.model
    {"QWenTokenizer", 151643, "qwen2"},
    {"TikTokenTokenizer", 163584, "kimi-k2"},
});

Error damaged(std::size_t line, std::string what) {
  return corrupt_vocab(cat("line ", line, " of the tiktoken file ", what));
}

struct Rank {
  std::string_view text = {};  // base64
  TokenId id = -1;
};

// The next line without its end.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool parse_line(std::string_view line, Rank& rank) {
  const std::size_t gap = line.find(' ');
  if (gap == std::string_view::npos || gap == 0) return false;
  rank.text = line.substr(0, gap);
  const char* const end = line.data() + line.size();
  const auto parsed = std::from_chars(line.data() + gap + 1, end, rank.id);
  return parsed.ec == std::errc() && parsed.ptr == end && rank.id >= 0 &&
         rank.id < static_cast<TokenId>(kMaxTokens) && rank.text.size() <= kMaxTokenBytes;
}

Result<std::vector<Rank>> read_ranks(std::string_view rest) {
  std::vector<Rank> ranks;
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const std::string_view text = take_line(rest);
    if (text.empty()) continue;
    Rank rank;
    if (!parse_line(text, rank) || ranks.size() >= kMaxTokens) {
      return damaged(line, cat("is '", printable(text), "', not a token in base64 and its rank"));
    }
    ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end(), [](const Rank& a, const Rank& b) { return a.id < b.id; });
  return ranks;
}

Result<PreTokenizerInfo> find_family(const TokenSettings& settings, std::size_t n_ranks) {
  const std::string_view name = settings.text("tokenizer_class");
  const auto* family = std::find_if(kFamilies.begin(), kFamilies.end(),
                                    [&](const Family& f) { return f.n_ranks == n_ranks; });
  if (family == kFamilies.end()) {
    family = std::find_if(kFamilies.begin(), kFamilies.end(),
                          [&](const Family& f) { return f.tokenizer_class == name; });
  }
  if (family != kFamilies.end()) {
    if (const auto info = find_pre_tokenizer(family->pre)) return *info;
  }
  return Error{.code = ErrorCode::kUnsupported,
               .id = "tokenizer_family",
               .message = cat("a tiktoken file with ", n_ranks, " tokens and the tokenizer_class '",
                              printable(name),
                              "' is of no family that wick knows (Llama 3, Qwen, "
                              "Kimi), so its pattern is not known"),
               .hint =
                   "put the model's tokenizer.json, or its tokenizer_config.json, beside it, or "
                   "use a GGUF file of the model"};
}

Result<void> fill_vocab(const std::vector<Rank>& ranks, TokenizerParts& parts) {
  BpeModel& model = parts.model.emplace<BpeModel>();
  model.ignore_merges = true;
  model.words.reserve(ranks.size());
  for (const Rank& rank : ranks) {
    if (rank.id < parts.vocab.size() ||
        static_cast<std::size_t>(rank.id) > kMaxIdsPerToken * ranks.size() + kMaxFreeIds) {
      return corrupt_vocab(cat("the tiktoken file has the rank ", rank.id, " twice, or too high"));
    }
    while (parts.vocab.size() < rank.id) {
      parts.vocab.add({}, TokenKind::kUnused);
    }
    const std::size_t before = parts.vocab.arena().size();
    if (!append_base64(parts.vocab.arena(), rank.text) || parts.vocab.arena().size() == before ||
        parts.vocab.arena().size() > kMaxVocabBytes) {
      return corrupt_vocab(cat("the token of rank ", rank.id, " is '", printable(rank.text),
                               "', which is no base64"));
    }
    parts.vocab.seal(TokenKind::kNormal);
    WICK_DO(add_word(rank.id, false, parts.vocab, model));
  }
  fill_byte_ids(parts.vocab, model);
  return fill_pairs_by_rank(parts.vocab, model);
}

}  // namespace

bool is_tiktoken_file(std::string_view bytes) {
  constexpr std::size_t kLongLine = kMaxTokenBytes + 16;
  std::string_view rest = bytes.substr(0, kLongLine);
  Rank rank;
  std::string token;
  return parse_line(take_line(rest), rank) && append_base64(token, rank.text);
}

Result<TokenizerParts> load_tiktoken_tokenizer(std::string_view lines, const Metadata& meta) {
  if (lines.size() > kMaxTokenizerJson) {
    return corrupt_vocab(
        cat("the tiktoken file has ", lines.size(), " bytes, wick takes ", kMaxTokenizerJson));
  }
  WICK_TRY(const auto ranks, read_ranks(lines));
  WICK_TRY(const TokenSettings settings, TokenSettings::read(meta));
  WICK_TRY(const PreTokenizerInfo info, find_family(settings, ranks.size()));
  TokenizerParts parts;
  if (info.is_nfc) parts.normalizer.add(make_form(UnicodeForm::kNfc));
  for (const std::string_view pattern : info.patterns) {
    WICK_TRY(Pattern compiled, Pattern::compile(pattern));
    parts.pre.add({.pattern = std::move(compiled)});
  }
  WICK_DO(fill_vocab(ranks, parts));
  WICK_DO(finish_parts(meta, settings, info.adds_bos, {}, parts));
  return parts;
}

}  // namespace wick
