#include "backend/device_registry.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <limits>
#include <memory>
#include <utility>

#include "backend/cpu/cpu_device.h"
#include "backend/limits.h"
#include "base/catch_bad_alloc.h"
#include "base/strings.h"

namespace wick {
namespace {

std::vector<DeviceInfo> detect_cpu() {
  return {{.name = "cpu"}};
}

Result<std::unique_ptr<Device>> start_cpu(const DeviceInfo&) {
  WICK_TRY(auto device, CpuDevice::create());
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace

std::span<const DeviceKind> device_kinds() noexcept {
  static constexpr std::array kKinds = {
      DeviceKind{.name = "cpu", .detect = detect_cpu, .start = start_cpu}};
  return kKinds;
}

DeviceRegistry& process_devices() {
  struct Own {
    const pid_t process = ::getpid();
    DeviceRegistry registry{device_kinds()};
  };

  static std::atomic<Own*> own = nullptr;
  for (Own* seen = own;;) {
    if (seen != nullptr && seen->process == ::getpid()) return seen->registry;
    auto made = std::make_unique<Own>();
    if (own.compare_exchange_strong(seen, made.get())) return made.release()->registry;
  }
}

void DeviceRegistry::detect() {
  std::call_once(is_detected_, [this] {
    slots_.clear();  // of an attempt that memory ended
    for (const DeviceKind& kind : kinds_) {
      for (DeviceInfo& info : kind.detect()) {
        if (slots_.size() == kMaxDevices) return;
        Slot& slot = slots_.emplace_back();
        slot.kind = &kind;
        slot.info = std::move(info);
      }
    }
  });
}

std::vector<DeviceInfo> DeviceRegistry::devices() {
  detect();
  std::vector<DeviceInfo> all;
  for (const Slot& slot : slots_)
    all.push_back(slot.info);
  return all;
}

Result<Device*> DeviceRegistry::start(Slot& slot) {
  for (;;) {
    State seen = State::kFound;
    if (slot.state.compare_exchange_strong(seen, State::kStarting)) {
      auto device = catch_bad_alloc([&] { return slot.kind->start(slot.info); });
      State next = State::kReady;
      if (device) {
        slot.device = *std::move(device);
      } else if (device.error().code == ErrorCode::kNoMemory) {
        next = State::kFound;  // there may be memory later
      } else {
        slot.error = device.error();
        next = State::kFailed;
      }
      slot.state = next;
      slot.state.notify_all();
      if (next == State::kFound) return std::move(device).error();
    }
    slot.state.wait(State::kStarting);
    seen = slot.state;
    if (seen == State::kReady) return slot.device.get();
    if (seen == State::kFailed) return slot.error;
  }
}

Result<OpenDevice> DeviceRegistry::open(std::string_view name) {
  detect();
  std::string failed, names;
  for (Slot& slot : slots_) {
    names += cat(names.empty() ? "" : ", ", slot.info.name);
    if (name != "auto" && name != slot.info.name && name != slot.kind->name) continue;
    auto device = start(slot);
    if (device) {
      OpenDevice open{.device = *device};
      if (!failed.empty() && !has_warned_.exchange(true)) {
        open.warning = cat(failed, "; using '", slot.info.name, "'");
      }
      return open;
    }
    if (name != "auto") {
      return Error{.code = ErrorCode::kDevice,
                   .id = "device_failed",
                   .message = cat("the device '", slot.info.name,
                                  "' does not start: ", device.error().message),
                   .hint = "--device auto takes the first one that starts"};
    }
    failed += cat(failed.empty() ? "" : "; ", "the device '", slot.info.name,
                  "' does not start: ", device.error().message);
  }
  return Error{.code = ErrorCode::kDevice,
               .id = failed.empty() ? "no_such_device" : "device_failed",
               .message = !failed.empty() ? failed
                                          : cat("there is no device '", printable(name),
                                                "', this machine has: ", names),
               .hint = "--device auto takes the first one that starts"};
}

namespace {

std::vector<std::string_view> between_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// A device that does not know its memory is large enough.
std::uint64_t free_bytes(const Device& device) noexcept {
  const std::uint64_t all = device.info().memory_bytes;
  if (all == 0) return std::numeric_limits<std::uint64_t>::max();
  return all - std::min<std::uint64_t>(all, device.bytes_in_use());
}

Result<void> set_shares(std::vector<DeviceShare>& devices, std::string_view split) {
  const Error bad{.code = ErrorCode::kInvalid,
                  .id = "bad_tensor_split",
                  .message = cat("tensor_split is '", printable(split),
                                 "', wanted are as many numbers as devices (", devices.size(),
                                 "), from 0 on, not all 0"),
                  .hint = "--device cpu,cuda --tensor-split 3,1: three quarters, one quarter"};
  const auto numbers = between_commas(split);
  if (numbers.size() != devices.size()) return bad;
  double sum = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const char* const end = numbers[i].data() + numbers[i].size();
    double& share = devices[i].share;
    const auto read = std::from_chars(numbers[i].data(), end, share);
    if (read.ec != std::errc() || read.ptr != end || !(share >= 0) || share > 1e9) return bad;
    sum += share;
  }
  if (sum > 0) return {};
  return bad;
}

}  // namespace

Result<OpenDevices> DeviceRegistry::open_all(std::string_view names, std::string_view split) {
  OpenDevices all;
  for (const std::string_view name : between_commas(names)) {
    WICK_TRY(OpenDevice one, open(name));
    const auto is_it = [&](const DeviceShare& other) { return other.device == one.device; };
    if (std::any_of(all.devices.begin(), all.devices.end(), is_it)) {
      return Error{.code = ErrorCode::kInvalid,
                   .id = "same_device_twice",
                   .message = cat("'", printable(names), "' names the device '",
                                  one.device->info().name, "' twice")};
    }
    all.devices.push_back({.device = one.device, .free_bytes = free_bytes(*one.device)});
    if (!one.warning.empty()) all.warning = std::move(one.warning);
  }
  if (!split.empty()) WICK_DO(set_shares(all.devices, split));
  return all;
}

}  // namespace wick
