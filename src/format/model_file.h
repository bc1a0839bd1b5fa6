// A model on disk, mapped and fully validated: GGUF v2/v3 (also split), or a folder (or file) of
// safetensors with config.json and tokenizer files beside it. Nothing is copied: tensors are views
// into the mapping, and every view's offset, length, alignment and shape has been checked against
// the file before it is handed out. Immutable; any thread; must outlive what borrows from it.
//
//   WICK_TRY(const ModelFile file, ModelFile::open("model.gguf"));
//   file.metadata().string("general.architecture");   // "llama", from config.json too
//   file.find("blk.0.attn_q.weight");                 // in safetensors Hugging Face's names
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "format/hf_family.h"
#include "format/metadata.h"
#include "quant/dtype.h"

namespace wick {

struct Shape {  // row-major, outermost first: a linear weight is {out_features, in_features}
  std::array<std::int64_t, 4> dim{1, 1, 1, 1};
  int rank = 0;

  friend bool operator==(const Shape&, const Shape&) = default;
};

std::string to_string(const Shape& shape);  // "[4096, 2048]"

struct TensorView {  // borrowed from a ModelFile
  std::string_view name;
  DType type = DType::kF32;
  Shape shape = {};
  std::span<const std::byte> bytes = {};
};

enum class FileFormat : std::uint8_t { kGguf, kSafetensors };

class ModelFile {
 public:
  // `path`: a .gguf file (any part of a split), a .safetensors file, or a folder that holds
  // safetensors and config.json, of one of the families (model/spec.h: open_model); of another one
  // the architecture is model_type, and what config.json leaves out stays out.
  static Result<ModelFile> open(const std::filesystem::path& path,
                                std::span<const HfFamily> families = {});

  // A LoRA adapter: a .gguf file, or a folder of PEFT's with adapter_model.safetensors (or that
  // file), whose adapter_config.json stands under "adapter.peft".
  static Result<ModelFile> open_adapter(const std::filesystem::path& path);

  ModelFile(ModelFile&&) noexcept;
  ModelFile& operator=(ModelFile&&) noexcept;
  ~ModelFile();

  FileFormat format() const noexcept;
  const std::filesystem::path& path() const noexcept;
  // GGUF keys. From safetensors, config.json and generation_config.json are translated to the same
  // keys; tokenizer files are handed over as they are under "tokenizer.huggingface.json"
  // (tokenizer.json), "tokenizer.huggingface.config" (tokenizer_config.json), ".special_tokens"
  // (special_tokens_map.json), "tokenizer.sentencepiece.model", "tokenizer.tekken.json" and
  // "tokenizer.tiktoken.model", and a chat template under "tokenizer.chat_template".
  const Metadata& metadata() const noexcept;
  std::span<const TensorView> tensors() const noexcept;
  const TensorView* find(std::string_view name) const noexcept;  // nullptr if absent
  std::uint64_t bytes() const noexcept;                          // of all files together
  // kIo, id "model_file_changed", once one of the files was modified in place (base/mapped_file.h):
  // its checked contents are then no longer valid.
  Result<void> check_untouched() const;
  std::vector<FileId> files() const;  // all that were read: parts, config.json, tokenizer files

 private:
  struct State;
  explicit ModelFile(std::unique_ptr<State> state);
  static Result<ModelFile> index(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Chat templates without a model: a .jinja file, a tokenizer_config.json (or a file of its form),
// or a folder that holds some; under the keys that a model's metadata have.
Result<Metadata> read_chat_templates(const std::filesystem::path& path);

}  // namespace wick
