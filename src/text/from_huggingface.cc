// Hugging Face's tokenizer.json → TokenizerParts.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/strings.h"
#include "format/limits.h"
#include "text/byte_spelling.h"
#include "text/gguf_vocab.h"
#include "text/huggingface_json.h"
#include "text/limits.h"
#include "text/pipeline.h"
#include "text/wordpiece.h"

namespace wick {
namespace {

constexpr PartRow<Result<void>(const HuggingFaceContext&)> kModels[] = {
    {"BPE", read_bpe_model},
    {"Unigram", read_unigram_model},
    {"WordPiece", read_wordpiece_model},
    {"WordLevel", read_wordlevel_model},
};

Result<void> read_model(const HuggingFaceContext& context) {
  const Json& model = context.model();
  if (type_of(model).empty() && member(model, "merges").is_array()) return read_bpe_model(context);
  return read_parts(model, "model", nullptr, kModels,
                    [&](const auto& row, const Json&) { return row.read(context); });
}

Result<void> read_added(const HuggingFaceFile& file, TokenizerParts& parts) {
  std::vector<AddedToken> raw;
  std::vector<AddedToken> normalized;
  NormalizerScratch scratch;
  const Json& listed = member(file.root, "added_tokens");
  // "normalized" tokens are matched after the others, even without a normalizer.
  const bool has_two_passes =
      !parts.normalizer.is_empty() || std::any_of(listed.begin(), listed.end(), [](const Json& t) {
        return !flag_member(t, "normalized", false);
      });
  for (const Json& item : listed) {
    const auto id = static_cast<TokenId>(member(item, "id").get<std::int64_t>());
    AddedToken token = added_token(text_member(item, "content"), id, item);
    // A token may be listed twice; the last entry counts.
    token.is_control = file.entries[static_cast<std::size_t>(id)].kind == TokenKind::kControl;
    if (token.text.size() > kMaxAddedTokenBytes) {
      return corrupt_json(cat("the added token '", printable(token.text), "' has ",
                              token.text.size(), " bytes, wick takes ", kMaxAddedTokenBytes));
    }
    // Trust is known of the text as it is, so control tokens are always looked for there.
    const bool is_raw =
        token.is_control || !has_two_passes || !flag_member(item, "normalized", false);
    if (!is_raw) {
      token.text = parts.normalizer.apply(std::string(token.text), RunPlace::kRunStart, scratch);
    }
    (is_raw ? raw : normalized).push_back(std::move(token));
  }
  const bool is_built =
      parts.added.build(std::move(raw)) && parts.added_normalized.build(std::move(normalized));
  if (!is_built) return too_large_trie();
  return {};
}

TokenId id_of_added(const Json& root, std::string_view text) {
  if (text.empty()) return -1;
  for (const Json& added : member(root, "added_tokens")) {
    if (text_member(added, "content") == text) {
      return static_cast<TokenId>(member(added, "id").get<std::int64_t>());
    }
  }
  return -1;
}

// The settings' tokens as "added_tokens" would list them.
std::vector<Json> more_added(const TokenSettings& settings) {
  std::vector<Json> tokens;
  for (const TokenSettings::Added& token : settings.added()) {
    tokens.push_back(*token.flags);
    tokens.back()["id"] = token.id;
  }
  return tokens;
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

std::int64_t integer_member(const Json& object, const char* key, std::int64_t otherwise) noexcept {
  const Json& value = member(object, key);
  const auto* const number = value.get_ptr<const Json::number_integer_t*>();
  return number == nullptr ? otherwise : *number;
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

std::string TokenSpelling::shown(std::string_view text, std::optional<TextEdge> edge) const {
  if (!blank.empty() && text == blank) return {};
  std::string out;
  if (is_byte_level) {
    if (!append_unspelled(out, text)) out = text;
    return out;
  }
  if (has_words && edge != TextEdge::kStart) {
    const bool goes_on = !continuing_prefix.empty() && text.starts_with(continuing_prefix);
    if (!goes_on) out = " ";
    text.remove_prefix(goes_on ? continuing_prefix.size() : 0);
  }
  out += text;
  if (!start_mark.empty() && edge == TextEdge::kStart) replace_all(out, start_mark, "");
  for (const auto& [from, to] : replaced)
    replace_all(out, from, to);
  if (!word_end.empty()) replace_all(out, word_end, edge == TextEdge::kEnd ? "" : " ");
  return cleans_up ? cleaned_up(std::move(out)) : out;
}

void HuggingFaceContext::add_token(const HuggingFaceFile::Entry& entry) const {
  if (!entry.is_there) {
    parts.vocab.add({}, TokenKind::kUnused);
  } else if (entry.kind == TokenKind::kNormal && byte_of_token(entry.text) &&
             flag_member(model(), "byte_fallback", false)) {
    static_cast<void>(add_byte_token(entry.text, parts.vocab));
  } else if (entry.kind == TokenKind::kControl ||
             (entry.kind == TokenKind::kUserDefined && spelling.is_byte_level)) {
    parts.vocab.add(entry.text, entry.kind);
  } else {
    note_edges(entry.text);
    parts.vocab.add(spelling.shown(entry.text), entry.kind);
  }
}

void HuggingFaceContext::note_edges(std::string_view text) const {
  const std::string shown = spelling.shown(text);
  const auto note = [&](TextEdge edge, std::string_view usual) {
    std::string here = spelling.shown(text, edge);
    if (here == usual) return;
    parts.edge_texts[static_cast<std::size_t>(edge)].emplace(parts.vocab.size(), std::move(here));
  };
  if (spelling.has_words || !spelling.start_mark.empty()) {
    note(TextEdge::kStart, std::string_view(shown).substr(shown.starts_with(' ') ? 1 : 0));
  }
  if (!spelling.word_end.empty()) {
    note(TextEdge::kEnd, std::string_view(shown).substr(0, shown.size() - shown.ends_with(' ')));
  }
}

TokenId HuggingFaceContext::find(std::string_view text) const noexcept {
  for (std::size_t i = 0; i < file.entries.size(); ++i) {
    if (file.entries[i].is_there && file.entries[i].text == text) return static_cast<TokenId>(i);
  }
  return -1;
}

void HuggingFaceContext::spell_bytes() const {
  Normalizer rewriting;
  rewriting.add(make_byte_alphabet());
  parts.pre.add(std::move(rewriting));
}

Result<TokenizerParts> load_huggingface_tokenizer(std::string_view json, const Metadata& meta) {
  WICK_TRY(const TokenSettings settings, TokenSettings::read(meta));
  HuggingFaceFile file(json);
  WICK_DO(read_huggingface_file(file, more_added(settings)));
  const Json& root = file.root;
  TokenizerParts parts;
  bool is_byte_level = false;
  TokenSpelling spelling;
  WICK_DO(read_normalizer(member(root, "normalizer"), parts.normalizer));
  WICK_DO(read_pre_tokenizer(member(root, "pre_tokenizer"), parts, is_byte_level));
  WICK_DO(read_decoder(member(root, "decoder"), spelling, parts.decoding));
  WICK_DO(read_model({file, spelling, is_byte_level, parts}));
  WICK_DO(read_added(file, parts));
  WICK_DO(read_post_processor(member(root, "post_processor"), parts));
  const auto id_of = [&](const char* key, const char* name) {
    return parts.vocab.checked(meta.integer(key).value_or(id_of_added(root, settings.named(name))));
  };
  parts.bos = id_of("tokenizer.ggml.bos_token_id", "bos_token");
  parts.eos = id_of("tokenizer.ggml.eos_token_id", "eos_token");
  find_ends(meta, parts);
  return parts;
}

// Reads tokenizer.json in one pass: vocabulary and merges, which are nearly all of the file, go
// straight into lists of views; the rest is cut out and becomes a small tree.

namespace {

using Entry = HuggingFaceFile::Entry;

Error no_object(std::string_view name) {
  return corrupt_json(
      cat(name, " is not a JSON object with a nesting of ", kMaxHeaderJsonDepth, " or less"));
}

struct NamedId {
  std::string_view text;
  std::int64_t id = -1;
  TokenKind kind = TokenKind::kNormal;
  double score = 0;
};

// A number as Hugging Face's library reads it, which is not always the nearest double: the digits
// that fit 64 bits, rounded, by a power of ten. Its sums of scores, where two ways are equal but
// for rounding, depend on the last bit. `text` is a JSON number; infinite or NaN where it is too
// large.
double hugging_face_number(std::string_view text) noexcept {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  std::uint64_t digits = 0;
  int exponent = 0;
  bool is_fraction = false;
  bool is_full = false;
  std::size_t at = 0;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      is_fraction = true;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(text[at] - '0');
    is_full = is_full || digits > (UINT64_MAX - digit) / 10;
    if (!is_full) digits = digits * 10 + digit;
    if (is_fraction != is_full) exponent += is_fraction ? -1 : 1;
  }
  int power = 0;
  if (at < text.size()) {
    const std::size_t begin = at + (text.substr(at + 1).starts_with('+') ? 2 : 1);
    std::from_chars(text.data() + begin, text.data() + text.size(), power);
  }
  constexpr int kLargest = 308;
  exponent = std::clamp(exponent + std::clamp(power, -100'000, 100'000), -200'000, kLargest + 1);
  double value = static_cast<double>(digits);
  for (; exponent < -kLargest && value != 0; exponent += kLargest) {
    value /= 1e308;
  }
  if (value != 0) {
    const std::string scale = cat("1e", std::abs(exponent));
    double factor = std::numeric_limits<double>::infinity();
    std::from_chars(scale.data(), scale.data() + scale.size(), factor);
    value = exponent < 0 ? value / factor : value * factor;
  }
  return is_negative ? -value : value;
}

class FileReader {
 public:
  FileReader(HuggingFaceFile& file, const std::vector<Json>& more_added)
      : file_(file), in_(file.reader), more_added_(more_added) {}

  Result<void> read() {
    file_.root = Json::object();
    if (in_.peek() != '{') return no_object("the file");
    std::string_view key;
    for (in_.open('{'); in_.next_member(key);) {
      if (key == "model" && in_.peek() == '{') {
        WICK_DO(read_model());
      } else {
        put_small(key, file_.root);
      }
    }
    if (!in_.is_done() || is_broken_) return no_object("the file");
    WICK_DO(add_added_tokens());
    return fill_entries();
  }

 private:
  void put_small(std::string_view key, Json& object) {
    const std::string name(key);
    const std::string_view text = in_.skip();
    if (in_.has_failed()) return;
    Json value = Json::parse(text.begin(), text.end(), nullptr, false);
    is_broken_ = is_broken_ || value.is_discarded();
    object[name] = std::move(value);
  }

  Result<void> read_model() {
    Json& model = file_.root["model"] = Json::object();
    tokens_.clear();
    file_.merges.clear();
    has_vocab_ = false;
    std::string_view key;
    for (in_.open('{'); in_.next_member(key);) {
      if (key == "vocab" && in_.peek() == '{') {
        WICK_DO(read_vocab());
      } else if (key == "vocab" && in_.peek() == '[') {
        WICK_DO(read_scored_vocab());
      } else if (key == "merges" && in_.peek() == '[') {
        WICK_DO(read_merges());
        model["merges"] = Json::array();
      } else if (key == "vocab" || key == "merges") {
        in_.skip();
      } else {
        put_small(key, model);
      }
    }
    return {};
  }

  Result<void> add_token(std::string_view text, std::int64_t id, TokenKind kind, double score = 0) {
    if (id < 0 || id >= static_cast<std::int64_t>(kMaxTokens) || text.size() > kMaxTokenBytes) {
      return corrupt_json(cat("the token '", printable(text), "' has no id from 0 to ",
                              kMaxTokens - 1, " or more than ", kMaxTokenBytes, " bytes"));
    }
    tokens_.push_back({text, id, kind, score});
    return {};
  }

  Result<void> read_vocab() {
    tokens_.clear();
    has_vocab_ = true;
    std::string_view text;
    for (in_.open('{'); in_.next_member(text);) {
      const char first = in_.peek();
      const bool is_number = first == '-' || (first >= '0' && first <= '9');
      const std::int64_t id = is_number ? in_.integer() : -1;
      WICK_DO(add_token(text, id, TokenKind::kNormal));
    }
    return {};
  }

  // [["TEXT", SCORE], …], ids in order.
  Result<void> read_scored_vocab() {
    tokens_.clear();
    has_vocab_ = true;
    for (in_.open('['); in_.next_item();) {
      std::string_view text;
      double score = 0;
      bool is_pair = in_.open('[') && in_.next_item() && in_.peek() == '"';
      if (is_pair) {
        text = in_.string();
        is_pair = in_.next_item();
        const char first = is_pair ? in_.peek() : '\0';
        const bool is_number = first == '-' || (first >= '0' && first <= '9');
        score = is_number ? hugging_face_number(in_.skip()) : 0;
        is_pair = is_number && std::isfinite(score) && !in_.next_item();
      }
      if (!is_pair || in_.has_failed()) {
        return corrupt_json(cat("entry ", tokens_.size(), " of model.vocab is no [text, score]"));
      }
      WICK_DO(
          add_token(text, static_cast<std::int64_t>(tokens_.size()), TokenKind::kNormal, score));
    }
    return {};
  }

  // ["LEFT RIGHT", …], or [["LEFT", "RIGHT"], …] since tokenizers 0.20.
  Result<void> read_merges() {
    file_.merges.clear();
    for (in_.open('['); in_.next_item();) {
      if (file_.merges.size() >= kMaxMerges) {
        return corrupt_json(cat("model.merges has more than ", kMaxMerges, " pairs"));
      }
      HuggingFaceFile::MergeText merge;
      if (in_.peek() == '[') {
        std::size_t n = 0;
        for (in_.open('['); in_.next_item(); ++n) {
          (n == 0 ? merge.left : merge.right) = in_.string();
        }
        if (n != 2) merge = {};
      } else {
        const std::string_view line = in_.string();
        const std::size_t gap = line.find(' ');
        merge.left = line.substr(0, gap);
        merge.right = gap == std::string_view::npos ? std::string_view() : line.substr(gap + 1);
      }
      if (in_.has_failed()) return no_object("model.merges");
      file_.merges.push_back(merge);
    }
    return {};
  }

  Result<void> add_added_tokens() {
    n_vocab_ = tokens_.size();
    Json& listed = file_.root["added_tokens"];
    if (!listed.is_array()) listed = Json::array();
    std::unordered_set<std::int64_t> known;
    for (const Json& added : listed) {
      known.insert(integer_member(added, "id", -1));
    }
    for (const Json& more : more_added_) {
      if (known.insert(integer_member(more, "id", -1)).second) listed.push_back(more);
    }
    for (const Json& added : listed) {
      const Json& id = member(added, "id");
      WICK_DO(add_token(
          text_member(added, "content"), id.is_number_integer() ? id.get<std::int64_t>() : -1,
          flag_member(added, "special", false) ? TokenKind::kControl : TokenKind::kUserDefined));
    }
    return {};
  }

  // By id. An added token may stand in the vocabulary, too, and then says what kind it is.
  Result<void> fill_entries() {
    if (!has_vocab_) return corrupt_json("model.vocab is neither an object nor a list");
    if (tokens_.empty()) return corrupt_json("model.vocab is empty");
    std::size_t n = 0;
    for (const NamedId& token : tokens_) {
      n = std::max(n, static_cast<std::size_t>(token.id) + 1);
    }
    if (n > kMaxIdsPerToken * tokens_.size() + kMaxFreeIds) {
      return corrupt_json(cat("there are ", tokens_.size(), " tokens, but ids up to ", n - 1));
    }
    file_.entries.resize(n);
    file_.n_vocab = n_vocab_;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const NamedId& token = tokens_[i];
      Entry& entry = file_.entries[static_cast<std::size_t>(token.id)];
      if (entry.is_there && i < n_vocab_) {
        return corrupt_json(cat("the tokens '", printable(entry.text), "' and '",
                                printable(token.text), "' have the same id ", token.id));
      }
      const bool is_of_model = i < n_vocab_;
      entry = {.text = token.text,
               .is_there = true,
               .is_word = is_of_model || (entry.is_word && entry.text == token.text),
               .kind = token.kind,
               .score = is_of_model ? token.score : entry.score};
    }
    return {};
  }

  HuggingFaceFile& file_;
  JsonReader& in_;
  const std::vector<Json>& more_added_;
  std::vector<NamedId> tokens_ = {};
  std::size_t n_vocab_ = 0;  // of tokens_: those of model.vocab
  bool has_vocab_ = false;
  bool is_broken_ = false;  // a small part is no JSON
};

}  // namespace

Result<void> read_huggingface_file(HuggingFaceFile& file, const std::vector<Json>& more_added) {
  return FileReader(file, more_added).read();
}

}  // namespace wick
