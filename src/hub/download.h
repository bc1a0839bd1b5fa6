// Downloads one file from one URL into a blob, in pieces. Recorded pieces survive kill -9: a
// resumed download hashes them again and fetches only the others. Blocks; any thread; two processes
// that download the same file wait for each other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/store.h"

namespace wick {

struct DownloadRequest {
  std::string url = {};
  std::vector<std::string> headers = {};  // for the first origin only
  std::string name = {};                  // of the file in its model
  std::string sha256 = {};                // wanted; empty: not known
  std::uint64_t bytes = 0;                // wanted; 0: not known
  std::uint64_t piece_bytes = 64 << 20;
  int retry_pause_ms = 500;  // after a cut connection, doubled each time without a new byte
  std::function<void(std::uint64_t done, std::uint64_t all, bool is_checking)> progress = {};
  std::function<void(std::string_view)> note = {};
  std::stop_token stop = {};
};

// If the store has a blob of the expected hash, no request is sent. Errors: kCorrupt, id
// "hash_mismatch" (other bytes than expected) or "empty_file" (no bytes), after which the download
// is deleted; kUnavailable for failures that a later call may recover from, after which the good
// pieces stay. After success blobs/<key>.json still contains the hash of the blob, so that a killed
// pull does not download the file again. Call drop_finished_parts() once the model's record is
// written.
Result<StoredFile> download(const Store& store, const DownloadRequest& request);

}  // namespace wick
