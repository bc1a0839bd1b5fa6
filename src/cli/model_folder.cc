#include "cli/model_folder.h"

#include <algorithm>
#include <system_error>

#include "base/strings.h"

namespace wick {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstPart = "-00001-of-";

bool is_digits(std::string_view text) noexcept {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "big-00001-of-00003" as "big"; of a later part nothing.
std::string whole_name(const std::string& stem) {
  const std::size_t at = stem.rfind("-of-");
  constexpr std::size_t kDigits = 5;
  if (at == std::string::npos || at < kDigits + 1 || !is_digits(stem.substr(at + 4)) ||
      !is_digits(stem.substr(at - kDigits, kDigits)) || stem[at - kDigits - 1] != '-')
    return stem;
  if (stem.compare(at - kDigits - 1, kFirstPart.size(), kFirstPart) != 0) return {};
  return stem.substr(0, at - kDigits - 1);
}

}  // namespace

std::string name_of_model(const std::string& model) {
  std::error_code ignored;
  if (!fs::exists(model, ignored)) return model;
  fs::path path = fs::absolute(model, ignored).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();  // folder/
  return path.extension() == ".gguf" ? path.stem().string() : path.filename().string();
}

Result<std::vector<NamedModel>> models_in_folder(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error) || fs::exists(path / "config.json", error))
    return std::vector<NamedModel>();
  std::vector<NamedModel> all;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const fs::path& one = at->path();
    if (at->is_directory(ignored) && fs::exists(one / "config.json", ignored)) {
      all.push_back({one.filename().string(), one});
    } else if (one.extension() == ".gguf" && at->is_regular_file(ignored)) {
      std::string name = whole_name(one.stem().string());
      if (!name.empty()) all.push_back({std::move(name), one});
    }
  }
  if (error || all.empty()) {
    return Error{.code = ErrorCode::kNotFound,
                 .id = "no_models",
                 .message = cat("the folder ", printable(path.string()),
                                error ? cat(" cannot be read: ", error.message())
                                      : " holds neither GGUF files nor folders with config.json")};
  }
  std::sort(all.begin(), all.end(),
            [](const NamedModel& a, const NamedModel& b) { return a.name < b.name; });
  return all;
}

std::vector<FileId> files_at(const fs::path& path) {
  std::vector<FileId> all;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    if (const auto id = file_id(path)) all.push_back(*id);
    return all;
  }
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (const auto id = file_id(at->path())) all.push_back(*id);
  }
  return all;
}

}  // namespace wick
