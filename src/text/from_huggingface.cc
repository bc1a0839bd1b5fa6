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

struct Entry {  // of the vocabulary, by id
  std::string_view text = {};
  bool is_there = false;
  TokenKind kind = TokenKind::kNormal;
};

// Refuses a nesting that no tokenizer has, before a parser builds it.
bool is_too_deep(std::string_view json) noexcept {
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (is_quoted) {
      if (c == '\\') ++i;
      is_quoted = c != '"';
    } else if (c == '"') {
      is_quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonNesting) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

Result<Json> parse(std::string_view text, std::string_view name) {
  if (text.size() > kMaxTokenizerJson || is_too_deep(text)) {
    return corrupt_json(cat(name, " has ", text.size(), " bytes, wick takes ", kMaxTokenizerJson,
                            " and a nesting of ", kMaxJsonNesting));
  }
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) return corrupt_json(cat(name, " is not a JSON object"));
  return json;
}

Result<void> put(std::vector<Entry>& entries, const Json& id, std::string_view text, TokenKind kind,
                 bool may_repeat) {
  if (!id.is_number_integer() || id.get<std::int64_t>() < 0 ||
      id.get<std::int64_t>() >= static_cast<std::int64_t>(kMaxVocab) ||
      text.size() > kMaxTokenBytes) {
    return corrupt_json(cat("the token '", printable(text), "' has no id from 0 to ", kMaxVocab - 1,
                            " or more than ", kMaxTokenBytes, " bytes"));
  }
  const auto at = static_cast<std::size_t>(id.get<std::int64_t>());
  if (at >= entries.size()) entries.resize(at + 1);
  Entry& entry = entries[at];
  if (entry.is_there && !may_repeat) {
    return corrupt_json(cat("the tokens '", printable(entry.text), "' and '", printable(text),
                            "' have the same id ", at));
  }
  entry = {.text = text, .is_there = true, .kind = kind};
  return {};
}

Result<std::vector<Entry>> read_entries(const Json& root) {
  std::vector<Entry> entries;
  const Json& vocab = member(member(root, "model"), "vocab");
  if (!vocab.is_object()) return corrupt_json("model.vocab is not an object");
  for (const auto& [text, id] : vocab.items()) {
    WICK_DO(put(entries, id, text, TokenKind::kNormal, false));
  }
  for (const Json& added : member(root, "added_tokens")) {
    const bool is_special = flag_member(added, "special", false);
    WICK_DO(put(entries, member(added, "id"), text_member(added, "content"),
                is_special ? TokenKind::kControl : TokenKind::kUserDefined, true));
  }
  if (entries.empty()) return corrupt_json("model.vocab is empty");
  return entries;
}

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
  ModelReader(const Json& model, const std::vector<Entry>& entries, TokenizerParts& parts)
      : model_(model), entries_(entries), parts_(parts) {}

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
    const std::string_view type = type_of(model_);
    if (type != "BPE" && !(type.empty() && member(model_, "merges").is_array())) {
      return unsupported_part("model", cat("'", printable(type), "'"));
    }
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
    parts_.model.words.reserve(n);
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
      if (spelled_.add(entry.text, id, text_of) == StringIndex::Added::kTooManyCollisions) {
        return corrupt_json("the texts of the tokens are made to collide in a hash table");
      }
      add_token(entry);
      WICK_DO(add_word(entry, id));
    }
    return {};
  }

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

  // ["LEFT RIGHT", …], or [["LEFT", "RIGHT"], …] since tokenizers 0.20.
  Result<void> fill_merges() {
    const Json& merges = member(model_, "merges");
    if (!merges.is_array() || merges.size() > kMaxMerges) {
      return corrupt_json(cat("model.merges is no list of at most ", kMaxMerges, " pairs"));
    }
    parts_.model.pairs.reserve(merges.size());
    std::string both;
    std::uint32_t rank = 0;
    for (const Json& merge : merges) {
      std::string_view left;
      std::string_view right;
      if (merge.is_string()) {
        const std::string_view line = merge.get_ref<const std::string&>();
        const std::size_t gap = line.find(' ');
        left = line.substr(0, gap);
        right = gap == std::string_view::npos ? std::string_view() : line.substr(gap + 1);
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
                 merge[1].is_string()) {
        left = merge[0].get_ref<const std::string&>();
        right = merge[1].get_ref<const std::string&>();
      }
      both = left;
      both += right;
      const TokenId left_id = find(left);
      const TokenId right_id = find(right);
      const TokenId both_id = find(both);
      if (left_id < 0 || right_id < 0 || both_id < 0) {
        return corrupt_json(cat("merge ", rank, " joins '", printable(left), "' and '",
                                printable(right), "', which are not both tokens with a joint one"));
      }
      const Merge found{.rank = rank++, .id = both_id};
      if (is_control(left_id) || is_control(right_id) || is_control(both_id)) continue;
      if (!parts_.model.pairs.add(left_id, right_id, found)) {
        return corrupt_json("the merges are made to collide in a hash table");
      }
    }
    return {};
  }

  bool is_control(TokenId id) const noexcept {
    return parts_.vocab.kind(id) == TokenKind::kControl;
  }

  const Json& model_;
  const std::vector<Entry>& entries_;
  TokenizerParts& parts_;
  bool is_byte_level_ = false;
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
  WICK_TRY(const Json root, parse(json, "the file"));
  Json settings;
  if (!config.empty()) {
    WICK_TRY(settings, parse(config, "tokenizer_config.json"));
  }
  TokenizerParts parts;
  bool is_byte_level = false;
  WICK_DO(read_normaliser(member(root, "normalizer"), parts.normaliser));
  WICK_DO(read_pre_tokenizer(member(root, "pre_tokenizer"), parts, is_byte_level));
  WICK_TRY(const std::vector<Entry> entries, read_entries(root));
  WICK_DO(ModelReader(member(root, "model"), entries, parts).read(is_byte_level));
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
