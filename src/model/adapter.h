// A LoRA adapter: for some matrices W of a model two small ones, A and B, so that W x becomes W x +
// scale * B (A x). From GGUF (llama.cpp's convert_lora_to_gguf.py) or PEFT's safetensors.
// Immutable; any thread; outlives the decoder that it is bound to, because its matrices stay in its
// mapping.
//
//   WICK_TRY(const Adapter adapter, Adapter::open("sql.gguf"));
//   WICK_TRY(Decoder decoder, Decoder::load(file, *device, {.adapters = {&adapter, 1}}));
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/model_file.h"
#include "model/spec.h"

namespace wick {

class Adapter {
 public:
  static Result<Adapter> open(const std::filesystem::path& path);

  struct Change {                   // of one matrix
    const TensorView* a = nullptr;  // [rank, in]; of experts perhaps a stack of these
    const TensorView* b = nullptr;  // [out, rank], rows as in the adapter's format
    std::int64_t rank = 0;
    float scale = 1;                           // alpha / rank
    NameRule::Fix fix = NameRule::Fix::kNone;  // of B's rows
  };

  // The change of the matrix `canonical`, under the names of its format; nullopt = none.
  std::optional<Change> find(std::span<const NameRule> names, std::string_view canonical, int layer,
                             int expert = 0) const;

  struct Stack {
    int n = 0;
    std::int64_t out = 0, in = 0;  // of each matrix
  };

  // PEFT's change of one parameter that has the matrices of n experts (target_parameters): a is
  // [n * rank, in], b [out, rank * n]. Its names do not say which parameter of a module it is, so
  // the shapes do.
  std::optional<Change> find_parameter(std::span<const NameRule> names, std::string_view canonical,
                                       int layer, const Stack& want) const;
  // kInvalid if the adapter says that it belongs to another architecture.
  Result<void> check_architecture(std::string_view of_model) const;

  const ModelFile& file() const noexcept { return file_; }

  const std::filesystem::path& path() const noexcept { return file_.path(); }

  int max_rank() const noexcept { return max_rank_; }

 private:
  explicit Adapter(ModelFile file) : file_(std::move(file)) {}

  Result<void> read_gguf();
  Result<void> read_peft();
  Result<void> check_tensors();
  Result<void> check_rank(const TensorView& a);
  Change change_of(std::string_view module, const TensorView* a, const TensorView* b,
                   std::int64_t rank, NameRule::Fix fix = NameRule::Fix::kNone) const;

  ModelFile file_;
  int max_rank_ = 0;
  int configured_rank_ = 0;          // PEFT: the largest of its configuration
  double alpha_ = 0;                 // 0: the scale is 1
  bool is_rank_stabilized_ = false;  // the scale is alpha / sqrt(rank)
  std::vector<std::pair<std::string, double>> alphas_ = {};  // of modules, by the end of their name
};

}  // namespace wick
