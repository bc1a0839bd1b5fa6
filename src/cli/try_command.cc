#include "cli/try_command.h"

#include "assist/sandbox.h"
#include "base/strings.h"
#include "cli/out.h"

namespace wick {

Result<void> try_command(const AskSetup& setup, const std::string& command,
                         const shell::Verdict& verdict) {
  for (const shell::Effect& effect : verdict.effects) {
    if (effect.kind != shell::EffectKind::kForkBomb) continue;
    return Error{.code = ErrorCode::kUnsupported,
                 .id = "no_sandbox",
                 .message = "a fork bomb is not tried, not even in a sandbox"};
  }
  WICK_TRY(const assist::SandboxReport report,
           assist::run_in_sandbox({.shell = setup.machine.shell,
                                   .shell_path = setup.machine.shell_path,
                                   .dialect = setup.machine.dialect,
                                   .command = command},
                                  setup.machine.cwd));
  print({"tried in a sandbox, exit status ", report.status,
         report.is_late ? Shown(", stopped at the time limit") : Shown(""), "\n"});
  if (!report.output.empty()) {
    print_answer(report.output);
    if (!report.output.ends_with('\n')) print({"\n"});
  }
  using Kind = assist::SandboxChange::Kind;
  for (const assist::SandboxChange& change : report.changes) {
    const Shown mark = change.kind == Kind::kAdded     ? Shown("+ ")
                       : change.kind == Kind::kRemoved ? Shown("- ")
                                                       : Shown("~ ");
    print({mark, printable(change.path, 4096), "\n"});
  }
  if (report.changes.empty()) print({"no file here would change\n"});
  if (report.is_partial) print({"and more\n"});
  return {};
}

}  // namespace wick
