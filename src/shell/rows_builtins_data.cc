// Builtins of shells, and commands that do nothing but print. Those with a word of their own in
// eval_builtins.cc have a row for their options. How a row reads: shell/rows.h.
#include "shell/rows_data.h"

namespace wick::shell {

namespace {

constexpr Row kRows[] = {
    {"echo", ".*", "", "+E"},
    {"printf", ".*", "", "+E"},
    {":|true|false", ".*", "", "+E"},
    {"test|[", ".*", "", "+E"},
    {"pwd", ".*", "-LP --logical --physical", "+"},
    {"type|which|whereis|hash-list|whatis|apropos", ".*",
     "-0aftpPsSbmulBMirwd --all --skip-dot --skip-tilde --read-alias --tty-only", "+"},
    {"man|info|tldr|help|pinfo", ".*",
     "-0aDdfhikKlwWUTtuV -M:r -s:. -S:. -L:. -P:e -H:e -C:e -p:. -R:. --pager=e "
     "--html?e --where --path --locale=. --sections=. --apropos --whatis --all "
     "--regex",
     "+"},
    {"wait", ".*", "-fn -p:N", "+"},
    {"jobs", ".*", "-lnprs -x!U", "+"},
    {"bind", "H*", "-lpPsSvVX -f:e -q:. -u:.!k -r:.!k -m:. -x:x!k", "+"},
    {"sleep|times|fg|bg|disown|break|continue|return|exit|logout|caller|"
     "dirs|shift|usleep",
     ".*", "-0alnrshvc", "+"},
    {"let", ".*", "", "+E"},
    {"read", ".*", "-0rse -a:. -d:. -i:. -n:. -N:. -p:. -t:. -u:.", "+"},
    {"readarray|mapfile", ".*", "-0t -C:x -c:. -d:. -n:. -O:. -s:. -u:.", "+"},
    {"yes", ".*", "", ""},
    {"history", ".*", "-c!T -d:.!T -nrps -a!0 -w!a", "+"},
    {"umask", "H*", "-pS", "+"},
    {"ulimit", "H*", "-0SHabcdefiklmnpqrstuvxPRT", "+"},
    {"set|shopt|setopt|unsetopt|enable|complete|compgen|compopt|zstyle|autoload|"
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
};

}  // namespace

constinit const std::span<const Row> kBuiltinRows = kRows;

}  // namespace wick::shell
