#include "base/aligned.h"

#include <sys/mman.h>

#include <utility>

#include "base/strings.h"

namespace wick {

Result<AlignedBuffer> AlignedBuffer::create(std::size_t bytes, Pages pages) {
  AlignedBuffer buffer;
  if (bytes == 0) return buffer;
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    return Error{.code = ErrorCode::kNoMemory,
                 .id = "out_of_memory",
                 .message = cat("cannot reserve ", bytes >> 20, " MiB of memory"),
                 .hint = "try a shorter context or a smaller batch, or close other programs"};
  }
  // Advice only: a kernel without huge pages refuses it, and nothing changes but speed.
  ::madvise(at, bytes, pages == Pages::kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  buffer.data_ = static_cast<std::byte*>(at);
  buffer.bytes_ = bytes;
  return buffer;
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

AlignedBuffer::~AlignedBuffer() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace wick
