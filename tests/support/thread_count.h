// How many threads this process has: for tests that say who needs none of its own.
#pragma once

#include <dirent.h>

namespace wick::test {

inline int thread_count() {
  int n = 0;
  DIR* const folder = ::opendir("/proc/self/task");
  while (const dirent* const entry = ::readdir(folder))
    n += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(folder);
  return n;
}

}  // namespace wick::test
