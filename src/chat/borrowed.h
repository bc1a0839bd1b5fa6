// A T with memory that one use hands on to the next: vectors and strings grow once in a render, not
// in every call. One thread.
//
//   Borrowed<Arguments> args(spare_arguments_);
//   args->positional.push_back(value);
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/marked_text.h"
#include "chat/builtin.h"

namespace wick::jinja {

inline void clear(Arguments& args) noexcept {
  args.positional.clear();
  args.named.clear();
}

inline void clear(MarkedText& text) noexcept {
  text.text.clear();
  text.trusted.clear();
}

template <class T>
class Borrowed {
 public:
  using Spare = std::vector<T>;

  explicit Borrowed(Spare& spare) : spare_(spare) {
    constexpr std::size_t kMost = 16;
    if (spare_.capacity() == 0) spare_.reserve(kMost);
    if (spare_.empty()) return;
    own_ = std::move(spare_.back());
    spare_.pop_back();
  }

  ~Borrowed() {
    if (spare_.size() == spare_.capacity()) return;  // a destructor must not need memory
    clear(own_);
    spare_.push_back(std::move(own_));
  }

  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  T& operator*() noexcept { return own_; }

  T* operator->() noexcept { return &own_; }

 private:
  Spare& spare_;
  T own_ = {};
};

}  // namespace wick::jinja
