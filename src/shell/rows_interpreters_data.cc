// Interpreters. Shells are evaluated (eval_code.cc); code of others is read for the worst only.
// How a row reads: shell/rows.h.
#include "shell/rows_data.h"

namespace wick::shell {

namespace {

constexpr RowText kRows[] = {
    {"sh|bash|dash|zsh|ksh|mksh|ash|rbash|fish|tcsh|csh|pwsh|powershell|elvish|xonsh|"
     "nu|yash|posh",
     ".*", "", "EC+"},
    {"python|python2|python3|python3.9|python3.10|python3.11|python3.12|pypy|pypy3|"
     "ipython|perl|ruby|irb|node|nodejs|deno|bun-run|php|lua|luajit|tclsh|wish|"
     "expect|Rscript|R|julia|ghci|runghc|groovy|scala|jshell|java|osascript|guile|"
     "racket|sbcl|clojure|elixir|iex|erl|swipl|octave|gawk-ext|m4|gnuplot|sqlite|"
     "ts-node|tsx|crystal|nim|raku|kotlin",
     ".*", "", "EC+"},
    {"awk|gawk|mawk|nawk|original-awk", ".r*",
     "-F:. -v:. -f:r# --field-separator=. --assign=. --file=r# -c -C -n -N -t", "EC+"},
    {"sed|gsed", ".r*",
     "-0 -nrEsuz -e:.# -f:r# -l:. -i?n@w --quiet --silent --debug --expression=.# "
     "--file=r# --follow-symlinks --in-place?n@w --line-length=. --posix "
     "--regexp-extended --separate --sandbox --unbuffered --null-data",
     "EC"},
    {"find|gfind", ".*", "", "EC+"},
    {"tar|bsdtar|gtar", ".*", "", "E+"},
    {"dd", ".*", "", "E+"},
    {"su", ".*", "", "EV+"},
};

}  // namespace

constinit const RowTable kInterpreterRows = table_of<kRows, 9>();

}  // namespace wick::shell
