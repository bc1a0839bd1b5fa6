// Counts the bytes of a device in use, where they are allocated and freed. Any thread.
//
//   const MemoryHold hold(account, bytes);   // subtracted when `hold` is destroyed
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace wick {

class MemoryAccount {
 public:
  std::size_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  friend class MemoryHold;
  std::atomic<std::size_t> bytes_ = 0;
};

// Counts its bytes as in use during its lifetime; `account` must outlive it.
class MemoryHold {
 public:
  MemoryHold() noexcept = default;

  MemoryHold(MemoryAccount& account, std::size_t bytes) noexcept
      : account_(&account), bytes_(bytes) {
    account.bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }

  MemoryHold(MemoryHold&& other) noexcept
      : account_(std::exchange(other.account_, nullptr)), bytes_(other.bytes_) {}

  MemoryHold& operator=(MemoryHold&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  ~MemoryHold() {
    if (account_ != nullptr) account_->bytes_.fetch_sub(bytes_, std::memory_order_relaxed);
  }

 private:
  MemoryAccount* account_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace wick
