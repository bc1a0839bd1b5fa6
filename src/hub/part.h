// The record of a running download: blobs/<key>.json beside blobs/<key>.part. A piece is recorded
// only after its bytes are on the disk. Plain values, any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "hub/store.h"

namespace wick {

inline constexpr std::uint64_t kMinPieceBytes = 1 << 10;
inline constexpr std::uint64_t kMaxDownloadPieceBytes = 1 << 30;
inline constexpr std::uint64_t kMaxPieces = 1 << 16;  // keeps the record far under 8 MiB
inline constexpr std::uint64_t kMaxDownloadBytes = kMaxPieces * kMaxDownloadPieceBytes;  // 64 TiB

struct PartRecord {
  std::string url = {};   // plain: without user, password and fragment
  std::string etag = {};  // empty: the server names none
  std::uint64_t total = 0;
  std::uint64_t piece_bytes = 0;
  std::vector<std::string> pieces = {};  // SHA-256 of each piece, empty: not there yet
  std::string sha256 = {};               // of the whole, once all is there

  std::uint64_t piece_begin(std::size_t i) const { return i * piece_bytes; }

  std::uint64_t piece_end(std::size_t i) const {  // one past its last byte
    return total - piece_begin(i) < piece_bytes ? total : piece_begin(i) + piece_bytes;
  }
};

// A record of a file of `total` bytes, at most kMaxDownloadBytes, with no piece there yet.
PartRecord new_part(std::uint64_t total, std::uint64_t piece_bytes);

// kNotFound when there is none, kCorrupt when it contradicts itself.
Result<PartRecord> load_part(const std::filesystem::path& path);
Result<void> save_part(const std::filesystem::path& path, const PartRecord& record);

// Removes the download records of these files, once the model's record lists them; also records
// that a killed process left.
void drop_finished_parts(const std::filesystem::path& blobs, const std::vector<StoredFile>& files);

}  // namespace wick
