// The state of a Decoder, for decoder.cc (hot) and decoder_load.cc (cold) only.
#pragma once

#include <array>
#include <optional>
#include <variant>
#include <vector>

#include "model/decoder.h"
#include "model/ffn_dense.h"
#include "model/ffn_dense_moe.h"
#include "model/ffn_moe.h"
#include "model/layer_inputs.h"
#include "model/mixer_delta.h"
#include "model/mixer_gqa.h"
#include "model/mixer_mla.h"

namespace wick {

struct BoundBlock {
  BoundNorm shared = {};  // parallel block: the norm that mixer and feed-forward share
  std::variant<GqaMixer, MlaMixer, DeltaMixer> mixer = {};
  std::variant<DenseFfn, MoeFfn, DenseMoeFfn> ffn = {};
  LayerInput input = {};
};

struct BoundClassifier {
  std::array<const Weight*, 1> dense = {}, dense_bias = {}, out = {}, out_bias = {};
};

struct OnDevice {  // a decoder's part on one device
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
  std::array<const Weight*, 1> head_bias = {};
  BoundNorm final_norm = {};
  // Of encoders:
  const Weight *positions = nullptr, *types = nullptr;  // tables, nullptr = none
  std::vector<TokenId> first_type = {};                 // zeros, one for each token of a batch
  BoundNorm embed_norm = {};
  std::vector<std::array<const Weight*, 1>> dense = {};
  BoundClassifier classifier = {};
  std::vector<BoundBlock> blocks = {};
  LayerInputs layer_inputs = {};
  std::size_t bytes_read_per_token = 0;
  std::int64_t products_per_token = 0;
  int n_logit_rows = 0;  // of the last launch
  // Results read back, for devices whose memory the host cannot access.
  std::vector<float> host_logits = {}, host_states = {};
  std::optional<Error> fault = {};  // a device fault, reported by logits() or states()

  Result<void> bind_embeddings(Binder& binder, int context);
  Result<void> bind_end(Binder& binder);
  Result<void> bind_classifier(Binder& binder);
  // Binds every part on its device. On a null device it only counts bytes.
  Result<void> bind(const ModelFile& file, const Arch& arch, const DecoderOptions& options);

  OnDevice& last() noexcept { return on[static_cast<std::size_t>(placement.head())]; }

  // Hot:
  void classify(Backend& backend, Tensor& x, Tensor& y) noexcept;
  void embed(const Pass& pass) noexcept;  // the hidden state before the first layer
  void wait(Backend& backend) noexcept;   // records its error as the fault
  Result<void> finish() noexcept;         // waits for the last device, returns the fault
  // Returns `count` floats of a device's activations from `from` on: in place if the host can
  // access them, else copied to `host`.
  static std::span<float> read_back(const Activations& all, const float* from, std::size_t count,
                                    std::span<float> host) noexcept;
};

}  // namespace wick
