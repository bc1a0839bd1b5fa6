// One render's memory, limits and error: what every part of the interpreter works with. Functions
// that can fail return Val::failure() (or false, or null) after Run::fail; their callers return at
// once. One thread, lives for one render.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "chat/limits.h"
#include "chat/val.h"

namespace wick::jinja {

struct Namespace {
  std::vector<std::pair<std::string_view, Val>> items;

  const Val* find(std::string_view name) const noexcept;
  void set(std::string_view name, const Val& value);
};

class Run {
 public:
  struct Limits {
    std::int64_t steps = 0;
    std::size_t bytes = 0;
  };

  Run(Limits limits, std::int64_t now_seconds);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // The first failure stays; the answer is always Val::failure().
  Val fail(std::string_view what, std::string_view id = "template_failed");

  bool failed() const noexcept { return error_.has_value(); }

  std::optional<Error>& error() noexcept { return error_; }

  Val fail_undefined(const Val& value);                     // it was used
  Val fail_type(std::string_view doing, const Val& value);  // "doing" cannot be done to it

  // Counts work; false and failed() beyond the limit.
  bool spend(std::size_t steps) {
    steps_ += static_cast<std::int64_t>(std::min<std::size_t>(steps, INT32_MAX));
    return steps_ <= limits_.steps || fail_steps();
  }

  bool spend_bytes(std::size_t bytes) { return spend(bytes / 64); }  // bytes looked at or moved

  // Room in the arena, null and failed() beyond the limit.
  template <class T>
  T* array(std::size_t n) {
    static_assert(std::is_trivially_destructible_v<T>);
    void* room = allocate(n * sizeof(T), alignof(T));
    return static_cast<T*>(room);
  }

  template <class T, class... Parts>
  T* make(Parts&&... parts) {
    static_assert(std::is_trivially_destructible_v<T>);
    void* room = allocate(sizeof(T), alignof(T));
    return room == nullptr ? nullptr : ::new (room) T{std::forward<Parts>(parts)...};
  }

  // A T that is destroyed with the run; for the few things that cannot live in the arena.
  template <class T>
  T& keep() {
    spend(8);
    auto made = std::make_shared<T>();
    T& out = *made;
    kept_.push_back(std::move(made));
    return out;
  }

  // Strings. What is passed as string_view must outlive the render; copy() makes it so.
  std::string_view copy(std::string_view bytes);
  Val text(std::string_view bytes, Trust trust, bool is_markup = false);

  Val text_copy(std::string_view bytes, bool is_trusted) {
    return text(copy(bytes), is_trusted ? Trust::kAll : Trust::kNone);
  }

  Val text(MarkedText&& built, bool is_markup = false);
  Val cut(const Text& text, std::size_t begin, std::size_t end);  // by bytes
  std::size_t n_chars(const Val& string);

  Val list(std::span<const Val> items, Kind kind = Kind::kList);

  Val too_many_items();  // fails: a list would be longer than kMaxItems

  Val tuple(std::initializer_list<Val> items) {
    return list({items.begin(), items.size()}, Kind::kTuple);
  }

  Val undefined(std::string_view why);        // `why` is copied
  Val undefined(const Undefined& what);       // its names live as long as the run
  Val undefined_name(std::string_view name);  // "'name' is undefined"
  Val no_attribute(const Val& object, const Val& name);
  Val dict(std::span<const Entry> entries);  // of equal keys the last value, at the first's place
  Val dict_of(std::span<const Entry> entries);  // keys are text, all different; not copied
  Val view(const Dict* dict, ViewKind kind);
  Val range(const Range& range);
  Val name_space();

  // Iteration: null and failed() if `value` cannot be iterated over.
  Iterator* iterate(const Val& value);
  // All items of it; for lists and tuples without a copy. False if failed.
  bool collect(const Val& value, std::vector<Val>& out);

  // len(), −1 where Python has none.
  std::int64_t length(const Val& value);

  std::int64_t now_seconds() const noexcept { return now_seconds_; }

  int depth = 0;       // expressions and statements in progress
  int data_depth = 0;  // containers in containers that are being walked

 private:
  // Nearly always from the block at hand; a new one, or a failure, is the exception.
  void* allocate(std::size_t bytes, std::size_t alignment) {
    bytes = std::max<std::size_t>(bytes, 1);
    const std::size_t gap = (alignment - reinterpret_cast<std::uintptr_t>(free_)) % alignment;
    if (bytes > limits_.bytes - bytes_ || gap + bytes > n_free_ || failed()) {
      return allocate_more(bytes);
    }
    char* const room = free_ + gap;
    bytes_ += bytes;
    free_ += gap + bytes;
    n_free_ -= gap + bytes;
    return room;
  }

  void* allocate_more(std::size_t bytes);
  bool fail_steps();
  bool add_index(Dict& dict);

  Limits limits_;
  std::int64_t now_seconds_;
  std::int64_t steps_ = 0;
  std::size_t bytes_ = 0;
  std::optional<Error> error_;
  std::pmr::monotonic_buffer_resource arena_;
  char* free_ = nullptr;  // the rest of its last block
  std::size_t n_free_ = 0;
  std::vector<std::shared_ptr<void>> kept_;
};

// One level of a walk into nested containers, while it lives.
class DataLevel {
 public:
  explicit DataLevel(Run& run) : run_(run) { ++run_.data_depth; }

  ~DataLevel() { --run_.data_depth; }

  DataLevel(const DataLevel&) = delete;
  DataLevel& operator=(const DataLevel&) = delete;

  // The render fails, then.
  bool too_deep() { return run_.data_depth > kMaxDataDepth ? fail() : !run_.spend(1); }

 private:
  bool fail();

  Run& run_;
};

}  // namespace wick::jinja
