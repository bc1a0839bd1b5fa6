// Devices that tests make up: their order, their failures, and who starts them.
#include "backend/device_registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "support/fake_device.h"

namespace wick::test {
namespace {

std::atomic<int> n_detected = 0, n_started = 0;

std::vector<DeviceInfo> detect_one() {
  ++n_detected;
  return {{.name = "fake:0"}};
}

std::vector<DeviceInfo> detect_many() {
  std::vector<DeviceInfo> all;
  for (int i = 0; i < 12; ++i)
    all.push_back({.name = "many:" + std::to_string(i)});
  return all;
}

std::vector<DeviceInfo> detect_none() {
  return {};
}

Result<std::unique_ptr<Device>> start_fake(const DeviceInfo&) {
  ++n_started;
  std::this_thread::yield();
  return std::unique_ptr<Device>(std::make_unique<FakeDevice>(Isa::kScalar));
}

Result<std::unique_ptr<Device>> start_broken(const DeviceInfo&) {
  ++n_started;
  return Error{.code = ErrorCode::kDevice, .id = "broken", .message = "the driver is too old"};
}

constexpr DeviceKind kFake = {.name = "fake", .detect = detect_one, .start = start_fake};
constexpr DeviceKind kBroken = {.name = "broken", .detect = detect_many, .start = start_broken};

TEST(DeviceRegistry, AutoTakesTheFirstKindThatIsThere) {
  const DeviceKind kinds[] = {{.name = "absent", .detect = detect_none, .start = start_broken},
                              kFake,
                              device_kinds().back()};
  DeviceRegistry registry(kinds);
  const auto open = registry.open("auto");
  ASSERT_TRUE(open);
  EXPECT_EQ(open->device->info().name, "fake");
  EXPECT_EQ(open->warning, "");
  EXPECT_EQ(registry.open("cpu")->device->info().name, "cpu");
}

TEST(DeviceRegistry, AFailedOneFallsBackWithOneWarning) {
  const DeviceKind kinds[] = {{.name = "gpu", .detect = detect_one, .start = start_broken},
                              device_kinds().back()};
  DeviceRegistry registry(kinds);
  n_started = 0;
  const auto open = registry.open("auto");
  ASSERT_TRUE(open);
  EXPECT_EQ(open->device->info().name, "cpu");
  EXPECT_EQ(open->warning,
            "the device 'fake:0' does not start: the driver is too old; using 'cpu'");
  EXPECT_EQ(registry.open("auto")->warning, "") << "once";
  EXPECT_EQ(n_started, 1) << "what failed is not tried again";
}

TEST(DeviceRegistry, ADeviceAskedForByNameIsThatOneOrAnError) {
  const DeviceKind kinds[] = {{.name = "gpu", .detect = detect_one, .start = start_broken},
                              device_kinds().back()};
  DeviceRegistry registry(kinds);
  const auto absent = registry.open("cuda");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kDevice);
  EXPECT_EQ(absent.error().message, "there is no device 'cuda', this machine has: fake:0, cpu");
  for (const char* name : {"gpu", "fake:0"}) {
    const auto failed = registry.open(name);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "the device 'fake:0' does not start: the driver is too old");
  }
}

TEST(DeviceRegistry, WhenNoneStartsTheErrorNamesEach) {
  const DeviceKind kinds[] = {{.name = "gpu", .detect = detect_one, .start = start_broken}};
  DeviceRegistry registry(kinds);
  EXPECT_EQ(registry.open("auto").error().message,
            "the device 'fake:0' does not start: the driver is too old");
}

TEST(DeviceRegistry, LooksForDevicesOnceAndKeepsTheFirstEight) {
  const DeviceKind kinds[] = {kFake, kBroken};
  DeviceRegistry registry(kinds);
  n_detected = 0;
  for (int i = 0; i < 3; ++i)
    registry.devices();
  EXPECT_EQ(n_detected, 1);
  const auto devices = registry.devices();
  ASSERT_EQ(devices.size(), 8U);
  EXPECT_EQ(devices.front().name, "fake:0");
  EXPECT_EQ(devices.back().name, "many:6");
}

TEST(DeviceRegistry, SixteenThreadsStartADeviceOnce) {
  const DeviceKind kinds[] = {kFake};
  for (int round = 0; round < 20; ++round) {
    DeviceRegistry registry(kinds);
    n_started = 0;
    std::array<Device*, 16> seen = {};
    {
      std::vector<std::jthread> threads;
      for (Device*& device : seen)
        threads.emplace_back([&] { device = registry.open("auto")->device; });
    }
    EXPECT_EQ(n_started, 1);
    EXPECT_NE(seen[0], nullptr);
    EXPECT_EQ((std::set<Device*>(seen.begin(), seen.end())).size(), 1U);
  }
}

}  // namespace
}  // namespace wick::test
