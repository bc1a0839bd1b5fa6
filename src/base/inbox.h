// A bounded queue from many threads to one, without locks: push() is a compare-and-swap on an
// intrusive list, take_all() one exchange. FIFO for each pushing thread. The consumer may sleep in
// wait().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace wick {

// T has a member `T* inbox_next`. The inbox owns what lies in it.
template <class T>
class Inbox {
 public:
  explicit Inbox(int capacity) : capacity_(capacity) {}

  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  ~Inbox() {
    for (T* item = take_all(); item != nullptr;) {
      const std::unique_ptr<T> gone(item);
      item = gone->inbox_next;
    }
  }

  // Any thread. Full: false, and `item` stays with the caller.
  bool push(std::unique_ptr<T>& item) noexcept {
    if (count_.fetch_add(1, std::memory_order_relaxed) >= capacity_) {
      count_.fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
    T* raw = item.release();
    raw->inbox_next = head_.load(std::memory_order_relaxed);
    while (!head_.compare_exchange_weak(raw->inbox_next, raw, std::memory_order_seq_cst,
                                        std::memory_order_relaxed)) {
    }
    wake();
    return true;
  }

  // The consumer: everything there is, oldest first, as a list through inbox_next; ownership passes
  // on.
  T* take_all() noexcept {
    T* newest = head_.exchange(nullptr, std::memory_order_acquire);
    T* oldest = nullptr;
    while (newest != nullptr) {
      T* next = newest->inbox_next;
      newest->inbox_next = oldest;
      oldest = newest;
      newest = next;
      count_.fetch_sub(1, std::memory_order_relaxed);
    }
    return oldest;
  }

  // The consumer, between two take_all(): nothing has come. With push() and another atomic it keeps
  // the order of all threads (both sides sequentially consistent).
  bool is_empty() const noexcept { return head_.load(std::memory_order_seq_cst) == nullptr; }

  // Any thread: makes wait() return, also without an item.
  void wake() noexcept {
    signal_.fetch_add(1, std::memory_order_release);
    signal_.notify_one();
  }

  // The consumer: what wait() compares against; read it before looking for work.
  std::uint32_t signal() const noexcept { return signal_.load(std::memory_order_acquire); }

  void wait(std::uint32_t seen) const noexcept { signal_.wait(seen, std::memory_order_acquire); }

 private:
  std::atomic<T*> head_ = nullptr;
  std::atomic<int> count_ = 0;
  std::atomic<std::uint32_t> signal_ = 0;
  int capacity_;
};

}  // namespace wick
