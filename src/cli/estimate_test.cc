// What `wick estimate` says of a model on several devices; the program's own tests have one.
#include "cli/estimate.h"

#include <gtest/gtest.h>

#include <string>

#include "support/fake_device.h"
#include "support/temp_dir.h"
#include "support/tiny_model.h"

namespace wick {
namespace {

constexpr DeviceKind kFakes = {
    .name = "fakes",
    .detect =
        [] {
          return std::vector<DeviceInfo>{{.name = "fakes:0"}, {.name = "fakes:1"}};
        },
    .start = [](const DeviceInfo&) -> Result<std::unique_ptr<Device>> {
      return std::unique_ptr<Device>(std::make_unique<test::FakeDevice>(Isa::kScalar));
    }};

std::string plan_of(const std::string& names, const std::string& split = {}) {
  const test::TempDir dir;
  test::write_tiny_model(dir.path() / "m.gguf");
  DeviceRegistry devices({&kFakes, 1});
  const auto model = LocalModel::open(
      dir.path() / "m.gguf", {.device = names, .tensor_split = split, .devices = &devices});
  EXPECT_TRUE(model) << to_string(model.error());
  static std::string shown;
  shown.clear();
  const auto keep = [](std::initializer_list<Shown> parts) {
    for (const Shown& part : parts)
      shown += part.view();
  };
  print_memory_estimate(keep, **model, Config());
  return shown;
}

TEST(CliEstimate, HasARowForEachOfSeveralDevices) {
  const auto rows = [](const std::string& plan) {
    int n = 0;
    for (std::size_t at = plan.find("\non fake"); at != std::string::npos; ++n)
      at = plan.find("\non fake", at + 1);
    return n;
  };
  EXPECT_EQ(rows(plan_of("fakes:0")), 0);
  EXPECT_EQ(rows(plan_of("fakes:0,fakes:1")), 0) << "the first one holds it";
  EXPECT_EQ(rows(plan_of("fakes:0,fakes:1", "1,1")), 2);
}

}  // namespace
}  // namespace wick
