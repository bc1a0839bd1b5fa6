// What a Decoder holds; for decoder.cc (the hot half) and decoder_load.cc (the cold one) only.
#pragma once

#include <array>
#include <optional>
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

struct OnDevice {  // what a decoder has on one of its devices
  std::unique_ptr<Backend> backend = {};
  Activations memory = {};

  std::size_t scratch_bytes() const noexcept {
    return memory.memory->bytes() + backend->scratch_bytes();
  }
};

struct Decoder::State {
  Placement placement = {};
  std::vector<OnDevice> on = {};  // by index of the placement's devices
  DecoderSpec spec = {};
  DecoderOptions options = {};
  Weights weights = {};
  const Weight* table = nullptr;           // token embeddings [vocab, d_model]
  std::array<const Weight*, 1> head = {};  // the same, if tied and on the same device
  const Weight* final_gain = nullptr;
  std::vector<BoundBlock> blocks = {};
  std::size_t bytes_read_per_token = 0;
  std::int64_t products_per_token = 0;
  int n_logit_rows = 0;  // of the last launch
  // What was read back, where the host cannot read the activations in place.
  std::vector<float> host_logits = {}, host_states = {};
  std::optional<Error> fault = {};  // of a device in mid-pass, until logits() or states() tells it

  // Binds every part where it is placed. Where that is a null device, its bytes are counted only.
  Result<void> bind(const ModelFile& file, const Arch& arch, const DecoderOptions& options);

  OnDevice& last() noexcept { return on[static_cast<std::size_t>(placement.head())]; }

  // Hot:
  void wait(Backend& backend) noexcept;  // its error becomes the fault
  Result<void> finish() noexcept;        // waits for the last device, tells the fault
  // `count` floats of a device's activations from `from` on, in place or in `host`.
  static std::span<float> read_back(const Activations& all, const float* from, std::size_t count,
                                    std::span<float> host) noexcept;
};

}  // namespace wick
