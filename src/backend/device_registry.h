// The devices of a process: found once, started when first asked for, shared by all models. Any
// thread.
//
//   WICK_TRY(const OpenDevice open, process_devices().open("auto"));
//   if (!open.warning.empty()) …                  // another device was tried first, and failed
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

// One row for each kind of device, the preferred one first.
struct DeviceKind {
  std::string_view name = {};  // "cpu", "cuda"; its devices are "cuda:0", "cuda:1" …
  std::vector<DeviceInfo> (*detect)() = nullptr;  // those that this machine has
  Result<std::unique_ptr<Device>> (*start)(const DeviceInfo& info) = nullptr;
};

struct OpenDevice {
  Device* device = nullptr;  // the registry's
  // Which device failed to start, so that `device` is used instead; said once by a registry.
  std::string warning = {};
};

// A device of which a model may have a part.
struct DeviceShare {
  Device* device = nullptr;      // the registry's
  std::uint64_t free_bytes = 0;  // that are in no use and not planned for
  double share = 0;              // of the model's blocks; 0 for all: as far as free_bytes hold
};

struct OpenDevices {
  std::vector<DeviceShare> devices = {};  // in the order asked for
  std::string warning = {};               // as that of OpenDevice
};

class DeviceRegistry {
 public:
  explicit DeviceRegistry(std::span<const DeviceKind> kinds) noexcept
      : kinds_(kinds.begin(), kinds.end()) {}

  DeviceRegistry(const DeviceRegistry&) = delete;
  DeviceRegistry& operator=(const DeviceRegistry&) = delete;

  // Before the first call of devices(): this kind comes first.
  void prefer(const DeviceKind& kind) { kinds_.insert(kinds_.begin(), kind); }

  // By preference, kMaxDevices at most. Looks for them at the first call only.
  std::vector<DeviceInfo> devices();

  // "auto": the first that starts. A name of devices(), or of a kind: this one or an error
  // (kDevice), never another one.
  Result<OpenDevice> open(std::string_view name);
  // "cuda:0,cpu": each of them, by open(). `split` is empty or has a number for each, "3,1": how
  // many of a model's blocks it takes, in proportion (kInvalid, id "bad_tensor_split").
  Result<OpenDevices> open_all(std::string_view names, std::string_view split = {});

 private:
  // A device is started by the one thread that moves it from kFound to kStarting.
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

// The kinds that this build has.
std::span<const DeviceKind> device_kinds() noexcept;

// The registry of this process. Its devices are what all models share, so there is one. A child of
// fork() gets its own: the threads of its parent's devices are not there.
DeviceRegistry& process_devices();

}  // namespace wick
