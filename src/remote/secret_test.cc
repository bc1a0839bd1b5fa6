#include "remote/secret.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "remote/refusal.h"
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

// APIs repeat keys as a whole, cut short, or in capitals.
TEST(Secret, IsCutOutOfMessages) {
  const Secret key("sk-proj-CANARY7777-zz_yX");
  const auto told = [&](std::string_view message) { return without_key(message, key); };
  EXPECT_EQ(told("bad key sk-proj-CANARY7777-zz_yX!"), "bad key [key]!");
  EXPECT_EQ(told("sk-proj-CANARY7777-zz_yXsk-proj-CANARY7777-zz_yX"), "[key][key]");
  EXPECT_EQ(told("sk-proj-CANARY777…"), "[key]…");
  EXPECT_EQ(told("SK-PROJ-CANARY7777-ZZ_YX"), "[key]");
  EXPECT_EQ(told("sk-proj-CANARY7777-zz%5FyX"), "[key]%5FyX");
  EXPECT_EQ(told("sk-proj-****yX, sk-proj-CANARY7"), "sk-proj-****yX, sk-proj-CANARY7");
  EXPECT_EQ(told("sk-prosk-proj-CANARY7777-zz_yX"), "sk-pro[key]");
  EXPECT_EQ(without_key("an empty prompt, EMPTY", Secret("EMPTY")), "an empty prompt, [key]");
  EXPECT_EQ(without_key("a", Secret()), "a");
}

}  // namespace

}  // namespace wick::remote
