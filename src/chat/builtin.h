// The tables of built-in filters, tests, methods and globals. A row names the parameters in order,
// so positional and named arguments are passed to the function in the same way.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "chat/memory.h"
#include "chat/run.h"
#include "chat/value.h"

namespace wick::jinja {

// name=value of a call. `key` is the text that a name out of **mapping came from, null for a name
// that the template wrote, which lives as long as the template.
struct NamedArgument {
  std::string_view name = {};
  Value value = {};
  const Text* key = nullptr;
};

struct Arguments {
  std::span<const Value> positional = {};
  std::span<const NamedArgument> named = {};

  // The value of the argument of that name, null if there is none.
  const Value* find(Run& run, std::string_view name) const;
};

// Arguments in the making.
struct ArgumentBuffer {
  explicit ArgumentBuffer(Memory& memory) : positional(memory), named(memory) {}

  Arguments view() const noexcept { return {positional, named}; }

  void clear() noexcept {
    positional.clear();
    named.clear();
  }

  Vector<Value> positional;
  Vector<NamedArgument> named;
};

// The name as a text, with its trust.
Value name_of(Run& run, const NamedArgument& argument);

// `self` is the value before the | or the point. args has one value for each parameter of the row,
// of kind kMissing if it was not given.
using Native = Value (*)(Run& run, const Value& self, std::span<const Value> args);

// For those that take any number of arguments.
using NativeOpen = Value (*)(Run& run, const Value& self, const Arguments& args);

struct Builtin {
  std::string_view name;
  std::string_view params = {};  // "width first blank"
  int n_required = 0;
  Native call = nullptr;
  NativeOpen call_open = nullptr;  // exactly one of the two is set
  bool positional_only = false;    // as most methods of str are
};

// A row whose parameters Python takes by position only.
constexpr Builtin by_place(std::string_view name, std::string_view params, int n_required,
                           Native call) {
  return {name, params, n_required, call, nullptr, true};
}

inline constexpr std::size_t kMaxParams = 6;

// Tables are sorted by name.
const Builtin* find_in(std::span<const Builtin> table, std::string_view name) noexcept;

// All built-in names. The tables of filters are in the files of their code.
extern const std::span<const Builtin> kTests, kGlobals, kStringMethods, kDictMethods, kListMethods,
    kRangeMethods, kNumberMethods, kTextFilters, kListFilters, kOrderFilters, kNumberFilters;

inline constexpr std::array kFilterTables = {&kTextFilters, &kListFilters, &kOrderFilters,
                                             &kNumberFilters};

const Builtin* find_filter(std::string_view name) noexcept;

// `self`.name for a method's row; kMissing for none.
Value method_of(Run& run, const Builtin* method, const Value& self);

// Calls a row's function with its arguments put in order.
Value call_builtin(Run& run, const Builtin& builtin, const Value& self, const Arguments& args);

// Filters of jinja2 that chat templates have no use for and that are not built.
bool is_unbuilt_filter(std::string_view name) noexcept;

// --- What filters and methods share -------------------------------------------------------------

using Args = std::span<const Value>;

// Reading arguments: `otherwise` if it was not given; fails if it is of another kind.
std::int64_t take_int(Run& run, const Value& arg, std::string_view what, std::int64_t otherwise);
bool take_bool(Run& run, const Value& arg);  // anything has a truth value
// An integer or boolean, as Python's sorted() reads `reverse` and splitlines() its argument.
bool take_flag(Run& run, const Value& arg);
const Text* take_text(Run& run, const Value& arg, std::string_view what,
                      const Text* otherwise = nullptr);

// A generator, as in Python: `filter`, which returns a sequence, runs when the first item is read.
Value run_late(Run& run, Native filter, const Value& value, Args args);

template <Native filter>
Value late(Run& run, const Value& value, Args args) {
  return run_late(run, filter, value, args);
}

// "a.b.0" as jinja2 takes it apart for attribute=…: kept as one argument, looked up item by item.
// An attribute that is missing everywhere (null) is the item itself.
class AttributePath {
 public:
  AttributePath() = default;
  // `attribute` is text, a number, none or missing.
  AttributePath(Run& run, const Value& attribute);

  // The attribute of `item`; `otherwise`, if given, for each part that is undefined.
  Value get(Run& run, const Value& item, const Value& otherwise = {}) const;

 private:
  std::span<const Value> parts_;  // in the run's arena
};

// Text in lower case, anything else as it is.
Value ignore_case(Run& run, const Value& value);

}  // namespace wick::jinja
