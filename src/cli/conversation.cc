#include "cli/conversation.h"

#include "base/strings.h"
#include "config/switches.h"

namespace wick {

namespace {

bool is_number(const Switch& row) {
  return row.kind == SwitchKind::kBoolean || row.kind == SwitchKind::kInteger ||
         row.kind == SwitchKind::kReal || row.kind == SwitchKind::kUnsigned;
}

Error unknown_key(std::string_view key) {
  std::string known;
  for (const Switch& row : switches()) {
    constexpr std::string_view kTable = "generation.";
    if (!row.key.starts_with(kTable) || !is_number(row)) continue;
    known += cat(known.empty() ? "" : ", ", row.key.substr(kTable.size()));
  }
  return {.code = ErrorCode::kInvalid,
          .id = "unknown_parameter",
          .message = cat("'", printable(key), "' cannot be set"),
          .hint = cat("settings are ", known)};
}

}  // namespace

Result<void> set_parameter(Generation& generation, std::string_view key, std::string_view text) {
  const Switch* const row = find_switch(cat("generation.", key));
  if (row == nullptr || !is_number(*row)) return unknown_key(key);
  WICK_TRY(const SettingValue checked, parse_setting(*row, text));
  const auto is_key = [&](const auto& pair) { return pair.first == key; };
  std::erase_if(generation.origins, is_key);
  if (key == "max_tokens") {
    generation.max_tokens = static_cast<int>(to_number(checked));
  } else if (key == "seed") {
    generation.seed = std::get<std::uint64_t>(checked);
  } else {
    std::erase_if(generation.more, is_key);
    generation.more.emplace_back(key, to_number(checked));
  }
  return {};
}

}  // namespace wick
