#include "backend/cpu/cpu_device.h"

#include <cstring>
#include <utility>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/kv_store.h"
#include "backend/cpu/weight.h"
#include "base/aligned.h"
#include "base/check.h"
#include "base/machine_memory.h"
#include "base/strings.h"

namespace wick {
namespace {

class CpuBuffer final : public Buffer {
 public:
  CpuBuffer(AlignedBuffer memory, MemoryAccount& account) noexcept
      : memory_(std::move(memory)), hold_(account, memory_.bytes()) {}

  std::byte* data() noexcept override { return memory_.data(); }

  std::byte* host() noexcept override { return memory_.data(); }

  std::size_t bytes() const noexcept override { return memory_.bytes(); }

  void write(std::size_t at, std::span<const std::byte> bytes) noexcept override {
    std::memcpy(place(at, bytes.size()), bytes.data(), bytes.size());
  }

  void read(std::size_t at, std::span<std::byte> out) const noexcept override {
    std::memcpy(out.data(), place(at, out.size()), out.size());
  }

  void copy(std::size_t to, std::size_t from, std::size_t bytes) noexcept override {
    std::memcpy(place(to, bytes), place(from, bytes), bytes);
  }

  void zero(std::size_t at, std::size_t bytes) noexcept override {
    std::memset(place(at, bytes), 0, bytes);
  }

 private:
  std::byte* place(std::size_t at, std::size_t n) const noexcept {
    WICK_CHECK(at <= memory_.bytes() && n <= memory_.bytes() - at, "a range inside the buffer");
    return memory_.data() + at;
  }

  AlignedBuffer memory_;
  MemoryHold hold_;
};

}  // namespace

CpuDevice::CpuDevice(Isa isa)
    : isa_(isa),
      info_{.name = "cpu",
            .description = cat("cpu/", wick::name(isa)),
            .memory_bytes = machine_memory_bytes()} {}

Result<std::unique_ptr<CpuDevice>> CpuDevice::create() {
  WICK_TRY(const Isa isa, choose_isa());
  return std::make_unique<CpuDevice>(isa);
}

Result<std::unique_ptr<Buffer>> CpuDevice::allocate(std::size_t bytes) {
  WICK_TRY(AlignedBuffer memory, AlignedBuffer::create(bytes));
  return std::unique_ptr<Buffer>(std::make_unique<CpuBuffer>(std::move(memory), account_));
}

Result<std::unique_ptr<Weight>> CpuDevice::upload(const TensorView& tensor,
                                                  const WeightTransform& fix) {
  WICK_TRY(std::unique_ptr<CpuWeight> weight, make_cpu_weight(tensor, fix));
  weight->hold = MemoryHold(account_, weight->own_bytes());
  return std::unique_ptr<Weight>(std::move(weight));
}

Result<TeamShare> CpuDevice::share(int threads) {
  if (threads < 0 || threads > ThreadTeam::kMaxMembers) {
    return Error{.code = ErrorCode::kInvalid,
                 .id = "bad_threads",
                 .message = cat(threads, " threads are not possible, 0 (automatic) to ",
                                ThreadTeam::kMaxMembers, " are"),
                 .hint = "leave out -t to use what this process may use"};
  }
  if (threads == 0) threads = usable_threads();
  const std::lock_guard lock(team_mutex_);
  std::shared_ptr<SharedTeam> team = team_.lock();
  if (team == nullptr) {
    WICK_TRY(team, SharedTeam::create(threads));
    team_ = team;
  } else {
    WICK_DO(team->grow(threads));
  }
  return TeamShare(std::move(team), threads);
}

Result<std::unique_ptr<Backend>> CpuDevice::create_backend(const BackendLimits& limits,
                                                           std::span<const RopeParams> ropes) {
  WICK_TRY(TeamShare team, share(limits.threads));
  WICK_TRY(auto backend, CpuBackend::create(isa_, std::move(team), account_, limits, ropes));
  return std::unique_ptr<Backend>(std::move(backend));
}

void CpuDevice::copy_positions(const KvView& kv, std::int32_t from, std::int32_t to,
                               int n) noexcept {
  const std::size_t k_bytes = kv_head_block_bytes(kv.k_type, kv.k_dim);
  const std::size_t v_bytes = kv_head_block_bytes(kv.v_type, kv.v_dim);
  const auto heads = static_cast<std::size_t>(kv.n_kv_heads);
  const auto a = static_cast<std::size_t>(from) * heads, b = static_cast<std::size_t>(to) * heads;
  for (std::size_t h = 0; h < heads; ++h) {
    copy_keys(kv.k_type, kv.k_dim, kv.k + (a + h) * k_bytes, kv.k + (b + h) * k_bytes, n);
    if (kv.v != nullptr)
      copy_values(kv.v_type, kv.v_dim, kv.v + (a + h) * v_bytes, kv.v + (b + h) * v_bytes, n);
  }
}

}  // namespace wick
