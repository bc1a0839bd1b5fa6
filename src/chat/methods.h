// Methods of str that methods_case.cc gives to the table in methods_text.cc: letter case and
// questions about characters.
#pragma once

#include "chat/builtin.h"
#include "chat/run.h"

namespace wick::jinja::methods {

Val capitalize(Run& run, const Val& self, std::span<const Val> args);
Val casefold(Run& run, const Val& self, std::span<const Val> args);
Val isalnum(Run& run, const Val& self, std::span<const Val> args);
Val isalpha(Run& run, const Val& self, std::span<const Val> args);
Val isascii(Run& run, const Val& self, std::span<const Val> args);
Val isdecimal(Run& run, const Val& self, std::span<const Val> args);
Val isdigit(Run& run, const Val& self, std::span<const Val> args);
Val isidentifier(Run& run, const Val& self, std::span<const Val> args);
Val islower(Run& run, const Val& self, std::span<const Val> args);
Val isnumeric(Run& run, const Val& self, std::span<const Val> args);
Val isprintable(Run& run, const Val& self, std::span<const Val> args);
Val isspace(Run& run, const Val& self, std::span<const Val> args);
Val istitle(Run& run, const Val& self, std::span<const Val> args);
Val isupper(Run& run, const Val& self, std::span<const Val> args);
Val lower(Run& run, const Val& self, std::span<const Val> args);
Val swapcase(Run& run, const Val& self, std::span<const Val> args);
Val title(Run& run, const Val& self, std::span<const Val> args);
Val upper(Run& run, const Val& self, std::span<const Val> args);

}  // namespace wick::jinja::methods
