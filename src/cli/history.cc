// wick history: what wick ask proposed, and what became of it.
#include "assist/history.h"

#include <ctime>
#include <memory>

#include "assist/limits.h"
#include "base/strings.h"
#include "cli/flags.h"
#include "cli/out.h"
#include "cli/report.h"

namespace wick {

namespace {

struct HistoryOptions {
  std::string search = {};
  bool is_last = false, is_json = false, wants_undo = false;
};

std::string local_time(std::int64_t seconds) {
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts = {};
  ::localtime_r(&time, &parts);
  char text[32] = {};
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &parts)};
}

JsonValue to_value(const assist::HistoryEntry& entry) {
  Array undo;
  for (const std::string& command : entry.undo)
    undo.emplace_back(command);
  return json_object({{"time", entry.time},
                      {"ask", entry.sentence},
                      {"cmd", entry.command},
                      {"level", entry.level},
                      {"outcome", entry.outcome},
                      {"code", entry.code},
                      {"shell", entry.shell},
                      {"cwd", entry.cwd},
                      {"undo", std::move(undo)}});
}

void show_entry(const assist::HistoryEntry& entry) {
  print({printable(local_time(entry.time)), "  ", padded(printable(entry.level), 9), " ",
         padded(printable(entry.outcome), 9), " ", printable(entry.command, 4096), "  # ",
         printable(entry.sentence, 4096), "\n"});
}

// The commands that take back what ran last, printed; the user runs them.
Result<int> print_undo(const std::vector<assist::HistoryEntry>& entries) {
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (entry->outcome != "ran" && entry->outcome != "trashed") continue;
    for (const std::string& command : entry->undo)
      print({printable(command, assist::kMaxUndo), "\n"});
    if (!entry->undo.empty()) return kExitOk;
    note({"no undo: ", printable(entry->command, 4096), "\n"});
    return kExitDeclined;
  }
  note({"nothing ran\n"});
  return kExitDeclined;
}

Result<int> run_history(const HistoryOptions& o) {
  WICK_TRY(std::vector<assist::HistoryEntry> entries, assist::read_history(assist::history_path()));
  if (!o.search.empty()) {
    std::erase_if(entries, [&](const assist::HistoryEntry& entry) {
      return entry.sentence.find(o.search) == std::string::npos &&
             entry.command.find(o.search) == std::string::npos;
    });
  }
  if (o.wants_undo) return print_undo(entries);
  if (o.is_last && entries.size() > 1) entries.erase(entries.begin(), entries.end() - 1);
  for (const assist::HistoryEntry& entry : entries) {
    if (o.is_json) {
      print_json(to_value(entry));
    } else {
      show_entry(entry);
    }
  }
  return kExitOk;
}

}  // namespace

Action setup_history(Flags flags) {
  const auto o = std::make_shared<HistoryOptions>();
  flags.toggle("--last", o->is_last, "print only the newest entry");
  flags.text("--search", o->search, "print entries whose sentence or command contains this text");
  flags.toggle("--undo", o->wants_undo, "print the commands that undo the last command");
  flags.toggle("--json", o->is_json, "print one JSON object per line");
  return [o] { return run_history(*o); };
}

}  // namespace wick
