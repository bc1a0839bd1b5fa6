#include "model/pass.h"

#include <algorithm>
#include <array>
#include <variant>

#include "model/mixer_delta.h"

namespace wick {

namespace {

void widen(Widest& w, const GqaSpec& gqa) noexcept {
  const int v_dim = gqa.v_dim > 0 ? gqa.v_dim : gqa.head_dim;
  w.q = std::max(w.q, gqa.n_heads * gqa.head_dim);
  w.attended = std::max(w.attended, gqa.n_heads * v_dim);
  w.product = std::max(w.product, gqa.n_heads * v_dim);
  w.heads = std::max(w.heads, gqa.n_heads);
  w.head_dim = std::max({w.head_dim, gqa.head_dim, v_dim});
}

void widen(Widest& w, const MlaSpec& mla) noexcept {
  const int queries = mla.n_heads * (mla.nope_dim + mla.rope_dim);
  const int values = mla.n_heads * mla.v_dim;
  w.q = std::max(w.q, mla.n_heads * mla.key_dim());
  w.attended = std::max(w.attended, mla.n_heads * mla.kv_rank);
  w.hidden = std::max({w.hidden, mla.key_dim() + mla.q_rank + queries, values});
  w.product = std::max({w.product, mla.q_rank, values});
  w.heads = std::max(w.heads, mla.n_heads);
  w.head_dim = std::max(w.head_dim, mla.key_dim());
}

void widen(Widest& w, const DeltaSpec& delta) noexcept {
  const DeltaParams p = sizes_of(delta);
  w.hidden = std::max(w.hidden, p.cols());
  w.attended = std::max(w.attended, p.values());
  w.product = std::max(w.product, p.values());
  w.heads = std::max(w.heads, p.n_v_heads);
  w.head_dim = std::max({w.head_dim, p.k_dim, p.v_dim});
}

}  // namespace

Widest widest(const DecoderSpec& spec) noexcept {
  Widest w;
  const auto of_mixer = [&w](const auto& mixer) noexcept { widen(w, mixer); };
  const auto of_ffn = [&w](const DenseSpec& ffn) noexcept {
    w.hidden = std::max(w.hidden, ffn.hidden);
    w.product = std::max(w.product, ffn.hidden);
  };
  for (const BlockSpec& block : spec.blocks) {
    std::visit(of_mixer, block.mixer);
    std::visit(of_ffn, block.ffn);
  }
  return w;
}

Result<Activations> make_activations(Device& device, const DecoderSpec& spec, const Widest& w,
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
  WICK_TRY(all.memory, device.allocate(total * sizeof(float)));
  auto* at = reinterpret_cast<float*>(all.memory->data());
  for (const Part& p : parts) {
    *p.tensor = {.data = at, .rows = p.rows, .cols = p.cols, .row_stride = p.cols};
    at += floats(p);
  }
  return all;
}

}  // namespace wick
