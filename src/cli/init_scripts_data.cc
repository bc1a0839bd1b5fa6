#include "cli/init_scripts.h"

namespace wick {

// bash 4 and later can change the line; before, the command becomes the newest entry of the
// history. A key of the user is found by its macro or command in the lists that builtins print.
// $(…) would fork the shell for that, so the list goes through a file; its last line is the shell's
// number, for another shell may write the file at the same time. Without the file it forks.
const char* const kBashWidget =
    R"SCRIPT(# wick: the sentence in the line becomes a command. It is never run.
__wick_widget() {
  local sentence=$READLINE_LINE point=$READLINE_POINT command
  [[ $sentence == *[![:space:]]* ]] || return 0
  if [[ -n ${__wick_command-} && $sentence == "$__wick_command" ]]; then
    READLINE_LINE=$__wick_sentence READLINE_POINT=${#__wick_sentence} __wick_command=
    return 0
  fi
  # Ctrl-C ends wick and not this function, so the line stays.
  local trapped
  trapped=$(trap -p INT)
  trap : INT
  if command=$(command wick ask --widget --shell bash -- "$sentence" </dev/tty) &&
    [[ -n $command ]]; then
    READLINE_LINE=$command READLINE_POINT=${#command}
    __wick_command=$command __wick_sentence=$sentence
  else
    READLINE_LINE=$sentence READLINE_POINT=$point
  fi
  trap - INT
  [[ -z $trapped ]] || eval "$trapped"
}
# Without access to the line (bash 3.2): `wick_ask SENTENCE`, then one Up.
wick_ask() {
  local command
  command=$(command wick ask --widget --shell bash -- "$*" </dev/tty) && [[ -n $command ]] || return
  history -s -- "$command"
  printf '%s\n' "$command"
}
if [[ $- == *i* ]] && (( BASH_VERSINFO[0] >= 4 )); then
  __wick_bound=
  {
    { bind -X; bind -s; printf '%s' "#$$"; } >|@FILE@ && IFS= read -r -d '' __wick_bound <@FILE@
  } 2>/dev/null || :
  [[ $__wick_bound == *"#$$" ]] || __wick_bound=$(bind -X 2>/dev/null; bind -s 2>/dev/null)
  if [[ $__wick_bound == *'"@KEY@"'* && $__wick_bound != *'"@KEY@": "__wick_widget"'* ]]; then
    printf 'wick: the key is bound already; choose another: wick init bash --key alt-a\n' >&2
  else
    bind -x '"@KEY@": __wick_widget'
    bind -m vi-insert -x '"@KEY@": __wick_widget'
    bind -m vi-command -x '"@KEY@": __wick_widget'
  fi
  unset __wick_bound
fi
)SCRIPT";

const char* const kZshWidget =
    R"SCRIPT(# wick: the sentence in the line becomes a command. It is never run.
__wick_widget() {
  emulate -L zsh
  local sentence=$BUFFER command
  local -i point=$CURSOR
  [[ $sentence == *[![:space:]]* ]] || return 0
  if [[ -n ${__wick_command-} && $sentence == "$__wick_command" ]]; then
    BUFFER=$__wick_sentence CURSOR=${#__wick_sentence} __wick_command=
    return 0
  fi
  setopt local_traps
  trap : INT
  zle -I
  if command=$(command wick ask --widget --shell zsh -- "$sentence" </dev/tty) &&
    [[ -n $command ]]; then
    BUFFER=$command CURSOR=${#command}
    typeset -g __wick_command=$command __wick_sentence=$sentence
  else
    if (( $? == 130 )); then  # after Ctrl-C, zsh does not draw the line by itself
      print -u2
      zle reset-prompt
    fi
    BUFFER=$sentence CURSOR=$point
  fi
}
__wick_bind() {
  emulate -L zsh
  local map bound=
  local -a lines
  zle -N __wick_widget
  {
    {
      for map in emacs viins vicmd; do bindkey -M $map '@KEY@'; done
      print -rn -- "#$$"
    } >|@FILE@ && IFS= read -r -d '' bound <@FILE@
  } 2>/dev/null || :
  [[ $bound == *"#$$" ]] || bound=$(for map in emacs viins vicmd; do bindkey -M $map '@KEY@'; done)
  lines=("${(@f)bound}")
  for map in emacs viins vicmd; do
    case "${lines[1]##* }" in
      undefined-key|copy-region-as-kill|self-insert|self-insert-unmeta|__wick_widget|redisplay|'')
        bindkey -M $map '@KEY@' __wick_widget ;;
      *) print -u2 'wick: the key is bound already; choose another: wick init zsh --key alt-a' ;;
    esac
    shift lines
  done
}
[[ -o interactive ]] && __wick_bind
unfunction __wick_bind
)SCRIPT";

const char* const kFishWidget =
    R"SCRIPT(# wick: the sentence in the line becomes a command. It is never run.
function __wick_widget
    set -l sentence (commandline | string collect)
    set -l point (commandline -C)
    string match -qr '\S' -- $sentence; or return 0
    if test -n "$__wick_command"; and test "$sentence" = "$__wick_command"
        commandline -r -- $__wick_sentence
        set -g __wick_command
        return 0
    end
    commandline -f repaint # after Ctrl-C, too, which ends this function and keeps the line
    set -l command (command wick ask --widget --shell fish -- $sentence </dev/tty | string collect)
    set -l code $pipestatus[1]
    if test $code -eq 0; and test -n "$command"
        commandline -r -- $command
        set -g __wick_command $command
        set -g __wick_sentence $sentence
    else
        commandline -r -- $sentence
        commandline -C $point
    end
end
if status is-interactive
    for __wick_mode in default insert
        if bind -M $__wick_mode --user @KEY@ 2>/dev/null | string match -qv '*__wick_widget*'
            echo 'wick: the key is bound already; choose another: wick init fish --key alt-a' >&2
        else
            bind -M $__wick_mode @KEY@ __wick_widget
        end
    end
    set -e __wick_mode
end
)SCRIPT";

}  // namespace wick
