#include "text/tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/mapped_file.h"
#include "base/strings.h"
#include "format/model_file.h"
#include "text/json_reader.h"
#include "text/limits.h"
#include "text/loaders.h"
#include "text/pipeline.h"
#include "base/utf8.h"

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

Result<std::shared_ptr<const Tokenizer>> make(Result<TokenizerParts> parts) {
  if (!parts) return std::move(parts).error();
  return make_tokenizer(*std::move(parts));
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
  auto parts = kind.load(bytes, meta);
  if (!parts) return wrap(std::move(parts).error(), path.string());
  return make(std::move(parts));
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> Tokenizer::from(const Metadata& meta) {
  for (const Kind& kind : kKinds) {
    if (const auto bytes = meta.string(kind.key)) {
      // "tokenizer.model" is what Llama 3 calls its tiktoken file, too.
      const bool is_tiktoken =
          kind.load == load_sentencepiece_tokenizer && is_tiktoken_file(*bytes);
      return make((is_tiktoken ? load_tiktoken_tokenizer : kind.load)(*bytes, meta));
    }
  }
  return make(load_gguf_tokenizer(meta));
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    const bool is_model = std::filesystem::is_regular_file(path / "config.json", ignored);
    for (const Kind& kind : kKinds) {
      const auto file = path / kind.file;
      if (!is_model && std::filesystem::is_regular_file(file, ignored)) return open(file);
    }
  } else if (std::filesystem::is_regular_file(path, ignored)) {
    WICK_TRY(const MappedFile file, MappedFile::open(path));
    const std::string_view bytes = as_text(file.bytes());
    for (const Kind& kind : kKinds) {
      if (kind.is_one(bytes)) return open_kind(kind, bytes, path);
    }
    // A file that is called so, but damaged: its own reader says best what is wrong.
    if (path.extension() == ".json") return open_kind(kKinds.front(), bytes, path);
  }
  WICK_TRY(const ModelFile file, ModelFile::open(path));
  return from(file.metadata());
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
    const bool is_hidden = kind(id) == TokenKind::kControl || kind(id) == TokenKind::kUnknown;
    if (is_hidden && !with_control) continue;
    if (!decoding_.joins_repeats || id != last) out += bytes(id);
    last = id;
  }
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool with_control) const {
  std::string all;
  append_bytes(ids, with_control, all);
  std::string_view text = all;
  if (decoding_.strips_leading_space && text.starts_with(' ')) text.remove_prefix(1);
  if (decoding_.strips_trailing_space && text.ends_with(' ')) text.remove_suffix(1);
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

}  // namespace wick
