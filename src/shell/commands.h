// Commands that a row cannot describe: builtins that change the shell, tools with a language of
// their own (find, sed, awk, tar), wrappers, and commands whose output is known exactly. Each is
// one function; the table is in commands.cc.
#pragma once

#include <string_view>
#include <vector>

#include "shell/evaluator.h"

namespace wick::shell {

// The functions see the evaluator's inside.
struct Commands {
  using Argv = std::vector<Arg>;

#define WICK_SHELL_COMMAND(name) \
  static Stream name(Evaluator& e, Argv& argv, State& s, const Stream& in)
  // builtins (eval_builtins.cc)
  WICK_SHELL_COMMAND(alias);
  WICK_SHELL_COMMAND(cd);
  WICK_SHELL_COMMAND(declare);
  WICK_SHELL_COMMAND(eval);
  WICK_SHELL_COMMAND(let);
  WICK_SHELL_COMMAND(nothing);
  WICK_SHELL_COMMAND(read);
  WICK_SHELL_COMMAND(set);
  WICK_SHELL_COMMAND(shift);
  WICK_SHELL_COMMAND(source);
  WICK_SHELL_COMMAND(test);
  WICK_SHELL_COMMAND(trap);
  WICK_SHELL_COMMAND(unset);
  WICK_SHELL_COMMAND(command);
  WICK_SHELL_COMMAND(zsh_options);  // eval_zsh.cc
  WICK_SHELL_COMMAND(fish_set);     // eval_fish.cc
  WICK_SHELL_COMMAND(fish_alias);
  WICK_SHELL_COMMAND(fish_source);
  WICK_SHELL_COMMAND(fish_string);
  WICK_SHELL_COMMAND(fish_read);
  // text (eval_text.cc)
  WICK_SHELL_COMMAND(base64);
  WICK_SHELL_COMMAND(cat);
  WICK_SHELL_COMMAND(echo);
  WICK_SHELL_COMMAND(print_format);
  WICK_SHELL_COMMAND(pwd);
  WICK_SHELL_COMMAND(rev);
  WICK_SHELL_COMMAND(tee);
  WICK_SHELL_COMMAND(tr);
  WICK_SHELL_COMMAND(xxd);
  WICK_SHELL_COMMAND(yes);
  WICK_SHELL_COMMAND(mount);
  WICK_SHELL_COMMAND(unpack);  // gunzip and the like: decoders that are not run
  // code (eval_code.cc)
  WICK_SHELL_COMMAND(shell);
  WICK_SHELL_COMMAND(interpreter);
  WICK_SHELL_COMMAND(awk);
  WICK_SHELL_COMMAND(sed);
  // wrappers (eval_wrappers.cc)
  WICK_SHELL_COMMAND(sudo);
  WICK_SHELL_COMMAND(su);
  WICK_SHELL_COMMAND(env);
  WICK_SHELL_COMMAND(xargs);
  WICK_SHELL_COMMAND(ssh);
  WICK_SHELL_COMMAND(docker);
  WICK_SHELL_COMMAND(watch);
  // tools (eval_tools.cc, eval_git.cc, eval_find.cc)
  WICK_SHELL_COMMAND(dd);
  WICK_SHELL_COMMAND(find);

  struct FindExec {
    const std::vector<Arg>* words = nullptr;
    Value found = {};  // for `{}`
    bool is_in_folder = false;
  };

  static Stream find_exec(Evaluator& e, const FindExec& exec, const State& s);
  WICK_SHELL_COMMAND(git);
  static void shows_credentials(Evaluator& e, std::string_view verb, const Argv& rest, State& s);
  WICK_SHELL_COMMAND(tar);
  WICK_SHELL_COMMAND(project);
  WICK_SHELL_COMMAND(make);
  WICK_SHELL_COMMAND(curl);
  WICK_SHELL_COMMAND(nc);
  WICK_SHELL_COMMAND(resolver);
  WICK_SHELL_COMMAND(socat);
  WICK_SHELL_COMMAND(crontab);
  WICK_SHELL_COMMAND(kill);
  WICK_SHELL_COMMAND(transfer);
  WICK_SHELL_COMMAND(cloud);
  WICK_SHELL_COMMAND(ffmpeg);
  WICK_SHELL_COMMAND(cpio);
  WICK_SHELL_COMMAND(zip);
  WICK_SHELL_COMMAND(ar);  // eval_formats.cc
  WICK_SHELL_COMMAND(pdftotext);
#undef WICK_SHELL_COMMAND
};

struct Command {
  std::string_view name;
  Stream (*run)(Evaluator& e, std::vector<Arg>& argv, State& s, const Stream& in);
};

// `row` is that of the name, or null.
const Command* find_command(std::string_view name, const Row* row) noexcept;

// An option of `set` or of a shell (-e, -o pipefail) that leaves the meaning of words as it is;
// `name` is the argument of -o.
bool is_plain_shell_option(std::string_view option, const Arg* name, Dialect dialect);

// Runs in the shell itself, whatever PATH says.
bool is_builtin(std::string_view name) noexcept;

}  // namespace wick::shell
