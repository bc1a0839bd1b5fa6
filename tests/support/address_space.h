// How much address space this process holds: buffers straight from the kernel (base/aligned.h)
// count from the moment they are reserved, touched or not.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace wick::test {

inline std::int64_t address_space_bytes() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

}  // namespace wick::test
