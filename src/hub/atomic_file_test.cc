#include "hub/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "support/temp_dir.h"

namespace wick {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder))
    out.insert(entry.path().filename().string());
  return out;
}

// SIGTERM left a temporary file of the whole output behind.
TEST(AtomicFile, HasNoNameUntilItIsWhole) {
  const test::TempDir dir;
  const FileHandle probe(::open(dir.path().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  const fs::path path = dir.path() / "out.npy";
  {
    auto left = *AtomicFile::create(path, {});
    ASSERT_TRUE(left.add("half"));
    EXPECT_EQ(names_in(dir.path()).size(), probe.fd() >= 0 ? 0U : 1U);
  }
  EXPECT_EQ(names_in(dir.path()), std::set<std::string>());
  auto one = *AtomicFile::create(path, {});
  auto other = *AtomicFile::create(path, {});
  ASSERT_TRUE(one.add("one") && other.add("the other"));
  ASSERT_TRUE(one.commit());
  EXPECT_EQ(fs::file_size(path), 3U);
  ASSERT_TRUE(other.commit());
  EXPECT_EQ(fs::file_size(path), 9U);
  EXPECT_EQ(names_in(dir.path()), std::set<std::string>{"out.npy"});
}

}  // namespace
}  // namespace wick
