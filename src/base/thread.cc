#include "base/thread.h"

#ifdef __linux__
#include <unistd.h>
#endif

#include "base/strings.h"

namespace wick {

Error thread_refused(const std::system_error& error) {
  return {.code = ErrorCode::kUnavailable,
          .id = "no_thread",
          .message = cat("the system starts no further thread: ", error.code().message()),
          .hint =
              "ask for fewer threads (-t 1), or raise the limits of processes (ulimit -u) and of "
              "memory (ulimit -v, ulimit -s)"};
}

void lower_priority([[maybe_unused]] int niceness) noexcept {
#ifdef __linux__
  if (niceness > 0) static_cast<void>(::nice(niceness));
#endif
}

}  // namespace wick
