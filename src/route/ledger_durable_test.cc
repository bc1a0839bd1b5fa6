// What is told as reserved is on the disk: fdatasync() and fsync() of this program are replaced, so
// that each is counted.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "route/ledger.h"
#include "support/temp_dir.h"

namespace {

std::atomic<int> n_synced = 0;

}  // namespace

// Exported, so that SQLite finds these before the C library's.
extern "C" __attribute__((visibility("default"))) int fdatasync(int fd) {
  ++n_synced;
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

extern "C" __attribute__((visibility("default"))) int fsync(int fd) {
  ++n_synced;
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace wick::route {
namespace {

TEST(LedgerDurable, AReservationIsSyncedBeforeItIsTold) {
  const wick::test::TempDir dir;
  const std::vector<Budget> budgets = {{.name = "all", .cap = 1000}};
  for (const bool is_durable : {true, false}) {
    const auto ledger = Ledger::open({.path = (dir.path() / (is_durable ? "a" : "b")).string(),
                                      .is_durable = is_durable,
                                      .writes_at_once = true});
    ASSERT_TRUE(ledger) << to_string(ledger.error());
    const int before = n_synced;
    for (int i = 0; i < 10; ++i)
      ASSERT_TRUE((*ledger)->reserve({.provider = "p"}, budgets, 1, 1'796'083'200));
    EXPECT_EQ(n_synced - before >= 10, is_durable) << n_synced - before;
  }
}

}  // namespace
}  // namespace wick::route
