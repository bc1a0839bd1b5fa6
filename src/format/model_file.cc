#include "format/model_file.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>

#include "base/strings.h"
#include "format/gguf.h"
#include "format/model_parts.h"
#include "format/safetensors.h"

namespace wick {

std::string to_string(const Shape& shape) {
  std::string out = "[";
  for (int i = 0; i < shape.rank; ++i) {
    out += cat(i == 0 ? "" : ", ", shape.dim[static_cast<std::size_t>(i)]);
  }
  return out + "]";
}

Error corrupt(std::string id, std::string message) {
  return {.code = ErrorCode::kCorrupt,
          .id = std::move(id),
          .message = std::move(message),
          .hint = "the file is damaged, or not what its name says: fetch it again"};
}

Error truncated(std::string id, std::string message) {
  return {.code = ErrorCode::kCorrupt,
          .id = std::move(id),
          .message = std::move(message),
          .hint = "the file is incomplete or damaged: fetch it again"};
}

Result<std::vector<std::uint32_t>> index_by_name(std::span<const TensorView> tensors,
                                                 std::string_view path) {
  std::vector<std::uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto name_of = [&](std::uint32_t i) { return tensors[i].name; };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return name_of(a) < name_of(b); });
  const auto twice = std::adjacent_find(
      order.begin(), order.end(),
      [&](std::uint32_t a, std::uint32_t b) { return name_of(a) == name_of(b); });
  if (twice == order.end()) return order;
  return corrupt("duplicate_tensor",
                 cat(printable(path), ": tensor '", printable(name_of(*twice)), "' appears twice"));
}

namespace {

// By extension, and by what the file begins with where that says nothing (a blob named by its
// hash).
Result<FileFormat> detect(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return FileFormat::kSafetensors;
  if (path.extension() == ".gguf") return FileFormat::kGguf;
  if (path.extension() == ".safetensors") return FileFormat::kSafetensors;
  WICK_TRY(const MappedFile file, MappedFile::open(path));
  if (has_gguf_magic(file.bytes())) return FileFormat::kGguf;
  if (has_safetensors_magic(file.bytes())) return FileFormat::kSafetensors;
  return Error{
      .code = ErrorCode::kUnsupported,
      .id = "unknown_format",
      .message = cat(printable(path.string()), ": is neither a GGUF nor a safetensors file"),
      .hint = "wick reads .gguf files and folders with safetensors and config.json"};
}

}  // namespace

struct ModelFile::State {
  FileFormat format = FileFormat::kGguf;
  std::filesystem::path path = {};
  ModelParts parts = {};
  std::vector<std::uint32_t> by_name = {};
  std::uint64_t bytes = 0;
};

Result<ModelFile> ModelFile::open(const std::filesystem::path& path,
                                  std::span<const HfFamily> families) {
  auto state = std::make_unique<State>();
  state->path = path;
  WICK_TRY(state->format, detect(path));
  const bool is_gguf = state->format == FileFormat::kGguf;
  WICK_TRY(state->parts, is_gguf ? open_gguf(path) : open_safetensors(path, families));
  return index(std::move(state));
}

Result<ModelFile> ModelFile::open_adapter(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  WICK_TRY(state->format, detect(path));
  const bool is_gguf = state->format == FileFormat::kGguf;
  WICK_TRY(state->parts, is_gguf ? open_gguf(path) : open_peft(path));
  return index(std::move(state));
}

Result<ModelFile> ModelFile::index(std::unique_ptr<State> state) {
  WICK_TRY(state->by_name, index_by_name(state->parts.tensors, state->path.string()));
  for (const MappedFile& file : state->parts.files)
    state->bytes += file.bytes().size();
  return ModelFile(std::move(state));
}

ModelFile::ModelFile(std::unique_ptr<State> state) : state_(std::move(state)) {}

ModelFile::ModelFile(ModelFile&&) noexcept = default;
ModelFile& ModelFile::operator=(ModelFile&&) noexcept = default;
ModelFile::~ModelFile() = default;

FileFormat ModelFile::format() const noexcept {
  return state_->format;
}

const std::filesystem::path& ModelFile::path() const noexcept {
  return state_->path;
}

const Metadata& ModelFile::metadata() const noexcept {
  return state_->parts.metadata;
}

std::span<const TensorView> ModelFile::tensors() const noexcept {
  return state_->parts.tensors;
}

const TensorView* ModelFile::find(std::string_view name) const noexcept {
  const std::vector<TensorView>& tensors = state_->parts.tensors;
  const auto at = std::lower_bound(
      state_->by_name.begin(), state_->by_name.end(), name,
      [&](std::uint32_t i, std::string_view wanted) { return tensors[i].name < wanted; });
  if (at == state_->by_name.end() || tensors[*at].name != name) return nullptr;
  return &tensors[*at];
}

std::uint64_t ModelFile::bytes() const noexcept {
  return state_->bytes;
}

Result<void> ModelFile::check_untouched() const {
  for (const MappedFile& file : state_->parts.files) {
    if (file.is_untouched()) continue;
    return Error{.code = ErrorCode::kIo,
                 .id = "model_file_changed",
                 .message = cat(printable(file.path().string()),
                                ": was written to since the model was loaded from it"),
                 .hint = "load the model again; give a model a new file by renaming that over it"};
  }
  return {};
}

std::vector<FileId> ModelFile::files() const {
  std::vector<FileId> ids;
  for (const MappedFile& file : state_->parts.files)
    ids.push_back(file.id());
  return ids;
}

}  // namespace wick
