#include "base/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace wick {

namespace {

struct Close {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

// "max", or a number of bytes.
std::uint64_t group_limit() noexcept {
  const std::unique_ptr<std::FILE, Close> file(std::fopen("/sys/fs/cgroup/memory.max", "re"));
  unsigned long long bytes = 0;
  if (file == nullptr || std::fscanf(file.get(), "%20llu", &bytes) != 1) return 0;
  return bytes;
}

}  // namespace

std::uint64_t machine_memory_bytes() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  const std::uint64_t all =
      pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
                            : 0;
  const std::uint64_t limit = group_limit();
  return limit == 0 ? all : std::min(all, limit);
}

}  // namespace wick
