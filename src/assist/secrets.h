// Where secrets stand in a command, as the shell cuts it into words. Internal to masked().
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace wick::assist {

using ByteRange = std::pair<std::size_t, std::size_t>;  // [first, second)

// Whether a variable, option, header or field of this name holds a secret: DB_PASS, --token.
bool is_secret_name(std::string_view name);

// The secrets of `text`, in no order; they may overlap. None where it is no command of a shell.
std::vector<ByteRange> secrets_of_command(std::string_view text);

}  // namespace wick::assist
