// Resolves --model to local files: model files and folders of them, by the names that requests use.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"

namespace wick {

struct NamedModel {
  std::string name = {};
  std::filesystem::path path = {};
};

// "models/SmolLM2-135M.Q4_K_M.gguf" → "SmolLM2-135M.Q4_K_M"; text that is not a path is returned
// unchanged.
std::string name_of_model(const std::string& model);

// The models in a folder, by name: its GGUF files, of a split the first part, and its folders that
// hold a config.json. Empty if `path` is no folder, or is itself a model. kNotFound, id
// "no_models", for a folder without any.
Result<std::vector<NamedModel>> models_in_folder(const std::filesystem::path& path);

// Files that a model at `path` may be read from: itself, or those of the folder.
std::vector<FileId> files_at(const std::filesystem::path& path);

}  // namespace wick
