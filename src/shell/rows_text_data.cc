// Commands that turn text into text.
// How a row reads: shell/rows.h.
#include "shell/rows_data.h"

namespace wick::shell {

namespace {

constexpr RowText kRows[] = {
    {"grep|egrep|fgrep|rgrep", ".r*",
     "-0 -EFGPiyvwxcLlqsbHhnoaTUuzZIV -r@R -R@R -e:.# -f:r# -m:. -A:. -B:. -C:. -d:. -D:. "
     "--extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp=.# "
     "--file=r# --ignore-case --no-ignore-case --word-regexp --line-regexp "
     "--null-data --no-messages --invert-match --max-count=. --byte-offset "
     "--line-number --line-buffered --with-filename --no-filename --label=. "
     "--only-matching --quiet --silent --binary-files=. --text --directories=. "
     "--devices=. --recursive@R --dereference-recursive@R --include=Y --exclude=. "
     "--exclude-from=r --exclude-dir=. --files-without-match --files-with-matches "
     "--count --initial-tab --null --before-context=. --after-context=. --context=. "
     "--group-separator=. --no-group-separator --color?. --colour?. --binary",
     "e"},
    {"rg", ".R*",
     "-0aFHILNPSUVchilnopqsuvwxz. -e:.# -f:r# -g:Y -m:. -A:. -B:. -C:. -t:. -T:. "
     "-r:. -j:. -M:. -E:. -d:. --pre=e --hostname-bin=e --hidden --no-ignore --files "
     "--type=. --glob=Y --iglob=Y --count --files-with-matches --ignore-case "
     "--line-number --json --multiline --pcre2 --smart-case --sort=. --stats --text "
     "--vimgrep --word-regexp --max-depth=. --max-count=. --context=. --color=. "
     "--regexp=.# --only-matching --replace=. --trim --fixed-strings --invert-match "
     "--no-heading --heading",
     ""},
    {"ag|ack", ".R*", "-acHhilLnoQqsSuUvwz0 -A:. -B:. -C:. -G:Y -m:.", "+"},
    {"sort", "r*",
     "-bdfghiMnRrVcCmsuz -k:. -o:w -S:. -t:. -T:a --ignore-leading-blanks "
     "--dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting "
     "--month-sort --human-numeric-sort --numeric-sort --random-sort "
     "--random-source=r --reverse --sort=. --version-sort --batch-size=. --check?. "
     "--compress-program=e --debug --files0-from=J --key=. --merge --output=w "
     "--stable --buffer-size=. --field-separator=. --temporary-directory=a "
     "--parallel=. --unique --zero-terminated",
     "e"},
    {"uniq", "rw",
     "-cdDiuz -f:. -s:. -w:. --count --repeated --all-repeated?. --skip-fields=. "
     "--group?. --ignore-case --skip-chars=. --unique --zero-terminated "
     "--check-chars=.",
     "e"},
    {"cut", "r*",
     "-nsz -b:. -c:. -d:. -f:. --bytes=. --characters=. --delimiter=. --fields=. "
     "--complement --only-delimited --output-delimiter=. --zero-terminated",
     ""},
    {"paste", "r*", "-sz -d:. --delimiters=. --serial --zero-terminated", ""},
    {"join", "rr",
     "-iz -a:. -e:. -1:. -2:. -j:. -o:. -t:. -v:. --ignore-case --check-order "
     "--nocheck-order --header --zero-terminated",
     ""},
    {"tr", "..", "-cCdst --complement --delete --squeeze-repeats --truncate-set1", ""},
    {"fold", "r*", "-0123456789bs -w:. --bytes --spaces --width=.", ""},
    {"fmt", "r*",
     "-cstu -g:. -p:. -w:. --crown-margin --prefix=. --split-only --tagged-paragraph "
     "--uniform-spacing --width=. --goal=.",
     ""},
    {"pr", "r*",
     "-0123456789 "
     "--columns=. --show-control-chars --date-format=. --expand-tabs?. --form-feed "
     "--output-tabs?. --join-lines --merge --number-lines?. --first-line-number=. --indent=. "
     "--no-file-warnings --separator?. --sep-string?. --omit-pagination --show-nonprinting "
     "-acdFfJmrtTv -D:. -e:. -h:. -i:. -l:. -n:. -N:. -o:. -s:. -S:. -w:. -W:. "
     "--across --double-space --header=. --length=. --omit-header --page-width=. "
     "--width=.",
     ""},
    {"column", "r*",
     "-deLtxJ -c:. -E:. -H:. -l:. -N:. -n:. -o:. -O:. -R:. -r:. -s:. -T:. -W:. "
     "--table --separator=. --output-separator=. --json --columns=. "
     "--table-columns=. --table-name=. --table-right=. --output-width=. --fillrows",
     ""},
    {"expand|unexpand", "r*", "-ai -t:. --initial --all --first-only --tabs=.", ""},
    {"iconv", "r*",
     "-cls -f:. -t:. -o:w --from-code=. --to-code=. --list --output=w --silent "
     "--verbose",
     ""},
    {"base64|base32|basenc", "r",
     "-di -w:. --decode --ignore-garbage --wrap=. --base64 --base64url --base32 "
     "--base32hex --base16 --base2msbf --base2lsbf --z85",
     ""},
    {"jq", ".r*",
     "-acCehjMnrRsSV --arg=. --tab -f:r# -L:r --compact-output --color-output "
     "--monochrome-output --null-input --raw-input --raw-output --join-output "
     "--slurp --sort-keys --exit-status --ascii-output --stream --seq --indent=. "
     "--from-file=r#",
     "+"},
    {"yq", "Kr*", "-CejMNnPry -o:. -p:. -i@w -I:. --inplace@w --output-format=. --raw-output", "+"},
    {"xmllint", "U*",
     "--format --noout --recover --html --xpath=. --valid!n --schema=U!n --huge --nonet "
     "--output=w -o:w",
     "+"},
    {"seq", ".*", "-0 -w -f:. -s:. --format=. --separator=. --equal-width", "="},
    {"factor", ".*", "-h --exponents", ""},
    {"numfmt", ".*",
     "-z -d:. --debug --delimiter=. --field=. --format=. --from=. --from-unit=. "
     "--grouping --header?. --invalid=. --padding=. --round=. --suffix=. --to=. "
     "--to-unit=. --zero-terminated",
     ""},
    {"bc", "r*", "-hilqsvw --interactive --mathlib --quiet --standard --warn", ""},
    {"dc", "r*", "-e:. -f:r", "U"},
    {"expr", ".*", "", "="},
    {"look", ".r", "-adf -t:.", ""},
    {"tsort", "r", "", ""},
    {"ptx", "r", "", "U"},
    {"col|colrm|ul", ".*", "-bfhpx -l:.", "+"},
    {"dos2unix|unix2dos", "w*", "-bcefhikLlmnoOqsuV7", "+"},
    {"less|more|most|pg", "f*",
     "-aABcCdeEfFgGiIJKLmMnNqQrRsSuUVwWX -o:w -O:w -k:e -p:. -P:. -t:. -x:. -y:. "
     "-z:. -b:. -h:. -j:. --quit-if-one-screen --RAW-CONTROL-CHARS --no-init "
     "--chop-long-lines",
     "+"},
    {"comm3", "r", "", ""},
    {"wdiff|colordiff", "rr", "-123abBdEHilqrstuWy -w:. -o:w", "+"},
    {"sdiff", "rr",
     "-abBdEHilstvWZ -I:. -o:w -w:. --output=w --ignore-case --ignore-tab-expansion "
     "--ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines "
     "--ignore-matching-lines=. --strip-trailing-cr --text --width=. --left-column "
     "--suppress-common-lines --expand-tabs --tabsize=. --minimal --speed-large-files "
     "--diff-program=e",
     ""},
    {"patch", "wr",
     "-bcefElnNRstTuvZ -B:. -d:W -D:. -F:. -g:. -i:r -o:w -p:. -r:w -V:. -Y:. -z:. "
     "--dry-run@n --strip=. --reverse --forward --input=r --directory=W --backup "
     "--verbose --quiet --silent --force --batch --ignore-whitespace --output=w",
     "w"},
    {"vi|vim|nvim|view|ex|emacs|nano|pico|ed|joe|mcedit|micro", "w*", "-RnNZ", "U"},
    {"cowsay|cowthink", ".*", "-bdglnpstwyW:. -f:l -e:. -T:.", "+"},
    {"figlet|fortune|cal|ncal", ".*", "-0 -3158bjmhMNpyelosu -f:. -w:. -A:. -B:. -d:. -H:.", "+"},
    {"cloc|tokei|scc", "n*", "--by-file --json", "+"},
    {"sloccount", "n*", "--details --wide", "m+"},
    {"pandoc", "U*",
     "-s -f:l -t:l -r:l -o:w --from=l --to=l --read=l --write=l --output=w --standalone --toc",
     "+"},
    {"msgfmt", "r*", "-cvo:w", "w+"},
};

}  // namespace

constinit const RowTable kTextRows = table_of<kRows, 1>();

}  // namespace wick::shell
