// A lock-free, unbounded queue from many threads to one (MPSC). push() always succeeds, so
// producers limit the number of items themselves (the engine: max_queue). push() is a
// compare-and-swap on an intrusive list, take_all() one exchange. FIFO per producer. The consumer
// may sleep in wait().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <utility>

namespace wick {

// T has a member `T* inbox_next`. The inbox owns what lies in it.
template <class T>
class Inbox {
 public:
  Inbox() noexcept = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  ~Inbox() {
    for (T* item = take_all(); item != nullptr;) {
      const std::unique_ptr<T> gone(item);
      item = gone->inbox_next;
    }
  }

  // Any thread.
  void push(std::unique_ptr<T> item) noexcept {
    T* raw = item.release();
    raw->inbox_next = head_.load(std::memory_order_relaxed);
    while (!head_.compare_exchange_weak(raw->inbox_next, raw, std::memory_order_seq_cst,
                                        std::memory_order_relaxed)) {
    }
    wake();
  }

  // The consumer: takes all items, oldest first, as a list through inbox_next. The caller owns
  // them.
  T* take_all() noexcept {
    T* newest = head_.exchange(nullptr, std::memory_order_acquire);
    T* oldest = nullptr;
    while (newest != nullptr) {
      T* next = newest->inbox_next;
      newest->inbox_next = oldest;
      oldest = newest;
      newest = next;
    }
    return oldest;
  }

  // The consumer: true if nothing was pushed since the last take_all(). Sequentially consistent, as
  // push() is.
  bool is_empty() const noexcept { return head_.load(std::memory_order_seq_cst) == nullptr; }

  // Any thread: makes one wait() return, the current or the next one, even without an item.
  void wake() noexcept {
    if (!is_awake_.exchange(true, std::memory_order_acq_rel)) signal_.release();
  }

  // The consumer: blocks until wake() was called since the last wait(). Then look for work.
  void wait() noexcept {
    signal_.acquire();
    is_awake_.exchange(false, std::memory_order_acq_rel);
  }

  // The same, for no longer than `ns`.
  void wait_for(std::int64_t ns) noexcept {
    if (signal_.try_acquire_for(std::chrono::nanoseconds(ns)))
      is_awake_.exchange(false, std::memory_order_acq_rel);
  }

 private:
  std::atomic<T*> head_ = nullptr;
  std::atomic<bool> is_awake_ = false;  // `signal_` is released, or about to be
  std::binary_semaphore signal_{0};
};

}  // namespace wick
