// Mistral's tekken.json → TokenizerParts: byte strings in the order of their ranks, which are ids
// behind the special tokens; merges go by rank, as in tiktoken.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "text/base64.h"
#include "text/bpe_vocab.h"
#include "text/gguf_vocab.h"
#include "text/huggingface_json.h"
#include "text/limits.h"
#include "text/loaders.h"
#include "text/token_settings.h"

namespace wick {
namespace {

// What files of versions up to v7 leave out.
constexpr auto kSpecialTokens = std::to_array<std::string_view>({"<unk>",
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
                                                                 "[TOOL_CONTENT]"});

constexpr TokenId kBos = 1;
constexpr TokenId kEos = 2;

Error damaged(std::string what) {
  return corrupt_vocab(cat("tekken.json: ", what));
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
    if (!in_.is_done()) return damaged("it is not a JSON object");
    WICK_DO(fill_special_tokens(parts, added));
    return fill_words(parts);
  }

 private:
  // [{"rank": 0, "token_str": "<unk>", …}, …]
  Result<void> read_special_tokens() {
    std::string_view key;
    for (in_.open('['); in_.next_item();) {
      std::string_view text;
      std::int64_t rank = -1;
      for (in_.open('{'); in_.next_member(key);) {
        if (key == "rank") {
          rank = in_.integer();
        } else if (key == "token_str" && in_.peek() == '"') {
          text = in_.string();
        } else {
          in_.skip();
        }
      }
      if (in_.has_failed() || rank != static_cast<std::int64_t>(special_tokens_.size()) ||
          text.empty() || text.size() > kMaxAddedTokenBytes ||
          special_tokens_.size() >= kMaxTokens) {
        return damaged(cat("special token ", special_tokens_.size(), " is '", printable(text),
                           "' with the rank ", rank));
      }
      special_tokens_.emplace_back(text);
    }
    return {};
  }

  // [{"rank": 0, "token_bytes": BASE64, …}, …]
  Result<void> read_words() {
    std::string_view key;
    words_.clear();
    for (in_.open('['); in_.next_item();) {
      std::string_view bytes;
      std::int64_t rank = -1;
      for (in_.open('{'); in_.next_member(key);) {
        if (key == "rank") {
          rank = in_.integer();
        } else if (key == "token_bytes" && in_.peek() == '"') {
          bytes = in_.string();
        } else {
          in_.skip();
        }
      }
      if (in_.has_failed() || rank != static_cast<std::int64_t>(words_.size()) ||
          words_.size() >= kMaxTokens || bytes.size() > kMaxTokenBytes) {
        return damaged(cat("token ", words_.size(), " has the rank ", rank));
      }
      words_.push_back(bytes);
    }
    return {};
  }

  Result<void> fill_special_tokens(TokenizerParts& parts, std::vector<AddedToken>& added) {
    if (special_tokens_.empty()) {
      special_tokens_.assign(kSpecialTokens.begin(), kSpecialTokens.end());
    }
    const std::int64_t n = integer_member(config_, "default_num_special_tokens", -1);
    const std::int64_t all = integer_member(config_, "default_vocab_size", -1);
    if (n < static_cast<std::int64_t>(special_tokens_.size()) ||
        n > static_cast<std::int64_t>(kMaxFreeIds) || all <= n ||
        all - n > static_cast<std::int64_t>(words_.size())) {
      return damaged(cat("it wants ", all, " tokens, ", n, " of them special, and lists ",
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
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const auto id = static_cast<TokenId>(parts.vocab.size());
      const std::size_t before = parts.vocab.arena().size();
      if (!append_base64(parts.vocab.arena(), words_[i]) || parts.vocab.arena().size() == before ||
          parts.vocab.arena().size() > kMaxVocabBytes) {
        return damaged(cat("token ", i, " is '", printable(words_[i]), "', which is no base64"));
      }
      parts.vocab.seal(TokenKind::kNormal);
      WICK_DO(add_word(id, false, parts.vocab, model));
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
  if (json.size() > kMaxTokenizerJson) {
    return damaged(cat("the file has ", json.size(), " bytes, wick takes ", kMaxTokenizerJson));
  }
  WICK_TRY(const TokenSettings settings, TokenSettings::read(meta));
  TokenizerParts parts;
  std::vector<AddedToken> added;
  WICK_DO(Reader(json).read(parts, added));
  parts.bos = kBos;
  parts.eos = kEos;
  WICK_DO(finish_parts(meta, settings, true, std::move(added), parts));
  return parts;
}

}  // namespace wick
