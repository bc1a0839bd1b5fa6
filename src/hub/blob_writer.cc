#include "hub/blob_writer.h"

#include <unistd.h>

#include <system_error>

#include "base/strings.h"

namespace wick {

Result<BlobWriter> BlobWriter::create(const std::filesystem::path& folder) {
  std::filesystem::path path = folder / "blob";
  ::unlink(path.c_str());
  WICK_TRY(FileHandle file, open_for_writing(path));
  return BlobWriter(std::move(path), std::move(file));
}

BlobWriter::~BlobWriter() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Result<void> BlobWriter::add(std::span<const std::byte> bytes) {
  WICK_DO(write_at(file_, path_, bytes, bytes_));
  sum_.add(bytes);
  bytes_ += bytes.size();
  return {};
}

Result<StoredFile> BlobWriter::finish(const Store& store, std::string_view name,
                                      std::string_view wanted) {
  StoredFile file{.name = std::string(name), .sha256 = sum_.hex(), .bytes = bytes_};
  if (!wanted.empty() && file.sha256 != wanted) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "hash_mismatch",
                 .message = cat(name, " has SHA-256 ", file.sha256, ", wanted ", wanted),
                 .hint = "the source holds another file; nothing of it was kept"};
  }
  if (bytes_ == 0) {
    return Error{.code = ErrorCode::kCorrupt,
                 .id = "empty_file",
                 .message = cat(name, " has 0 bytes, wanted is a file that holds something")};
  }
  WICK_DO(sync_file(file_, path_));
  WICK_DO(move_durably(path_, store.blob_path(file.sha256)));
  path_.clear();
  return file;
}

Result<WorkFolder> WorkFolder::create(const Store& store, std::string_view key) {
  std::filesystem::path path = store.root() / "tmp" / std::string(key);
  std::error_code code;
  std::filesystem::remove_all(path, code);
  if (!code) std::filesystem::create_directory(path, code);
  if (code) return file_error(path, "create", code.value());
  return WorkFolder(std::move(path));
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace wick
