// The tests of ops on every device: the program runs itself once for each that the registry has,
// and for the one whose memory the host cannot touch. A device that is added is tested by being
// there.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/strings.h"
#include "support/test_device.h"

namespace wick::test {
namespace {

TEST(EveryDevice, PassesTheTestsOfTheVerbs) {
  std::vector<std::string> names = {"fake"};
  for (const DeviceInfo& info : process_devices().devices()) {
    if (info.name != "cpu") names.push_back(info.name);  // that is what this run is on
  }
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const std::string command = cat("WICK_TEST_DEVICE='", name, "' '", self,
                                    "' --gtest_brief=1 --gtest_filter='*Ops*:*LinearOf*' 2>&1");
    std::FILE* const child = ::popen(command.c_str(), "r");
    ASSERT_NE(child, nullptr);
    std::string said;
    for (int c = std::fgetc(child); c != EOF; c = std::fgetc(child))
      said.push_back(static_cast<char>(c));
    EXPECT_EQ(::pclose(child), 0) << said;
    const std::size_t passed = said.find("[  PASSED  ] ");
    ASSERT_NE(passed, std::string::npos) << said;
    EXPECT_GE(std::stoi(said.substr(passed + 13)), 17) << "the suites of ops have these";
  }
}

}  // namespace
}  // namespace wick::test
