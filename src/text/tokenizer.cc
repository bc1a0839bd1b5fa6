#include "text/tokenizer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/mapped_file.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "format/json_reader.h"
#include "format/model_file.h"
#include "text/gguf_vocab.h"
#include "text/limits.h"
#include "text/pipeline.h"

namespace wick {

namespace {

std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Files that hold a tokenizer, the best first: under which key a Metadata has the bytes, and how a
// file of this kind is told from others.
struct Kind {
  std::string_view key;
  std::string_view file;  // in a model's folder
  Result<TokenizerParts> (*load)(std::string_view bytes, const Metadata& meta);
  bool (*is_one)(std::string_view bytes);
};

// Whether a JSON text is an object with the member `key`, of the objects and lists at its top.
bool has_member(std::string_view json, std::string_view wanted) {
  JsonReader in(json);
  std::string_view key;
  if (in.peek() != '{') return false;
  for (in.open('{'); in.next_member(key);) {
    if (key == wanted) return true;
    in.skip();
  }
  return false;
}

constexpr auto kKinds = std::to_array<Kind>({
    {"tokenizer.huggingface.json", "tokenizer.json", load_huggingface_tokenizer,
     [](std::string_view bytes) { return has_member(bytes, "model"); }},
    {"tokenizer.tekken.json", "tekken.json", load_tekken_tokenizer,
     [](std::string_view bytes) { return has_member(bytes, "config"); }},
    {"tokenizer.sentencepiece.model", "tokenizer.model", load_sentencepiece_tokenizer,
     [](std::string_view bytes) { return bytes.starts_with('\n'); }},
    {"tokenizer.tiktoken.model", "tiktoken.model", load_tiktoken_tokenizer, is_tiktoken_file},
});

using Load = Result<TokenizerParts> (*)(std::string_view bytes, const Metadata& meta);

Result<std::shared_ptr<const Tokenizer>> load_file(Load load, std::string_view bytes,
                                                   const Metadata& meta) {
  if (bytes.size() > kMaxTokenizerFile) {
    return corrupt_vocab(
        cat("the file has ", bytes.size(), " bytes, wick takes ", kMaxTokenizerFile));
  }
  WICK_TRY(TokenizerParts parts, load(bytes, meta));
  return make_tokenizer(std::move(parts));
}

// Settings that stand in files beside the tokenizer's.
Result<void> read_settings(const std::filesystem::path& folder, Metadata& meta) {
  constexpr auto kFiles = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"tokenizer.huggingface.config", "tokenizer_config.json"},
      {"tokenizer.huggingface.special_tokens", "special_tokens_map.json"},
  });
  std::error_code ignored;
  for (const auto& [key, name] : kFiles) {
    const auto path = folder / name;
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    WICK_TRY(const MappedFile file, MappedFile::open(path));
    meta.set_string(key, as_text(file.bytes()));
  }
  return {};
}

Result<std::shared_ptr<const Tokenizer>> open_kind(const Kind& kind, std::string_view bytes,
                                                   const std::filesystem::path& path) {
  Metadata meta;
  WICK_DO(read_settings(path.parent_path(), meta));
  auto tokenizer = load_file(kind.load, bytes, meta);
  if (!tokenizer) return wrap(std::move(tokenizer).error(), path.string());
  return tokenizer;
}

// The first of the tokenizer files in a folder.
std::optional<std::filesystem::path> file_in(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const Kind& kind : kKinds) {
    if (std::filesystem::is_regular_file(folder / kind.file, ignored)) return folder / kind.file;
  }
  return std::nullopt;
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> Tokenizer::from(const Metadata& meta) {
  for (const Kind& kind : kKinds) {
    if (const auto bytes = meta.string(kind.key)) {
      // "tokenizer.model" is what Llama 3 calls its tiktoken file, too.
      const bool is_tiktoken =
          kind.load == load_sentencepiece_tokenizer && is_tiktoken_file(*bytes);
      return load_file(is_tiktoken ? load_tiktoken_tokenizer : kind.load, *bytes, meta);
    }
  }
  WICK_TRY(TokenizerParts parts, load_gguf_tokenizer(meta));
  return make_tokenizer(std::move(parts));
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::open(const std::filesystem::path& path) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  if (is_folder && !std::filesystem::is_regular_file(path / "config.json", ignored)) {
    if (const auto file = file_in(path)) return open(*file);
  } else if (std::filesystem::is_regular_file(path, ignored)) {
    WICK_TRY(const MappedFile file, MappedFile::open(path));
    const std::string_view bytes = as_text(file.bytes());
    for (const Kind& kind : kKinds) {
      if (kind.is_one(bytes)) return open_kind(kind, bytes, path);
    }
    // A damaged file of that name: its own reader has the best error.
    if (path.extension() == ".json") return open_kind(kKinds.front(), bytes, path);
  }
  const auto model = ModelFile::open(path);
  if (model) return from(model->metadata());
  if (!is_folder || model.error().id != "missing_weights") return model.error();
  if (const auto file = file_in(path)) return open(*file);
  return Error{.code = ErrorCode::kNotFound,
               .id = "missing_tokenizer",
               .message = cat(printable(path.string()), ": holds neither a model nor a tokenizer"),
               .hint = "name a GGUF file, or a folder with a model, tokenizer.json, tekken.json, "
                       "tokenizer.model or tiktoken.model"};
}

Result<std::vector<TokenId>> Tokenizer::encode_plain(std::string_view text) const {
  std::vector<TokenId> ids;
  WICK_DO(encode(MarkedText{.text = std::string(text)}, ids));
  return ids;
}

Result<std::vector<TokenId>> Tokenizer::encode_special(std::string_view text) const {
  MarkedText marked;
  marked.append(text, true);
  std::vector<TokenId> ids;
  WICK_DO(encode(marked, ids));
  return ids;
}

bool Tokenizer::is_end(TokenId id) const noexcept {
  return std::find(ends_.begin(), ends_.end(), id) != ends_.end();
}

void Tokenizer::append_bytes(std::span<const TokenId> ids, bool with_control,
                             std::string& out) const {
  TokenId last = -1;
  for (const TokenId id : ids) {
    if (is_hidden(id) && !with_control) continue;
    if (!decoding_.joins_repeats || id != last) out += bytes(id);
    last = id;
  }
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool with_control) const {
  while (!with_control && !ids.empty() && is_hidden(ids.front()))
    ids = ids.subspan(1);
  while (!with_control && !ids.empty() && is_hidden(ids.back()))
    ids = ids.first(ids.size() - 1);
  const auto edge = [&](std::size_t at, TextEdge which) {
    return ids.empty() ? std::nullopt : edge_text(ids[at], which);
  };
  const auto first = edge(0, TextEdge::kStart);
  if (first) ids = ids.subspan(1);
  const auto last = edge(ids.size() - 1, TextEdge::kEnd);
  if (last) ids = ids.first(ids.size() - 1);
  std::string all(first.value_or(""));
  append_bytes(ids, with_control, all);
  all += last.value_or("");
  std::string_view text = all;
  if (!first && decoding_.strips_leading_space && text.starts_with(' ')) text.remove_prefix(1);
  if (!last && decoding_.strips_trailing_space && text.ends_with(' ')) text.remove_suffix(1);
  if (valid_utf8_prefix(text) == text.size()) {
    const auto begin = static_cast<std::size_t>(text.data() - all.data());
    all.resize(begin + text.size());
    all.erase(0, begin);
    return all;
  }
  std::string out;
  append_repaired(out, text);
  return out;
}

// --- Which tokens end a generation. Files name one or a few by id and often forget others, so the
// texts that model families use for it are looked for as well.

namespace {

struct EndText {
  std::string_view text;
  bool is_unmistakable;  // no ordinary text: counts even where the file calls it an ordinary token
};

constexpr auto kEndTexts = std::to_array<EndText>({
    {"<|eot_id|>", true},
    {"<|im_end|>", true},
    {"<|end|>", true},
    {"<|return|>", true},
    {"<|call|>", true},
    {"<|flush|>", true},
    {"<|calls|>", true},
    {"<end_of_turn>", true},
    {"<|endoftext|>", true},
    {"</s>", false},
    {"<|eom_id|>", true},
    {"<EOT>", false},
    {"_<EOT>", false},
    {"[EOT]", false},
    {"[EOS]", false},
    {"<|end_of_text|>", true},
    {"<end_of_utterance>", true},
    {"<eos>", false},
    {"<turn|>", true},
    {"<|tool_response>", true},
    {"<｜end▁of▁sentence｜>", true},
});

struct Found {
  TokenId id;
  std::string_view text;
};

std::vector<Found> find_end_texts(Vocab& vocab) {
  std::vector<Found> found;
  for (TokenId id = 0; id < vocab.size(); ++id) {
    const std::string_view bytes = vocab.bytes(id);
    if (bytes.size() < 4 || (bytes[0] != '<' && bytes[0] != '[' && bytes[0] != '_')) continue;
    const auto* const end = std::find_if(kEndTexts.begin(), kEndTexts.end(),
                                         [&](const EndText& e) { return e.text == bytes; });
    if (end == kEndTexts.end()) continue;
    const TokenKind kind = vocab.kind(id);
    const bool is_added = kind == TokenKind::kControl || kind == TokenKind::kUserDefined;
    if (is_added || end->is_unmistakable) found.push_back({id, end->text});
  }
  return found;
}

bool holds(const std::vector<Found>& found, std::string_view text) {
  return std::any_of(found.begin(), found.end(), [&](const Found& f) { return f.text == text; });
}

}  // namespace

void find_ends(const Metadata& meta, TokenizerParts& parts) {
  auto& ends = parts.ends;
  const auto add = [&](std::int64_t id) {
    if (id >= 0 && id < parts.vocab.size()) ends.push_back(static_cast<TokenId>(id));
  };
  add(parts.eos);
  add(meta.integer("tokenizer.ggml.eot_token_id").value_or(-1));
  add(meta.integer("tokenizer.ggml.eom_token_id").value_or(-1));
  for (const std::int64_t id :
       meta.integers("wick.end_token_ids").value_or(std::vector<std::int64_t>{})) {
    add(id);
  }
  const std::vector<Found> found = find_end_texts(parts.vocab);
  // gpt-oss ends its messages with <|end|>, but its turns with <|return|> or <|call|>; Gemma 4 has
  // a </s> that is only a tag of HTML.
  const bool is_harmony = holds(found, "<|return|>") && holds(found, "<|call|>");
  const bool is_gemma4 = holds(found, "<turn|>");
  for (const Found& f : found) {
    if (is_harmony && f.text == "<|end|>") continue;
    if (is_gemma4 && f.text == "</s>") continue;
    add(f.id);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
}

}  // namespace wick
