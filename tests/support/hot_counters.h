// Counts what must not happen on the hot path. Linking wick_test_support replaces operator new and
// delete and wraps pthread_mutex_lock and _trylock in the whole test program; calls inside a
// HotScope (base/hot_scope.h), on any thread, are counted. Any thread may read or reset.
//
//   test::reset_hot_counts();
//   { const HotScope hot; backend->linear(y, x, step); }
//   EXPECT_EQ(test::hot_counts().allocations, 0);
#pragma once

namespace wick::test {

struct HotCounts {
  long allocations = 0;  // operator new, all forms
  long frees = 0;        // operator delete of a non-null pointer, all forms
  long locks = 0;        // pthread_mutex_lock and _trylock: std::mutex and all built upon it
};

HotCounts hot_counts() noexcept;
void reset_hot_counts() noexcept;

// Blocks of operator new that have not been given back, of all threads, inside a HotScope or not.
long live_allocations() noexcept;

// Bytes of these blocks, as the allocator has them, and the most of them since reset_peak_bytes().
long live_bytes() noexcept;
long peak_bytes() noexcept;
void reset_peak_bytes() noexcept;

// Bytes that operator new has given out since the program began, given back or not: what is copied
// and built anew shows here, whatever the clock says.
long given_bytes() noexcept;

// The n-th next operator new of this thread, inside a HotScope or not, finds no memory; 0 = none
// does.
void fail_allocation(long n) noexcept;
// The same for the n-th next one of any thread.
void fail_allocation_anywhere(long n) noexcept;
// Whether that has happened since: on this thread, or anywhere.
bool allocation_has_failed() noexcept;

}  // namespace wick::test
