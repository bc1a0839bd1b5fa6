// Mistral's tekken.json → TokenizerParts: byte strings in the order of their ranks, which are ids
// after the special tokens; merges go by rank, as in tiktoken.
#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/strings.h"
#include "format/json_text.h"
#include "text/bpe.h"
#include "text/gguf_vocab.h"
#include "text/huggingface_json.h"
#include "text/limits.h"
#include "text/pipeline.h"
#include "text/pre_tokenizer.h"

namespace wick {

namespace {

// What files of versions up to v7 leave out.
constexpr std::string_view kSpecialTokens[] = {"<unk>",
                                               "<s>",
                                               "</s>",
                                               "[INST]",
                                               "[/INST]",
                                               "[AVAILABLE_TOOLS]",
                                               "[/AVAILABLE_TOOLS]",
                                               "[TOOL_RESULTS]",
                                               "[/TOOL_RESULTS]",
                                               "[TOOL_CALLS]",
                                               "[IMG]",
                                               "<pad>",
                                               "[IMG_BREAK]",
                                               "[IMG_END]",
                                               "[PREFIX]",
                                               "[MIDDLE]",
                                               "[SUFFIX]",
                                               "[SYSTEM_PROMPT]",
                                               "[/SYSTEM_PROMPT]",
                                               "[TOOL_CONTENT]"};

constexpr TokenId kBos = 1;
constexpr TokenId kEos = 2;

Error damaged_ranks(std::string what) {
  return corrupt_vocab(cat("tekken.json: ", what));
}

// Appends the word that `base64` stands for, whose id is the next one.
Result<void> add_base64_word(std::string_view base64, TokenizerParts& parts, BpeModel& model) {
  std::string& arena = parts.vocab.arena();
  const std::size_t before = arena.size();
  if (!append_from_base64(arena, base64) || arena.size() == before ||
      arena.size() > kMaxVocabBytes) {
    return corrupt_vocab(cat("token ", parts.vocab.size(), " is '", printable(base64),
                             "', which is no base64, or too much"));
  }
  parts.vocab.seal(TokenKind::kNormal);
  return add_word(parts.vocab.size() - 1, false, parts.vocab, model);
}

class Reader {
 public:
  explicit Reader(std::string_view json) : in_(json) {}

  Result<void> read(TokenizerParts& parts, std::vector<AddedToken>& added) {
    std::string_view key;
    for (in_.open('{'); in_.next_member(key);) {
      if (key == "config") {
        WICK_TRY(config_, parse_json_object(in_.skip(), "tekken.json's config"));
      } else if (key == "special_tokens" && in_.peek() == '[') {
        WICK_DO(read_special_tokens());
      } else if (key == "vocab" && in_.peek() == '[') {
        WICK_DO(read_words());
      } else {
        in_.skip();
      }
    }
    if (!in_.is_done()) return damaged_ranks("it is not a JSON object");
    WICK_DO(fill_special_tokens(parts, added));
    return fill_words(parts);
  }

 private:
  // {"rank": 0, TEXT_KEY: "…", …}
  std::string_view read_entry(std::string_view text_key, std::int64_t& rank) {
    std::string_view key, text;
    rank = -1;
    for (in_.open('{'); in_.next_member(key);) {
      if (key == "rank") {
        rank = in_.integer();
      } else if (key == text_key && in_.peek() == '"') {
        text = in_.string();
      } else {
        in_.skip();
      }
    }
    return text;
  }

  Result<void> read_special_tokens() {
    std::int64_t rank = -1;
    for (in_.open('['); in_.next_item();) {
      const std::string_view text = read_entry("token_str", rank);
      if (in_.has_failed() || rank != static_cast<std::int64_t>(special_tokens_.size()) ||
          text.empty() || text.size() > kMaxAddedTokenBytes ||
          special_tokens_.size() >= kMaxTokens) {
        return damaged_ranks(cat("special token ", special_tokens_.size(), " is '", printable(text),
                           "' with the rank ", rank));
      }
      special_tokens_.emplace_back(text);
    }
    return {};
  }

  Result<void> read_words() {
    std::int64_t rank = -1;
    words_.clear();
    for (in_.open('['); in_.next_item();) {
      const std::string_view base64 = read_entry("token_bytes", rank);
      if (in_.has_failed() || rank != static_cast<std::int64_t>(words_.size()) ||
          words_.size() >= kMaxTokens || base64.size() > kMaxTokenBytes) {
        return damaged_ranks(cat("token ", words_.size(), " has the rank ", rank));
      }
      words_.push_back(base64);
    }
    return {};
  }

  Result<void> fill_special_tokens(TokenizerParts& parts, std::vector<AddedToken>& added) {
    if (special_tokens_.empty()) {
      special_tokens_.assign(std::begin(kSpecialTokens), std::end(kSpecialTokens));
    }
    const std::int64_t n = integer_member(config_, "default_num_special_tokens", -1);
    const std::int64_t all = integer_member(config_, "default_vocab_size", -1);
    if (n < static_cast<std::int64_t>(special_tokens_.size()) ||
        n > static_cast<std::int64_t>(kMaxFreeIds) || all <= n ||
        all - n > static_cast<std::int64_t>(words_.size())) {
      return damaged_ranks(cat("it wants ", all, " tokens, ", n, " of them special, and lists ",
                         words_.size(), " and ", special_tokens_.size()));
    }
    words_.resize(static_cast<std::size_t>(all - n));
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::string text =
          at < special_tokens_.size() ? special_tokens_[at] : cat("<SPECIAL_", i, ">");
      parts.vocab.add(text, TokenKind::kControl);
      added.push_back({.text = text, .id = static_cast<TokenId>(i), .is_control = true});
    }
    return {};
  }

  Result<void> fill_words(TokenizerParts& parts) {
    BpeModel& model = parts.model.emplace<BpeModel>();
    model.ignore_merges = true;
    model.words.reserve(words_.size());
    for (const std::string_view word : words_) {
      WICK_DO(add_base64_word(word, parts, model));
    }
    fill_byte_ids(parts.vocab, model);
    WICK_DO(fill_pairs_by_rank(parts.vocab, model));
    WICK_TRY(Pattern pattern, Pattern::compile(text_member(config_, "pattern")));
    parts.pre.add({.pattern = std::move(pattern)});
    return {};
  }

  JsonReader in_;
  Json config_ = {};
  std::vector<std::string> special_tokens_ = {};
  std::vector<std::string_view> words_ = {};  // base64
};

}  // namespace

Result<TokenizerParts> load_tekken_tokenizer(std::string_view json, const Metadata& meta) {
  WICK_TRY(const TokenSettings settings, TokenSettings::read(meta));
  TokenizerParts parts;
  std::vector<AddedToken> added;
  WICK_DO(Reader(json).read(parts, added));
  parts.bos = kBos;
  parts.eos = kEos;
  WICK_DO(finish_parts(meta, settings, true, std::move(added), parts));
  return parts;
}

// Files of tiktoken → TokenizerParts: a line for each token, its bytes in base64 and its rank,
// which is its id. Neither the pattern that cuts a text nor the control tokens stand in them: the
// pattern goes by the family, control tokens come from tokenizer_config.json. A new family is one
// row of kFamilies.

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

Error damaged_line(std::size_t line, std::string what) {
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
      return damaged_line(line,
                          cat("is '", printable(text), "', not a token in base64 and its rank"));
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
    WICK_DO(add_base64_word(rank.text, parts, model));
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
  return parse_line(take_line(rest), rank) && append_from_base64(token, rank.text);
}

Result<TokenizerParts> load_tiktoken_tokenizer(std::string_view lines, const Metadata& meta) {
  WICK_TRY(const auto ranks, read_ranks(lines));
  WICK_TRY(const TokenSettings settings, TokenSettings::read(meta));
  WICK_TRY(const PreTokenizerInfo info, find_family(settings, ranks.size()));
  TokenizerParts parts;
  WICK_DO(add_pre_tokenizer(info, parts));
  WICK_DO(fill_vocab(ranks, parts));
  WICK_DO(finish_parts(meta, settings, info.adds_bos, {}, parts));
  return parts;
}

}  // namespace wick
