#include "model/tensors.h"

#include <utility>

#include "base/strings.h"
#include "model/arch/common.h"
#include "model/rope.h"

namespace wick {

namespace {

std::string with_layer(std::string_view name, int layer) {
  const std::size_t at = name.find("{}");
  if (at == std::string_view::npos) return std::string(name);
  return cat(name.substr(0, at), layer, name.substr(at + 2));
}

}  // namespace

FoundTensor find_tensor(const ModelFile& file, std::span<const NameRule> names,
                        std::string_view canonical, int layer) {
  FoundTensor found;
  if (file.format() == FileFormat::kSafetensors) {
    for (const NameRule& rule : names) {
      if (rule.canonical != canonical) continue;
      found.name = with_layer(rule.hf, layer);
      found.fix = rule.fix;
      found.view = file.find(found.name);
      return found;
    }
  }
  found.name = with_layer(canonical, layer);
  found.view = file.find(found.name);
  return found;
}

Error missing_tensor(const ModelFile& file, std::string_view name) {
  return Error{ErrorCode::kCorrupt, "missing_tensor",
               cat(file.path().string(), ": tensor '", name, "' is missing"),
               "the file may be incomplete; `wick model verify` checks it"};
}

Result<const Weight*> Binder::upload(const TensorView& view, const WeightFix& fix) {
  WICK_TRY(std::unique_ptr<Weight> weight, device_.upload(view, fix));
  weights_.owned.push_back(std::move(weight));
  return weights_.owned.back().get();
}

Result<const Weight*> Binder::bind(std::string_view canonical, const Shape& want, int layer,
                                   int heads, bool flat) {
  const FoundTensor found = find_tensor(file_, names_, canonical, layer);
  if (found.view == nullptr) return missing_tensor(file_, found.name);
  if (found.view->shape != want) {
    return Error{ErrorCode::kCorrupt, "tensor_shape",
                 cat(file_.path().string(), ": tensor '", found.name, "' is ",
                     to_string(found.view->shape), ", the model needs ", to_string(want))};
  }
  weights_.bytes += found.view->bytes.size();
  if (flat) {
    TensorView vector = *found.view;
    vector.shape = {.dim = {want.dim[0] * want.dim[1], 1, 1, 1}, .rank = 1};
    return upload(vector, {});
  }
  return upload(*found.view, {.permute_heads = found.fix == NameRule::Fix::kNone ? 0 : heads});
}

Result<const Weight*> Binder::matrix(std::string_view canonical, const Matrix& want, int layer) {
  matrix_weights_ += want.out * want.in;
  return bind(canonical, {.dim = {want.out, want.in, 1, 1}, .rank = 2}, layer, want.heads);
}

Result<const Weight*> Binder::table(std::string_view canonical, const Matrix& want, int layer) {
  return bind(canonical, {.dim = {want.out, want.in, 1, 1}, .rank = 2}, layer, 0, true);
}

Result<const Weight*> Binder::vector(std::string_view canonical, std::int64_t n, int layer,
                                     int heads) {
  return bind(canonical, {.dim = {n, 1, 1, 1}, .rank = 1}, layer, heads);
}

Result<const Weight*> Binder::rope_factors(int dim) {
  if (rope_factors_ != nullptr && rope_factors_->shape.dim[0] == dim / 2) return rope_factors_;
  if (file_.find("rope_freqs.weight") != nullptr) {
    WICK_TRY(rope_factors_, vector("rope_freqs.weight", dim / 2));
    return rope_factors_;
  }
  WICK_TRY(const Llama3Scaling scaling, llama3_scaling(Hparams(file_)));
  const std::vector<float>& factors =
      weights_.computed.emplace_back(llama3_rope_factors(scaling, dim));
  const TensorView view{.name = "rope_freqs.weight",
                        .type = DType::kF32,
                        .shape = {.dim = {dim / 2, 1, 1, 1}, .rank = 1},
                        .bytes = std::as_bytes(std::span(factors))};
  WICK_TRY(rope_factors_, upload(view, {}));
  return rope_factors_;
}

}  // namespace wick
