// wick check and wick explain: effects and risk of a shell command. No model, network or
// configuration: the module shell/ parses and interprets the text, nothing runs.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "assist/confirm.h"
#include "base/strings.h"
#include "cli/flags.h"
#include "cli/line_reader.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/report.h"
#include "cli/verdict_text.h"
#include "shell/limits.h"
#include "shell/verdict.h"

namespace wick {

namespace {

// Of a line of a batch, and of a command on standard input: escapes of JSON are up to six bytes for
// one, and a command of more than shell::kMaxSource still gets its verdict.
constexpr std::size_t kMaxInput = 16 * shell::kMaxSource;

struct CheckFlags {
  std::string command = {};
  std::string shell = "bash", mode = "script";
  bool is_batch = false, is_json = false;
};

int exit_code(shell::Level level) noexcept {
  return level == shell::Level::kSafe ? 0 : 9 + static_cast<int>(level);  // 10, 11, 12
}

std::string directory() {
  std::error_code failed;
  const auto path = std::filesystem::current_path(failed);
  return failed ? "" : path.string();
}

Error bad(std::string message, std::string hint) {
  return {.code = ErrorCode::kInvalid,
          .id = "bad_command",
          .message = std::move(message),
          .hint = std::move(hint)};
}

Result<shell::Verdict> judge(const std::string& command, const std::string& dialect,
                             const std::string& mode, const shell::Profile& profile) {
  const auto known = shell::dialect_named(dialect);
  if (!known)
    return bad(cat("the shell '", printable(dialect), "' is not known"),
               "bash, sh, zsh or fish");
  if (mode != "script" && mode != "interactive")
    return bad(cat("the mode '", printable(mode), "' is not known"), "script or interactive");
  return shell::judge(command, *known,
                      mode == "script" ? shell::Mode::kScript : shell::Mode::kInteractive, profile);
}

// A text member of `object`; `fallback` where it is absent.
Result<std::string> text_of(const Object& object, std::string_view key, std::string fallback) {
  const JsonValue* value = object.find(key);
  if (value == nullptr) return fallback;
  if (value->string() == nullptr) return bad(cat("\"", key, "\" is no string"), "");
  return *value->string();
}

Result<shell::Verdict> judge_line(const std::string& line) {
  auto parsed = parse_json(line, DuplicateKeys::kError);
  if (!parsed) return bad(parsed.error().message, "");
  const Object* object = parsed->object();
  if (object == nullptr || object->find("command") == nullptr)
    return bad("an object with \"command\" is wanted",
               R"({"command":"ls","shell":"bash","cwd":"/","home":"/root","mode":"script"})");
  static constexpr std::string_view kKeys[] = {"command", "shell", "cwd", "home", "mode"};
  for (const auto& [key, value] : *object) {
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys))
      return bad(cat("\"", printable(key), "\" is not known"), "command, shell, cwd, home, mode");
  }
  WICK_TRY(const std::string command, text_of(*object, "command", ""));
  WICK_TRY(const std::string dialect, text_of(*object, "shell", "bash"));
  WICK_TRY(const std::string mode, text_of(*object, "mode", "script"));
  shell::Profile profile;
  const bool has_cwd = object->find("cwd") != nullptr;
  WICK_TRY(profile.cwd, text_of(*object, "cwd", has_cwd ? "" : directory()));
  const char* home = std::getenv("HOME");
  WICK_TRY(profile.home, text_of(*object, "home", has_cwd || home == nullptr ? "" : home));
  if (!has_cwd) profile.is_root = ::geteuid() == 0;
  return judge(command, dialect, mode, profile);
}

Result<int> run_batch(const CheckFlags& options) {
  if (!options.is_json) return bad("--batch writes JSON alone", "wick check --batch --json");
  if (!options.command.empty())
    return bad("--batch reads objects from standard input, one a line", "");
  bool is_bad = false;
  LineReader lines(kMaxInput);
  std::string line;
  while (true) {
    WICK_TRY(const LineReader::Got got, lines.next(line));
    if (got == LineReader::Got::kEnd) break;
    auto verdict = got == LineReader::Got::kTooLong ? lines.too_long() : judge_line(line);
    if (verdict) {
      print_json(to_object(*verdict));
      continue;
    }
    is_bad = true;  // the line still gets its answer, at a level that passes nothing
    Object out = json_object({{"level", "high"}, {"effects", Array{}}, {"suggestion", ""}});
    out["error"] = json_object({{"message", to_string(verdict.error())}});
    print_json(out);
  }
  return is_bad ? kExitUsage : kExitOk;
}

void print_verdict(const std::string& command, const shell::Verdict& verdict, bool is_long) {
  print({printable(shell::name(verdict.level))});
  const shell::Effect* const worst = assist::worst_effect(verdict);
  if (worst != nullptr) print({"  ", printable(worst->why)});
  if (verdict.error)
    print({" (line ", verdict.error->line, ", column ", verdict.error->column, ")"});
  print({"\n"});
  if (verdict.effects.empty()) return;
  const std::size_t end = command.find_last_not_of('\n') + 1;
  if (!has_lines(command))
    print({"  ", printable(command.substr(0, end), shell::kMaxSource), "\n"});
  print_effects(command, verdict, is_long);
}

Result<int> run_one(const CheckFlags& options, bool is_long) {
  std::string command = options.command;
  if (command == "-") {
    WICK_TRY(command, read_text("-", kMaxInput));
  }
  if (command.empty()) {
    return bad("no command is given",
               cat("wick ", is_long ? "explain" : "check", " 'rm -rf build'"));
  }
  const char* home = std::getenv("HOME");
  const shell::Profile profile{
      .cwd = directory(), .home = home == nullptr ? "" : home, .is_root = ::geteuid() == 0};
  WICK_TRY(const shell::Verdict verdict, judge(command, options.shell, options.mode, profile));
  if (options.is_json) {
    print_json(to_object(verdict));
  } else {
    print_verdict(command, verdict, is_long);
  }
  return is_long ? kExitOk : exit_code(verdict.level);
}

Action setup(Flags flags, bool is_long) {
  auto options = std::make_shared<CheckFlags>();
  // One argument, judged byte for byte: words joined again would have lost their quotes.
  flags.text("command", options->command,
             "the command, as one argument in quotes; - = standard input");
  flags.setting("--shell", "NAME", false, "bash (default), sh, zsh, fish",
                [options](const std::string& name) { options->shell = name; });
  flags.setting("--mode", "MODE", false, "script (default), or interactive (typed at a prompt)",
                [options](const std::string& mode) { options->mode = mode; });
  flags.toggle("--json", options->is_json, "print the verdict as JSON");
  if (!is_long)
    flags.toggle("--batch", options->is_batch,
                 "read JSON objects from standard input, one per line; print one verdict per line");
  return [options, is_long]() -> Result<int> {
    return options->is_batch ? run_batch(*options) : run_one(*options, is_long);
  };
}

}  // namespace

Action setup_check(Flags flags) {
  return setup(flags, false);
}

Action setup_explain(Flags flags) {
  return setup(flags, true);
}

}  // namespace wick
