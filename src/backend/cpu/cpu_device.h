// The CPU as a device: memory from mmap, matrices in the mapped file, one thread team for all
// models. The team starts with the first backend and ends with the last one.
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "backend/cpu/shared_team.h"
#include "backend/device.h"
#include "backend/memory_account.h"
#include "base/isa.h"

namespace wick {

class CpuDevice final : public Device {
 public:
  static Result<std::unique_ptr<CpuDevice>> create();  // with the best ISA of this processor
  explicit CpuDevice(Isa isa);

  const DeviceInfo& info() const noexcept override { return info_; }

  std::size_t bytes_in_use() const noexcept override { return account_.bytes(); }

  Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override;
  Result<std::unique_ptr<Weight>> upload(const TensorView& tensor,
                                         const WeightTransform& fix) override;
  Result<std::unique_ptr<Backend>> create_backend(const BackendLimits& limits,
                                                  std::span<const RopeParams> ropes) override;

  // Hot:
  void copy_positions(const KvView& kv, std::int32_t from, std::int32_t to,
                      int n) noexcept override;

 private:
  Result<TeamShare> share(int threads);

  Isa isa_;
  DeviceInfo info_;
  MemoryAccount account_ = {};
  std::mutex team_mutex_ = {};
  std::weak_ptr<SharedTeam> team_ = {};
};

}  // namespace wick
