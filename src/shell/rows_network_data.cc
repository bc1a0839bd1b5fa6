// Commands that talk to other machines.
// How a row reads: shell/rows.h.
#include "shell/rows_data.h"

namespace wick::shell {

namespace {

constexpr RowText kRows[] = {
    {"curl", "u*",
     "-0 -fgGiIjJklLNnpqRsSvZB2346a -V!0 -d:q -F:q -T:s -o:w -O!o -c:w -D:w -A:. -b:r "
     "-e:. -E:r -H:F -m:. -r:. -u:. -U:. -w:. -x:. -X:. -y:. -Y:. -z:. -C:. -P:. "
     "-Q:. -K:e --data=q --data-raw=. --data-ascii=q --data-binary=q "
     "--data-urlencode=Q --form=q --form-string=. --json=q --upload-file=s "
     "--output=w --output-dir=a --remote-name!o --remote-name-all!o "
     "--remote-header-name --remote-time --create-dirs --cookie-jar=w "
     "--dump-header=w --trace=w --trace-ascii=w --stderr=w!o --user-agent=. --cookie=r "
     "--referer=. --cert=r --key=r --cacert=r --capath=r --header=F --max-time=. "
     "--connect-timeout=. --range=. --user=. --proxy=. --proxy-user=. --request=. "
     "--write-out=. --config=e --fail --fail-with-body --globoff --get --include "
     "--head --insecure --location --location-trusted --no-buffer --silent "
     "--show-error --no-progress-meter --progress-bar --verbose --compressed "
     "--retry=. --retry-delay=. --retry-all-errors --retry-connrefused "
     "--retry-max-time=. --http1.0 --http1.1 --http2 --http3 --ipv4 --ipv6 "
     "--max-redirs=. --url=u --resolve=. --connect-to=. --interface=. --limit-rate=. "
     "--basic --digest --ntlm --negotiate --anyauth --netrc --netrc-file=r "
     "--noproxy=. --path-as-is --proto=. --proto-default=. --tlsv1 --tlsv1.0 "
     "--tlsv1.1 --tlsv1.2 --tlsv1.3 --ssl --ssl-reqd --keepalive-time=. "
     "--no-keepalive --unix-socket=n --oauth2-bearer=. --aws-sigv4=. --etag-save=w "
     "--etag-compare=r --parallel --raw --tcp-nodelay --doh-url=. --dns-servers=. "
     "--socks5=. --socks5-hostname=. --max-filesize=. --continue-at=. --disable "
     "--post301 --post302 --hsts=w --alt-svc=w --engine=e --libcurl=w --quote=. "
     "--ftp-create-dirs",
     "n+R"},
    {"wget", "u*",
     "-0bcdEFHhKkLmNnpqrSvVx46 -A:. -a:a -B:. -D:. -e:e -I:. -i:r -l:. -O:w -o:w "
     "-P:a -Q:. -R:. -t:. -T:. -U:. -w:. -X:. --quiet --verbose --no-verbose "
     "--output-document=w --output-file=w --append-output=a --directory-prefix=a "
     "--continue --timestamping --server-response --spider --timeout=. --tries=. "
     "--wait=. --random-wait --limit-rate=. --user=. --password=. --header=. "
     "--user-agent=. --referer=. --post-data=. --post-file=s --body-data=. "
     "--body-file=s --method=. --no-check-certificate --ca-certificate=r "
     "--certificate=r --private-key=r --recursive --level=. --mirror --convert-links "
     "--page-requisites --adjust-extension --no-parent --no-host-directories "
     "--no-directories --cut-dirs=. --accept=. --reject=. --accept-regex=. "
     "--reject-regex=. --domains=. --span-hosts --no-clobber --show-progress "
     "--progress=. --no-cookies --load-cookies=r --save-cookies=w "
     "--keep-session-cookies --max-redirect=. --content-disposition "
     "--trust-server-names --inet4-only --inet6-only --no-proxy --no-cache "
     "--no-dns-cache --https-only --input-file=r --background --waitretry=. "
     "--retry-connrefused --use-askpass=e --execute=e --config=e "
     "--restrict-file-names=. --delete-after --no-config",
     "nR"},
    {"aria2c|axel|lftp|ftp|sftp|tftp|ncftp|httrack", "u*", "", "nU"},
    {"http|https|xh|httpie", ".*", "-0bdfhFIjpvq -A:. -a:. -o:w", "nX+"},
    {"scp", "h*", "-0346ABCpqrRTvO -c:. -D:e -F:e -i:r -J:. -l:. -o:o -P:. -S:e -X:.", "n+"},
    {"ssh", ".c",
     "-0146AaCfGgKkMNnqsTtvXxYy -V!0 -B:. -b:. -c:. -D:.!l -E:w -e:. -F:e -I:e -i:n -J:. "
     "-L:.!l -l:. -m:. -O:. -o:o -p:. -Q:. -R:.!l -S:. -W:. -w:.!l",
     "n-+"},
    {"mosh", ".c", "", "nU-"},
    {"ssh-keygen", ".*",
     "-0BehiLQqUuvX -A!P -c!w -k!w -M!w -p!w -l!0 -D:e -w:e -a:. -b:. -C:. -E:. -F:. -f:w "
     "-t:. -N:. -P:. -R:.!w -m:. -O:. -y!0",
     "a+"},
    {"ssh-copy-id|ssh-add|ssh-agent|ssh-keyscan", ".*", "", "nU"},
    {"telnet|rlogin|rsh", ".*", "", "nU"},
    {"nc|ncat|netcat", ".*",
     "-0 -46bCDdFknNrStuUvZz -h!0 -l!l -e:t -c:x -I:. -i:. -M:. -m:. -O:. -P:. -p:. -q:. "
     "-s:. -T:. -V:. -W:. -w:. -X:. -x:. --listen!l --exec=t --sh-exec=x --keep-open "
     "--ssl --udp --verbose",
     "nN+"},
    {"socat", "..", "-dDhuUvx -t:. -T:. -b:. -l:.", "n+E"},
    {"stunnel|chisel|ngrok|autossh|cloudflared|localtunnel", ".*", "", "nlU"},
    {"ping|ping6|fping", ".*",
     "-0 -46aAbBCdDfhLnOqrRUv3 -V!0 -c:. -e:. -F:. -i:. -I:. -l:. -m:. -M:. -N:. -p:. "
     "-Q:. -s:. -S:. -t:. -T:. -w:. -W:.",
     "n+"},
    {"traceroute|tracepath|mtr|traceroute6", ".*",
     "-0 -46ABbCDdeFGIlLnorRtTUVWy -c:. -f:. -g:. -i:. -m:. -N:. -p:. -q:. -s:. -w:. "
     "-z:. --report --report-wide --no-dns --raw --json",
     "n+"},
    {"dig|nslookup|host|whois|drill|delv|kdig", ".*",
     "-0 -46aCdilmnrsTuvVwhHIQN -b:. -c:. -f:r -k:r -p:. -q:. -t:. -x:. -y:. -R:. -W:.", "n+"},
    {"nmap", ".*", "-0123456FnPpRsSTUVvd -p:. --open --reason --top-ports=.", "n+"},
    {"masscan|zmap|nikto|sqlmap|hydra|john|hashcat|aircrack-ng|metasploit|"
     "msfconsole|tcpdump|tshark|wireshark|ettercap|arp-scan",
     ".*", "", "nU"},
    {"ss|netstat", ".*",
     "-0 -460abcdeEgHhiIlLmMNnoOpPsStTuUvVwWxZ -r!n -A:. -f:. -F:r -D:w -K!U --listening "
     "--numeric --tcp --udp --processes --all --extended --route --interfaces "
     "--statistics --programs --summary --no-header --kill!U",
     "+"},
    {"ip", "v",
     "-046aBbcdDhiMNopstTj -r!n -resolve!n -f:. -l:. -n:. -br?. -json -brief -color -details "
     "-family:. -stats",
     "-+"},
    {"ip addr|ip address|ip a|ip link|ip l|ip route|ip r|ip neigh|ip neighbor|ip n|"
     "ip rule|ip tunnel|ip maddr|ip mroute|ip netns|ip xfrm",
     "i*", "", "+"},
    {"ifconfig|route|arp", "i*", "-aensv", "+"},
    {"iwconfig", ".*", "", "F+"},
    {"ethtool", ".",
     "-acgiklmnPSTux --driver --show-features --statistics --show-ring --show-channels "
     "--show-coalesce --show-pause --show-permaddr --json",
     "+"},
    {"resolvectl", "v", "-4 -6 -i:. --interface=. --no-pager --json=.", "-+"},
    {"resolvectl status|resolvectl statistics", ".*", "--no-pager", "+"},
    {"resolvectl query", ".*", "-t:. --type=. --no-pager", "n+"},
    {"nmcli", "v", "-abcptwo -f:. -g:. -m:. -e:. --terse --pretty --fields=. --get-values=. "
     "--mode=.",
     "-+"},
    {"nmcli device|nmcli dev|nmcli d|nmcli connection|nmcli con|nmcli c|nmcli general|nmcli g|"
     "nmcli device wifi|nmcli dev wifi|nmcli d wifi",
     "v", "", "-+"},
    {"nmcli device status|nmcli dev status|nmcli d status|nmcli device show|nmcli dev show|"
     "nmcli connection show|nmcli con show|nmcli c show|nmcli general status|nmcli g status|"
     "nmcli device wifi list|nmcli dev wifi list|nmcli d wifi list",
     ".*", "--active --order=.", "+"},
    {"iw|iwctl|rfkill|tc|brctl|bridge|wpa_cli|ifup|ifdown|dhclient|wg|"
     "wg-quick|openvpn|tailscale|zerotier-cli|systemd-resolve",
     ".*", "", "FU"},
    {"iptables|ip6tables|ebtables", ".*",
     "-L!0 -S!0 -nvx -t:. --list!0 --list-rules!0 --line-numbers --numeric --verbose --exact",
     "F+"},
    {"iptables-save|ip6tables-save", "", "-c -t:. --counters --table=.", "+"},
    {"nft|ufw", "v", "-ansj --handle --json --numeric --stateless", "-+"},
    {"nft list", ".*", "", "+"},
    {"ufw status|ufw version|ufw show", ".*", "", "+"},
    {"nft add|nft create|nft delete|nft flush|nft insert|nft replace|nft rename|nft reset|"
     "ufw enable|ufw disable|ufw allow|ufw deny|ufw reject|ufw limit|ufw delete|ufw insert|"
     "ufw reset|ufw reload|ufw default|ufw logging|ufw route|ufw app",
     ".*", "--force", "F+"},
    {"firewall-cmd", "",
     "--zone=. --permanent --state!0 --list-all!0 --list-all-zones!0 --list-ports!0 "
     "--list-services!0 --list-rich-rules!0 --get-zones!0 --get-default-zone!0 "
     "--get-active-zones!0 --get-services!0 --query-port=.!0 --query-service=.!0",
     "F+"},
    {"iptables-restore|ipset|pfctl", ".*", "", "F+"},
    {"finger", "u*", "-lmsp", "+"},
    {"mail|mailx|mutt|sendmail|swaks|msmtp", ".*", "", "XU"},
    {"nginx|apache2|httpd|caddy|apachectl|apache2ctl|nginx-debug", ".*", "", "SU"},
    {"rclone|s3cmd|mc|restic|borg|duplicity|unison|syncthing", ".*", "", "XU"},
    {"jupyter|gunicorn|uvicorn|flask|hugo|jekyll", ".*", "", "U"},
    {"openssl", "v", "", "-+"},
    {"openssl version|openssl list|openssl help", ".*", "-a", "+_"},
    // Without -key it makes one: privkey.pem.
    {"openssl req", ".*",
     "-noout -text -subject -in:U -inform:. -outform:. -out:w -sha256 -sha384 -sha512 -verify "
     "-key:r -new!a -nodes -x509!a -days:. -keyout:w -subj:. -newkey:.!a -addext:. -nameopt:.",
     "+_"},
    {"openssl x509|openssl verify|openssl dgst|openssl crl", ".*",
     "-noout -text -subject -issuer -dates -enddate -startdate -fingerprint -serial "
     "-modulus -in:U -inform:. -outform:. -out:w -sha1 -sha256 -sha384 -sha512 -md5 "
     "-verify -CAfile:r -hex -r -checkend:. -pubkey -days:. -ext:. -purpose -nameopt:. -certopt:. "
     "-email -alias -hash -subject_hash -issuer_hash -ocspid -ocsp_uri -checkhost:. -checkemail:. "
     "-checkip:. -req -CA:r -CAkey:r -CAcreateserial!a -CAserial:w -set_serial:. -signkey:r "
     "-key:r -extfile:r -extensions:. -passin:. -trustout -x509toreq -untrusted:r -trusted:r "
     "-CApath:r -partial_chain -show_chain -crl_check -sha3-256 -sha3-512 -blake2b512 -binary -c "
     "-preserve_dates",
     "+_"},
    {"openssl enc|openssl base64", "",
     "-e -d -a -A -base64 -p -P -v -z -none -salt -nosalt -pbkdf2 -nopad -debug -list -ciphers "
     "-in:r -out:w -pass:. -k:. -kfile:r -K:. -S:. -iv:. -md:. -iter:. -bufsize:. "
     "-aes-128-cbc -aes-192-cbc -aes-256-cbc -aes-128-ecb -aes-256-ecb -aes-128-ctr -aes-256-ctr "
     "-aes128 -aes192 -aes256 -des3 -des-ede3-cbc -chacha20 -camellia-256-cbc",
     "+_"},
    {"openssl rand", ".", "-hex -base64 -out:w -rand:r -writerand:w", "+_"},
    // The key is a new one; where no file is named it is printed.
    {"openssl genrsa", ".",
     "-out:w -f4 -F4 -3 -primes:. -verbose -quiet -traditional -passout:. -rand:r -writerand:w "
     "-aes128 -aes192 -aes256 -aria128 -aria192 -aria256 -camellia128 -camellia192 -camellia256 "
     "-des -des3 -idea",
     "+_"},
    {"openssl genpkey", "",
     "-algorithm:. -pkeyopt:. -paramfile:r -genparam -out:w -outform:. -pass:. -text -quiet "
     "-aes-128-cbc -aes-256-cbc -aes128 -aes256 -des3",
     "+_"},
    {"openssl ecparam", "",
     "-name:. -genkey -list_curves -noout -text -check -in:r -out:w -inform:. -outform:. "
     "-param_enc:. -conv_form:.",
     "+_"},
    {"openssl rsa|openssl pkey|openssl ec", "",
     "-in:r -out:w -inform:. -outform:. -pubin -pubout -noout -text -check -modulus -passin:. "
     "-passout:. -aes128 -aes192 -aes256 -des3 -traditional -pubcheck -text_pub",
     "+_"},
    {"openssl ciphers", ".", "-v -V -s -tls1 -tls1_1 -tls1_2 -tls1_3 -stdname", "+_"},
    {"openssl passwd", ".*", "-1 -5 -6 -apr1 -aixmd5 -salt:. -stdin -in:r -noverify -quiet -table "
     "-reverse", "+_"},
    {"openssl asn1parse", "",
     "-in:r -inform:. -i -dump -offset:. -length:. -noout -strparse:.", "+_"},
    {"openssl s_client", ".*",
     "-connect:. -servername:. -showcerts -brief -quiet -tls1_2 -tls1_3 -starttls:. "
     "-CAfile:r -CApath:r -verify_return_error -host:. -port:. -crlf -alpn:. -status -tlsextdebug "
     "-no_ssl3 -no_tls1 -no_tls1_1 -no_tls1_2 -no_tls1_3 -tls1 -tls1_1 -cipher:. -ciphersuites:. "
     "-curves:. -sigalgs:. -verify:. -verify_hostname:. -ign_eof -no_ign_eof -state -debug -msg "
     "-security_debug -prexit -reconnect -noservername -4 -6 -cert:r -key:r -proxy:. -nocommands",
     "n+_"},
    {"gpg|gpg2", ".*",
     "-k!m -qv --list-keys!m --list-public-keys!m --list-signatures!m --list-sigs!m "
     "--check-signatures!m --check-sigs!m --fingerprint!m --quiet --verbose --batch --no-tty "
     "--with-colons --with-fingerprint --with-subkey-fingerprint --with-keygrip --keyid-format=. "
     "--fixed-list-mode --no-default-keyring --keyring=r",
     "U+"},
};

}  // namespace

constinit const RowTable kNetworkRows = table_of<kRows, 5>();

}  // namespace wick::shell
