// git and other version control, one row a verb.
// How a row reads: shell/rows.h.
#include "shell/rows_data.h"

namespace wick::shell {

namespace {

constexpr RowText kRows[] = {
    {"git", "v",
     "-pP -C:n -c:e --paginate --no-pager --git-dir=n --work-tree=n --bare "
     "--no-replace-objects --literal-pathspecs --no-optional-locks --exec-path=e "
     "--config-env=e --namespace=. --html-path --man-path",
     "-"},
    {"git status", "n*",
     "-sbvzu --short --branch --show-stash --porcelain?. --long --verbose "
     "--untracked-files?. --ignored?. --ignore-submodules?. --column?. --no-column "
     "--ahead-behind --no-ahead-behind --renames --no-renames --find-renames?.",
     ""},
    {"git log|git shortlog|git show|git diff|git whatchanged|git reflog|git "
     "diff-tree|git diff-index|git diff-files|git rev-list|git stash-show|git "
     "range-diff|git cherry",
     ".*",
     "-0 -abcCDEFghiMmpPqrRsuvwWz123456789e -n:. -U:. -S:. -G:. -L:. -l:. -O:. "
     "--oneline --graph --all --decorate?. --stat?. --shortstat --numstat --patch "
     "--no-patch --name-only --name-status --author=. --committer=. --since=. "
     "--until=. --after=. --before=. --grep=. --format=. --pretty?. --abbrev-commit "
     "--abbrev?. --no-merges --merges --first-parent --follow --reverse --date=. "
     "--max-count=. --skip=. --cached --staged --color?. --no-color --word-diff?. "
     "--ignore-all-space --ignore-space-change --ignore-blank-lines --unified=. "
     "--summary --raw --minimal --patience --histogram --branches?. --tags?. "
     "--remotes?. --topo-order --date-order --no-pager --left-right --cherry-pick "
     "--cherry-mark --count --quiet --exit-code --check --diff-filter=. "
     "--find-renames?. --find-copies?. --relative?. --no-ext-diff --ext-diff!U "
     "--textconv --no-textconv --no-prefix --full-index --binary --text --output=w "
     "--submodule?. --merge-base --boundary --objects --parents --children "
     "--no-walk?. --show-signature --no-notes --email --numbered --summary "
     "--dirstat?. --compact-summary --source --walk-reflogs --simplify-by-decoration "
     "--ancestry-path --full-history --no-renames --regexp-ignore-case --invert-grep "
     "--all-match --extended-regexp --fixed-strings --perl-regexp --cumulative "
     "--no-index --group=. --ignore-submodules?. --no-commit-id --root --not",
     ""},
    {"git blame|git annotate", ".*",
     "-bcefklnpstw -L:. -C -M -S:r --root --show-stats --porcelain --line-porcelain "
     "--incremental --date=. --abbrev=. --since=. --color-lines --ignore-rev=. "
     "--ignore-revs-file=r",
     ""},
    {"git grep", ".*",
     "-0 -aEFGHIiLlnPpqvWwhcz -e:. -A:. -B:. -C:. -f:r -m:. -O!U "
     "--open-files-in-pager?e --cached --untracked --no-index --files-with-matches "
     "--count --and --or --not --line-number --ignore-case --word-regexp --all-match "
     "--heading --break --show-function --color?. --name-only --perl-regexp "
     "--extended-regexp --fixed-strings",
     ""},
    {"git ls-files|git ls-tree|git rev-parse|git describe|git cat-file|git name-rev|"
     "git merge-base|git show-ref|git for-each-ref|git show-branch|git count-objects|"
     "git check-ignore|git check-attr|git var|git version|git help|"
     "git fsck|git verify-commit|git verify-tag|git branch-list|git "
     "symbolic-ref-read|git ls-remote-local|git check-ref-format|git merge-tree|git "
     "get-tar-commit-id",
     ".*",
     "-0acdhiklmopqrstuvzZ -n:. -e:. -x:. -X:r --all --tags --always --dirty?. "
     "--abbrev?. --long --exact-match --match=. --exclude=. --others --cached "
     "--deleted --modified --ignored --exclude-standard --stage --unmerged "
     "--full-name --error-unmatch --short?. --abbrev-ref?. --show-toplevel --git-dir "
     "--is-inside-work-tree --is-bare-repository --verify --quiet "
     "--symbolic-full-name --name-only --name-status --format=. --sort=. --count=. "
     "--contains?. --merged?. --points-at=. --heads --full-tree --is-ancestor "
     "--fork-point --octopus --show-prefix --show-cdup --local-env-vars --batch "
     "--batch-check --batch-all-objects --human-readable --verbose --non-matching "
     "--no-index --absolute-git-dir --show-current --eol --directory --resolve-undo",
     ""},
    {"git remote", "v", "-v --verbose", "-"},
    {"git remote show", ".*", "-n", "n"},
    {"git remote get-url", ".*", "--all --push", ""},
    {"git remote add|git remote remove|git remote rm|git remote rename|git remote "
     "set-url|git remote set-head|git remote set-branches|git remote prune|git "
     "remote update",
     ".*", "-adfp -t:. -m:. --add --delete --push --tags --no-tags --auto --prune", "G"},
    {"git ls-remote", ".*",
     "-htq --heads --tags --refs --quiet --exit-code --get-url --sort=. --symref "
     "--upload-pack=e --exec=e",
     "n"},
    {"git branch", ".*",
     "-aFilqrtv -D!G -d!G -m!G -M!G -c!G -C!G -f!G -u:.!G --all --remotes --list "
     "--verbose --show-current --contains?. --no-contains?. --merged?. --no-merged?. "
     "--sort=. --points-at=. --format=. --color?. --no-color --column?. --abbrev?. "
     "--delete!G --move!G --copy!G --force!G --set-upstream-to=.!G "
     "--unset-upstream!G --track?.!G --no-track --edit-description!U --ignore-case "
     "--omit-empty",
     "b"},
    {"git tag", ".*",
     "-0lin -a!G -s!G -d!G -f!G -m:.!G -F:r!G -u:.!G --list --sort=. --contains?. "
     "--merged?. --points-at=. --format=. --column?. --delete!G --annotate!G "
     "--message=.!G --force!G --verify",
     "b"},
    {"git config", ".*",
     "-lz -e!Y -f:r --list --get --get-all --get-regexp --global --local --system "
     "--worktree --show-origin --show-scope --name-only --null --type=. --bool --int "
     "--path --includes --default=. --unset!Y --unset-all!Y --add!Y --replace-all!Y "
     "--edit!Y --rename-section!Y --remove-section!Y --file=r",
     "y-"},
    {"git add|git stage", "n*",
     "-AfiknpuvN --all --force --intent-to-add --update --verbose --dry-run "
     "--ignore-errors --ignore-missing --no-all --refresh --chmod=. --renormalize "
     "--sparse --interactive --patch --pathspec-from-file=r -e!U --edit!U",
     "G"},
    {"git commit", "n*",
     "-aeiopqsvzn -m:. -F:r -C:. -c:. -t:r -S -u --all --amend --message=. --file=r "
     "--no-edit --edit --no-verify --author=. --date=. --signoff --no-signoff "
     "--allow-empty --allow-empty-message --quiet --verbose --dry-run --fixup=. "
     "--squash=. --reuse-message=. --reedit-message=. --reset-author --only "
     "--include --patch --template=r --cleanup=. --gpg-sign?. --no-gpg-sign "
     "--porcelain --short --trailer=. --untracked-files?.",
     "Gj"},
    {"git stash", "v",
     "-uakpqS -m:. --include-untracked --all --keep-index --patch --quiet --staged "
     "--message=.",
     "-G"},
    {"git stash list|git stash show", ".*",
     "-pu --stat --patch --include-untracked --only-untracked --oneline --format=.", ""},
    {"git stash push|git stash save|git stash apply|git stash pop|git stash branch|"
     "git stash create|git stash store",
     ".*",
     "-uakpqS -m:. --include-untracked --all --keep-index --patch --quiet --staged "
     "--message=. --index",
     "G"},
    {"git stash drop|git stash clear", ".*", "-q --quiet", "L"},
    {"git init", "a*",
     "-q -b:. --bare --quiet --initial-branch=. --shared?. --separate-git-dir=a "
     "--template=e",
     "a"},
    {"git clone", ".a",
     "-lnqsv -b:. -o:. -j:. -c:e -u:e --depth=. --branch=. --recursive "
     "--recurse-submodules?. --single-branch --no-single-branch --bare --mirror "
     "--quiet --verbose --progress --no-checkout --shallow-submodules "
     "--shallow-since=. --filter=. --origin=. --jobs=. --no-tags --sparse "
     "--upload-pack=e --config=e --template=e --local --shared --reference=. "
     "--separate-git-dir=a --ipv4 --ipv6",
     "na"},
    {"git fetch", ".*",
     "-0apfkntquvP46 -j:. -o:. --all --prune --prune-tags --tags --no-tags --depth=. "
     "--unshallow --force --quiet --verbose --progress --dry-run "
     "--recurse-submodules?. --jobs=. --multiple --append --keep --set-upstream "
     "--shallow-since=. --upload-pack=e --update-head-ok --write-fetch-head --ipv4 "
     "--ipv6",
     "nG"},
    {"git pull", ".*",
     "-0nqvrS46afkpt -s:. -X:. -j:. --rebase?. --no-rebase --ff --no-ff --ff-only "
     "--quiet --verbose --all --tags --prune --depth=. --autostash --no-autostash "
     "--squash --no-squash --no-edit --edit --commit --no-commit --stat --no-stat "
     "--strategy=. --strategy-option=. --recurse-submodules?. --force "
     "--allow-unrelated-histories --upload-pack=e --no-verify --unshallow",
     "nGj"},
    {"git push", "g*",
     "-0nquv46 -f!H -d!H -o:. --all --tags --follow-tags --set-upstream --quiet "
     "--verbose --progress --dry-run --porcelain --no-verify --verify --atomic "
     "--push-option=. --signed?. --recurse-submodules=. --force!H "
     "--force-with-lease?. --force-if-includes --delete!H --mirror!H --prune!H "
     "--receive-pack=e --exec=e --repo=. --ipv4 --ipv6",
     "hnj"},
    {"git merge|git cherry-pick|git revert|git am", ".*",
     "-0enqvSx3R -m:. -s:. -X:. -F:r -p:. -C:. --no-ff --ff --ff-only --squash "
     "--no-squash --commit --no-commit --edit --no-edit --abort --continue --quit "
     "--skip --stat --no-stat --strategy=. --strategy-option=. --message=. "
     "--allow-unrelated-histories --autostash --quiet --verbose --no-verify "
     "--signoff --mainline=. --allow-empty --keep-redundant-commits --3way --index "
     "--cached --check --reverse --reject --whitespace=. --directory=. --exclude=. "
     "--include=. --no-gpg-sign --summary --numstat",
     "Gj"},
    {"git apply", "r*",
     "-0vRq3 -p:. -C:. --check!0 --stat!0 --numstat!0 --summary!0 --index --cached --3way "
     "--reverse --reject --whitespace=. --directory=. --exclude=. --include=. --verbose --quiet",
     "G"},
    {"git rebase", ".*",
     "-0fknpqrvmsS -i!U -x:x --onto=. --interactive!U --exec=x --continue --abort "
     "--skip --quit --root --autosquash --autostash --no-autostash --keep-base "
     "--rebase-merges?. --strategy=. --strategy-option=. --force-rebase --no-ff "
     "--committer-date-is-author-date --update-refs --quiet --verbose --stat "
     "--no-stat --no-verify --signoff --empty=. --apply --merge",
     "Gj"},
    {"git switch", ".*",
     "-dqt -c:. -C:. --create=. --force-create=. --detach --guess --no-guess "
     "--track?. --no-track --quiet --progress --merge --orphan=. -f!L --force!L "
     "--discard-changes!L",
     "Gj"},
    {"git checkout", "n*",
     "-0dlqtmp -b:. -B:. -f!L --force!L --ours!L --theirs!L --detach --track?. "
     "--no-track --quiet --progress --no-progress --merge --orphan=. --guess --patch "
     "--conflict=. --ignore-skip-worktree-bits --recurse-submodules",
     "Gj"},
    {"git restore", ".*",
     "-0mpqSW -s:. --staged --worktree --source=. --patch --quiet --progress --ours "
     "--theirs --merge --ignore-unmerged --pathspec-from-file=r",
     "L"},
    {"git reset", ".*",
     "-0NpqU --soft --mixed --patch --quiet --no-refresh --intent-to-add --keep "
     "--merge!L --hard!L --pathspec-from-file=r",
     "G"},
    {"git clean", ".*", "-dfiqxX -e:. -n --dry-run --force --quiet --exclude=. --interactive", "L"},
    {"git rm", "d*",
     "-fnq -r@D --cached@n --force --dry-run --quiet --ignore-unmatch --sparse "
     "--pathspec-from-file=r",
     "G"},
    {"git mv", "D*w", "-fknv --force --dry-run --verbose --sparse", "G"},
    {"git gc|git repack|git pack-refs|git prune-packed|git update-index|git "
     "maintenance|git commit-graph|git multi-pack-index",
     ".*",
     "-adflqAFknm --auto --aggressive --quiet --no-prune --all --refresh "
     "--assume-unchanged --no-assume-unchanged --skip-worktree --no-skip-worktree "
     "--chmod=. --force --prune?.!L",
     "G"},
    {"git prune|git reflog-expire|git filter-branch|git filter-repo|git update-ref|"
     "git replace|git fast-import",
     ".*", "", "LU"},
    {"git submodule", "v", "-q --quiet", "-"},
    {"git submodule status|git submodule summary", ".*", "--cached --recursive", ""},
    {"git submodule add|git submodule init|git submodule update|git submodule sync|"
     "git submodule set-url|git submodule set-branch",
     ".*",
     "-fNq -b:. --init --recursive --remote --depth=. --force --name=. --merge "
     "--rebase --jobs=. --checkout --no-fetch",
     "nGj"},
    {"git submodule deinit|git submodule foreach", ".*", "", "U"},
    {"git worktree", "v", "", "-"},
    {"git worktree list", "", "-v --porcelain --verbose", ""},
    {"git worktree add|git worktree remove|git worktree prune|git worktree move|git "
     "worktree lock|git worktree unlock|git worktree repair",
     ".*",
     "-dfqv -b:. -B:. --detach --force --track --lock --quiet --checkout "
     "--no-checkout --expire=. --dry-run",
     "G"},
    {"git bisect", "v", "", ""},
    {"git bisect log|git bisect terms|git bisect help", ".*", "--term-good --term-bad", "+"},
    {"git bisect start|git bisect good|git bisect bad|git bisect new|git bisect old|git bisect "
     "skip|"
     "git bisect reset",
     ".*", "--term-new=. --term-bad=. --term-old=. --term-good=. --no-checkout --first-parent",
     "G+"},
    {"git bisect run", "c", "", "G-"},
    {"git notes", ".*", "-m:. --ref=.", "G"},
    {"git bundle", "v", "", "-"},
    {"git bundle create", "w.*", "-q --quiet --progress --all --branches --tags --version=.", ""},
    {"git bundle verify|git bundle list-heads", "r.*", "-q --quiet", ""},
    {"git bundle unbundle", "r.*", "--progress", "G"},
    {"git format-patch|git archive", ".*",
     "-0kln -o:a --output=w --output-directory=a --stdout --prefix=. --format=. "
     "--list --cover-letter --numbered --subject-prefix=. --signoff --base=. "
     "--remote=. --exec=e",
     "a"},
    {"git daemon|git instaweb|git credential|git send-email|git svn|git p4|git "
     "difftool|git mergetool|git gui|gitk|tig|lazygit",
     ".*", "", "U"},
    {"git lfs", "v", "", "-"},
    {"git lfs ls-files|git lfs status|git lfs env|git lfs version", ".*", "-als --all", ""},
    {"git lfs pull|git lfs fetch|git lfs install|git lfs track", ".*", "--all --local", "nG"},
    {"svn|hg|bzr|cvs|fossil|jj", "v", "", "-+"},
    {"svn status|svn log|svn diff|svn info|svn list|svn ls|svn cat|svn blame|hg "
     "status|hg log|hg diff|hg summary|hg branches|hg cat|hg annotate|hg id",
     ".*", "-0qvRu -l:. -r:. -c:. --stat --limit=.", "+"},
    {"svn update|svn up|svn checkout|svn co|svn commit|svn ci|svn add|svn mkdir|svn "
     "cleanup|hg pull|hg update|hg commit|hg add|hg clone",
     ".*", "-0qvuA -m:. -r:. -F:r", "nG+"},
    {"gh", "v", "", "-+"},
    {"gh api", ".", "-iq:. -t:. --include --jq=. --template=. --paginate --slurp --cache=.", "n+"},
    {"gh pr|gh issue|gh repo|gh run|gh release|gh workflow|gh gist|gh auth|gh label|"
     "gh secret|gh variable|gh cache|gh project|gh search|gh browse|gh status|gh "
     "alias|gh config|gh extension",
     "v", "", "-+n"},
    {"gh pr list|gh pr view|gh pr status|gh pr diff|gh pr checks|gh issue list|gh "
     "issue view|gh issue status|gh repo view|gh repo list|gh run list|gh run view|"
     "gh run watch|gh release list|gh release view|gh workflow list|gh workflow view|"
     "gh gist list|gh gist view|gh auth status|gh label list",
     ".*",
     "-cswAalBSt -R:. -L:. -q:. --json=. --jq=. --limit=. --state=. --author=. "
     "--label=. --web --comments --log --repo=. --assignee=.",
     "n+"},
    {"gh pr create|gh pr comment|gh pr checkout|gh pr edit|gh pr ready|gh pr review|"
     "gh issue create|gh issue comment|gh issue edit|gh issue close|gh issue reopen|"
     "gh pr close|gh pr reopen|gh run rerun|gh repo clone|gh repo fork|gh release "
     "download|gh run download",
     ".*",
     "-0fdw -t:. -b:. -B:. -H:. -a:. -l:. -r:. -R:. -F:r --title=. --body=. --base=. "
     "--head=. --draft --fill --web --repo=. --approve --comment --label=. "
     "--assignee=. --reviewer=. --body-file=r",
     "nh+"},
};

}  // namespace

constinit const RowTable kGitRows = table_of<kRows, 4>();

}  // namespace wick::shell
