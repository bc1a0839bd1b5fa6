// The models of tokenizer.json: "BPE" (byte-level, of characters with byte fallback, and with
// prefixes or suffixes that mark where in a word a token stands), "Unigram", "WordPiece" and
// "WordLevel".
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "text/bpe.h"
#include "text/byte_spelling.h"
#include "text/gguf_vocab.h"
#include "text/huggingface_json.h"
#include "text/limits.h"
#include "text/wordpiece.h"

namespace wick {

namespace {

using Entry = HuggingFaceFile::Entry;

class ModelReader {
 public:
  explicit ModelReader(const HuggingFaceContext& context)
      : context_(context),
        file_(context.file),
        model_(context.model()),
        entries_(context.file.entries),
        parts_(context.parts),
        bpe_(context.parts.model.emplace<BpeModel>()) {}

  Result<void> read() {
    BpeModel& bpe = bpe_;
    WICK_DO(read_options());
    bpe.alphabet = is_byte_level_ ? BpeModel::Alphabet::kBytes : BpeModel::Alphabet::kCharacters;
    bpe.ignore_merges = flag_member(model_, "ignore_merges", false);
    bpe.fuse_unknown = flag_member(model_, "fuse_unk", false);
    WICK_DO(fill_vocab());
    fill_bytes();
    if (const std::string_view unknown = text_member(model_, "unk_token"); !unknown.empty()) {
      bpe.unknown = find(unknown);
      if (bpe.unknown < 0) {
        return corrupt_json(cat("unk_token '", printable(unknown), "' is no token"));
      }
      parts_.vocab.set_kind(bpe.unknown, TokenKind::kUnknown);
    }
    return fill_merges();
  }

 private:
  Result<void> read_options() {
    const Json& dropout = member(model_, "dropout");
    if (dropout.is_number() && dropout.get<double>() > 0) {
      return unsupported_part("model", "dropout, which makes ids random,");
    }
    bpe_.continuing_prefix = text_member(model_, "continuing_subword_prefix");
    bpe_.end_suffix = text_member(model_, "end_of_word_suffix");
    if (std::max(bpe_.continuing_prefix.size(), bpe_.end_suffix.size()) > kMaxNormalizerBytes) {
      return corrupt_json(
          cat("a prefix or suffix of the model has more than ", kMaxNormalizerBytes, " bytes"));
    }
    // What marks places in words is spelled in characters, so the bytes are, too.
    const bool has_affixes = !bpe_.continuing_prefix.empty() || !bpe_.end_suffix.empty();
    is_byte_level_ = context_.is_byte_level && !has_affixes;
    if (context_.is_byte_level && has_affixes) context_.spell_bytes();
    return {};
  }

  // The id of a token as the file spells it.
  TokenId find(std::string_view text) const {
    return spelled_.find(text,
                         [&](TokenId id) { return entries_[static_cast<std::size_t>(id)].text; });
  }

  // Texts as they are spelled in the file, by which merges and options name tokens, and texts as
  // they stand in the piece, by which the model does: the same, but for byte-level vocabularies.
  Result<void> fill_vocab() {
    const std::size_t n = entries_.size();
    std::size_t total = 0;
    for (const Entry& entry : entries_) {
      total += entry.text.size();
    }
    if (total > kMaxVocabBytes) return corrupt_json("the vocabulary is too large");
    parts_.vocab.reserve(n, total);
    spelled_.reserve(n);
    if (needs_words()) bpe_.words.reserve(n);
    if (!is_byte_level_) bpe_.spelled.reserve(n, total);
    for (std::size_t i = 0; i < n; ++i) {
      const Entry& entry = entries_[i];
      const auto id = static_cast<TokenId>(i);
      if (!entry.is_there) {
        parts_.vocab.add({}, TokenKind::kUnused);
        if (!is_byte_level_) bpe_.spelled.add({}, TokenKind::kUnused);
        continue;
      }
      const auto text_of = [&](TokenId other) {
        return entries_[static_cast<std::size_t>(other)].text;
      };
      if (i + kAhead < n) __builtin_prefetch(spelled_.place(entries_[i + kAhead].text), 1);
      const auto added = spelled_.add(entry.text, id, text_of);
      if (added == StringIndex::Added::kTooManyCollisions) {
        return collision("the texts of the tokens");
      }
      has_repeats_ = has_repeats_ || added == StringIndex::Added::kAlreadyThere;
      add_token(entry);
      if (needs_words() && is_word(entry)) WICK_DO(add_word(id, true, parts_.vocab, bpe_));
    }
    return {};
  }

  // Byte-level merges begin with bytes; whole words are looked up for `ignore_merges` alone.
  bool needs_words() const noexcept { return !is_byte_level_ || bpe_.ignore_merges; }

  void add_token(const Entry& entry) {
    if (is_byte_level_) {
      const bool is_spelled =
          entry.kind == TokenKind::kNormal && append_unspelled(parts_.vocab.arena(), entry.text);
      if (!is_spelled) parts_.vocab.arena() += entry.text;
      parts_.vocab.seal(entry.kind);
      return;
    }
    context_.add_token(entry);
    bpe_.spelled.add(entry.text, entry.kind);
  }

  // Whether a piece may be this token. An added token that model.vocab has, too, stays a word, but
  // among bytes only where its text, which is found as it is, stands for the same bytes.
  bool is_word(const Entry& entry) const {
    if (!entry.is_word || entry.kind == TokenKind::kControl) return false;
    if (!is_byte_level_ || entry.kind == TokenKind::kNormal) return true;
    std::string bytes;
    return append_unspelled(bytes, entry.text) && bytes == entry.text;
  }

  void fill_bytes() {
    for (TokenId id = 0; id < parts_.vocab.size(); ++id) {
      const std::string_view bytes = parts_.vocab.bytes(id);
      if (bytes.size() != 1) continue;
      const bool is_byte = is_byte_level_ ? is_word(entries_[static_cast<std::size_t>(id)])
                                          : parts_.vocab.kind(id) == TokenKind::kByte;
      if (is_byte) {
        bpe_.byte_ids[static_cast<unsigned char>(bytes[0])] = id;
      }
    }
  }

  Result<void> fill_merges() {
    if (!member(model_, "merges").is_array()) return corrupt_json("model.merges is no list");
    bpe_.pairs.reserve(file_.merges.size());
    std::string both;
    std::uint32_t rank = 0;
    TokenId guess = 0;  // most often, the tokens stand in the order of their merges
    for (std::size_t i = 0; i < file_.merges.size(); ++i) {
      if (i + kAhead < file_.merges.size()) {
        __builtin_prefetch(spelled_.place(file_.merges[i + kAhead].left));
        __builtin_prefetch(spelled_.place(file_.merges[i + kAhead].right));
      }
      const auto& [left, right] = file_.merges[i];
      both = left;
      both += right.substr(std::min(right.size(), bpe_.continuing_prefix.size()));
      const TokenId left_id = find(left);
      const TokenId right_id = find(right);
      const TokenId both_id = is_spelled(guess, both) ? guess : find(both);
      if (left_id < 0 || right_id < 0 || both_id < 0) {
        return corrupt_json(cat("merge ", rank, " joins '", printable(left), "' and '",
                                printable(right), "', which are not both tokens with a joint one"));
      }
      guess = both_id + 1;
      const Merge found{.rank = rank++, .id = both_id};
      if (is_control(left_id) || is_control(right_id) || is_control(both_id)) continue;
      if (!bpe_.pairs.add(left_id, right_id, found)) return collision("the merges");
    }
    return {};
  }

  // Whether `text` is surely the token `id`: the first one of that text.
  bool is_spelled(TokenId id, std::string_view text) const noexcept {
    const auto i = static_cast<std::size_t>(id);
    return i < entries_.size() && entries_[i].text == text && !has_repeats_;
  }

  bool is_control(TokenId id) const noexcept {
    return parts_.vocab.kind(id) == TokenKind::kControl;
  }

  const HuggingFaceContext& context_;
  const HuggingFaceFile& file_;
  const Json& model_;
  const std::vector<Entry>& entries_;
  TokenizerParts& parts_;
  BpeModel& bpe_;
  bool is_byte_level_ = false;
  bool has_repeats_ = false;  // two tokens of the same text
  StringIndex spelled_ = {};
};

}  // namespace

Result<void> read_bpe_model(const HuggingFaceContext& context) {
  return ModelReader(context).read();
}

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
  return too_large_trie();
}

namespace {

constexpr std::int64_t kMaxWordChars = 1'000'000;

// Appends all tokens; without a decoder, Hugging Face shows them with spaces between.
std::vector<ByteTrie::Key> read_words(const HuggingFaceContext& context) {
  if (context.is_byte_level) context.spell_bytes();
  TokenSpelling spaced = context.spelling;
  if (!spaced.has_decoder) {
    spaced.has_words = true;
    spaced.replaced.clear();
  }
  if (spaced.has_words) context.parts.decoding.strips_leading_space = true;
  const HuggingFaceContext shown{context.file, spaced, context.is_byte_level, context.parts};
  std::vector<ByteTrie::Key> words;
  for (std::size_t i = 0; i < context.file.entries.size(); ++i) {
    const auto& entry = context.file.entries[i];
    shown.add_token(entry);
    const bool is_word = entry.is_word && entry.kind != TokenKind::kControl;
    if (is_word) words.push_back({entry.text, static_cast<std::int32_t>(i)});
  }
  return words;
}

TokenId read_unknown(const HuggingFaceContext& context) {
  const std::string_view text = text_member(context.model(), "unk_token");
  const TokenId unknown = context.find(text.empty() ? "[UNK]" : text);
  if (unknown >= 0) context.parts.vocab.set_kind(unknown, TokenKind::kUnknown);
  return unknown;
}

}  // namespace

Result<void> read_wordpiece_model(const HuggingFaceContext& context) {
  WordPieceModel& model = context.parts.model.emplace<WordPieceModel>();
  const Json& node = context.model();
  const std::string_view prefix = member(node, "continuing_subword_prefix").is_string()
                                      ? text_member(node, "continuing_subword_prefix")
                                      : "##";
  const std::int64_t most = integer_member(node, "max_input_chars_per_word", 100);
  if (most < 0 || most > kMaxWordChars) {
    return corrupt_json(
        cat("max_input_chars_per_word is ", most, ", wick takes 0 to ", kMaxWordChars));
  }
  model.max_word_chars = static_cast<std::size_t>(most);
  std::vector<ByteTrie::Key> starts = read_words(context);
  std::vector<ByteTrie::Key> continuations;
  for (const ByteTrie::Key& key : starts) {
    if (!key.text.starts_with(prefix)) continue;
    continuations.push_back({key.text.substr(prefix.size()), key.number});
  }
  model.unknown = read_unknown(context);
  if (!model.build(std::move(starts), std::move(continuations))) return too_large_trie();
  return {};
}

Result<void> read_wordlevel_model(const HuggingFaceContext& context) {
  WordLevelModel& model = context.parts.model.emplace<WordLevelModel>();
  std::vector<ByteTrie::Key> words = read_words(context);
  model.unknown = read_unknown(context);
  if (!model.build(std::move(words))) return too_large_trie();
  return {};
}

}  // namespace wick
