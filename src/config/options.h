// The table of settings: key in config.toml, type, range, default, flag, environment variables and
// help of each. Flags and their help, the checks of config files, `wick config schema` and the
// table in docs/config.md are generated from it. Immutable; any thread.
//
//   const Option* row = find_option("local.threads");
//   WICK_TRY(const OptionValue value, parse_option(*row, "4"));
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "config/limits.h"

namespace wick {

enum class OptionKind : std::uint8_t {
  kBoolean,
  kInteger,
  kReal,
  kBytes,  // 500000000, "500MB", "2GiB"
  kText,
  kChoice,    // one of `choices`, or up to `max` of them with commas between
  kTexts,     // as flag given several times, in the file an array
  kIntegers,  // as flag 1,2,3
  kUnsigned,  // all 64 bits; in the file a text where TOML has no such number
};
// "boolean", "integer", "number", "bytes", "text", "choice", "texts", "integers",
// "unsigned".
std::string_view name(OptionKind kind) noexcept;

// std::monostate: not set, which differs from every value (for example for the seed).
using OptionValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>,
                 std::vector<std::int64_t>, std::uint64_t>;

struct Option {
  std::string key;  // "local.threads": table and name
  OptionKind kind = OptionKind::kText;
  OptionValue fallback = {};
  double min = 0, max = 0;                      // of numbers and bytes; kChoice: words allowed
  std::size_t max_items = kMaxConfigListItems;  // kTexts, kIntegers
  std::size_t max_text = kMaxConfigText;        // kText, kTexts: bytes of each
  std::vector<std::string> choices = {};
  std::string flags = {};                     // "-t,--threads"; empty = there is none
  std::vector<std::string> environment = {};  // our own name first, then those of others
  std::string help = {};
  std::string_view group = {};  // of the help: "Model", "Sampling", "Memory", …
  bool is_common = false;       // shown by --help; the others by --help-all
};

std::span<const Option> options();
const Option* find_option(std::string_view key);  // nullptr if there is none

// "--threads" of "-t,--threads": the name that messages use. Empty if there is no flag.
std::string_view flag_name(const Option& row) noexcept;
// The allowed values: "0 to 1024", "none, ngram or draft", "true or false", "a text".
std::string allowed(const Option& row);

// Parses `text`, the value of a flag or an environment variable. kInvalid: the message has the key,
// the value and the allowed values.
Result<OptionValue> parse_option(const Option& row, std::string_view text);
// The same for the environment variable `name`, one of row.environment. If 0 has another meaning in
// the program that the variable belongs to, it has that meaning here, too.
Result<OptionValue> parse_variable(const Option& row, std::string_view name, std::string_view text);
Option as_variable(const Option& row, std::string_view name);  // with the range of that variable
// Returns `value` if it has the setting's type and range; an integer is allowed for a number.
Result<OptionValue> check_option(const Option& row, OptionValue value);
// As TOML writes it: 4, 0.8, "bf16", ["a", "b"]. "" if it is not set.
double to_number(const OptionValue& value);  // of a whole one and a boolean (0, 1), too
std::string to_toml(const OptionValue& value);

}  // namespace wick
