// A loaded model: its weights, and the forward pass as a list of ops. Engine thread only. After
// load, launch() and logits() neither allocate nor lock.
//
//   WICK_TRY(Decoder decoder, Decoder::load(file, *device, {.context = 4096}));
//   WICK_TRY(auto memory, SequenceMemory::create(*device, decoder.spec(), {.context = 4096}));
//   memory.extend(0, n);
//   decoder.launch({.tokens = ids, .positions = pos, .seqs = seqs, .logit_rows = rows}, memory);
//   WICK_TRY(const auto logits, decoder.logits());   // [rows, vocab]
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "backend/backend.h"
#include "backend/device.h"
#include "base/result.h"
#include "format/model_file.h"
#include "model/adapter.h"
#include "model/placement.h"
#include "model/sequence_memory.h"
#include "model/spec.h"

namespace wick {

// Bytes of tensors bound so far, and of all. Return false to cancel the load (kCancelled).
using LoadProgress = std::function<bool(std::uint64_t done, std::uint64_t all)>;

struct DecoderOptions {
  int max_batch_tokens = 512;  // tokens in one launch
  int max_logit_rows = 64;     // rows of one launch that may need logits
  int context = 0;             // context size in tokens; 0 = the model's training context
  int max_seqs = 1;
  int threads = 0;                         // of a CPU; 0 = what this process may use
  LoadProgress progress = {};              // called during load(), on its thread
  std::span<const Adapter> adapters = {};  // LoRA; must outlive the decoder
};

class Decoder {
 public:
  // `file` and the devices must outlive the decoder: matrices stay in the file's mapping. A single
  // device converts to a Placement.
  static Result<Decoder> load(const ModelFile& file, const Placement& placement,
                              const DecoderOptions& options);
  // The same for an architecture that is not in archs(), for tests.
  static Result<Decoder> load(const ModelFile& file, const Arch& arch, const Placement& placement,
                              const DecoderOptions& options);
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  const DecoderSpec& spec() const noexcept;
  const DecoderOptions& options() const noexcept;
  const Placement& placement() const noexcept;
  int threads() const noexcept;                       // on its device with the most
  std::size_t weight_bytes() const noexcept;          // of all bound tensors
  std::size_t bytes_read_per_token() const noexcept;  // weights read per decode step
  // Multiply-adds (MACs) with weights: per token in the layers, and per row of logits.
  std::int64_t products_per_token() const noexcept;
  std::int64_t products_per_logit_row() const noexcept;
  // Activations, logits and the backends' scratch, once all of it has been touched.
  std::size_t scratch_bytes() const noexcept;
  // Weight and scratch bytes on a device of the placement, by its index there.
  std::size_t bytes_on(int device) const noexcept;

  // Hot: Enqueues the forward pass; waits where the hidden state moves between devices. Positions
  // must be reserved in `memory`. If `abort_requested` becomes true it stops between two layers and
  // returns false; its outputs are then invalid.
  bool launch(const Batch& batch, SequenceMemory& memory,
              const std::atomic<bool>& abort_requested) noexcept;
  void launch(const Batch& batch, SequenceMemory& memory) noexcept;
  // Waits for the device and returns the logits [m, vocab] row-major, valid until the next launch.
  // Reports a fault of any device since the last call.
  Result<std::span<float>> logits() noexcept;
  // The same for hidden states after the last norm: rows [first, first + count) of the batch,
  // [count, d_model], valid until the next launch. Each row at most once.
  Result<std::span<const float>> states(int first, int count) noexcept;
  // An encoder's dense layers over a pooled vector, or a cross-encoder's scores of it, valid until
  // the next call; the vector itself if it has none.
  Result<std::span<const float>> project(std::span<const float> pooled) noexcept;

  struct State;  // decoder_state.h

 private:
  explicit Decoder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wick
