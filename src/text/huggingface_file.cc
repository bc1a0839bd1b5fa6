// Reads tokenizer.json in one pass: vocabulary and merges, which are nearly all of the file, go
// straight into lists of views; the rest is cut out and becomes a small tree.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "base/strings.h"
#include "format/limits.h"
#include "text/huggingface_json.h"
#include "text/limits.h"

namespace wick {
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
