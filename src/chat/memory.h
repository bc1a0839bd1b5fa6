// The memory of one render. It counts every buffer and object, so the limit cannot be missed: a
// Vector or String needs a Memory, and an allocation beyond the limit throws std::bad_alloc, as
// operator new does; ChatTemplate::render converts that to an error. Small bounded text (the digits
// of a number, a message) may be a std::string. One thread; must outlive its allocations.
//
//   Vector<Value> items(run.memory());
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace wick::jinja {

class Memory {
 public:
  explicit Memory(std::size_t limit) noexcept : limit_(limit) {}

  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* allocate(std::size_t bytes);  // throws std::bad_alloc beyond the limit, is_over() then
  void release(void* at, std::size_t bytes) noexcept;

  // Whether `bytes` more are within the limit.
  bool has_room(std::size_t bytes) const noexcept { return bytes <= limit_ - used_; }

  void allow(std::size_t more) noexcept { limit_ += more; }

  bool is_over() const noexcept { return is_over_; }

  std::size_t limit() const noexcept { return limit_; }

  std::size_t peak() const noexcept { return peak_; }

 private:
  std::size_t limit_;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
  bool is_over_ = false;
};

// The standard library's allocator over a Memory. It has no default: whoever forgets the Memory
// does not compile.
template <class T>
class Metered {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  Metered(Memory& memory) noexcept : memory_(&memory) {}  // implicit

  template <class Other>
  Metered(const Metered<Other>& other) noexcept  // implicit
      : memory_(&other.memory()) {}

  T* allocate(std::size_t n) { return static_cast<T*>(memory_->allocate(n * sizeof(T))); }

  void deallocate(T* at, std::size_t n) noexcept { memory_->release(at, n * sizeof(T)); }

  Memory& memory() const noexcept { return *memory_; }

  template <class Other>
  bool operator==(const Metered<Other>& other) const noexcept {
    return memory_ == &other.memory();
  }

 private:
  Memory* memory_;
};

template <class T>
using Vector = std::vector<T, Metered<T>>;

using String = std::basic_string<char, std::char_traits<char>, Metered<char>>;

// Room for objects that live as long as the render and need no destructor. Blocks come from the
// Memory and go back together.
class Arena {
 public:
  explicit Arena(Memory& memory) noexcept : memory_(memory) {}

  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // `alignment` is at most that of std::max_align_t.
  void* allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t gap = -reinterpret_cast<std::size_t>(free_) & (alignment - 1);
    if (gap + bytes > n_free_) return allocate_block(bytes);
    char* const room = free_ + gap;
    free_ += gap + bytes;
    n_free_ -= gap + bytes;
    return room;
  }

 private:
  struct alignas(std::max_align_t) Block {
    Block* before;
    std::size_t bytes;  // with this header
  };

  void* allocate_block(std::size_t bytes);
  Block* new_block(std::size_t bytes);

  Memory& memory_;
  Block* blocks_ = nullptr;
  char* free_ = nullptr;  // the rest of the last block
  std::size_t n_free_ = 0;
  std::size_t next_bytes_ = std::size_t{16} << 10;  // of the next block, with its header
};

// A T whose memory is reused by the next Borrowed: vectors and strings grow once per render, not in
// every call. T is constructed from a Spare's `from` (a Run or its Memory) and has clear(). One
// thread.
//
//   Borrowed<TextBuilder, Run> text(spare_texts_);
//   text->append(part, true);
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
    // A destructor must not need memory.
    if (spares_.items.size() == spares_.items.capacity()) return;
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
