#include "base/core_dumps.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace wick {

void forbid_core_dumps() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) == 0) {
    limit.rlim_cur = 0;
    ::setrlimit(RLIMIT_CORE, &limit);
  }
  const int fd = ::open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);  // Linux alone
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t n = ::write(fd, "0", 1);
  ::close(fd);
}

}  // namespace wick
