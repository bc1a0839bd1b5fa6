// One file from one URL into a blob, in pieces that survive kill -9: a resumed download fetches
// only what is not recorded as good, and hashes what is recorded once more. Blocks; any thread; two
// processes that want the same file wait for each other.
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

// A blob of the wanted hash that is there is taken without a request. kCorrupt (id "hash_mismatch")
// when the bytes are not the wanted ones, (id "empty_file") when there are none: then nothing of
// them stays. kUnavailable for anything that a later try may mend: then the good pieces stay. After
// success blobs/<key>.json still tells which blob the URL gave, so that nothing is fetched again
// before the model's record does: then drop_finished_parts.
Result<StoredFile> download(const Store& store, const DownloadRequest& request);

}  // namespace wick
