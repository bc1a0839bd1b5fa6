#include "hub/part.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/sha256.h"
#include "base/strings.h"
#include "hub/checked_json.h"
#include "hub/durable.h"

namespace wick {

namespace {

constexpr std::size_t kMaxPartBytes = 8 << 20;

Error bad_part(const std::filesystem::path& path) {
  return {.code = ErrorCode::kCorrupt,
          .id = "damaged_part",
          .message = cat(printable(path.string()), " is not the record of a download")};
}

bool read_pieces(const nlohmann::json& json, PartRecord& record) {
  const auto pieces = json.find("pieces");
  if (pieces == json.end() || !pieces->is_array()) return false;
  if (pieces->size() != record.pieces.size()) return false;
  for (std::size_t i = 0; i < record.pieces.size(); ++i) {
    const nlohmann::json& entry = (*pieces)[i];
    if (!entry.is_string()) return false;
    record.pieces[i] = entry.get<std::string>();
    if (!record.pieces[i].empty() && !is_sha256_hex(record.pieces[i])) return false;
  }
  return true;
}

}  // namespace

PartRecord new_part(std::uint64_t total, std::uint64_t piece_bytes) {
  PartRecord record{.total = total, .piece_bytes = piece_bytes};
  const auto n_pieces = [&] {
    return total / record.piece_bytes + (total % record.piece_bytes == 0 ? 0 : 1);
  };
  // A file of too many pieces gets larger ones.
  while (n_pieces() > kMaxPieces && record.piece_bytes < kMaxDownloadPieceBytes)
    record.piece_bytes = std::min(record.piece_bytes * 2, kMaxDownloadPieceBytes);
  record.pieces.resize(n_pieces());
  return record;
}

Result<PartRecord> load_part(const std::filesystem::path& path) {
  WICK_TRY(const std::string text, read_small_file(path, kMaxPartBytes));
  WICK_TRY(const nlohmann::json json, parse_checked_json(text, path.string()));
  const auto url = json_text(json, "url");
  const auto etag = json_text(json, "etag");
  const auto sha256 = json_text(json, "sha256");
  const auto total = json_count(json, "total");
  const auto piece_bytes = json_count(json, "piece_bytes");
  if (!url || !etag || !sha256 || !total || !piece_bytes) return bad_part(path);
  if (*piece_bytes < kMinPieceBytes || *piece_bytes > kMaxDownloadPieceBytes) return bad_part(path);
  if (*total > kMaxPieces * *piece_bytes) return bad_part(path);
  if (!sha256->empty() && !is_sha256_hex(*sha256)) return bad_part(path);
  PartRecord record = new_part(*total, *piece_bytes);
  record.url = *url;
  record.etag = *etag;
  record.sha256 = *sha256;
  if (!read_pieces(json, record)) return bad_part(path);
  return record;
}

Result<void> save_part(const std::filesystem::path& path, const PartRecord& record) {
  const nlohmann::json json = {{"url", record.url},       {"etag", record.etag},
                               {"total", record.total},   {"piece_bytes", record.piece_bytes},
                               {"pieces", record.pieces}, {"sha256", record.sha256}};
  return write_small_file(path, json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void drop_finished_parts(const std::filesystem::path& blobs, const std::vector<StoredFile>& files) {
  std::error_code code;
  std::filesystem::directory_iterator entries(blobs, code);
  for (; !code && entries != std::filesystem::directory_iterator(); entries.increment(code)) {
    const std::filesystem::path path = entries->path();
    if (path.extension() != ".json") continue;
    const auto record = load_part(path);
    if (!record || record->sha256.empty()) continue;
    const bool is_ours = std::any_of(files.begin(), files.end(), [&](const StoredFile& file) {
      return file.sha256 == record->sha256;
    });
    if (is_ours) ::unlink(path.c_str());
  }
}

}  // namespace wick
