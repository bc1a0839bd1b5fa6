// A zeroed, page-aligned block of memory from the kernel (mmap), freed with its AlignedBuffer.
// Pages take memory only once they are touched, so a buffer may have the size of the worst case.
// create() may be called from any thread.
//
//   WICK_TRY(AlignedBuffer scratch, AlignedBuffer::create(bytes));
//   float* x = scratch.as<float>();
#pragma once

#include <cstddef>

#include "base/result.h"

namespace wick {

class AlignedBuffer {
 public:
  // kLazy: 4 KiB pages, for buffers that are used in part (caches, scratch for the worst case).
  // kHuge: 2 MiB pages if the system has them, for large buffers that are used completely.
  enum class Pages { kLazy, kHuge };

  AlignedBuffer() noexcept = default;
  // kNoMemory if the system refuses the address space. 0 bytes make an empty buffer.
  static Result<AlignedBuffer> create(std::size_t bytes, Pages pages = Pages::kLazy);

  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  ~AlignedBuffer();

  std::byte* data() const noexcept { return data_; }

  std::size_t bytes() const noexcept { return bytes_; }

  // The buffer as an array of T; pages are aligned for every type we have.
  template <class T>
  T* as() const noexcept {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace wick
