// Methods of str that methods_case.cc gives to the table in methods_text.cc: letter case and
// questions about characters.
#pragma once

#include "chat/builtin.h"
#include "chat/run.h"

namespace wick::jinja::methods {

Value capitalize(Run& run, const Value& self, std::span<const Value> args);
Value casefold(Run& run, const Value& self, std::span<const Value> args);
Value isalnum(Run& run, const Value& self, std::span<const Value> args);
Value isalpha(Run& run, const Value& self, std::span<const Value> args);
Value isascii(Run& run, const Value& self, std::span<const Value> args);
Value isdecimal(Run& run, const Value& self, std::span<const Value> args);
Value isdigit(Run& run, const Value& self, std::span<const Value> args);
Value isidentifier(Run& run, const Value& self, std::span<const Value> args);
Value islower(Run& run, const Value& self, std::span<const Value> args);
Value isnumeric(Run& run, const Value& self, std::span<const Value> args);
Value isprintable(Run& run, const Value& self, std::span<const Value> args);
Value isspace(Run& run, const Value& self, std::span<const Value> args);
Value istitle(Run& run, const Value& self, std::span<const Value> args);
Value isupper(Run& run, const Value& self, std::span<const Value> args);
Value lower(Run& run, const Value& self, std::span<const Value> args);
Value swapcase(Run& run, const Value& self, std::span<const Value> args);
Value title(Run& run, const Value& self, std::span<const Value> args);
Value upper(Run& run, const Value& self, std::span<const Value> args);

}  // namespace wick::jinja::methods
