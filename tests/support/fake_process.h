// For one file of a test program: where WICK_TEST_DEVICE is "fake", all models of the process that
// ask for no other device compute on one whose memory the host cannot touch.
#pragma once

#include "backend/device_registry.h"
#include "support/test_device.h"

namespace wick::test {

inline const bool kIsOnFake = [] {
  if (device_name() != "fake") return false;
  const auto start = [](const DeviceInfo&) -> Result<std::unique_ptr<Device>> {
    return make_device();
  };
  process_devices().prefer({.name = "fake",
                            .detect = [] { return std::vector<DeviceInfo>{{.name = "fake"}}; },
                            .start = start});
  return true;
}();

}  // namespace wick::test
