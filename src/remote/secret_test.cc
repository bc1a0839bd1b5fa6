#include "remote/secret.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "support/temp_dir.h"

namespace wick::remote {

namespace {

TEST(Secret, ComesFromTheEnvironmentAFileOrSystemd) {
  const test::TempDir folder;
  const auto path = folder.path() / "key";
  std::ofstream(path) << "sk-file\n";
  ::chmod(path.c_str(), 0600);
  const ReadEnvironment environment = [&](const char* name) -> const char* {
    static std::string folder_name;
    folder_name = folder.path().string();
    if (std::string_view(name) == "KEY") return "sk-env";
    return std::string_view(name) == "CREDENTIALS_DIRECTORY" ? folder_name.c_str() : nullptr;
  };
  EXPECT_EQ(read_secret({.variable = "KEY"}, environment)->reveal(), "sk-env");
  EXPECT_EQ(read_secret({.variable = "NONE", .file = path.string()}, environment)->reveal(),
            "sk-file");
  EXPECT_EQ(read_secret({.credential = "key"}, environment)->reveal(), "sk-file");
  EXPECT_EQ(read_secret({.variable = "NONE"}, environment).error().id, "no_key");
  EXPECT_TRUE(read_secret({}, environment)->empty());
}

TEST(Secret, AFileThatOthersReadIsRefusedAndNoMessageHoldsTheKey) {
  const test::TempDir folder;
  const auto path = folder.path() / "key";
  std::ofstream(path) << "canary key";
  ::chmod(path.c_str(), 0640);
  EXPECT_EQ(read_secret({.file = path.string()}).error().id, "open_key_file");
  ::chmod(path.c_str(), 0600);
  const Error error = read_secret({.file = path.string()}).error();
  EXPECT_EQ(error.id, "bad_key");
  EXPECT_EQ(error.message.find("canary"), std::string::npos);
  EXPECT_EQ(read_secret({.credential = "../key"}).error().id, "no_key");
}

}  // namespace

}  // namespace wick::remote
