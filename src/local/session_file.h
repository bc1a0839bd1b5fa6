// Session files: a conversation with its part of the KV cache, to resume it without computing the
// prompt again. A file fits one model and one pair of KV cache types; other files, and files with
// any changed byte, are refused before the cache is touched. Any thread.
//
//   "wick kv\3"            8 bytes; the last one counts up when the layout changes
//   model                 32 bytes, SHA-256: model_fingerprint()
//   k type, v type        2 × u32
//   conversation bytes, tokens, bytes of all blocks, least bytes of a block     4 × u64
//   conversation          JSON
//   token ids             i32 each
//   blocks                one for each 16 tokens begun, as the cache holds them; all numbers finite
//   SHA-256 of all above  32 bytes
//
// Numbers are little-endian. If the model has no recurrent states and no window shorter than the
// context, a block is the keys and values of every layer. Otherwise a block is: one byte of flags
// (bit i: the i-th shortest window is present, bit 7: a snapshot of the states is present), keys
// and values of the layers without a window, then those of each window that is present, then the
// f32 states. Which windows are shorter depends on the context size; the minimum block size differs
// then, and the file is refused. A model with states resumes at the last block with
// a snapshot, so the file ends with that block; later text is computed again.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "format/model_file.h"

namespace wick {

using Fingerprint = std::array<std::byte, 32>;

// Hashes the architecture, the name, the hyperparameters (keys of the architecture), each tensor's
// name, type and shape, and three pages of each tensor's data. Differently trained models differ in
// every tensor, so it is not necessary to read the whole file. An edit outside of these pages is
// not detected.
Fingerprint model_fingerprint(const ModelFile& file);

// The SHA-256 of `bytes`, for a model with what else its keys and values depend on.
Fingerprint fingerprint_of(std::span<const std::byte> bytes);

struct SessionKind {  // what a file and an engine must agree on
  Fingerprint model = {};
  KvType k_type = KvType::kBF16, v_type = KvType::kBF16;
  std::size_t least_block_bytes = 0;
};

struct SavedSession {
  std::string conversation = {};  // JSON
  SavedPrefix prefix = {};
};

// Written atomically (hub/atomic_file.h). `inputs`: files that must not be replaced.
Result<void> write_session(const std::filesystem::path& path, const SessionKind& kind,
                           const SavedSession& session, std::span<const FileId> inputs);
// kCorrupt, ids "bad_session_file" and "hash_mismatch"; kInvalid, ids "session_of_other_model" and
// "session_of_other_cache".
Result<SavedSession> read_session(const std::filesystem::path& path, const SessionKind& kind);
// The error "bad_session_file", for callers that parse parts of the file.
Error bad_session_file(const std::filesystem::path& path, std::string_view what);

}  // namespace wick
