// Memory, limits and error of one render, used by all parts of the interpreter. A failure ends the
// render: Run::fail throws Failed; ChatTemplate::render catches it and the bad_alloc of a Memory.
// Each loop over bytes, characters or items counts its work, by charge() or in_slices(), at the
// rates below. One thread, for one render.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "base/stack_space.h"
#include "chat/limits.h"
#include "chat/memory.h"
#include "chat/text.h"
#include "chat/value.h"

namespace wick::jinja {

class TextBuilder;

// Units of work for 64 bytes of text. A unit takes 2 to 12 ns at 2.5 GHz.
enum class Rate : std::uint8_t {
  kCopy = 1,     // memcpy, memcmp, memchr
  kScan = 8,     // a loop over bytes
  kDecode = 24,  // a loop over characters
  kTables = 160  // the same, with look-ups in the tables of Unicode
};

// Thrown by a render that failed; Run::error() says why.
struct Failed {};

class Run {
 public:
  Run(const RenderLimits& limits, std::stop_token stop, std::int64_t now_seconds)
      : limits_(limits),
        stop_(std::move(stop)),
        now_seconds_(now_seconds),
        look_at_(std::min(limits.work, kWorkBetweenLooks)),
        memory_(limits.bytes),
        arena_(memory_) {}

  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // `what` is cut and made printable.
  [[noreturn]] void fail(std::string_view what, std::string_view id = "template_failed");

  [[noreturn]] void fail_limit(std::string_view what) { fail(what, "template_limit"); }

  [[noreturn]] void raise(std::string_view message);     // by the template itself; cut if long
  [[noreturn]] void fail_undefined(const Value& value);  // it was used
  // "a value of its type cannot be `doing`".
  [[noreturn]] void fail_type(std::string_view doing, const Value& value);

  std::optional<Error>& error() noexcept { return error_; }

  // Counts work; fails beyond the limit, and if the render was cancelled.
  void charge(std::size_t work) {
    work_ += static_cast<std::int64_t>(work);
    if (work_ > look_at_) look();
  }

  void charge(std::size_t bytes, Rate rate) { charge(bytes * static_cast<std::size_t>(rate) / 64); }

  // Sets the error of a Memory that threw at its limit.
  void note_full_memory();

  // A part of the input, which allows as much more work and memory.
  void admit(std::size_t text_bytes);

  Memory& memory() noexcept { return memory_; }

  RenderUsage usage() const noexcept { return {work_, memory_.peak()}; }

  // Fails if `n` times `size` bytes cannot be had.
  void need_room(std::size_t n, std::size_t size);

  // Room in the arena; never null.
  template <class T>
  T* array(std::size_t n) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(arena_.allocate(std::max<std::size_t>(n * sizeof(T), 1), alignof(T)));
  }

  template <class T, class... Parts>
  T* make(Parts&&... parts) {
    return ::new (array<std::remove_const_t<T>>(1)) T{std::forward<Parts>(parts)...};
  }

  // A copy in the arena.
  template <class T>
  std::span<const T> keep(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    T* const room = array<T>(items.size());
    charge(items.size_bytes(), Rate::kCopy);
    std::uninitialized_copy(items.begin(), items.end(), room);
    return {room, items.size()};
  }

  // Strings. What is passed as string_view must outlive the render; copy() makes it so.
  std::string_view copy(std::string_view bytes);
  Value text(std::string_view bytes, Trust trust, bool is_markup = false);

  Value text_copy(std::string_view bytes, bool is_trusted) {
    return text(copy(bytes), is_trusted ? Trust::kAll : Trust::kNone);
  }

  Value text(TextBuilder&& built, bool is_markup = false);
  Value cut(const Text& text, std::size_t begin, std::size_t end);  // by bytes
  // a + b. A text that grows piece by piece is not copied each time: see GrowingTexts.
  Value joined(const Text& a, const Text& b, bool is_markup);
  std::size_t n_chars(const Value& string);
  std::size_t count_chars(std::string_view text);  // both charge
  std::size_t byte_of(std::string_view text, std::size_t index);
  std::size_t byte_of(const Value& string, std::size_t index);  // fast for ASCII

  Value list(std::span<const Value> items, Kind kind = Kind::kList);

  [[noreturn]] void fail_too_many_items();  // a list would be longer than kMaxItems

  Value tuple(std::initializer_list<Value> items) {
    return list({items.begin(), items.size()}, Kind::kTuple);
  }

  Value undefined(std::string_view why);  // `why` is copied

  Value undefined(const Undefined& what) {  // its names live as long as the run
    return Value::of(make<const Undefined>(what));
  }

  Value no_attribute(const Value& object, const Value& name);
  Value dict(std::span<const Entry> entries);  // of equal keys the last value, at the first's place
  Value dict_of(std::span<const Entry> entries);  // keys are text, all different; not copied
  // Sets dict[key].
  void insert(GrowingDict& to, const Value& key, const Value& value);

  Value view(const Dict* dict, ViewKind kind) { return Value::of(make<const View>(dict, kind)); }

  Value range(const Range& range) { return Value::of(make<const Range>(range)); }

  // Fails if `value` cannot be iterated over.
  Iterator& iterate(const Value& value);
  // All items of it.
  Vector<Value> collect(const Value& value);

  // len(), −1 where Python has none.
  std::int64_t length(const Value& value);

  std::int64_t now_seconds() const noexcept { return now_seconds_; }

  // Before another expression or statement begins.
  void check_depth() {
    constexpr int kLevelsBetweenLooks = 8;
    const bool looks = depth % kLevelsBetweenLooks == 0;
    if (depth < kMaxCallDepth && (!looks || has_stack(kLeastStack))) return;
    fail_limit(depth < kMaxCallDepth ? "the template nests deeper than this thread's stack allows"
                                     : "the template calls itself too deeply");
  }

  int depth = 0;       // expressions and statements in progress
  int data_depth = 0;  // containers in containers that are being walked

 private:
  static constexpr std::int64_t kWorkBetweenLooks = 64 << 10;  // half a millisecond

  void look();
  void add_index(Dict& dict, std::size_t n_entries);
  void note(Dict& dict, std::size_t hash);
  void note_all(Dict& dict);
  void grow(GrowingDict& to);

  RenderLimits limits_;
  std::stop_token stop_;
  std::int64_t now_seconds_;
  std::int64_t work_ = 0;
  std::int64_t look_at_;  // charge() looks whether to go on when work_ is beyond
  std::optional<Error> error_;
  Memory memory_;
  Arena arena_;
  GrowingTexts growing_;
  const Undefined* missing_[16] = {};  // those of no_attribute(), by name
};

// One level of a walk into nested containers, while it lives. Fails where it is too deep.
class DataLevel {
 public:
  explicit DataLevel(Run& run) : run_(run) {
    if (++run_.data_depth > kMaxDataDepth || !has_stack(kLeastStack / 2)) fail();
    run_.charge(1);
  }

  ~DataLevel() { --run_.data_depth; }

  DataLevel(const DataLevel&) = delete;
  DataLevel& operator=(const DataLevel&) = delete;

 private:
  [[noreturn]] void fail();

  Run& run_;
};

// Whether a slice of a text may end before this byte: characters do not go on in it.
inline bool starts_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

// Calls work(begin, end) for slices of `text` that end between characters, and charges each slice
// first, so that the work of a long text is counted and can be cancelled. Stops if work() returns
// false.
template <class Work>
void in_slices(Run& run, std::string_view text, Rate rate, const Work& work) {
  constexpr std::size_t kSlice = 4096;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(begin + kSlice, text.size());
    // A character has at most three more bytes; what goes on longer is none.
    for (int i = 0; i < 3 && end < text.size() && !starts_character(text[end]); ++i)
      ++end;
    run.charge(1);
    run.charge(end - begin, rate);
    if constexpr (std::is_void_v<decltype(work(begin, end))>) {
      work(begin, end);
    } else {
      if (!work(begin, end)) return;
    }
    begin = end;
  }
}

}  // namespace wick::jinja
