// What a Decoder holds; for decoder.cc (the hot half) and decoder_load.cc (the cold one) only.
#pragma once

#include <array>
#include <variant>
#include <vector>

#include "model/decoder.h"
#include "model/ffn_dense.h"
#include "model/mixer_delta.h"
#include "model/mixer_gqa.h"
#include "model/mixer_mla.h"

namespace wick {

struct BoundBlock {
  std::variant<GqaMixer, MlaMixer, DeltaMixer> mixer = {};
  std::variant<DenseFfn> ffn = {};
};

struct Decoder::State {
  Device* device = nullptr;
  std::unique_ptr<Backend> backend = {};
  DecoderSpec spec = {};
  DecoderOptions options = {};
  Weights weights = {};
  const Weight* table = nullptr;           // token embeddings [vocab, d_model]
  std::array<const Weight*, 1> head = {};  // the same, if tied
  const Weight* final_gain = nullptr;
  std::vector<BoundBlock> blocks = {};
  Activations memory = {};
  std::size_t bytes_read_per_token = 0;
  std::int64_t products_per_token = 0;
  int n_logit_rows = 0;  // of the last launch
  // What was read back, where the host cannot read the activations in place.
  std::vector<float> host_logits = {}, host_states = {};

  // Hot: `count` floats of the activations from `from` on, in place or in `host`.
  std::span<float> read_back(const float* from, std::size_t count, std::span<float> host) noexcept;
};

}  // namespace wick
