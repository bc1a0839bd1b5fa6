// Binder: LoRA adapters. B gets the transform of the matrix that it changes, so any part of a fused
// or permuted tensor has its change.
#include "base/strings.h"
#include "model/tensors.h"

namespace wick {

Error wrong_change(const Adapter& adapter, const TensorView& tensor, const Shape& want) {
  return {ErrorCode::kInvalid, "adapter_shape",
          cat(printable(adapter.path().string()), ": tensor '", printable(tensor.name), "' is ",
              to_string(tensor.shape), ", the model needs ", to_string(want)),
          "take an adapter that was trained on this model"};
}

// Kernels read the float formats; what is quantized becomes floats.
Result<const Weight*> Binder::upload_low(const TensorView& view, const WeightTransform& fix) {
  weights_.adapter_bytes += view.bytes.size();
  if (dtype_info(view.type).block_len == 1) return upload(view, fix);
  const auto rows = static_cast<std::size_t>(view.shape.dim[0]);
  const auto cols = static_cast<std::size_t>(view.shape.dim[1]);
  std::vector<float>& values = weights_.computed.emplace_back(rows * cols);
  const std::size_t bytes = view.bytes.size() / rows;
  for (std::size_t r = 0; r < rows; ++r)
    decode_row(view.type, view.bytes.subspan(r * bytes, bytes),
               std::span(values).subspan(r * cols, cols));
  TensorView floats = view;
  floats.type = DType::kF32;
  floats.bytes = std::as_bytes(std::span(values));
  return upload(floats, fix);
}

// `weight`: the matrix; nullptr on a null device.
Result<void> Binder::adapt(Weight* weight, const Adapter& adapter, const Adapter::Change& change,
                           const Matrix& want) {
  const std::int64_t rank = change.rank;
  const std::int64_t rows = want.all > 0 ? want.all : want.out;
  const Shape low{.dim = {rank, want.in, 1, 1}, .rank = 2};
  const Shape high{.dim = {rows, rank, 1, 1}, .rank = 2};
  if (change.a->shape != low) return wrong_change(adapter, *change.a, low);
  if (change.b->shape != high) return wrong_change(adapter, *change.b, high);
  adapted_.insert(change.a);
  LowRank bound{.adapter = static_cast<int>(&adapter - adapters_.data()), .scale = change.scale};
  const bool is_permuted =
      change.fix == NameRule::Fix::kPermuteQ || change.fix == NameRule::Fix::kPermuteK;
  WICK_TRY(bound.a, upload_low(*change.a, {}));
  WICK_TRY(bound.b, upload_low(*change.b, {.permute_heads = is_permuted ? want.heads : 0,
                                           .row_begin = want.first,
                                           .row_count = want.all > 0 ? want.out / want.blocks : -1,
                                           .blocks = want.blocks}));
  if (weight != nullptr) weight->adapt(bound);
  return {};
}

Result<void> Binder::adapt(std::string_view canonical, const Matrix& want, int layer) {
  Weight* const weight = is_counting() ? nullptr : weights_.owned.back().get();
  for (const Adapter& adapter : adapters_) {
    const auto change = adapter.find(names_, canonical, layer);
    if (change) WICK_DO(adapt(weight, adapter, *change, want));
  }
  return {};
}

Result<void> Binder::check_adapters() const {
  for (const Adapter& adapter : adapters_) {
    for (const TensorView& tensor : adapter.file().tensors()) {
      const bool is_a = tensor.name.ends_with(".lora_a") || tensor.name.ends_with(".lora_A.weight");
      if (!is_a || adapted_.contains(&tensor)) continue;
      return Error{ErrorCode::kUnsupported, "adapter_tensor",
                   cat(printable(adapter.path().string()), ": tensor '", printable(tensor.name),
                       "' changes no matrix of the model that wick can adapt"),
                   "wick adapts attention, feed-forwards, experts and the LM head; not routers "
                   "and embeddings"};
    }
  }
  return {};
}

}  // namespace wick
