// Notifies the reader of an answer that there is more, without a thread, lock or allocation: one
// Wake per answer, set by its producer. A reader of one answer sleeps on its Wake; an event loop
// that reads many watches the one file descriptor of a WakeSet.
//
//   WICK_TRY(const auto set, WakeSet::create());
//   WICK_TRY(answers[7], provider.start(request, set->add(7)));
//   poll set->fd() for reading, beside sockets;
//   set->take([&](std::uint64_t key) { while (auto event = answers[key]->poll()) … });
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/result.h"

namespace wick {

class WakeSet;

class Wake : public std::enable_shared_from_this<Wake> {
  struct Ready;  // of a WakeSet

 public:
  Wake() = default;  // of one reader, who sleeps in wait()
  Wake(std::shared_ptr<Ready> ready, std::uint64_t key) noexcept;  // of a WakeSet
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;

  // Hot: any thread. The first set() since its loop's take() puts it into the set's list, and the
  // first of that list writes the set's eventfd.
  void set() noexcept {
    signal_.fetch_add(1, std::memory_order_release);
    signal_.notify_one();
    if (ready_ != nullptr && !is_listed_.exchange(true, std::memory_order_acq_rel)) list();
  }

  // The reader: what wait() compares with; ask before looking for more.
  std::uint32_t signal() const noexcept { return signal_.load(std::memory_order_acquire); }

  void wait(std::uint32_t seen) const noexcept { signal_.wait(seen, std::memory_order_acquire); }

 private:
  friend class WakeSet;
  void list() noexcept;

  std::atomic<std::uint32_t> signal_ = 0;
  std::atomic<bool> is_listed_ = false;
  std::shared_ptr<Ready> ready_ = {};
  std::uint64_t key_ = 0;
  Wake* next_ = nullptr;             // in the list
  std::shared_ptr<Wake> self_ = {};  // while it is in the list
};

// Belongs to one reader. Its Wakes may outlive it; setting them then has no effect.
class WakeSet {
 public:
  static Result<std::unique_ptr<WakeSet>> create();
  ~WakeSet();
  WakeSet(const WakeSet&) = delete;
  WakeSet& operator=(const WakeSet&) = delete;

  int fd() const noexcept;  // readable once a Wake is set

  // While the reader's thread itself makes Wakes be set, and calls take() without being told: no
  // eventfd is written or read. What is left at its end makes fd() readable.
  class Attention {
   public:
    explicit Attention(WakeSet& set) noexcept;
    ~Attention();
    Attention(const Attention&) = delete;
    Attention& operator=(const Attention&) = delete;

   private:
    WakeSet& set_;
  };

  std::shared_ptr<Wake> add(std::uint64_t key);

  // Calls visit(key) for each Wake that was set since the last take(), the earliest first. If visit
  // throws, the next take() begins with the key that it threw at.
  template <class Visit>
  void take(const Visit& visit) {
    for (Taken taken{take_all()}; taken.first != nullptr; taken.go_on()) {
      taken.next = unlist(*taken.first);
      visit(taken.first->key_);
    }
  }

 private:
  // The Wakes that take() has not visited yet; sets them again if take() is left early.
  struct Taken {
    explicit Taken(std::shared_ptr<Wake> all) noexcept : first(std::move(all)) {}

    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;

    ~Taken() {
      while (first != nullptr) {
        first->set();
        go_on();
        if (first != nullptr) next = unlist(*first);
      }
    }

    void go_on() noexcept { first = std::move(next); }

    std::shared_ptr<Wake> first, next = {};
  };

  explicit WakeSet(std::shared_ptr<Wake::Ready> ready) noexcept;
  std::shared_ptr<Wake> take_all() noexcept;
  static std::shared_ptr<Wake> unlist(Wake& wake) noexcept;

  std::shared_ptr<Wake::Ready> ready_;
};

}  // namespace wick
