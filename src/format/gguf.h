// Reads one GGUF file (version 2 or 3, little-endian): its keys and its tensors as views into the
// caller's bytes. Total: whatever the bytes are, the answer is either fully checked views or one
// error that names what is wrong. Layout and rules: docs/formats/gguf.md. Internal to this module;
// others use ModelFile. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/metadata.h"
#include "format/model_file.h"
#include "format/model_parts.h"

namespace wick {

struct GgufFile {
  Metadata metadata = {};
  std::vector<TensorView> tensors = {};  // in the file's order; names and bytes are views
};

// `bytes` must outlive the result and start at an address that is a multiple of the alignment of
// any tensor's type (a mapping does); `path` is for messages only. No tensor's bytes are touched.
Result<GgufFile> parse_gguf(std::span<const std::byte> bytes, std::string_view path);

// Maps `path` and, if it is a part of a split model, all other parts.
Result<ModelParts> open_gguf(const std::filesystem::path& path);

// Is `bytes` the beginning of a GGUF file of any version?
bool has_gguf_magic(std::span<const std::byte> bytes) noexcept;

}  // namespace wick
