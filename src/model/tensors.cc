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

Result<const Weight*> Binder::upload(const TensorView& view, const WeightTransform& fix) {
  weights_.bytes_on[device_] += view.bytes.size();
  if (is_counting()) return static_cast<const Weight*>(nullptr);
  WICK_TRY(std::unique_ptr<Weight> weight, devices_[device_]->upload(view, fix));
  weights_.owned.push_back(std::move(weight));
  return weights_.owned.back().get();
}

Result<const Weight*> Binder::upload(std::string_view name, std::vector<float> values,
                                     const Shape& shape) {
  const std::vector<float>& kept = weights_.computed.emplace_back(std::move(values));
  return upload(
      {.name = name, .type = DType::kF32, .shape = shape, .bytes = std::as_bytes(std::span(kept))},
      {});
}

Result<const Weight*> Binder::bind(std::string_view canonical, const Shape& want, int layer,
                                   int heads, const Shape* as) {
  const FoundTensor found = find_tensor(file_, names_, canonical, layer);
  if (found.view == nullptr) return missing_tensor(file_, found.name);
  if (found.view->shape != want) {
    return Error{ErrorCode::kCorrupt, "tensor_shape",
                 cat(file_.path().string(), ": tensor '", found.name, "' is ",
                     to_string(found.view->shape), ", the model needs ", to_string(want))};
  }
  weights_.bytes += found.view->bytes.size();
  if (as != nullptr) {
    TensorView view = *found.view;
    view.shape = *as;
    return upload(view, {});
  }
  return upload(*found.view, {.permute_heads = found.fix == NameRule::Fix::kNone ? 0 : heads});
}

Result<const Weight*> Binder::matrix(std::string_view canonical, const Matrix& want, int layer) {
  matrix_weights_ += want.out * want.in;
  return bind(canonical, {.dim = {want.out, want.in, 1, 1}, .rank = 2}, layer, want.heads);
}

Result<const Weight*> Binder::table(std::string_view canonical, const Matrix& want, int layer) {
  const Shape flat{.dim = {want.out * want.in, 1, 1, 1}, .rank = 1};
  return bind(canonical, {.dim = {want.out, want.in, 1, 1}, .rank = 2}, layer, 0, &flat);
}

Result<const Weight*> Binder::heads(std::string_view canonical, int n, const Matrix& of_head,
                                    int layer) {
  const Shape all{.dim = {n * of_head.out, of_head.in, 1, 1}, .rank = 2};
  matrix_weights_ += all.dim[0] * all.dim[1];
  return bind(canonical, {.dim = {n, of_head.out, of_head.in, 1}, .rank = 3}, layer, 0, &all);
}

Result<const Weight*> Binder::transposed_heads(std::string_view canonical, int n,
                                               const Matrix& of_head, int rows, int layer) {
  const FoundTensor found = find_tensor(file_, names_, canonical, layer);
  if (found.view == nullptr) return missing_tensor(file_, found.name);
  const auto in = static_cast<std::size_t>(of_head.in), out = static_cast<std::size_t>(rows);
  const std::size_t heads = static_cast<std::size_t>(n);
  if (is_counting()) {
    weights_.bytes_on[device_] += heads * in * out * sizeof(float);
    return static_cast<const Weight*>(nullptr);
  }
  const std::size_t row_bytes = found.view->bytes.size() / (heads * std::size_t(of_head.out));
  std::vector<float> row(in), turned(heads * in * out);
  for (std::size_t i = 0; i < heads * out; ++i) {
    const std::size_t at = i / out * static_cast<std::size_t>(of_head.out) + i % out;
    decode_row(found.view->type, found.view->bytes.subspan(at * row_bytes, row_bytes), row);
    for (std::size_t c = 0; c < in; ++c)
      turned[(i / out * in + c) * out + i % out] = row[c];
  }
  return upload(found.name, std::move(turned), {.dim = {n * of_head.in, rows, 1, 1}, .rank = 2});
}

Result<const Weight*> Binder::vector(std::string_view canonical, std::int64_t n, int layer,
                                     int heads) {
  return bind(canonical, {.dim = {n, 1, 1, 1}, .rank = 1}, layer, heads);
}

Result<const Weight*> Binder::rope_factors(int dim) {
  const Weight*& bound = rope_factors_[device_];
  if (bound != nullptr && bound->shape.dim[0] == dim / 2) return bound;
  if (file_.find("rope_freqs.weight") != nullptr) {
    WICK_TRY(bound, vector("rope_freqs.weight", dim / 2));
    return bound;
  }
  WICK_TRY(const Llama3Scaling scaling, llama3_scaling(Hparams(file_)));
  WICK_TRY(bound, upload("rope_freqs.weight", llama3_rope_factors(scaling, dim),
                         {.dim = {dim / 2, 1, 1, 1}, .rank = 1}));
  return bound;
}

}  // namespace wick
