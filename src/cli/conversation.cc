#include "cli/conversation.h"

#include <fstream>

#include "base/strings.h"
#include "config/switches.h"

namespace wick {

namespace {

constexpr std::size_t kMaxSessionBytes = 64U << 20;

Error file_error(std::string_view path, std::string_view what) {
  return {
      .code = ErrorCode::kIo, .id = "session_file", .message = cat(printable(path), ": ", what)};
}

}  // namespace

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

double to_number(const SettingValue& value) {
  if (const auto* const truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  if (const auto* const whole = std::get_if<std::int64_t>(&value))
    return static_cast<double>(*whole);
  return std::get<double>(value);
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

Result<void> save(const Conversation& conversation, const std::string& path,
                  std::span<const FileId> inputs) {
  WICK_TRY(AtomicFile file, AtomicFile::create(path, inputs));
  WICK_DO(file.add(conversation.to_json() + "\n"));
  return file.commit();
}

Result<void> load(Conversation& conversation, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return file_error(path, "is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) return file_error(path, "cannot be read");
  std::string text(kMaxSessionBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return file_error(path, "cannot be read");
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxSessionBytes)
    return file_error(path, cat("is larger than ", human_bytes(kMaxSessionBytes)));
  Conversation read;
  if (auto parsed = read.read_json(text); !parsed) return file_error(path, parsed.error().message);
  conversation = std::move(read);
  return {};
}

}  // namespace wick
