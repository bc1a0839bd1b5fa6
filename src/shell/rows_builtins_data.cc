// Builtins of shells, and commands that do nothing but print. Those with a word of their own in
// eval_builtins.cc have a row for their options. How a row reads: shell/rows.h.
#include "shell/rows_data.h"

namespace wick::shell {

namespace {

constexpr RowText kRows[] = {
    {"echo", ".*", "", "+E"},
    {"printf", ".*", "", "+E"},
    {":|true|false", ".*", "", "+E"},
    {"test|[", ".*", "", "+E"},
    {"pwd", ".*", "-LP --logical --physical", "+"},
    {"type|which|whereis|hash-list|whatis|apropos", ".*",
     "-0aftpPsSbmulBMirwd --all --skip-dot --skip-tilde --read-alias --tty-only", "+"},
    {"tldr", ".*", "-L:. -p:. --language=. --platform=. --list --raw", "nm+"},
    {"pinfo", ".*", "", "m+"},
    {"man|info|help", ".*",
     "-0aDdfhikKlwWUTtuV -M:r -s:. -S:. -L:. -P:e -H:e -C:e -p:. -R:. --pager=e "
     "--html?e --where --path --locale=. --sections=. --apropos --whatis --all "
     "--regex",
     "+"},
    {"wait", ".*", "-fn -p:N", "+"},
    {"jobs", ".*", "-lnprs -x!U", "+"},
    {"bind", "H*", "-lpPsSvVX -f:e -q:. -u:.!k -r:.!k -m:. -x:x!k", "+"},
    {"sleep|times|fg|bg|disown|caller|dirs|shift|usleep", ".*", "-0alnrshvc", "+"},
    {"break|continue|return|exit|logout|zsh:bye", "Z*", "-0alnrshvc", "+"},
    {"let", ".*", "", "+E"},
    {"read", ".*", "-0rse -a:. -d:. -i:. -n:. -N:. -p:. -t:Z -u:.", "+"},
    {"readarray|mapfile", ".*", "-0t -C:x -c:. -d:. -n:. -O:. -s:. -u:.", "+"},
    {"yes", ".*", "", ""},
    {"history", "n*", "-c!T -d:.!T -n@r -r@r -ps -a@a -w!a@a", "+"},
    {"umask", "H*", "-pS", "+"},
    {"ulimit", "H*", "-0SHabcdefiklmnpqrstuvxPRT", "+"},
    {"shopt", ".*", "-opq", "+E"},
    {"set|setopt|unsetopt|enable|complete|compgen|compopt|zstyle|autoload|"
     "zmodload|bindkey",
     ".*", "", "kE+"},
    {"getopts", ".*", "", "+"},
    {"hash", ".*", "-dlrtp:.", "k+"},
    {"suspend", "", "-f", "1+"},
    {"trap", ".*", "", "+E"},
    {"alias|unalias", ".*", "", "+E"},
    {"export|declare|typeset|local|readonly|unset", ".*", "", "+E"},
    {"cd|pushd|popd|chdir", ".*", "", "+E"},
    {"eval|source|.", ".*", "", "+EC"},
    {"printenv", ".*", "-0 --null", ""},
    {"errno|ascii", ".*", "-ls", "+"},
    // What zsh means by these names; those that load or run unknown code are unknown.
    {"zsh:print", ".*", "-0aclnNoOipPrRDbmS -C:. -f:. -u:. -v:N -x:. -X:. -s!T -z!U", "+"},
    {"zsh:setopt|zsh:unsetopt|zsh:integer|zsh:float|zsh:private", ".*", "", "kE+"},
    {"zsh:-", "c", "", "E+-"},
    {"zsh:whence|zsh:where|zsh:which|zsh:type", ".*", "-0acfmpsSvwx", "+"},
    {"zsh:functions", ".*", "-c!U -0afmpsSvwx", "+"},
    {"zsh:hash", "e*", "-dfLmrv", "k+"},
    {"zsh:unhash|zsh:rehash", ".*", "-dfLmrv", "k+"},
    {"zsh:zmodload|zsh:autoload|zsh:sched|zsh:zle|zsh:bindkey|zsh:zstyle|zsh:compdef|zsh:compadd|"
     "zsh:zcompile|zsh:ztcp|zsh:zsocket|zsh:zpty|zsh:zparseopts|zsh:emulate|zsh:enable|"
     "zsh:disable|zsh:vared|zsh:fc|zsh:r|zsh:add-zsh-hook|zsh:zf_rm|zsh:zf_rmdir|zsh:zf_mv|"
     "zsh:zf_ln|zsh:zf_chmod|zsh:zf_chown|zsh:zf_mkdir|zsh:syswrite|zsh:sysopen",
     ".*", "", "U+"},
    {"fish:set|fish:alias|fish:source|fish:.|fish:true|fish:false", ".*", "", "E+"},
    {"fish:string", ".*",
     "-0abcdefgilmnqrsvwNDV --all --entire --ignore-case --quiet --regex --invert --index "
     "--filter --no-newline --max=. --right --fields=. --allow-empty --style=. --left --chars=. "
     "--count=. --length=. --start=. --end=. --width=. --groups-only --max-matches=. --visible "
     "--no-trim-newlines --ellipsis=.",
     "+"},
    {"fish:math|fish:count|fish:random", ".*", "-0bs:. --scale=. --base=.", "=+"},
    {"fish:contains|fish:status|fish:set_color|fish:isatty|fish:block|fish:path", ".*",
     "-bdefghilopqrtuvzZ0 --bold --dim --italics --reverse --underline --index --print-colors",
     "+"},
    {"fish:command", "c", "-vsaq!0 --search!0 --query!0 --all!0", "+-"},
    {"fish:type|fish:functions", ".*", "-anqtpPfs -e!k -c!k", "+"},
    {"fish:history", ".*", "", "U+"},
    {"fish:read", ".*", "-aglUxfsSntzL -c:. -d:. -p:x -P:. -R:x -N:. --prompt=x", "+"},
    {"fish:abbr|fish:fish_add_path|fish:bind|fish:complete", ".*", "", "kU+"},
    {"fish:emit|fish:funcsave|fish:funced|fish:breakpoint|fish:vared|fish:argparse|fish:trap|"
     "fish:export|fish:declare|fish:typeset|fish:local|fish:readonly|fish:let|fish:shift|"
     "fish:unset|fish:mapfile|fish:readarray|fish:getopts|fish:shopt|fish:enable|fish:unalias|"
     "fish:compgen|fish:compopt|fish:fish_config|fish:fish_update_completions|fish:open",
     ".*", "", "U+"},
};

}  // namespace

constinit const RowTable kBuiltinRows = table_of<kRows, 8>();

}  // namespace wick::shell
