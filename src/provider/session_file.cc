#include "provider/session_file.h"

#include <algorithm>
#include <cstring>

#include "base/mapped_file.h"
#include "base/strings.h"
#include "hub/durable.h"
#include "hub/sha256.h"
#include "provider/limits.h"

namespace wick {

namespace {

constexpr std::size_t kPage = 4096;

struct Header {
  char magic[8];
  Fingerprint model;
  std::uint32_t k_type, v_type;
  std::uint64_t conversation_bytes, n_tokens, block_bytes;
};

static_assert(sizeof(Header) == 72 && std::is_trivially_copyable_v<Header>);
constexpr char kMagic[8] = {'w', 'i', 'c', 'k', ' ', 'k', 'v', 2};

Fingerprint end(Sha256& sum) {
  const std::string hex = sum.hex();
  Fingerprint bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
  return bytes;
}

std::uint64_t blocks_for(std::uint64_t n_tokens) noexcept {
  return n_tokens / kBlockTokens + (n_tokens % kBlockTokens != 0 ? 1 : 0);
}

Error refuse(const std::filesystem::path& path, std::string id, std::string_view what,
             ErrorCode code = ErrorCode::kCorrupt) {
  return {.code = code,
          .id = std::move(id),
          .message = cat(printable(path.string()), ": ", what),
          .hint = "remove the file to begin anew"};
}

// Header and sizes, before anything is read by them.
Result<Header> check_header(std::span<const std::byte> bytes, const std::filesystem::path& path,
                            const SessionKind& kind) {
  Header h = {};
  if (bytes.size() < sizeof(h) + sizeof(Fingerprint)) {
    return refuse(path, "bad_session_file", cat("is too short (", bytes.size(), " bytes)"));
  }
  std::memcpy(&h, bytes.data(), sizeof(h));
  if (std::memcmp(h.magic, kMagic, sizeof(kMagic)) != 0) {
    return refuse(path, "bad_session_file", "is no session file of this version of wick");
  }
  if (h.model != kind.model) {
    return refuse(path, "session_of_other_model", "belongs to another model", ErrorCode::kInvalid);
  }
  if (h.k_type != static_cast<std::uint32_t>(kind.k_type) ||
      h.v_type != static_cast<std::uint32_t>(kind.v_type) || h.block_bytes != kind.block_bytes) {
    return refuse(path, "session_of_other_cache", "was made with another --kv-type",
                  ErrorCode::kInvalid);
  }
  std::uint64_t left = bytes.size() - sizeof(h) - sizeof(Fingerprint);
  const bool has_room = h.conversation_bytes <= left && h.n_tokens <= left / sizeof(TokenId) &&
                        blocks_for(h.n_tokens) <= left / std::max<std::size_t>(1, h.block_bytes);
  const std::uint64_t wanted = has_room ? h.conversation_bytes + h.n_tokens * sizeof(TokenId) +
                                              blocks_for(h.n_tokens) * h.block_bytes
                                        : 0;
  if (!has_room || wanted != left || h.conversation_bytes > kMaxConversationBytes) {
    return refuse(path, "bad_session_file",
                  cat("holds ", left, " bytes behind its header, which names other sizes"));
  }
  return h;
}

}  // namespace

Fingerprint model_fingerprint(const ModelFile& file) {
  Sha256 sum;
  const auto add_text = [&](std::string_view text) {
    sum.add(std::as_bytes(std::span(text)));
    sum.add(std::as_bytes(std::span("", 1)));
  };
  for (const char* key : {"general.architecture", "general.name"})
    add_text(file.metadata().string(key).value_or(""));
  for (const TensorView& t : file.tensors()) {
    add_text(t.name);
    add_text(cat(static_cast<int>(t.type), to_string(t.shape)));
    const std::size_t n = std::min(kPage, t.bytes.size());
    for (const std::size_t at : {std::size_t{0}, (t.bytes.size() - n) / 2, t.bytes.size() - n})
      sum.add(t.bytes.subspan(at, n));
  }
  return end(sum);
}

Result<void> write_session(const std::filesystem::path& path, const SessionKind& kind,
                           const SavedSession& session) {
  Header h = {.magic = {},
              .model = kind.model,
              .k_type = static_cast<std::uint32_t>(kind.k_type),
              .v_type = static_cast<std::uint32_t>(kind.v_type),
              .conversation_bytes = session.conversation.size(),
              .n_tokens = session.prefix.tokens.size(),
              .block_bytes = kind.block_bytes};
  std::memcpy(h.magic, kMagic, sizeof(kMagic));
  std::filesystem::path part = path;
  part += ".part";
  std::error_code ignored;
  std::filesystem::remove(part, ignored);
  WICK_TRY(const FileHandle file, open_for_writing(part));
  Sha256 sum;
  std::uint64_t at = 0;
  const auto write = [&](std::span<const std::byte> bytes) -> Result<void> {
    sum.add(bytes);
    WICK_DO(write_at(file, part, bytes, at));
    at += bytes.size();
    return {};
  };
  WICK_DO(write(std::as_bytes(std::span(&h, 1))));
  WICK_DO(write(std::as_bytes(std::span(session.conversation))));
  WICK_DO(write(std::as_bytes(std::span(session.prefix.tokens))));
  WICK_DO(write(session.prefix.blocks));
  WICK_DO(write(end(sum)));
  WICK_DO(sync_file(file, part));
  return move_durably(part, path);
}

Result<SavedSession> read_session(const std::filesystem::path& path, const SessionKind& kind) {
  WICK_TRY(const MappedFile file, MappedFile::open(path));
  const std::span<const std::byte> bytes = file.bytes();
  WICK_TRY(const Header h, check_header(bytes, path, kind));
  Sha256 sum;
  sum.add(bytes.first(bytes.size() - sizeof(Fingerprint)));
  const Fingerprint seen = end(sum);
  if (std::memcmp(seen.data(), bytes.last(sizeof(seen)).data(), sizeof(seen)) != 0) {
    return refuse(path, "hash_mismatch", "does not have the SHA-256 that it was written with");
  }
  SavedSession session;
  std::span<const std::byte> rest = bytes.subspan(sizeof(h));
  session.conversation.assign(reinterpret_cast<const char*>(rest.data()), h.conversation_bytes);
  rest = rest.subspan(h.conversation_bytes);
  session.prefix.tokens.resize(h.n_tokens);
  if (h.n_tokens > 0) {
    std::memcpy(session.prefix.tokens.data(), rest.data(), h.n_tokens * sizeof(TokenId));
  }
  rest = rest.subspan(h.n_tokens * sizeof(TokenId));
  session.prefix.blocks.assign(rest.begin(), rest.end() - sizeof(Fingerprint));
  return session;
}

}  // namespace wick
