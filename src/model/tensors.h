// Binds the tensors of a file to a device. Finds a tensor by its canonical name (GGUF's; in a
// safetensors file by the architecture's name rules), checks its shape, transforms it to GGUF's
// conventions and uploads it. Load time only.
//
//   Binder binder(file, placement.devices, arch.names);
//   WICK_TRY(const Weight* q, binder.matrix("blk.{}.attn_q.weight", {n_heads * dim, d_model}, 3));
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "model/adapter.h"
#include "model/spec.h"

namespace wick {

// What to do about a file that contradicts itself.
inline constexpr const char* kVerifyHint =
    "the file may be incomplete or damaged; `wick model verify` checks it";

struct FoundTensor {
  const TensorView* view = nullptr;  // nullptr: the file has no such tensor
  std::string name = {};             // as the file spells it, or would
  NameRule::Fix fix = NameRule::Fix::kNone;
};

// `canonical` with "{}" for the number of `layer`, if it has one, and another for that of `expert`.
FoundTensor find_tensor(const ModelFile& file, std::span<const NameRule> names,
                        std::string_view canonical, int layer = 0, int expert = 0);

// `name` with the numbers of a layer and an expert for its first and second "{}".
std::string with_numbers(std::string_view name, int layer, int expert = 0);
// The names that a checkpoint's tensor `name` may have inside a larger model, or without its head.
std::vector<std::string> nested_names(const std::string& name);

// "m.gguf: tensor 'blk.3.attn_q.weight' is missing".
Error missing_tensor(const ModelFile& file, std::string_view name);

// A norm's weights, bound.
struct BoundNorm {
  const Weight* gain = nullptr;   // nullptr: there is no norm
  const Weight* shift = nullptr;  // nullptr: it has no bias
  NormParams params = {};
};

// What Binder uploaded; lives as long as the model.
struct Weights {
  std::vector<std::unique_ptr<Weight>> owned = {};
  std::vector<std::vector<float>> computed = {};    // tensors that are in no file
  std::vector<std::vector<std::byte>> turned = {};  // tensors that a file has transposed
  std::size_t bytes = 0;                            // of the tensors in the file
  std::size_t adapter_bytes = 0;                    // of LoRA adapters
  std::vector<std::size_t> bytes_on = {};           // of all, by device
};

// A tensor of an adapter whose shape is not what its matrix needs.
Error wrong_change(const Adapter& adapter, const TensorView& tensor, const Shape& want);

class Binder {
 public:
  // A null device stores nothing: the bytes of its tensors are counted, and the tensors are bound
  // as nullptr. `context`: the context size at load.
  Binder(const ModelFile& file, std::span<Device* const> devices, std::span<const NameRule> names,
         int context)
      : file_(file),
        devices_(devices),
        names_(names),
        context_(context),
        rope_factors_(devices.size()) {
    weights_.bytes_on.resize(devices.size());
  }

  // LoRA adapters, whose changes matrices get; check_adapters() then tells what none got.
  void use(std::span<const Adapter> adapters) noexcept { adapters_ = adapters; }

  Result<void> check_adapters() const;

  // One matrix of n experts, as Experts and Matrix have it: rows [first, first + out) of each
  // expert's `all` in the tensor.
  struct ExpertPart {
    std::string_view stacked = {}, single = {};
    int n = 0;
    std::int64_t out = 0, in = 0;
    std::int64_t first = 0, all = 0;  // all = 0: the whole tensor
  };

  // The adapters' changes of the experts of a layer: of each adapter the first of `parts`, names
  // of the same matrix, that it has. For ExpertMatrix::changes; empty on a null device.
  Result<std::vector<LowRank>> expert_changes(std::span<const ExpertPart> parts, int layer);

  // Tensors that are bound from now on go to this device. The default is the first device.
  void use(int device) noexcept { device_ = static_cast<std::size_t>(device); }

  // `heads`: of q and k, whose rows some files order differently; 0 elsewhere.
  struct Matrix {
    std::int64_t out = 0, in = 0;
    int heads = 0;
    // Rows [first, first + out) of a fused tensor with `all` rows. all = 0: the whole tensor.
    std::int64_t first = 0, all = 0;
    int blocks = 1;  // of equal parts of the tensor, from each of which out / blocks rows are taken
    bool takes_adapters = true;  // false: its op does not apply them
  };

  Result<const Weight*> matrix(std::string_view canonical, const Matrix& want, int layer = 0);
  // The adapters' changes of `canonical` for a matrix that was just bound, perhaps under another
  // name (a tied head).
  Result<void> adapt(std::string_view canonical, const Matrix& want, int layer = 0);
  // A gain or bias of n values.
  Result<const Weight*> vector(std::string_view canonical, std::int64_t n, int layer = 0,
                               int heads = 0);
  // A gain of n ones, which no file has.
  Result<const Weight*> ones(std::int64_t n);
  // The one number of a tensor.
  Result<float> number(std::string_view canonical, int layer);
  // A part of a longer one; in = 1.
  Result<const Weight*> vector_part(std::string_view canonical, const Matrix& want, int layer);
  // `canonical`.weight, and .bias if it has one.
  Result<BoundNorm> norm(std::string_view canonical, const NormSpec& spec, std::int64_t n,
                         int layer = 0);
  // A gain for each of n heads, head after head in one vector.
  Result<const Weight*> head_gains(std::string_view canonical, int n, int dim, int layer);
  // A matrix that is read as numbers, not multiplied: rows side by side, as one vector. A file may
  // have a dimension of 1 between its two.
  Result<const Weight*> table(std::string_view canonical, const Matrix& want, int layer = 0);
  // A table of rows to be looked up, `least` or more from row `first` on; not multiplied.
  Result<const Weight*> lookup(std::string_view canonical, std::int64_t least, std::int64_t in,
                               std::int64_t first = 0);
  // A matrix of one row, which some files have as a vector.
  Result<const Weight*> row(std::string_view canonical, std::int64_t in, int layer);
  // A matrix for each head, [heads, out, in] in the file, one under the other.
  Result<const Weight*> heads(std::string_view canonical, int n, const Matrix& of_head, int layer);

  // Matrices [out, in] of n experts, of which a token reads n_active: the tensor `stacked` [n, out,
  // in] or, in older files, one tensor for each, `single`. One weight, or n.
  struct Experts {
    std::string_view stacked = {}, single = {};
    int n = 0, n_active = 0;
  };

  Result<std::vector<const Weight*>> experts(const Experts& which, const Matrix& of_each,
                                             int layer);
  // The first `rows` rows of each of n heads, transposed to [in, rows] and copied as floats. The
  // matrix itself must be bound already.
  Result<const Weight*> transposed_heads(std::string_view canonical, int n, const Matrix& of_head,
                                         int rows, int layer);
  // The divisors of the rotation's frequencies [dim / 2]: the file's tensor, or computed from its
  // keys. One weight for all layers of a device.
  Result<const Weight*> rope_factors(const GqaSpec& spec);

  bool has(std::string_view canonical, int layer = 0) const;

  // Bound so far:
  std::size_t bytes() const noexcept { return weights_.bytes; }

  // Of these, the bytes that no token reads: experts it does not go to, and tables of rows.
  std::size_t idle_bytes() const noexcept { return idle_bytes_; }

  // Numbers in matrices that a token is multiplied with.
  std::int64_t matrix_weights() const noexcept { return matrix_weights_; }

  Weights take() && noexcept { return std::move(weights_); }

 private:
  bool is_counting() const noexcept { return devices_[device_] == nullptr; }

  struct Wanted {
    Shape shape = {};
    int heads = 0;
    std::int64_t first = 0, count = -1;  // of its outermost dimension, -1 = all
    int blocks = 1;
    const Shape* as = nullptr;  // shape to upload it in, if another
  };

  Result<const Weight*> bind(std::string_view canonical, const Wanted& want, int layer);
  Result<const Weight*> negated_exp(const FoundTensor& found, std::int64_t n);
  // Matrices [out, in] of n experts, transposed; a bias is one of a single column.
  Result<const Weight*> turned(const FoundTensor& found, int n, const Matrix& of_each,
                               bool is_bias = false);
  Result<const Weight*> bind(const FoundTensor& found, const Wanted& want);
  Result<const Weight*> long_factors(const GqaSpec& spec);
  Result<const Weight*> proportional_factors(const GqaSpec& spec);
  Result<void> adapt(Weight* weight, const Adapter& adapter, const Adapter::Change& change,
                     const Matrix& want);
  Result<LowRank> stacked_change(const Adapter& adapter, const Adapter::Change& change,
                                 const ExpertPart& part);
  Result<LowRank> parameter_change(const Adapter::Change& change, const ExpertPart& part);
  Result<std::optional<LowRank>> single_changes(const Adapter& adapter, const ExpertPart& part,
                                                int layer);
  Result<const Weight*> upload_low(const TensorView& view, const WeightTransform& fix);
  Result<const Weight*> upload(const TensorView& view, const WeightTransform& fix);
  Result<const Weight*> upload(std::string_view name, std::vector<float> values,
                               const Shape& shape);  // `values` of no file

  const ModelFile& file_;
  std::span<Device* const> devices_;
  std::span<const NameRule> names_;
  int context_ = 0;
  std::size_t device_ = 0;
  Weights weights_ = {};
  std::int64_t matrix_weights_ = 0;
  std::size_t idle_bytes_ = 0;
  std::vector<const Weight*> rope_factors_;  // by device
  std::span<const Adapter> adapters_ = {};
  std::set<const TensorView*> adapted_ = {};  // the A matrices in use
};

}  // namespace wick
