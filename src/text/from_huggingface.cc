// Hugging Face's tokenizer.json → TokenizerParts: the "BPE" model, byte-level or SentencePiece-like
// (with byte fallback).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "text/byte_alphabet.h"
#include "text/gguf_vocab.h"
#include "text/huggingface_json.h"
#include "text/limits.h"

namespace wick {
namespace {

using Entry = HuggingFaceFile::Entry;

// --- vocabulary ---------------------------------------------------------------------------------

std::string decoded(std::string_view text) {  // as the SentencePiece-like decoders do
  std::string out;
  constexpr std::string_view kSpaceMark = "▁";
  for (std::size_t at = 0;;) {
    const std::size_t next = text.find(kSpaceMark, at);
    out += text.substr(at, next - at);
    if (next == std::string_view::npos) return out;
    out += ' ';
    at = next + kSpaceMark.size();
  }
}

class ModelReader {
 public:
  ModelReader(const HuggingFaceFile& file, TokenizerParts& parts)
      : file_(file), model_(member(file.root, "model")), entries_(file.entries), parts_(parts) {}

  Result<void> read(bool is_byte_level) {
    is_byte_level_ = is_byte_level;
    WICK_DO(check_options());
    BpeModel& bpe = parts_.model;
    bpe.alphabet = is_byte_level ? BpeModel::Alphabet::kBytes : BpeModel::Alphabet::kCharacters;
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
  Result<void> check_options() const {
    const Json& dropout = member(model_, "dropout");
    if (dropout.is_number() && dropout.get<double>() > 0)
      return unsupported_part("model", "dropout");
    for (const char* const key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!text_member(model_, key).empty()) return unsupported_part("model", key);
    }
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
    if (needs_words()) parts_.model.words.reserve(n);
    if (!is_byte_level_) parts_.model.spelled.reserve(n, total);
    for (std::size_t i = 0; i < n; ++i) {
      const Entry& entry = entries_[i];
      const auto id = static_cast<TokenId>(i);
      if (!entry.is_there) {
        parts_.vocab.add({}, TokenKind::kUnused);
        if (!is_byte_level_) parts_.model.spelled.add({}, TokenKind::kUnused);
        continue;
      }
      const auto text_of = [&](TokenId other) {
        return entries_[static_cast<std::size_t>(other)].text;
      };
      const auto added = spelled_.add(entry.text, id, text_of);
      if (added == StringIndex::Added::kTooManyCollisions) {
        return corrupt_json("the texts of the tokens are made to collide in a hash table");
      }
      has_repeats_ = has_repeats_ || added == StringIndex::Added::kAlreadyThere;
      add_token(entry);
      if (needs_words()) WICK_DO(add_word(entry, id));
    }
    return {};
  }

  // Byte-level merges begin with bytes; whole words are looked up for `ignore_merges` alone.
  bool needs_words() const noexcept { return !is_byte_level_ || parts_.model.ignore_merges; }

  void add_token(const Entry& entry) {
    const bool is_normal = entry.kind == TokenKind::kNormal;
    if (is_byte_level_) {
      const bool is_spelled = is_normal && append_unspelled(parts_.vocab.arena(), entry.text);
      if (!is_spelled) parts_.vocab.arena() += entry.text;
      parts_.vocab.seal(entry.kind);
      return;
    }
    const auto byte = byte_of_token(entry.text);
    if (is_normal && byte && flag_member(model_, "byte_fallback", false)) {
      const char raw = static_cast<char>(*byte);
      parts_.vocab.add(std::string_view(&raw, 1), TokenKind::kByte);
    } else if (entry.kind == TokenKind::kControl) {
      parts_.vocab.add(entry.text, entry.kind);
    } else {
      parts_.vocab.add(decoded(entry.text), entry.kind);
    }
    parts_.model.spelled.add(entry.text, entry.kind);
  }

  Result<void> add_word(const Entry& entry, TokenId id) {
    if (entry.kind == TokenKind::kControl) return {};
    const Vocab& texts = is_byte_level_ ? parts_.vocab : parts_.model.spelled;
    const std::string_view text = texts.bytes(id);
    if (text.empty() || (is_byte_level_ && entry.kind == TokenKind::kUserDefined)) return {};
    const auto text_of = [&](TokenId other) { return texts.bytes(other); };
    if (parts_.model.words.add(text, id, text_of) == StringIndex::Added::kTooManyCollisions) {
      return corrupt_json("the texts of the tokens are made to collide in a hash table");
    }
    parts_.model.longest_word = std::max(parts_.model.longest_word, text.size());
    return {};
  }

  void fill_bytes() {
    for (TokenId id = 0; id < parts_.vocab.size(); ++id) {
      const std::string_view bytes = parts_.vocab.bytes(id);
      const TokenKind wanted = is_byte_level_ ? TokenKind::kNormal : TokenKind::kByte;
      if (bytes.size() == 1 && parts_.vocab.kind(id) == wanted) {
        parts_.model.byte_ids[static_cast<unsigned char>(bytes[0])] = id;
      }
    }
  }

  Result<void> fill_merges() {
    if (!member(model_, "merges").is_array()) return corrupt_json("model.merges is no list");
    parts_.model.pairs.reserve(file_.merges.size());
    std::string both;
    std::uint32_t rank = 0;
    TokenId guess = 0;  // most often, the tokens stand in the order of their merges
    for (const auto& [left, right] : file_.merges) {
      both = left;
      both += right;
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
      if (!parts_.model.pairs.add(left_id, right_id, found)) {
        return corrupt_json("the merges are made to collide in a hash table");
      }
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

  const HuggingFaceFile& file_;
  const Json& model_;
  const std::vector<Entry>& entries_;
  TokenizerParts& parts_;
  bool is_byte_level_ = false;
  bool has_repeats_ = false;  // two tokens of the same text
  StringIndex spelled_ = {};
};

// --- the rest -----------------------------------------------------------------------------------

Result<void> read_added(const Json& root, TokenizerParts& parts) {
  std::vector<AddedToken> raw;
  std::vector<AddedToken> normalised;
  for (const Json& item : member(root, "added_tokens")) {
    AddedToken token{.text = std::string(text_member(item, "content")),
                     .id = static_cast<TokenId>(member(item, "id").get<std::int64_t>()),
                     .is_control = flag_member(item, "special", false),
                     .takes_left_space = flag_member(item, "lstrip", false),
                     .takes_right_space = flag_member(item, "rstrip", false),
                     .is_single_word = flag_member(item, "single_word", false)};
    if (token.text.size() > kMaxAddedTokenBytes) {
      return corrupt_json(cat("the added token '", printable(token.text), "' has ",
                              token.text.size(), " bytes, wick takes ", kMaxAddedTokenBytes));
    }
    // Trust is known of the text as it is, so control tokens are always looked for there.
    const bool is_raw =
        token.is_control || parts.normaliser.empty() || !flag_member(item, "normalized", false);
    if (!is_raw) token.text = normalised_text(parts.normaliser, token.text);
    (is_raw ? raw : normalised).push_back(std::move(token));
  }
  parts.added.build(std::move(raw));
  parts.added_normalised.build(std::move(normalised));
  return {};
}

// bos_token and eos_token of tokenizer_config.json: a text, or an object with its content.
TokenId named_token(const Json& config, const char* key, const Json& root) {
  const Json& node = member(config, key);
  const std::string_view text =
      node.is_string() ? text_member(config, key) : text_member(node, "content");
  if (text.empty()) return -1;
  for (const Json& added : member(root, "added_tokens")) {
    if (text_member(added, "content") == text) {
      return static_cast<TokenId>(member(added, "id").get<std::int64_t>());
    }
  }
  return -1;
}

}  // namespace

const Json& member(const Json& object, const char* key) noexcept {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string_view text_member(const Json& object, const char* key) noexcept {
  const Json& value = member(object, key);
  return value.is_string() ? std::string_view(*value.get_ptr<const std::string*>())
                           : std::string_view();
}

bool flag_member(const Json& object, const char* key, bool otherwise) noexcept {
  const Json& value = member(object, key);
  return value.is_boolean() ? *value.get_ptr<const bool*>() : otherwise;
}

std::string_view type_of(const Json& object) noexcept {
  return text_member(object, "type");
}

Error unsupported_part(std::string_view section, std::string_view what) {
  return Error{
      .code = ErrorCode::kUnsupported,
      .id = "tokenizer_part",
      .message = cat("tokenizer.json: the ", section, " has ", what, ", which wick does not build"),
      .hint = "docs/tokenizers.md lists what it does; a GGUF file of the model may work"};
}

Error corrupt_json(std::string what) {
  return Error{.code = ErrorCode::kCorrupt,
               .id = "tokenizer_json",
               .message = cat("tokenizer.json is damaged: ", what),
               .hint = "fetch the file again"};
}

Result<TokenizerParts> load_huggingface_tokenizer(std::string_view json, std::string_view config,
                                                  const Metadata& meta) {
  if (json.size() > kMaxTokenizerJson) {
    return corrupt_json(
        cat("the file has ", json.size(), " bytes, wick takes ", kMaxTokenizerJson));
  }
  HuggingFaceFile file(json);
  WICK_DO(read_huggingface_file(file));
  const Json& root = file.root;
  Json settings;
  if (!config.empty()) {
    WICK_TRY(settings, parse_json_object(config, "tokenizer_config.json"));
  }
  TokenizerParts parts;
  bool is_byte_level = false;
  WICK_DO(read_normaliser(member(root, "normalizer"), parts.normaliser));
  WICK_DO(read_pre_tokenizer(member(root, "pre_tokenizer"), parts, is_byte_level));
  WICK_DO(ModelReader(file, parts).read(is_byte_level));
  WICK_DO(read_added(root, parts));
  WICK_DO(read_post_processor(member(root, "post_processor"), parts));
  WICK_TRY(parts.strips_leading_space, read_decoder(member(root, "decoder")));
  const auto id_of = [&](const char* key, const char* name) {
    const std::int64_t id = meta.integer(key).value_or(named_token(settings, name, root));
    return id >= 0 && id < parts.vocab.size() ? static_cast<TokenId>(id) : TokenId{-1};
  };
  parts.bos = id_of("tokenizer.ggml.bos_token_id", "bos_token");
  parts.eos = id_of("tokenizer.ggml.eos_token_id", "eos_token");
  find_ends(meta, parts);
  return parts;
}

}  // namespace wick
