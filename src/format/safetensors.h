// Reads one safetensors file: a JSON header that names each tensor's type, shape and place, then
// the data. Total, like parse_gguf. Layout and rules: docs/formats/safetensors.md. Internal to this
// module; others use ModelFile. Any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/model_file.h"
#include "format/model_parts.h"

namespace wick {

struct SafetensorsFile {
  std::list<std::string> names = {};     // what the tensors' names view; moving keeps them valid
  std::vector<TensorView> tensors = {};  // in the order of the data
};

// `bytes` must outlive the result and start at an address that is a multiple of 4; `path` is for
// messages only. No tensor's bytes are touched.
Result<SafetensorsFile> parse_safetensors(std::span<const std::byte> bytes, std::string_view path);

// Opens a model of one or more safetensors files with config.json beside them. `path` is the folder
// or a file in it; a file that model.safetensors.index.json lists stands for the whole model.
Result<ModelParts> open_safetensors(const std::filesystem::path& path,
                                    std::span<const HfFamily> families);

// Opens PEFT's adapter_model.safetensors with adapter_config.json beside it; `path` is the folder
// or the file.
Result<ModelParts> open_peft(const std::filesystem::path& path);

// Does `bytes` begin as a safetensors file does: a plausible length, then '{'?
bool has_safetensors_magic(std::span<const std::byte> bytes) noexcept;

}  // namespace wick
