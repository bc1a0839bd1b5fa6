// Checks for bugs in wick's own code: print the place and abort. Foreign input never fails these;
// it gets a Result.
#pragma once

namespace wick {

// Prints "file:line: what (condition)" on standard error and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const char* what) noexcept;

// On in every build.
#define WICK_CHECK(condition, what)                    \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::wick::check_failed(__FILE__, __LINE__, #condition, what))

// For inner loops: on in debug builds only.
#ifdef NDEBUG
#define WICK_DCHECK(condition, what) static_cast<void>(0)
#else
#define WICK_DCHECK(condition, what) WICK_CHECK(condition, what)
#endif

}  // namespace wick
