// Writes a file that the user named (a session, a conversation, an array) atomically: the bytes go
// to a temporary file beside it, without a name where the file system knows such (O_TMPFILE), which
// gets its name at the end, or is removed. One thread.
//
//   WICK_TRY(AtomicFile file, AtomicFile::create(path, model.files()));
//   WICK_DO(file.add(bytes));
//   WICK_DO(file.commit());
//
// If the path exists: a regular file is replaced and keeps its owner and mode; a symbolic link
// stays and its target is replaced, a dangling link is refused. Folders, devices, pipes and sockets
// are refused (id "not_a_file"), and so is an input file under any name (id "output_is_input").
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "base/mapped_file.h"
#include "base/result.h"
#include "hub/durable.h"

namespace wick {

class AtomicFile {
 public:
  // `inputs`: files that are read meanwhile.
  static Result<AtomicFile> create(const std::filesystem::path& path,
                                   std::span<const FileId> inputs);
  // Whether create() would succeed now. Leaves nothing behind.
  static Result<void> check(const std::filesystem::path& path, std::span<const FileId> inputs);

  AtomicFile(AtomicFile&& other) noexcept
      : path_(std::move(other.path_)),
        target_(std::move(other.target_)),
        temporary_(std::exchange(other.temporary_, {})),
        file_(std::move(other.file_)),
        bytes_(other.bytes_) {}

  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Result<void> add(std::span<const std::byte> bytes);
  Result<void> add(std::string_view text);
  Result<void> commit();

 private:
  explicit AtomicFile(std::filesystem::path path) : path_(std::move(path)) {}

  Result<void> look_at_target(std::span<const FileId> inputs);
  std::filesystem::path folder() const;
  bool open_nameless();
  Result<void> name_temporary();
  Result<void> open_temporary();

  std::filesystem::path path_;            // as it was given, for messages
  std::filesystem::path target_ = {};     // behind links
  std::filesystem::path temporary_ = {};  // empty while it has no name, and once it is renamed
  FileHandle file_ = {};
  std::uint64_t bytes_ = 0;
};

}  // namespace wick
