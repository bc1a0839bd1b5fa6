// The state of one forward pass: backend, batch, and activations, which are named parts of one
// buffer, sized once for the largest batch. Engine thread only.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "model/decoder.h"

namespace wick {

struct Activations {
  std::unique_ptr<Buffer> memory = {};
  Tensor x = {};         // [max_batch, d_model] the hidden state
  Tensor q = {};         // [max_batch, widest n_heads * head_dim]
  Tensor attended = {};  // [max_batch, widest n_heads * v_dim]
  Tensor hidden = {};    // [max_batch, widest hidden]
  Tensor logits = {};    // [max_logit_rows, vocab]
};

struct Widest {  // over all layers, in features of one token
  int q = 0, attended = 0, hidden = 0;
  int product = 0;  // input of a matmul, other than the hidden state
  int heads = 0, head_dim = 0;
};

Widest widest(const DecoderSpec& spec) noexcept;

Result<Activations> make_activations(Device& device, const DecoderSpec& spec, const Widest& widest,
                                     const DecoderOptions& options);

// The first `rows` rows and `cols` columns of `all`, packed: the widths of layers may differ, each
// row follows the one before. `skipped`: columns of the parts before it.
inline Tensor part(const Tensor& all, int rows, int cols, int skipped = 0) noexcept {
  float* const data = all.data + static_cast<std::ptrdiff_t>(rows) * skipped;
  return {.data = data, .rows = rows, .cols = cols, .row_stride = cols};
}

struct Pass {
  Backend& backend;
  const Batch& batch;
  const Activations& memory;
  Tensor x = {};  // [tokens, d_model]
  int n = 0;      // tokens
};

}  // namespace wick
