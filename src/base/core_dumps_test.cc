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

#include "support/instrumented.h"
#include "support/temp_dir.h"

namespace wick {

namespace {

// A sanitizer maps terabytes, and the system writes them all to a dump.
#if !WICK_TEST_IS_INSTRUMENTED
// Longer than the registers, which every dump has.
std::string canary_of(pid_t parent) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "canary-" + std::to_string(parent) + "-" + std::to_string(i);
  return text;
}

struct Dump {
  std::string bytes;
  // qemu's user mode writes dumps by itself, and heeds the limit but not the filter.
  bool is_of_emulator = false;
};

// Aborts in a folder of its own with a text in its memory; what the files that appear hold.
Dump dumped(bool is_forbidden, bool raises_limit) {
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
  Dump dump;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    std::ifstream in(file.path(), std::ios::binary);
    dump.bytes.append(std::istreambuf_iterator<char>(in), {});
    dump.is_of_emulator |= file.path().filename().string().starts_with("qemu_");
  }
  return dump;
}

// Where the system writes dumps to the folder, the first one shows that the others could have them.
TEST(CoreDumps, HaveNothingOfTheMemoryOnceForbidden) {
  const std::string canary = canary_of(::getpid());
  const Dump allowed = dumped(false, false);
  EXPECT_EQ(dumped(true, false).bytes, "");
  if (!allowed.is_of_emulator) {
    const std::string raised = dumped(true, true).bytes;
    EXPECT_EQ(raised.find(canary), std::string::npos);
    if (allowed.bytes.find(canary) != std::string::npos) {
      EXPECT_NE(raised, "") << "the limit was raised again";
    }
  }
}
#endif

// Behind the test above, whose children would inherit it.
TEST(CoreDumps, AreForbiddenByLimitAndFilter) {
  forbid_core_dumps();
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  EXPECT_EQ(limit.rlim_cur, 0U);
  std::ifstream filter("/proc/self/coredump_filter");
  std::string bits;
  filter >> bits;
  EXPECT_EQ(bits, "00000000");
}

}  // namespace

}  // namespace wick
