// A conversation on disk with the keys and values that its text has in the cache, so that it goes
// on without being computed again. A file is for one model and one pair of cache types; anything
// else, and any byte that is not as it was written, is refused before the cache is touched. Any
// thread.
//
//   "wick kv\2"            8 bytes; the last one counts up when the blocks' layout changes
//   model                 32 bytes, SHA-256: model_fingerprint()
//   k type, v type        2 × u32
//   conversation bytes, tokens, bytes of a block of 16 positions     3 × u64
//   conversation          JSON
//   token ids             i32 each
//   blocks                one for each 16 tokens begun, as the cache holds them
//   SHA-256 of all above  32 bytes
//
// Numbers are little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "format/model_file.h"

namespace wick {

using Fingerprint = std::array<std::byte, 32>;

// Of the metadata's architecture and name, each tensor's name, type and shape, and three pages of
// each tensor's bytes: models that differ by training differ in every tensor, and a file of many
// gigabytes need not be read for it.
Fingerprint model_fingerprint(const ModelFile& file);

struct SessionKind {  // what a file and an engine must agree on
  Fingerprint model = {};
  KvType k_type = KvType::kBF16, v_type = KvType::kBF16;
  std::size_t block_bytes = 0;
};

struct SavedSession {
  std::string conversation = {};  // JSON
  SavedPrefix prefix = {};
};

// Appears whole or not at all.
Result<void> write_session(const std::filesystem::path& path, const SessionKind& kind,
                           const SavedSession& session);
// kCorrupt, ids "bad_session_file" and "hash_mismatch"; kInvalid, ids "session_of_other_model" and
// "session_of_other_cache".
Result<SavedSession> read_session(const std::filesystem::path& path, const SessionKind& kind);

}  // namespace wick
