// How many threads this process has: for tests that say who needs none of its own.
#pragma once

#include <dirent.h>

#include <thread>

namespace wick::test {

inline int thread_count() {
  // ThreadSanitizer starts a thread of its own beside the first one, which is not to be counted as
  // a change.
  static const bool one_was_started = (std::thread([] {}).join(), true);
  static_cast<void>(one_was_started);
  int n = 0;
  DIR* const folder = ::opendir("/proc/self/task");
  while (const dirent* const entry = ::readdir(folder))
    n += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(folder);
  return n;
}

}  // namespace wick::test
