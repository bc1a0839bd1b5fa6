// The tables of what the language brings along: filters, tests, methods, globals. A row names the
// parameters in order, so that positional and named arguments reach the function alike.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "chat/memory.h"
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

// `self` is what stands before the | or the point. args has one value for each parameter of the
// row, kind kMissing where none was given. A failure comes back as Run::fail's value.
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

inline constexpr std::size_t kMaxParams = 6;

// Tables are sorted by name.
const Builtin* find_in(std::span<const Builtin> table, std::string_view name) noexcept;

// All rows that a template can reach by name, as the tests walk them.
std::span<const Builtin> all_filters() noexcept;
std::span<const Builtin> all_tests() noexcept;
std::span<const Builtin> all_globals() noexcept;
std::span<const Builtin> all_string_methods() noexcept;
std::span<const Builtin> all_dict_methods() noexcept;
std::span<const Builtin> all_list_methods() noexcept;
std::span<const Builtin> all_range_methods() noexcept;
std::span<const Builtin> all_number_methods() noexcept;

const Builtin* find_filter(std::string_view name) noexcept;
const Builtin* find_test(std::string_view name) noexcept;
const Builtin* find_global(std::string_view name) noexcept;
const Builtin* find_string_method(std::string_view name) noexcept;
const Builtin* find_dict_method(std::string_view name) noexcept;
const Builtin* find_list_method(std::string_view name) noexcept;
const Builtin* find_range_method(std::string_view name) noexcept;
const Builtin* find_number_method(std::string_view name) noexcept;

// Calls a row's function with its arguments put in order.
Value call_builtin(Run& run, const Builtin& builtin, const Value& self, const Arguments& args);

// Filters of jinja2 that chat templates have no use for and that are not built.
bool is_unbuilt_filter(std::string_view name) noexcept;

}  // namespace wick::jinja
