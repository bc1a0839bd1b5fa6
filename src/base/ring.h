// A fixed ring of bytes from one thread to one other, without locks: how text leaves the engine.
// write() takes all of a piece or nothing; the reader sleeps in wait() until something is there or
// the writer has closed. After construction nothing allocates.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace wick {

class ByteRing {
 public:
  explicit ByteRing(std::size_t capacity) : bytes_(capacity) {}

  // The writer. Whether so many bytes fit now; what does will do so until it is written.
  bool has_room(std::size_t n) const noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    return n <= bytes_.size() - static_cast<std::size_t>(head - tail);
  }

  // The writer. False if it does not fit now; a piece larger than the ring never fits.
  bool write(std::string_view piece) noexcept {
    if (!has_room(piece.size())) return false;
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    for (std::size_t done = 0; done < piece.size();) {
      const std::size_t at = static_cast<std::size_t>((head + done) % bytes_.size());
      const std::size_t n = std::min(piece.size() - done, bytes_.size() - at);
      std::memcpy(bytes_.data() + at, piece.data() + done, n);
      done += n;
    }
    head_.store(head + piece.size(), std::memory_order_release);
    signal();
    return true;
  }

  void close() noexcept {
    closed_.store(true, std::memory_order_release);
    signal();
  }

  // The reader: appends all there is to `out`; false once the ring is empty and closed.
  bool read(std::string& out) {
    const bool was_closed =
        closed_.load(std::memory_order_acquire);  // before head: nothing follows a close
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    for (std::uint64_t i = tail; i < head;) {
      const std::size_t at = static_cast<std::size_t>(i % bytes_.size());
      const std::size_t n = std::min(static_cast<std::size_t>(head - i), bytes_.size() - at);
      out.append(bytes_.data() + at, n);
      i += n;
    }
    tail_.store(head, std::memory_order_release);
    return head != tail || !was_closed;
  }

  // Sleeps until there is something to read, or the writer has closed.
  void wait() const noexcept {
    for (;;) {
      const std::uint32_t seen = signal_.load(std::memory_order_acquire);
      if (head_.load(std::memory_order_acquire) != tail_.load(std::memory_order_relaxed) ||
          closed_.load(std::memory_order_acquire)) {
        return;
      }
      signal_.wait(seen, std::memory_order_acquire);
    }
  }

  // Any thread: makes a sleeping reader look again.
  void signal() noexcept {
    signal_.fetch_add(1, std::memory_order_release);
    signal_.notify_one();
  }

 private:
  std::vector<char> bytes_;
  std::atomic<std::uint64_t> head_ = 0, tail_ = 0;  // bytes ever written, ever read
  std::atomic<std::uint32_t> signal_ = 0;
  std::atomic<bool> closed_ = false;
};

}  // namespace wick
