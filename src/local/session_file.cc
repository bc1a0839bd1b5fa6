#include "local/session_file.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/mapped_file.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "hub/atomic_file.h"
#include "local/limits.h"

namespace wick {

namespace {

constexpr std::size_t kPage = 4096;

struct Header {
  char magic[8];
  Fingerprint model;
  std::uint32_t k_type, v_type;
  std::uint64_t conversation_bytes, n_tokens, blocks_bytes, least_block_bytes;
};

static_assert(sizeof(Header) == 80 && std::is_trivially_copyable_v<Header>);
constexpr char kMagic[8] = {'w', 'i', 'c', 'k', ' ', 'k', 'v', 3};

Fingerprint end(Sha256& sum) {
  return std::bit_cast<Fingerprint>(sum.digest());
}

Error refuse(const std::filesystem::path& path, std::string id, std::string_view what,
             ErrorCode code = ErrorCode::kCorrupt) {
  return {.code = code,
          .id = std::move(id),
          .message = cat(printable(path.string()), ": ", what),
          .hint = "remove the file to begin anew"};
}

// Sizes are compared by subtraction: any of them may be anything.
bool sizes_agree(const Header& h, std::uint64_t left) noexcept {
  if (h.conversation_bytes > left) return false;
  left -= h.conversation_bytes;
  if (h.n_tokens > left / sizeof(TokenId)) return false;
  left -= h.n_tokens * sizeof(TokenId);
  return h.blocks_bytes == left && blocks_for(h.n_tokens) <= left / h.least_block_bytes;
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
      h.v_type != static_cast<std::uint32_t>(kind.v_type)) {
    return refuse(path, "session_of_other_cache", "was made with another --kv-type",
                  ErrorCode::kInvalid);
  }
  if (h.least_block_bytes != kind.least_block_bytes) {
    Error error =
        refuse(path, "session_of_other_cache",
               "was made with a context on the other side of an attention window's length",
               ErrorCode::kInvalid);
    error.hint = "take the --context it was made with, or remove the file to begin anew";
    return error;
  }
  const std::uint64_t left = bytes.size() - sizeof(h) - sizeof(Fingerprint);
  if (!sizes_agree(h, left) || h.conversation_bytes > kMaxConversationBytes) {
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
  const std::string_view arch = file.metadata().string("general.architecture").value_or("");
  add_text(arch);
  add_text(file.metadata().string("general.name").value_or(""));
  for (const MetaEntry& entry : file.metadata().entries()) {
    if (!entry.key.starts_with(cat(arch, "."))) continue;
    add_text(
        cat(entry.key, " ", static_cast<int>(entry.value.type), " ", entry.value.bytes.size()));
    sum.add(entry.value.bytes);
  }
  for (const TensorView& t : file.tensors()) {
    add_text(t.name);
    add_text(cat(static_cast<int>(t.type), to_string(t.shape)));
    const std::size_t n = std::min(kPage, t.bytes.size());
    for (const std::size_t at : {std::size_t{0}, (t.bytes.size() - n) / 2, t.bytes.size() - n})
      sum.add(t.bytes.subspan(at, n));
  }
  return end(sum);
}

Fingerprint fingerprint_of(std::span<const std::byte> bytes) {
  Sha256 sum;
  sum.add(bytes);
  return end(sum);
}

Result<void> write_session(const std::filesystem::path& path, const SessionKind& kind,
                           const SavedSession& session, std::span<const FileId> inputs) {
  Header h = {.magic = {},
              .model = kind.model,
              .k_type = static_cast<std::uint32_t>(kind.k_type),
              .v_type = static_cast<std::uint32_t>(kind.v_type),
              .conversation_bytes = session.conversation.size(),
              .n_tokens = session.prefix.tokens.size(),
              .blocks_bytes = session.prefix.blocks.size(),
              .least_block_bytes = kind.least_block_bytes};
  std::memcpy(h.magic, kMagic, sizeof(kMagic));
  WICK_TRY(AtomicFile file, AtomicFile::create(path, inputs));
  Sha256 sum;
  const auto write = [&](std::span<const std::byte> bytes) -> Result<void> {
    sum.add(bytes);
    return file.add(bytes);
  };
  WICK_DO(write(std::as_bytes(std::span(&h, 1))));
  WICK_DO(write(std::as_bytes(std::span(session.conversation))));
  WICK_DO(write(std::as_bytes(std::span(session.prefix.tokens))));
  WICK_DO(write(session.prefix.blocks));
  WICK_DO(write(end(sum)));
  return file.commit();
}

Error bad_session_file(const std::filesystem::path& path, std::string_view what) {
  return refuse(path, "bad_session_file", what);
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
