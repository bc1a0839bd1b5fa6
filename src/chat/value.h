// A value of a running template: 16 bytes of plain data, which may point into the render's arena.
// Strings, lists, tuples and dicts are immutable (as in jinja2's sandbox), so slices and copies
// share memory; namespaces and iterators can change.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "chat/text.h"

namespace wick::jinja {

class Run;
struct Builtin;
struct Stmt;
struct Value;

enum class Kind : std::uint8_t {
  kMissing,  // no value: an argument that was not given, a slot not yet written
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,
  kView,  // d.items(), d.keys(), d.values()
  kRange,
  kIterator,
  kNamespace,
  kCallable,
  kLoop,
  kCycler,
  kJoiner,
};

// What using it says is put together only when that happens: most are only asked for.
struct Undefined {
  std::string_view why = {};    // or, where this is empty:
  std::string_view name = {};   // of what there is none
  std::string_view owner = {};  // the type of value that was asked for it; empty: a variable
  bool is_element = false;      // asked for by something that is no text
};

struct List {  // and tuples
  const Value* items = nullptr;
  std::size_t size = 0;
  bool is_group = false;  // groupby's (grouper, list) pairs have these names as attributes, too

  std::span<const Value> span() const noexcept;

  const Value* begin() const noexcept { return items; }

  const Value* end() const noexcept;
};

struct Entry;

struct Dict {  // insertion-ordered
  const Entry* entries = nullptr;
  std::size_t size = 0;
  std::uint32_t* index = nullptr;  // open addressing, 0 = free, else position + 1; may be null
  std::size_t mask = 0;            // slots − 1

  const Entry* begin() const noexcept { return entries; }

  const Entry* end() const noexcept;
};

// A dict that still grows: a namespace, or what |unique has seen. Its arrays are replaced by larger
// ones.
struct GrowingDict {
  Dict dict = {};
  Entry* entries = nullptr;  // those of `dict`
  std::size_t room = 0;
};

enum class ViewKind : std::uint8_t { kItems, kKeys, kValues };

struct View {
  const Dict* dict = nullptr;
  ViewKind kind = ViewKind::kItems;
};

struct Range {
  std::int64_t start = 0, stop = 0, step = 1, size = 0;
  bool tainted = false;  // as Value's

  // Item i. In bits, because step · i alone may leave the range that the sum is in.
  std::int64_t at(std::int64_t i) const noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(start) +
                                     static_cast<std::uint64_t>(step) *
                                         static_cast<std::uint64_t>(i));
  }
};

// One pass over something. next() is false at the end.
class Iterator {
 public:
  virtual bool next(Run& run, Value& out) = 0;

 protected:
  Iterator() = default;
  ~Iterator() = default;
};

struct Frame;
struct Callable;
struct Loop;
struct Cycler;
struct Joiner;

struct Value {
  Kind kind = Kind::kMissing;
  bool tainted = false;  // a number or truth value that came out of the context

  union {
    bool truth;
    std::int64_t integer = 0;
    double real;
    const Undefined* undefined;
    const Text* text;
    const List* list;
    const Dict* dict;
    const View* view;
    const Range* range;
    Iterator* iterator;
    GrowingDict* space;  // kNamespace
    const Callable* callable;
    Loop* loop;
    Cycler* cycler;
    Joiner* joiner;
  };

  bool is_missing() const noexcept { return kind == Kind::kMissing; }

  bool is_undefined() const noexcept { return kind == Kind::kUndefined; }

  bool is_none() const noexcept { return kind == Kind::kNone; }

  bool is_string() const noexcept { return kind == Kind::kString; }

  bool is_sequence() const noexcept { return kind == Kind::kList || kind == Kind::kTuple; }

  bool is_integral() const noexcept { return kind == Kind::kInt || kind == Kind::kBool; }

  bool is_number() const noexcept { return is_integral() || kind == Kind::kFloat; }

  std::int64_t as_int() const noexcept { return kind == Kind::kBool ? truth : integer; }

  double as_real() const noexcept {
    return kind == Kind::kFloat ? real : static_cast<double>(as_int());
  }

  std::string_view bytes() const noexcept { return text->bytes; }

  static Value none() noexcept { return of(Kind::kNone); }

  static Value of(Kind kind) noexcept { return {.kind = kind, .integer = 0}; }

  static Value of(bool value) noexcept { return {.kind = Kind::kBool, .truth = value}; }

  static Value of(std::int64_t value) noexcept { return {.kind = Kind::kInt, .integer = value}; }

  static Value of(std::size_t value) noexcept { return of(static_cast<std::int64_t>(value)); }

  static Value of(double value) noexcept { return {.kind = Kind::kFloat, .real = value}; }

  static Value of(const Undefined* value) noexcept {
    return {.kind = Kind::kUndefined, .undefined = value};
  }

  static Value of(const Text* value) noexcept { return {.kind = Kind::kString, .text = value}; }

  static Value of(const List* value, Kind kind) noexcept { return {.kind = kind, .list = value}; }

  static Value of(const Dict* value) noexcept { return {.kind = Kind::kDict, .dict = value}; }

  static Value of(const View* value) noexcept { return {.kind = Kind::kView, .view = value}; }

  static Value of(const Range* value) noexcept { return {.kind = Kind::kRange, .range = value}; }

  static Value of(Iterator* value) noexcept { return {.kind = Kind::kIterator, .iterator = value}; }

  static Value of(GrowingDict* value) noexcept {
    return {.kind = Kind::kNamespace, .space = value};
  }

  static Value of(const Callable* value) noexcept {
    return {.kind = Kind::kCallable, .callable = value};
  }

  static Value of(Loop* value) noexcept { return {.kind = Kind::kLoop, .loop = value}; }

  static Value of(Cycler* value) noexcept { return {.kind = Kind::kCycler, .cycler = value}; }

  static Value of(Joiner* value) noexcept { return {.kind = Kind::kJoiner, .joiner = value}; }

  Value with_taint(bool taint) const noexcept {
    Value out = *this;
    out.tainted = taint;
    return out;
  }
};

static_assert(sizeof(Value) == 16);

struct Entry {
  Value key, value;
};

// Code's variables; `parent` is the frame of the function around it.
struct Frame {
  Frame* parent = nullptr;
  Value* slots = nullptr;
};

struct Callable {
  const Builtin* builtin = nullptr;  // or
  const Stmt* macro = nullptr;       // a macro or the body of a call block, with
  Frame* frame = nullptr;            // the frame it was made in
  Value self = {};                   // of a method
};

// Whether printing a text, number or boolean prints data of the context.
inline bool is_tainted(const Value& value) noexcept {
  return value.is_string() ? value.text->trust != Trust::kAll : value.tainted;
}

inline std::span<const Value> List::span() const noexcept {
  return {items, size};
}

inline const Value* List::end() const noexcept {
  return items + size;
}

inline const Entry* Dict::end() const noexcept {
  return entries + size;
}

}  // namespace wick::jinja
