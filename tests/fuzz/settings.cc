// Any bytes as a config.toml: an error that says where and why, or settings that all are in their
// range and read back as the same from what is shown of them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto entries = wick::parse_toml(text, "fuzz.toml");
  if (!entries) {
    WICK_CHECK(entries.error().message.starts_with("fuzz.toml:"), "an error says where");
    return 0;
  }
  wick::Config config;
  if (const auto set = config.set_file(*entries, "fuzz.toml"); !set) {
    WICK_CHECK(set.error().message.starts_with("fuzz.toml:"), "an error says where");
    return 0;
  }
  std::string shown;
  for (const wick::Option& row : wick::options()) {
    const std::string value = wick::to_toml(config.value(row.key));
    if (!value.empty()) shown += row.key + " = " + value + "\n";
  }
  // What is shown may be longer than what was read, by the defaults and by escapes.
  if (const auto again = wick::parse_toml(shown, "shown"); again) {
    wick::Config same;
    WICK_CHECK(static_cast<bool>(same.set_file(*again, "shown")), "what is shown is valid");
    for (const wick::Option& row : wick::options())
      WICK_CHECK(same.value(row.key) == config.value(row.key), "and says the same");
  }
  return 0;
}
