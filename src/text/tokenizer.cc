#include "text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/mapped_file.h"
#include "base/strings.h"
#include "format/model_file.h"
#include "text/bpe_tokenizer.h"
#include "text/limits.h"
#include "text/utf8.h"

namespace wick {
namespace {

Result<std::shared_ptr<const Tokenizer>> make(Result<TokenizerParts> parts) {
  if (!parts) return std::move(parts).error();
  return std::shared_ptr<const Tokenizer>(std::make_shared<BpeTokenizer>(*std::move(parts)));
}

std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<std::shared_ptr<const Tokenizer>> open_json(const std::filesystem::path& path) {
  WICK_TRY(const MappedFile file, MappedFile::open(path));
  const auto config_path = path.parent_path() / "tokenizer_config.json";
  std::error_code ignored;
  std::string config;
  if (std::filesystem::is_regular_file(config_path, ignored)) {
    WICK_TRY(const MappedFile config_file, MappedFile::open(config_path));
    config = as_text(config_file.bytes());
  }
  auto parts = load_huggingface_tokenizer(as_text(file.bytes()), config, Metadata());
  if (!parts) return wrap(std::move(parts).error(), path.string());
  return make(std::move(parts));
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> Tokenizer::from(const Metadata& meta) {
  if (const auto json = meta.string("tokenizer.huggingface.json")) {
    const auto config = meta.string("tokenizer.huggingface.config").value_or(std::string_view());
    return make(load_huggingface_tokenizer(*json, config, meta));
  }
  return make(load_gguf_tokenizer(meta));
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::open(const std::filesystem::path& path) {
  if (path.extension() == ".json") return open_json(path);
  WICK_TRY(const ModelFile file, ModelFile::open(path));
  return from(file.metadata());
}

EncodePoint Tokenizer::encode_settled(const MarkedText& /*text*/, EncodePoint from,
                                      std::vector<TokenId>& /*out*/) const {
  return from;
}

void Tokenizer::encode_rest(const MarkedText& text, EncodePoint from,
                            std::vector<TokenId>& out) const {
  WICK_CHECK(from.at == 0, "nothing was settled before");
  encode(text, out);
}

std::vector<TokenId> Tokenizer::encode_plain(std::string_view text) const {
  std::vector<TokenId> ids;
  encode(MarkedText{.text = std::string(text)}, ids);
  return ids;
}

std::vector<TokenId> Tokenizer::encode_special(std::string_view text) const {
  MarkedText marked;
  marked.append(text, true);
  std::vector<TokenId> ids;
  encode(marked, ids);
  return ids;
}

bool Tokenizer::is_end(TokenId id) const noexcept {
  return std::find(ends_.begin(), ends_.end(), id) != ends_.end();
}

void Tokenizer::append_bytes(std::span<const TokenId> ids, bool with_control,
                             std::string& out) const {
  for (const TokenId id : ids) {
    const bool is_hidden = kind(id) == TokenKind::kControl || kind(id) == TokenKind::kUnknown;
    if (!is_hidden || with_control) out += bytes(id);
  }
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool with_control) const {
  std::string all;
  append_bytes(ids, with_control, all);
  std::string_view text = all;
  if (strips_leading_space() && text.substr(0, 1) == " ") text.remove_prefix(1);
  if (valid_utf8_prefix(text) == text.size()) {
    all.erase(0, all.size() - text.size());
    return all;
  }
  std::string out;
  append_repaired(out, text);
  return out;
}

}  // namespace wick
