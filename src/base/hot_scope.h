// Marks the code that runs for every token: inside a HotScope nothing may allocate or lock. Test
// programs link tests/support/hot_counters.cc, which replaces operator new and wraps
// pthread_mutex_lock and counts what happens inside a scope; in the product a scope is one
// thread-local increment.
#pragma once

namespace wick {

class HotScope {
 public:
  HotScope() noexcept { ++depth_; }

  ~HotScope() { --depth_; }

  HotScope(const HotScope&) = delete;
  HotScope& operator=(const HotScope&) = delete;

  static bool is_active() noexcept { return depth_ > 0; }

 private:
  static thread_local int depth_;
};

}  // namespace wick
