// The devices that tests compute on: that which the variable WICK_TEST_DEVICE names ("fake",
// support/fake_device.h, or one of the registry), else the CPU. ctest runs the tests of model,
// engine, local and library on the CPU and on the fake device; backend/every_device_test.cc runs
// those of ops on all there are.
#pragma once

#include <cstdlib>
#include <memory>
#include <string_view>

#include "backend/cpu/cpu_device.h"
#include "backend/device_registry.h"
#include "base/check.h"
#include "support/fake_device.h"

namespace wick::test {

inline std::string_view device_name() {
  const char* const name = std::getenv("WICK_TEST_DEVICE");
  return name == nullptr ? "cpu" : name;
}

inline std::unique_ptr<Device> make_device(Isa isa) {
  if (device_name() == "fake") return std::make_unique<FakeDevice>(isa);
  if (device_name() == "cpu") return std::make_unique<CpuDevice>(isa);
  for (const DeviceKind& kind : device_kinds()) {
    for (const DeviceInfo& info : kind.detect()) {
      if (info.name == device_name()) return *kind.start(info);
    }
  }
  WICK_CHECK(false, "WICK_TEST_DEVICE names a device of this machine");
  return nullptr;
}

// With the kernels that WICK_ISA names, else the best ones.
inline std::unique_ptr<Device> make_device() {
  return make_device(*choose_isa());
}

// An address of the device as a kernel would use it: tests that stand for one write and read there.
template <class T>
T* for_kernels(Device& device, T* address) {
  if (device.info().name != "fake") return address;
  return static_cast<FakeDevice&>(device).arena().for_kernels(address);
}

}  // namespace wick::test
