// Models and the devices they share.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "local/local.h"
#include "provider/gather.h"
#include "support/fake_process.h"
#include "support/temp_dir.h"
#include "support/thread_count.h"
#include "support/tiny_model.h"
#include "wick/log.h"

namespace wick {
namespace {

class LocalDevices : public testing::Test {
 protected:
  LocalDevices() { test::write_tiny_model(path_, {}); }

  std::shared_ptr<LocalModel> open(const LocalOptions& options) {
    auto model = LocalModel::open(path_, options);
    EXPECT_TRUE(model) << (model ? "" : to_string(model.error()));
    return model ? *std::move(model) : nullptr;
  }

  test::TempDir dir_;
  std::filesystem::path path_ = dir_.path() / "tiny.gguf";
};

std::string text_of(LocalModel& model) {
  const auto answer = ask(
      model, {.prompt = "Once upon a time there was", .generation = {.seed = 7, .max_tokens = 30}});
  EXPECT_TRUE(answer) << (answer ? "" : to_string(answer.error()));
  return answer ? answer->text : std::string();
}

Result<std::unique_ptr<Device>> start_fake(const DeviceInfo&) {
  return std::unique_ptr<Device>(std::make_unique<test::FakeDevice>(Isa::kScalar));
}

constexpr DeviceKind kFake = {.name = "fake",
                              .detect = [] { return std::vector<DeviceInfo>{{.name = "fake"}}; },
                              .start = start_fake};

TEST_F(LocalDevices, TheProcessComputesWhereItsTestsSay) {
  EXPECT_EQ(process_devices().open("auto")->device->info().name, test::device_name());
}

TEST_F(LocalDevices, TwoModelsOfAProcessHaveOneThreadTeam) {
  const int before = test::thread_count();
  const auto first = open({.threads = 3});
  EXPECT_EQ(test::thread_count(), before + 1 + 2) << "the engine's thread, which computes, too";
  const auto second = open({.threads = 3});
  EXPECT_EQ(test::thread_count(), before + 2 + 2) << "another engine, the same team";
  EXPECT_EQ(text_of(*first), text_of(*second));
}

TEST_F(LocalDevices, BytesInUseReturnToWhatTheyWere) {
  Device& device = *process_devices().open("auto")->device;
  const std::size_t before = device.bytes_in_use();
  for (int i = 0; i < 100; ++i) {
    const auto model = open({.threads = 1});
    ASSERT_GT(device.bytes_in_use(), before + model->memory().cache_bytes);
  }
  EXPECT_EQ(device.bytes_in_use(), before);
}

TEST_F(LocalDevices, ADeviceThatTheHostCannotTouchGivesTheSameText) {
  DeviceRegistry devices({&kFake, 1});
  const auto on_cpu = open({.threads = 2, .device = "cpu"});
  const auto on_fake = open({.threads = 2, .device = "fake", .devices = &devices});
  EXPECT_GT(devices.open("fake")->device->bytes_in_use(), on_fake->memory().weight_bytes);
  EXPECT_EQ(text_of(*on_fake), text_of(*on_cpu));
}

// Two of them, so that a list is one whatever device the tests run on.
constexpr DeviceKind kFakes = {
    .name = "fakes",
    .detect =
        [] {
          return std::vector<DeviceInfo>{{.name = "fakes:0"}, {.name = "fakes:1"}};
        },
    .start = [](const DeviceInfo& info) -> Result<std::unique_ptr<Device>> {
      const std::uint64_t bytes = info.name == "fakes:0" ? 300'000 : 0;
      return std::unique_ptr<Device>(std::make_unique<test::FakeDevice>(Isa::kScalar, bytes));
    }};

TEST_F(LocalDevices, AListOfDevicesGivesTheSameText) {
  DeviceRegistry devices({&kFakes, 1});
  const std::string wanted = text_of(*open({.threads = 1, .device = "cpu"}));
  // The tiny model has two blocks, and the head counts as one.
  for (const char* const split : {"", "0,1", "1,2", "2,1", "1,0"}) {
    SCOPED_TRACE(split);
    const auto model = open(
        {.threads = 1, .device = "fakes:1,fakes:0", .tensor_split = split, .devices = &devices});
    EXPECT_EQ(text_of(*model), wanted);
    const bool is_on_both = split == std::string("1,2") || split == std::string("2,1");
    EXPECT_EQ(model->device_bytes().size(), is_on_both ? 2U : 1U);
  }
}

TEST_F(LocalDevices, WhatADeviceHasNoRoomForGoesToTheNext) {
  DeviceRegistry devices({&kFakes, 1});
  const std::string wanted = text_of(*open({.threads = 1, .device = "cpu"}));
  LocalOptions options{.threads = 1, .device = "fakes:0,fakes:1", .devices = &devices};
  auto alone = open(options);
  const auto bytes = alone->device_bytes();
  ASSERT_EQ(bytes.size(), 2U) << "the embedding and a block are on the small one";
  EXPECT_EQ(bytes[0].device->info().memory_bytes, 300'000U);
  EXPECT_EQ(text_of(*alone), wanted);
  alone.reset();

  options.draft_model = path_;
  options.engine.draft_max = 4;
  options.engine.adaptive_drafting = false;
  const auto drafting = open(options);
  const auto with_draft = drafting->device_bytes();
  EXPECT_EQ(with_draft[0].bytes, bytes[0].bytes) << "there was no room left";
  EXPECT_GT(with_draft[1].bytes, bytes[1].bytes + drafting->memory().draft_weight_bytes);
  EXPECT_EQ(text_of(*drafting), wanted);
}

TEST_F(LocalDevices, AListThatCannotBeIsAnError) {
  DeviceRegistry devices({&kFakes, 1});
  const auto refused = [&](const char* names, const char* split) {
    const auto model =
        LocalModel::open(path_, {.device = names, .tensor_split = split, .devices = &devices});
    EXPECT_FALSE(model);
    return model ? Error{} : model.error();
  };
  EXPECT_EQ(refused("fakes:0,cuda", "").code, ErrorCode::kDevice);
  EXPECT_EQ(refused("fakes:0,", "").id, "no_such_device");
  EXPECT_EQ(refused("fakes:0,fakes:0", "").message,
            "'fakes:0,fakes:0' names the device 'fake' twice");
  EXPECT_EQ(refused("fakes,auto", "").id, "same_device_twice");
  for (const char* const split : {"1", "1,", "1,2,3", "0,0", "-1,2", "nan,1", "1,inf", "a,b", ","})
    EXPECT_EQ(refused("fakes:0,fakes:1", split).id, "bad_tensor_split") << split;
  EXPECT_EQ(refused("fakes:0,fakes:1", "3").message,
            "tensor_split is '3', wanted are as many numbers as devices (2), from 0 on, not all 0");
}

TEST_F(LocalDevices, TheLogSaysOnceThatAnotherDeviceFailed) {
  const DeviceKind broken{.name = "gpu",
                          .detect = [] { return std::vector<DeviceInfo>{{.name = "gpu:0"}}; },
                          .start = [](const DeviceInfo&) -> Result<std::unique_ptr<Device>> {
                            return Error{.code = ErrorCode::kDevice, .message = "too old"};
                          }};
  DeviceRegistry devices({&kFake, 1});
  devices.prefer(broken);
  std::vector<std::string> warnings;
  set_log([&](LogLevel level, std::string_view message) {
    if (level == LogLevel::kWarning) warnings.emplace_back(message);
  });
  open({.threads = 1, .devices = &devices});
  open({.threads = 1, .devices = &devices});
  set_log({});
  EXPECT_EQ(warnings,
            (std::vector<std::string>{"the device 'gpu:0' does not start: too old; using 'fake'"}));
}

TEST_F(LocalDevices, ADeviceThatIsNotThereIsAnError) {
  const auto model = LocalModel::open(path_, {.device = "cuda:7"});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kDevice);
  EXPECT_EQ(model.error().id, "no_such_device");
}

}  // namespace
}  // namespace wick
