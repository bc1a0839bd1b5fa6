// Memory that only kernels can reach. One file in memory is mapped twice: host code is given
// addresses of a half that faults on any access, kernels add a constant and work on the other half.
// Any thread. What is given back reads as zeros when it is given out again.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <map>
#include <mutex>

#include "base/check.h"

namespace wick::test {

class DeviceArena {
 public:
  DeviceArena() : file_(::memfd_create("wick-fake-device", MFD_CLOEXEC)) {
    WICK_CHECK(file_ >= 0 && ::ftruncate(file_, kBytes) == 0, "a file in memory");
    void* const both =
        ::mmap(nullptr, 2 * kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    WICK_CHECK(both != MAP_FAILED, "address space");
    begin_ = static_cast<std::byte*>(both);
    map(begin_, PROT_NONE);
    map(begin_ + kBytes, PROT_READ | PROT_WRITE);
  }

  ~DeviceArena() {
    ::munmap(begin_, 2 * kBytes);
    ::close(file_);
  }

  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;

  std::byte* take(std::size_t bytes) {
    bytes = rounded(bytes);
    const std::lock_guard lock(mutex_);
    if (const auto known = free_.find(bytes); known != free_.end()) {
      return taken_.insert(free_.extract(known))->second;
    }
    WICK_CHECK(bytes <= kBytes - used_, "the fake device has memory left");
    std::byte* const place = begin_ + used_;
    taken_.emplace(bytes, place);
    used_ += bytes;
    return place;
  }

  // Needs no memory: destructors call it.
  void give_back(std::byte* place, std::size_t bytes) noexcept {
    bytes = rounded(bytes);
    WICK_CHECK(::madvise(for_kernels(place), bytes, MADV_REMOVE) == 0, "pages are given back");
    const std::lock_guard lock(mutex_);
    auto at = taken_.find(bytes);
    while (at->second != place)
      ++at;
    free_.insert(taken_.extract(at));
  }

  // Null stays null; any other address must be the device's.
  template <class T>
  T* for_kernels(T* address) const noexcept {
    if (address == nullptr) return nullptr;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto first = reinterpret_cast<std::uintptr_t>(begin_);
    WICK_CHECK(at >= first && at - first < kBytes, "an address of the device");
    return reinterpret_cast<T*>(at + kBytes);
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{1} << 34;
  static constexpr std::size_t kPage = 4096;

  static std::size_t rounded(std::size_t bytes) noexcept {
    return bytes == 0 ? kPage : (bytes + kPage - 1) / kPage * kPage;
  }

  void map(std::byte* place, int access) const {
    void* const got =
        ::mmap(place, kBytes, access, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file_, 0);
    WICK_CHECK(got == place, "the file is mapped");
  }

  int file_;
  std::byte* begin_ = nullptr;
  std::size_t used_ = 0;
  std::multimap<std::size_t, std::byte*> free_ = {}, taken_ = {};  // by bytes
  std::mutex mutex_ = {};
};

}  // namespace wick::test
