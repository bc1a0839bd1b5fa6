// Tensors of a file under canonical names (GGUF's), and their way into a device: found through the
// architecture's name rules where the file is safetensors, checked for shape, repaired, uploaded.
// Load time only.
//
//   Binder binder(file, placement.devices, arch.names);
//   WICK_TRY(const Weight* q, binder.matrix("blk.{}.attn_q.weight", {n_heads * dim, d_model}, 3));
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "model/spec.h"

namespace wick {

struct FoundTensor {
  const TensorView* view = nullptr;  // nullptr: the file has no such tensor
  std::string name = {};             // as the file spells it, or would
  NameRule::Fix fix = NameRule::Fix::kNone;
};

// `canonical` with "{}" for the number of `layer`, if it has one.
FoundTensor find_tensor(const ModelFile& file, std::span<const NameRule> names,
                        std::string_view canonical, int layer = 0);

// "m.gguf: tensor 'blk.3.attn_q.weight' is missing".
Error missing_tensor(const ModelFile& file, std::string_view name);

// What Binder uploaded; lives as long as the model.
struct Weights {
  std::vector<std::unique_ptr<Weight>> owned = {};
  std::vector<std::vector<float>> computed = {};  // tensors that are in no file
  std::size_t bytes = 0;                          // of the tensors in the file
  std::vector<std::size_t> bytes_on = {};         // of all, by device
};

class Binder {
 public:
  // A null device takes nothing: what would lie there is counted, and bound as null.
  Binder(const ModelFile& file, std::span<Device* const> devices, std::span<const NameRule> names)
      : file_(file), devices_(devices), names_(names), rope_factors_(devices.size()) {
    weights_.bytes_on.resize(devices.size());
  }

  // What is bound from now on lies on this device. The first one until then.
  void use(int device) noexcept { device_ = static_cast<std::size_t>(device); }

  // `heads`: of q and k, whose rows some files order differently; 0 elsewhere.
  struct Matrix {
    std::int64_t out = 0, in = 0;
    int heads = 0;
  };

  Result<const Weight*> matrix(std::string_view canonical, const Matrix& want, int layer = 0);
  // A gain or bias of n values.
  Result<const Weight*> vector(std::string_view canonical, std::int64_t n, int layer = 0,
                               int heads = 0);
  // A matrix that is read as numbers, not multiplied: rows side by side, as one vector.
  Result<const Weight*> table(std::string_view canonical, const Matrix& want, int layer = 0);
  // A matrix for each head, [heads, out, in] in the file, one under the other.
  Result<const Weight*> heads(std::string_view canonical, int n, const Matrix& of_head, int layer);
  // The first `rows` rows of each of n heads, turned around to [in, rows], as computed floats. The
  // matrix is bound already.
  Result<const Weight*> transposed_heads(std::string_view canonical, int n, const Matrix& of_head,
                                         int rows, int layer);
  // The divisors of the rotation's frequencies [dim / 2]: the file's tensor, or computed from its
  // keys. One weight for all layers of a device.
  Result<const Weight*> rope_factors(int dim);

  // Bound so far:
  std::size_t bytes() const noexcept { return weights_.bytes; }

  std::int64_t matrix_weights() const noexcept { return matrix_weights_; }

  Weights take() && noexcept { return std::move(weights_); }

 private:
  bool is_counting() const noexcept { return devices_[device_] == nullptr; }

  // `as`: the shape to upload it in, if it is another one.
  Result<const Weight*> bind(std::string_view canonical, const Shape& want, int layer, int heads,
                             const Shape* as = nullptr);
  Result<const Weight*> upload(const TensorView& view, const WeightTransform& fix);
  Result<const Weight*> upload(std::string_view name, std::vector<float> values,
                               const Shape& shape);  // that are in no file

  const ModelFile& file_;
  std::span<Device* const> devices_;
  std::span<const NameRule> names_;
  std::size_t device_ = 0;
  Weights weights_ = {};
  std::int64_t matrix_weights_ = 0;  // numbers in matrices
  std::vector<const Weight*> rope_factors_;  // by device
};

}  // namespace wick
