// The devices of a process: detected once, started at first use, shared by all models. Any thread.
//
//   WICK_TRY(const OpenDevice open, process_devices().open("auto"));
//   if (!open.warning.empty()) …                  // another device failed to start
//   WICK_TRY(auto decoder, Decoder::load(file, *open.device, {}));
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/device.h"

namespace wick {

// A row for each kind of device, the preferred one first.
struct DeviceKind {
  std::string_view name = {};  // "cpu", "cuda"; its devices are "cuda:0", "cuda:1" …
  std::vector<DeviceInfo> (*detect)() = nullptr;  // devices of this machine
  Result<std::unique_ptr<Device>> (*start)(const DeviceInfo& info) = nullptr;
};

struct OpenDevice {
  Device* device = nullptr;  // the registry's
  // Names the device that failed to start and was replaced by `device`; reported once per registry.
  std::string warning = {};
};

// A device that may get a part of a model.
struct DeviceShare {
  Device* device = nullptr;      // the registry's
  std::uint64_t free_bytes = 0;  // free memory that nothing else will use
  // Ratio of the model's layers; 0 for all devices: as many layers as fit free_bytes.
  double share = 0;
};

struct OpenDevices {
  std::vector<DeviceShare> devices = {};  // in the requested order
  std::string warning = {};               // as in OpenDevice
};

class DeviceRegistry {
 public:
  explicit DeviceRegistry(std::span<const DeviceKind> kinds) noexcept
      : kinds_(kinds.begin(), kinds.end()) {}

  DeviceRegistry(const DeviceRegistry&) = delete;
  DeviceRegistry& operator=(const DeviceRegistry&) = delete;

  // Adds a kind with the highest preference. Call before devices().
  void prefer(const DeviceKind& kind) { kinds_.insert(kinds_.begin(), kind); }

  // By preference, kMaxDevices at most. Detects them at the first call.
  std::vector<DeviceInfo> devices();

  // "auto": the first device that starts. A device or kind name: this one or an error (kDevice),
  // never another.
  Result<OpenDevice> open(std::string_view name);
  // "cuda:0,cpu": opens each. `split` is empty or has a number for each, "3,1": the ratio in which
  // layers are distributed (kInvalid, id "bad_tensor_split").
  Result<OpenDevices> open_all(std::string_view names, std::string_view split = {});

 private:
  // The thread that moves a device from kFound to kStarting starts it.
  enum class State : int { kFound, kStarting, kReady, kFailed };

  struct Slot {
    const DeviceKind* kind;
    DeviceInfo info;
    std::atomic<State> state = State::kFound;
    std::unique_ptr<Device> device = {};  // kReady
    Error error = {};                     // kFailed
  };

  void detect();
  static Result<Device*> start(Slot& slot);

  std::vector<DeviceKind> kinds_;
  std::once_flag is_detected_;
  std::deque<Slot> slots_ = {};
  std::atomic<bool> has_warned_ = false;
};

// The kinds of this build.
std::span<const DeviceKind> device_kinds() noexcept;

// The registry of this process. A child of fork() gets a new one, because the threads of its
// parent's devices do not exist there.
DeviceRegistry& process_devices();

}  // namespace wick
