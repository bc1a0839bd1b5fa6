// A T with memory that one use hands on to the next: vectors and strings grow once in a render, not
// in every call. T is made of a Spare's `from` (a Run or its Memory) and has clear(). One thread.
//
//   Borrowed<TextBuilder, Run> text(spare_texts_);
//   text->append(part, true);
#pragma once

#include <cstddef>
#include <utility>

#include "chat/memory.h"

namespace wick::jinja {

template <class T, class From>
struct Spares {
  Spares(From& made_from, Memory& memory) : from(made_from), items(memory) {}

  From& from;
  Vector<T> items;
};

template <class T, class From>
class Borrowed {
 public:
  explicit Borrowed(Spares<T, From>& spares) : spares_(spares), own_(take(spares)) {}

  ~Borrowed() {
    if (spares_.items.size() == spares_.items.capacity())
      return;  // a destructor must not need
               // memory
    own_.clear();
    spares_.items.push_back(std::move(own_));
  }

  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  T& operator*() noexcept { return own_; }

  T* operator->() noexcept { return &own_; }

 private:
  static T take(Spares<T, From>& spares) {
    constexpr std::size_t kMost = 16;
    if (spares.items.capacity() == 0) spares.items.reserve(kMost);
    if (spares.items.empty()) return T(spares.from);
    T own = std::move(spares.items.back());
    spares.items.pop_back();
    return own;
  }

  Spares<T, From>& spares_;
  T own_;
};

}  // namespace wick::jinja
