// A zeroed block of memory straight from the kernel: page-aligned, owned by one AlignedBuffer,
// given back when that dies. Address space only until it is touched, so a buffer may be made for
// the worst case and cost what the common case uses. create() may be called from any thread.
//
//   WICK_TRY(AlignedBuffer scratch, AlignedBuffer::create(bytes));
//   float* x = scratch.as<float>();
#pragma once

#include <cstddef>

#include "base/result.h"

namespace wick {

class AlignedBuffer {
 public:
  // kLazy: becomes memory 4 KiB at a time, for buffers touched in places (caches, worst-case
  // scratch). kHuge: 2 MiB pages where the system has them, for large buffers used throughout.
  enum class Pages { kLazy, kHuge };

  AlignedBuffer() noexcept = default;
  // kNoMemory if the address space is not to be had. 0 bytes make an empty buffer.
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
