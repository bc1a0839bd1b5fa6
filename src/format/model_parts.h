// The result of a reader of one file format, for ModelFile: the mapped files, metadata and tensors.
// Moving it does not move the mappings, so views stay valid. Internal to this module.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "format/metadata.h"
#include "format/model_file.h"

namespace wick {

struct ModelParts {
  std::vector<MappedFile> files = {};
  std::list<std::string> names = {};  // of tensors, where the file does not hold them verbatim
  Metadata metadata = {};
  std::vector<TensorView> tensors = {};
};

// Indices of `tensors`, ascending by name; an error if two share one. `path` is for the message.
Result<std::vector<std::uint32_t>> index_by_name(std::span<const TensorView> tensors,
                                                 std::string_view path);

// An error of kind kCorrupt; a truncated file also says how to get a whole one.
Error corrupt(std::string id, std::string message);
Error truncated(std::string id, std::string message);

}  // namespace wick
