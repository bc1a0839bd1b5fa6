#include "model/pass.h"

#include <algorithm>
#include <array>

namespace wick {

Widest widest(const DecoderSpec& spec) noexcept {
  Widest w;
  for (const BlockSpec& block : spec.blocks) {
    const auto& gqa = std::get<GqaSpec>(block.mixer);
    const int v_dim = gqa.v_dim > 0 ? gqa.v_dim : gqa.head_dim;
    w.q = std::max(w.q, gqa.n_heads * gqa.head_dim);
    w.attended = std::max(w.attended, gqa.n_heads * v_dim);
    w.hidden = std::max(w.hidden, std::get<DenseSpec>(block.ffn).hidden);
    w.heads = std::max(w.heads, gqa.n_heads);
    w.head_dim = std::max({w.head_dim, gqa.head_dim, v_dim});
  }
  return w;
}

Result<Activations> make_activations(Backend& backend, const DecoderSpec& spec, const Widest& w,
                                     const DecoderOptions& options) {
  const int n = options.max_batch_tokens;
  Activations all;

  struct Part {
    Tensor* tensor;
    int rows, cols;
  };

  const std::array parts{Part{&all.x, n, spec.d_model}, Part{&all.q, n, w.q},
                         Part{&all.attended, n, w.attended}, Part{&all.hidden, n, w.hidden},
                         Part{&all.logits, options.max_logit_rows, spec.vocab}};
  constexpr std::size_t kAlign = 64 / sizeof(float);
  const auto floats = [](const Part& p) {
    const auto count = static_cast<std::size_t>(p.rows) * static_cast<std::size_t>(p.cols);
    return (count + kAlign - 1) / kAlign * kAlign;
  };
  std::size_t total = 0;
  for (const Part& p : parts)
    total += floats(p);
  WICK_TRY(all.memory, backend.allocate(total * sizeof(float)));
  auto* at = reinterpret_cast<float*>(all.memory->data());
  for (const Part& p : parts) {
    *p.tensor = {.data = at, .rows = p.rows, .cols = p.cols, .row_stride = p.cols};
    at += floats(p);
  }
  return all;
}

}  // namespace wick
