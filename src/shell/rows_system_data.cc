// Commands about processes, users, services, hardware and time.
// How a row reads: shell/rows.h.
#include "shell/rows_data.h"

namespace wick::shell {

namespace {

constexpr RowText kRows[] = {
    {"ps", ".*",
     "-AadefFHjlMNTVwycLmZrx -C:. -G:. -g:. -o:. -O:. -p:. -q:. -s:. -t:. -u:. -U:. "
     "--cols=. --columns=. --cumulative --deselect --forest --format=. --headers "
     "--no-headers --pid=. --ppid=. --rows=. --sort=. --user=. --width=. "
     "--no-heading --no-headings --no-header --noheader --noheaders --noheading --noheadings",
     "+"},
    {"pgrep", ".",
     "-acfilLnovwx -d:. -F:r -g:. -G:. -P:. -r:. -s:. -t:. -u:. -U:. --full "
     "--list-name --list-full --newest --oldest --exact --count --parent=. --uid=. "
     "--euid=.",
     ""},
    {"pidof", ".*", "-cnqsxz -o:. -S:.", "+"},
    {"pstree", ".*",
     "-aAcCglnNpsStTuUZh -H:. --arguments --show-pids --ascii --compact-not "
     "--show-parents --thread-names",
     "+"},
    {"top|htop|btop", ".*", "-bcHiSsE1e -d:. -n:. -p:. -u:. -U:. -o:. -w:.", "m+"},
    {"atop", ".*", "-acdgmnpsuy1 -r:r -w:w", "+"},
    {"last|lastb", ".*",
     "-0aFiRwx -d!n -f:r -n:. -p:. -s:. -t:. --dns!n --file=r --limit=. --since=. --until=. "
     "--present=. --time-format=. --fulltimes --fullnames --hostlast --ip --nohostname --system",
     ""},
    {"uptime|w|who|users|tty|arch|nproc|logname", ".*",
     "-abcdefFhHilmnopqrsStTuwxV012 --count --heading --all --boot --pretty --since "
     "--short --no-header --ignore=. --users --dead --ips --login --lookup!n --process --runlevel "
     "--time --mesg --message --writable --silent --quiet",
     ""},
    {"lastlog", "", "-b:. -t:. -u:. --before=. --time=. --user=. -C!T -S!T --clear!T --set!T", ""},
    {"whoami|hostid", "", "", "e"},
    {"id|groups", ".*", "-aGgnruzZ --context --group --groups --name --real --user --zero", ""},
    {"uname", "",
     "-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version "
     "--machine --processor --hardware-platform --operating-system",
     "e"},
    {"hostname", "P",
     "-aAdfiIsyV -b!P -F:r!P --all-fqdns --all-ip-addresses --alias --domain "
     "--fqdn --ip-address --long --short --yp --nis --boot!P --file=r!P",
     "+e"},
    {"hostnamectl", "v", "", "+-"},
    {"hostnamectl status", "", "", "+"},
    {"date", "T",
     "--resolution "
     "-uR -d:. -f:r -I?. -r:n -s:.!P --date=. --debug --file=r --iso-8601?. "
     "--rfc-email --rfc-3339=. --reference=n --set=.!P --utc --universal",
     ""},
    {"timedatectl", "v", "", "+-"},
    {"timedatectl status|timedatectl show|timedatectl list-timezones", ".*", "--all -p:.", "+"},
    {"timedatectl set-time|timedatectl set-timezone|timedatectl set-ntp|timedatectl "
     "set-local-rtc",
     ".*", "", "P+"},
    {"hwclock", "", "", "P"},
    {"free", "",
     "-bkmghtlwv --bytes --kilo --mega --giga --human --lohi --line --total --wide "
     "--si -s:. -c:. --seconds=. --count=.",
     ""},
    {"vmstat|iostat|mpstat|sar|pidstat|dstat", ".*",
     "-aAbBcCdDefFhHiIjkKlmNqrRstuUvVwWxXyz -p:. -S:. -n:. -P:.", "+"},
    {"lspci", ".*", "-bDkmMnPtvx -q!n -Q!n -A:. -d:. -F:r -H:. -i:r -O:. -p:r -s:.", "+"},
    {"lscpu|lsmem|lsusb|lshw|lsmod|lsipc|lsns|lslocks|lslogins", ".*",
     "-aAbBdDeEfgGhHiJjklLmMnNoOpPqQrRStTuUvVwWxXyzZ -short -C:. -s:. -class:. "
     "--json --all --extended --parse --output=. --noheadings -c:.",
     "+"},
    {"sensors", ".*", "-AfjuhvnN -s!P -c:r --set!P --config-file=r --no-adapter --fahrenheit", ""},
    {"fastfetch", ".*", "-c:l -s:. -l:l --config=l --structure=. --logo=l", "+"},
    {"dmidecode|acpi|upower", ".*", "-abcdefhikqsuV -t:.", "+"},
    {"inxi", ".*", "-AbBCdDEfFGhIlLmMnNopPrRsSuvVx -i!n -w!n", "m+"},
    {"neofetch|screenfetch", ".*", "-nNvVh", "m+"},
    {"dmesg", "",
     "-dehHkLPpSrtTuwWxJ -D!P -E!P -C!T -c!T --console-off!P --console-on!P -f:. -l:. -n:.!P -s:. "
     "--clear!T --color?. "
     "--ctime --decode --facility=. --follow --human --kernel --level=. --nopager "
     "--reltime --show-delta --time-format=. --userspace --json --since=. --until=.",
     ""},
    {"systemd-analyze|coredumpctl|busctl|bootctl", "v",
     "--user --system --no-pager --no-legend --json=. --order --fuzz=.", "-+"},
    {"systemd-analyze blame|systemd-analyze critical-chain|systemd-analyze time|systemd-analyze "
     "calendar|systemd-analyze timespan|systemd-analyze timestamp|systemd-analyze unit-paths|"
     "coredumpctl list|coredumpctl info|busctl list|busctl status|busctl tree|busctl introspect|"
     "bootctl status|bootctl list|bootctl is-installed",
     ".*", "-r1 -n:. --reverse --lines=. --iterations=. --base-time=. --no-pager", "+"},
    {"bootctl install|bootctl update|bootctl remove|bootctl set-default|bootctl set-oneshot", ".*",
     "", "P+"},
    {"journalctl", ".*",
     "-0 -abefklmMNqrx -n:. -u:. -p:. -o:. -t:. -S:. -U:. -g:. -c:. -i:r -D:r -F:. "
     "--all --boot?. --since=. --until=. --unit=. --user-unit=. --priority=. "
     "--output=. --lines?. --follow --no-pager --reverse --dmesg --identifier=. "
     "--grep=. --list-boots --disk-usage --catalog --quiet --user --system --utc "
     "--no-hostname --vacuum-size=.!T --vacuum-time=.!T --vacuum-files=.!T "
     "--rotate!T --flush!T --no-tail --verify",
     ""},
    {"sysctl", "A*", "-abdeNnqr -w!P -p!P --system!P --all --values --names", "+"},
    {"modprobe|insmod|rmmod|depmod|kexec", ".*", "", "PU"},
    {"modinfo", ".*", "-0adlnp -F:. -k:.", "+"},
    {"kill", "p*", "-lL -s:. -n:. -q:. --signal=. --list?. --table", "+"},
    {"killall|pkill|killall5|skill|xkill", ".*",
     "-0 -eghiIlqrvVwacfFGnPtUx -s:. -u:. -y:. -o:. -z -9 -15 -KL -TERM -H -N -S -2 "
     "-O -C --signal=. --exact --full --user=.",
     "q+"},
    {"snice|renice", ".*", "-n:. -g -p -u --priority=.", "1"},
    {"reboot|shutdown|poweroff|halt|init|telinit|suspend-now|pm-suspend|"
     "pm-hibernate",
     ".*", "-acfFhHkKnpPr -t:.", "P+"},
    {"runlevel", "", "", ""},
    {"systemctl", "v",
     "-aqlfHM -n:. -o:. -p:. -t:. --user --system --no-pager --all --full --type=. "
     "--state=. --property=. --value --plain --no-legend --quiet --lines=. "
     "--output=. --failed",
     "+-"},
    {"systemctl status|systemctl show|systemctl list-units|systemctl list-unit-files|"
     "systemctl is-active|systemctl is-enabled|systemctl is-failed|systemctl cat|"
     "systemctl list-timers|systemctl list-sockets|systemctl list-dependencies|"
     "systemctl list-jobs|systemctl help|systemctl get-default|systemctl "
     "show-environment|systemctl is-system-running",
     ".*",
     "-aqlr -n:. -o:. -p:. -t:. --user --system --no-pager --all --full --type=. "
     "--state=. --property=. --value --plain --no-legend --quiet --lines=. "
     "--output=. --failed --reverse",
     "+"},
    {"systemctl start|systemctl stop|systemctl restart|systemctl reload|systemctl "
     "try-restart|systemctl reload-or-restart|systemctl kill|systemctl daemon-reload|"
     "systemctl daemon-reexec|systemctl reset-failed",
     ".*", "-fqs:. --user --system --no-block --now --signal=. --quiet --force", "S+"},
    {"systemctl enable|systemctl disable|systemctl mask|systemctl unmask|systemctl "
     "link|systemctl edit|systemctl preset|systemctl revert|systemctl set-default|"
     "systemctl set-property|systemctl set-environment|systemctl import-environment",
     ".*", "-f --user --system --now --runtime --force --global", "SY+"},
    {"systemctl reboot|systemctl poweroff|systemctl halt|systemctl suspend|systemctl "
     "hibernate|systemctl kexec|systemctl rescue|systemctl emergency|systemctl "
     "isolate|systemctl default",
     ".*", "-fi --force", "P+"},
    {"service", ".v", "--status-all", "+-"},
    {"service status", "", "", "+"},
    {"service start|service stop|service restart|service reload|service force-reload", "", "",
     "S+"},
    {"loginctl", "v", "", "+-"},
    {"loginctl list-sessions|loginctl list-users|loginctl show-session|loginctl "
     "show-user|loginctl user-status|loginctl session-status",
     ".*", "-p:.", "+"},
    {"initctl|rc-service|rc-update|update-rc.d|chkconfig|launchctl|sc", ".*", "", "SU"},
    {"crontab", "r", "-u:. -i -l@. -r!Y -e!Y", "YC"},
    {"at|batch", ".*", "-clmvV -f:x -q:. -t:.", "Y+"},
    {"atq", "", "", "+"},
    {"atrm", ".*", "", "Y"},
    {"useradd|adduser|userdel|deluser|usermod|groupadd|addgroup|groupdel|groupmod|"
     "gpasswd|chsh|chfn|newgrp|vipw|vigr|newusers",
     ".*", "", "gU"},
    {"passwd|chpasswd", ".*", "", "gU"},
    {"chage", ".*", "-l!0 --list!0", "gU+"},
    {"nvidia-smi", "", "-Lq -l:. -i:. -d:. --list-gpus --query --query-gpu=. --format=. --loop=.",
     ""},
    {"tmux", "v", "-L:. -S:n", "U+-"},
    {"tmux ls|tmux list-sessions|tmux list-windows|tmux list-panes|tmux list-keys|"
     "tmux show-environment|tmux showenv", ".*",
     "-ags -F:. -t:.", "m+"},
    {"screen", ".*", "-ls!0 -list!0", "U_+"},
    {"visudo", "", "", "U"},
    {"setcap|capsh", ".*", "", "gU"},
    {"getcap", "n*", "-rnv", "+"},
    {"getent", "S.*", "-s:. -i -A --service=.", ""},
    {"setenforce|apparmor_parser|aa-disable|aa-complain|semanage|setsebool|"
     "restorecon|chcon|auditctl|augenrules",
     ".*", "", "TU"},
    {"getenforce|sestatus|aa-status", "", "-v", "+"},
    {"ulimit-info", "", "", ""},
    {"wall|write", ".*", "-n -t:. -g:. --nobanner --timeout=. --group=.", "t"},
    {"mesg", "", "-v --verbose", ""},
    {"prlimit", "",
     "-p:. -o:. --pid=. --output=. --noheadings --raw --verbose --as --core --cpu --data --fsize "
     "--locks --memlock --msgqueue --nice --nofile --nproc --rss --rtprio --rttime --sigpending "
     "--stack",
     ""},
    {"logger", ".*", "-is -f:r -p:. -t:. -n:.!n -P:.", "a"},
    {"logrotate", ".*", "", "TU"},
    {"script", "w",
     "-aefqBE -c:x -I:w -O:w -t?w -T:w -m:. -o:. --append --command=x --flush "
     "--force --quiet --return",
     "U"},
    {"scriptreplay", "rr", "", ""},
    {"stty", ".*", "-a!0 -g!0 -F:n --all!0 --save!0 --file=n", "k"},
    {"tput|clear|reset|tset|setterm", ".*", "-x -T:.", "+"},
    {"locale", ".*", "-acmkv --all-locales --charmaps", "+"},
    {"localectl", "v", "--no-pager", "-+"},
    {"localectl status|localectl list-locales|localectl list-keymaps", ".*", "--no-pager", "+"},
    {"localectl set-locale|localectl set-keymap|localectl set-x11-keymap", ".*", "", "P+"},
    {"getconf", ".*", "-av:. -a -v:.", "+"},
    {"ipcs", "", "-abclmqstpu -i:.", ""},
    {"ipcrm", ".*", "", "U"},
    {"lsinitramfs", "r", "-l", "+"},
    {"update-grub|grub-install|grub-mkconfig|update-initramfs|dracut|efibootmgr", ".*", "",
     "PU"},
    {"xdg-open|open|gio|gnome-open", ".*", "", "U"},
    {"notify-send", ".*", "-u:. -t:. -i:. -a:. -c:. -h:.", "m+"},
    {"xclip|xsel|pbcopy|wl-copy", ".*", "", "U"},
    {"pbpaste|wl-paste", "", "", "+"},
    {"pmap", "p", "", "U"},
    {"pwdx", ".*", "", "+"},
    {"getopt", ".*", "-aqQTu -l:. -n:. -o:. -s:. --options=. --longoptions=. --name=.", ""},
    {"diskutil|csrutil|spctl|tmutil|nvram|dscl|defaults|scutil|pmset|networksetup|"
     "softwareupdate|kextload|bless",
     ".*", "", "U"},
    {"sw_vers|system_profiler", ".*", "", "+"},
    {"mkpasswd|pwgen|uuidgen|mcookie", ".*", "-0abcCdehlmrty -n:. -s:.", "+"},
};

}  // namespace

constinit const RowTable kSystemRows = table_of<kRows, 2>();

}  // namespace wick::shell
