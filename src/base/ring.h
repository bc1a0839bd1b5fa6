// A lock-free ring buffer of bytes from one thread to another (SPSC), for text from the engine to
// its reader. write() writes a piece completely or not at all. Nothing allocates after
// construction.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace wick {

class ByteRing {
 public:
  explicit ByteRing(std::size_t capacity)
      : bytes_(std::make_unique_for_overwrite<char[]>(capacity)), size_(capacity) {}

  // The writer. Whether this many bytes fit; they will still fit at the next write().
  bool has_room(std::size_t n) const noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    return n <= size_ - static_cast<std::size_t>(head - tail);
  }

  // The writer. False if it does not fit now; a piece larger than the ring never fits.
  bool write(std::string_view piece) noexcept {
    if (!has_room(piece.size())) return false;
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    for (std::size_t done = 0; done < piece.size();) {
      const std::size_t at = static_cast<std::size_t>((head + done) % size_);
      const std::size_t n = std::min(piece.size() - done, size_ - at);
      std::memcpy(bytes_.get() + at, piece.data() + done, n);
      done += n;
    }
    head_.store(head + piece.size(), std::memory_order_release);
    return true;
  }

  void close() noexcept { closed_.store(true, std::memory_order_release); }

  // The reader: appends all there is to `out`; false once the ring is empty and closed.
  bool read(std::string& out) {
    // Before head: nothing follows a close.
    const bool was_closed = closed_.load(std::memory_order_acquire);
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    for (std::uint64_t i = tail; i < head;) {
      const std::size_t at = static_cast<std::size_t>(i % size_);
      const std::size_t n = std::min(static_cast<std::size_t>(head - i), size_ - at);
      out.append(bytes_.get() + at, n);
      i += n;
    }
    tail_.store(head, std::memory_order_release);
    return head != tail || !was_closed;
  }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
  std::atomic<std::uint64_t> head_ = 0, tail_ = 0;  // bytes ever written, ever read
  std::atomic<bool> closed_ = false;
};

}  // namespace wick
