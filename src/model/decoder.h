// A loaded model: weights bound to their places, and the forward pass as one page of ops. Engine
// thread only. After load, launch() and logits() neither allocate nor lock.
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
#include "model/placement.h"
#include "model/sequence_memory.h"
#include "model/spec.h"

namespace wick {

// Bytes of the file's tensors that are in their place, and of all. False ends the load
// (kCancelled).
using LoadProgress = std::function<bool(std::uint64_t done, std::uint64_t all)>;

struct DecoderOptions {
  int max_batch_tokens = 512;  // tokens in one launch
  int max_logit_rows = 64;     // rows of one launch that may need logits
  int context = 0;             // positions to be ready for; 0 = what the model was trained for
  int max_seqs = 1;
  int threads = 0;  // of a CPU; 0 = what this process may use
  LoadProgress progress = {};  // while it loads, on that thread
};

class Decoder {
 public:
  // `file` must outlive the decoder: matrices stay in its mapping. Its devices likewise; one is a
  // Placement, too.
  static Result<Decoder> load(const ModelFile& file, const Placement& placement,
                              const DecoderOptions& options);
  // The same for an architecture that is not in archs(): tests try mechanisms that no row has.
  static Result<Decoder> load(const ModelFile& file, const Arch& arch, const Placement& placement,
                              const DecoderOptions& options);
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  const DecoderSpec& spec() const noexcept;
  const DecoderOptions& options() const noexcept;
  const Placement& placement() const noexcept;
  int threads() const noexcept;                       // that compute for it, on one device at most
  std::size_t weight_bytes() const noexcept;          // of all tensors in use
  std::size_t bytes_read_per_token() const noexcept;  // weights that one decode step reads
  // Multiply-adds with weights: of a token in the layers, and of a row of logits.
  std::int64_t products_per_token() const noexcept;
  std::int64_t products_per_logit_row() const noexcept;
  // Activations, logits and the backend's own, once all of it has been used.
  std::size_t scratch_bytes() const noexcept;
  // What of weights and scratch lies on a device of the placement, by its index there.
  std::size_t bytes_on(int device) const noexcept;

  // Hot:
  // Enqueues the whole pass, and waits where the hidden state changes the device; positions must be
  // reserved in `memory`. Once `abort_requested` is set it ends between two layers: false, and
  // nothing may be read of what it wrote.
  bool launch(const Batch& batch, SequenceMemory& memory,
              const std::atomic<bool>& abort_requested) noexcept;
  void launch(const Batch& batch, SequenceMemory& memory) noexcept;
  // Waits, and reads back what the device computed: [m, vocab] row-major, the caller's until the
  // next launch. An error of any device since the last call is this one's.
  Result<std::span<float>> logits() noexcept;
  // The same; the states behind the last norm of so many rows of the batch from `first` on, [count,
  // d_model], valid until the next launch. No row may be asked for twice.
  Result<std::span<const float>> states(int first, int count) noexcept;

  struct State;  // decoder_state.h

 private:
  explicit Decoder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wick
