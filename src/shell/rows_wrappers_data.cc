// Commands that run the command behind them.
// How a row reads: shell/rows.h.
#include "shell/rows_data.h"

namespace wick::shell {

namespace {

constexpr RowText kRows[] = {
    {"sudo", "c",
     "-AbEeHikKnPsSvV -u:. -g:. -C:. -h:. -p:. -r:. -t:. -T:. -U:. -D:. -R:. -l@. "
     "--user=. --group=. --preserve-env?. --non-interactive --stdin --login --shell "
     "--set-home --background --prompt=. --chdir=. --list --askpass!U --edit!U",
     "V-"},
    {"doas", "c", "-Lns -u:. -a:. -C:r", "V-+"},
    {"pkexec", "c", "--user=. --disable-internal-agent", "V-+"},
    {"gksudo|gksu|kdesudo|run0|dzdo|please", "c", "-u:. --user=.", "V-+"},
    {"setpriv", "c",
     "--reuid=. --regid=. --clear-groups --keep-groups --init-groups --no-new-privs "
     "--bounding-set=. --inh-caps=. --ambient-caps=. --dump",
     "-"},
    {"env", "c",
     "--list-signal-handling "
     "-0iv -u:. -C:n -S:x --ignore-environment --null --unset=. --chdir=n "
     "--split-string=x --debug --block-signal?. --default-signal?. --ignore-signal?.",
     "-"},
    {"nohup", "c", "", "a-"},
    {"nice", "c", "-0 -n:. --adjustment=.", "-"},
    {"ionice", "c", "-t -c:. -n:. -p:. -P:. -u:. --class=. --classdata=. --ignore", "-"},
    {"chrt", ".c", "-abdfmoriGR -p:. -T:. -P:. -D:.", "-"},
    {"taskset", ".c", "-ac -p!1 --all-tasks --cpu-list", "-"},
    {"timeout|gtimeout", ".c",
     "-fv -k:. -s:. --foreground --kill-after=. --preserve-status --signal=. --verbose", "-"},
    {"time", "c", "-apqvV -f:. -o:w --append --format=. --output=w --portability --quiet --verbose",
     "-"},
    {"stdbuf|unbuffer", "c", "-p -i:. -o:. -e:. --input=. --output=. --error=.", "-"},
    {"setsid", "c", "-cfw --ctty --fork --wait", "&-"},
    {"setarch|linux32|linux64|i386|x86_64", "c", "-BFILRSTXZ3v", "-"},
    {"watch", "c",
     "-bcCdeghptwrx -n:. -q:. --interval=. --differences?. --no-title --color --exec "
     "--errexit --chgexit --beep --precise",
     "-"},
    {"xargs", "c",
     "-0oprtx -a:r -d:. -E:. -e?. -I:. -i?. -L:. -l?. -n:. -P:. -s:. -S:. -R:. -J:. "
     "--null --arg-file=r --delimiter=. --eof?. --replace?. --max-lines?. "
     "--max-args=. --open-tty --max-procs=. --interactive --process-slot-var=N "
     "--no-run-if-empty --max-chars=. --show-limits --verbose --exit",
     "-"},
    {"parallel", "e*", "", "U"},
    {"flock", "nc",
     "-eFnosuxv -w:. -c:x -E:. --shared --exclusive --unlock --nonblock --nb "
     "--timeout=. --conflict-exit-code=. --close --no-fork --command=x",
     "a-"},
    {"strace|ltrace", "c",
     "-AcCdDfFhikqrtTvVwxXyYzZ -a:. -b:. -e:. -E:. -I:. -o:G -O:. -p:p -P:. -s:. "
     "-S:. -u:. --follow-forks --output=G --trace=.",
     "-+"},
    {"gdb|lldb|valgrind|perf|rr", "e*", "", "U"},
    {"eatmydata|catchsegv|dumb-init|tini|fakeroot|xvfb-run|dbus-run-session|setarch64", "c", "",
     "-+"},
    {"proot|torsocks|tsocks|proxychains|proxychains4|firejail|bwrap|unshare|nsenter|"
     "systemd-run|cgexec|softlimit|aa-exec|runcon|choom|numactl|"
     "schedtool|trickle|cpulimit|faketime|daemonize|start-stop-daemon|runuser",
     "e*", "", "U"},
    {"caffeinate", "c", "-dimsu -t:. -w:.", "-+"},
    {"chpst", "c", "", "U-"},
    {"busybox|toybox", "c", "", "-+"},
    {"command", "c", "-p", "-+"},
    {"builtin", "c", "", "-+"},
    {"exec", "c", "-cl -a:.", "-+"},
    {"nocorrect|noglob", "c", "", "-+"},
    {"ccache|distcc|sccache", "e*", "", "U"},
    {"rlwrap", "c", "", "U-"},
    {"setuidgid|gosu|su-exec", ".c", "", "V-+"},
    {"sshpass", "c", "-ev -p:. -f:r -d:.", "-+"},
    {"lp|lpr", "r*", "-d:. -n:. -o:. -P:.", "U"},
};

}  // namespace

constinit const RowTable kWrapperRows = table_of<kRows, 3>();

}  // namespace wick::shell
