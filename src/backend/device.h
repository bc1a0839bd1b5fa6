// A device: its memory, and the threads (or the stream) that compute on it, shared by all models of
// the process. What belongs to one model (scratch, RoPE tables) is a Backend, which the device
// creates. Cold functions may be called from any thread; a device outlives everything it created.
//
//   WICK_TRY(auto device, CpuDevice::create({}));
//   WICK_TRY(auto buffer, device->allocate(bytes));
//   buffer->write(0, std::as_bytes(values));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/model_file.h"
#include "quant/dtype.h"

namespace wick {

class Backend;
struct BackendLimits;
struct KvView;
struct RopeParams;

// Memory of a device. Its address is for kernels only: the host reads and writes through these
// functions, in order with the ops. Zeroed and 64-byte aligned; on the CPU reserved address space,
// committed page by page when touched.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::byte* data() noexcept = 0;
  // Where the host may read and write the same bytes in place, after sync(); nullptr = nowhere.
  virtual std::byte* host() noexcept = 0;
  virtual std::size_t bytes() const noexcept = 0;

  // Hot: ranges lie inside the buffer; those of copy() do not overlap.
  virtual void write(std::size_t at, std::span<const std::byte> bytes) noexcept = 0;
  virtual void read(std::size_t at, std::span<std::byte> out) const noexcept = 0;
  virtual void copy(std::size_t to, std::size_t from, std::size_t bytes) noexcept = 0;
  virtual void zero(std::size_t at, std::size_t bytes) noexcept = 0;
};

class Weight;

// A LoRA adapter's change of a matrix W: W x becomes W x + scale * B (A x).
struct LowRank {
  int adapter = 0;            // its number in the model
  const Weight* a = nullptr;  // [rank, columns of W], F32, F16 or BF16
  const Weight* b = nullptr;  // [rows of W, rank], likewise
  float scale = 1;            // alpha / rank
};

// A weight tensor where kernels can use it. On the CPU matrices stay in the mapped file; vectors
// become floats.
class Weight {
 public:
  virtual ~Weight() = default;

  // Load time only. linear(), qkv() and logits() apply it where the batch says so.
  virtual void adapt(const LowRank& change) { adapters.push_back(change); }

  DType type = DType::kF32;
  Shape shape = {};  // {out_features, in_features}, or {n}
  std::vector<LowRank> adapters = {};  // ascending by number
};

// How a file's tensor is transformed to GGUF's conventions; matrices are never copied.
struct WeightTransform {
  bool add_one = false;         // gains that are stored minus one; vectors only
  int permute_heads = 0;        // rows of each of so many heads from half-split (Hugging Face) to
                                // adjacent pairs (GGUF's llama)
  std::int64_t row_begin = 0;   // a part of the rows (fused QKV)
  std::int64_t row_count = -1;  // -1 = all
  // The part is taken from each of so many equal blocks of rows (a head's queries and their gate).
  int blocks = 1;
};

struct DeviceInfo {
  std::string name = {};           // "cpu", "cuda:0": as for --device
  std::string description = {};    // "cpu/avx2": for people
  std::uint64_t memory_bytes = 0;  // of the device; 0 = unknown
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const noexcept = 0;
  // Of all buffers, weights and scratch in use; without weights that a CPU reads from a mapped
  // file.
  virtual std::size_t bytes_in_use() const noexcept = 0;

  virtual Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) = 0;
  virtual Result<std::unique_ptr<Weight>> upload(const TensorView& tensor,
                                                 const WeightTransform& fix) = 0;
  // A model's backend: all scratch for these limits, and RoPE tables for `ropes` (cos and sin
  // computed in double, stored as f32) up to max_context positions, filled block by block when
  // first needed.
  virtual Result<std::unique_ptr<Backend>> create_backend(const BackendLimits& limits,
                                                          std::span<const RopeParams> ropes) = 0;

  // Hot: copies the first n positions of cache block `from` to block `to` and zeroes the other
  // positions of `to`. Runs in order with the ops.
  virtual void copy_positions(const KvView& kv, std::int32_t from, std::int32_t to,
                              int n) noexcept = 0;
};

}  // namespace wick
