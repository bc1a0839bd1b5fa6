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
// Numbers are little-endian. A block of a model that has neither states nor windows shorter than
// the context: keys and values of every layer. Of any other model: a byte (bit i: the i-th shortest
// such window, bit 7: a snapshot of the states), keys and values of the other layers, then of each
// window that is named, then the states, f32. Which windows are shorter hangs on the context; the
// least bytes of a block tell the difference. A model with states goes on from the last block with
// a snapshot, so its files end with one, and what the text has behind it is computed again.
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

// Of the metadata's architecture, name and hyperparameters (the keys of its architecture), each
// tensor's name, type and shape, and three pages of each tensor's bytes: models that differ by
// training differ in every tensor, and a file of many gigabytes need not be read for it. A file
// that somebody edits elsewhere is taken for the same model.
Fingerprint model_fingerprint(const ModelFile& file);

struct SessionKind {  // what a file and an engine must agree on
  Fingerprint model = {};
  KvType k_type = KvType::kBF16, v_type = KvType::kBF16;
  std::size_t least_block_bytes = 0;
};

struct SavedSession {
  std::string conversation = {};  // JSON
  SavedPrefix prefix = {};
};

// Appears whole or not at all, by the rules of hub/atomic_file.h. `inputs`: files not to replace.
Result<void> write_session(const std::filesystem::path& path, const SessionKind& kind,
                           const SavedSession& session, std::span<const FileId> inputs);
// kCorrupt, ids "bad_session_file" and "hash_mismatch"; kInvalid, ids "session_of_other_model" and
// "session_of_other_cache".
Result<SavedSession> read_session(const std::filesystem::path& path, const SessionKind& kind);
// "bad_session_file" for what only its reader sees in the file's parts.
Error bad_session_file(const std::filesystem::path& path, std::string_view what);

}  // namespace wick
