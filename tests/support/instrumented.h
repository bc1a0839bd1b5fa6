// Whether this program was built with AddressSanitizer or ThreadSanitizer: their checks stand
// between a loop and its speed, and they keep memory that is freed.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WICK_TEST_IS_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WICK_TEST_IS_INSTRUMENTED 1
#endif
#endif
#ifndef WICK_TEST_IS_INSTRUMENTED
#define WICK_TEST_IS_INSTRUMENTED 0
#endif

namespace wick::test {

inline constexpr bool kIsInstrumented = WICK_TEST_IS_INSTRUMENTED;

}  // namespace wick::test
