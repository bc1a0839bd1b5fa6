// A pool of scratch memory for an object that many threads use. A call takes a scratch and gives it
// back with the memory it has allocated. No locks; if more calls run at once than the pool has
// places, the others make a scratch of their own. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <memory>

namespace wick {

template <class Scratch>
class ScratchPool {
 public:
  ScratchPool() = default;
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;

  ~ScratchPool() {
    for (auto& place : places_) {
      const std::unique_ptr<Scratch> last(place.exchange(nullptr));
    }
  }

  std::unique_ptr<Scratch> take() {
    for (auto& place : places_) {
      if (place.load(std::memory_order_relaxed) == nullptr) continue;
      if (Scratch* const scratch = place.exchange(nullptr, std::memory_order_acquire)) {
        return std::unique_ptr<Scratch>(scratch);
      }
    }
    return std::make_unique<Scratch>();
  }

  void give(std::unique_ptr<Scratch> scratch) noexcept {
    for (auto& place : places_) {
      Scratch* none = nullptr;
      if (place.compare_exchange_strong(none, scratch.get(), std::memory_order_release,
                                        std::memory_order_relaxed)) {
        static_cast<void>(scratch.release());
        return;
      }
    }
  }

 private:
  std::array<std::atomic<Scratch*>, 16> places_ = {};
};

}  // namespace wick
