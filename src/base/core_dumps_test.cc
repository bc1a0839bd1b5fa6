#include "base/core_dumps.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/temp_dir.h"

namespace wick {

namespace {

// Longer than the registers, which every dump has.
std::string canary_of(pid_t parent) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "canary-" + std::to_string(parent) + "-" + std::to_string(i);
  return text;
}

// Aborts in a folder of its own with a text in its memory; the bytes of the files that appear.
std::string dumped(bool is_forbidden, bool raises_limit) {
  const test::TempDir folder;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::chdir(folder.path().c_str()) != 0) ::_exit(1);
    const std::string secret = canary_of(::getppid());
    rlimit limit{};
    ::getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_CORE, &limit);
    if (is_forbidden) forbid_core_dumps();
    if (raises_limit) ::setrlimit(RLIMIT_CORE, &limit);
    ::signal(SIGABRT, SIG_DFL);
    ::kill(::getpid(), SIGABRT);
    ::_exit(static_cast<int>(secret.front()));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  std::string bytes;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    std::ifstream in(file.path(), std::ios::binary);
    bytes.append(std::istreambuf_iterator<char>(in), {});
  }
  return bytes;
}

// Where the system writes dumps to the folder, the first one shows that the others could have them.
TEST(CoreDumps, HaveNothingOfTheMemoryOnceForbidden) {
  const std::string canary = canary_of(::getpid());
  const bool are_seen = dumped(false, false).find(canary) != std::string::npos;
  EXPECT_EQ(dumped(true, false), "");
  EXPECT_EQ(dumped(true, true).find(canary), std::string::npos);
  if (are_seen) {
    EXPECT_NE(dumped(true, true), "") << "the limit was raised again";
  }
  forbid_core_dumps();
  std::ifstream filter("/proc/self/coredump_filter");
  std::string bits;
  filter >> bits;
  EXPECT_EQ(bits, "00000000");
}

}  // namespace

}  // namespace wick
