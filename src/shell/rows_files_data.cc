// Commands that read, list, copy, move and delete files: coreutils, findutils, archives, disks.
// How a row reads: shell/rows.h.
#include "shell/rows_data.h"

namespace wick::shell {

namespace {

constexpr RowText kRows[] = {
    {"ls|dir|vdir", "n*",
     "-aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1 -I:. -T:. -w:. --all --almost-all "
     "--author --escape --block-size=. --ignore-backups --color?. --directory "
     "--dired --classify?. --file-type --format=. --full-time "
     "--group-directories-first --no-group --human-readable --si "
     "--dereference-command-line --dereference-command-line-symlink-to-dir --hide=. "
     "--hyperlink?. --indicator-style=. --inode --ignore=. --kibibytes --dereference "
     "--numeric-uid-gid --literal --hide-control-chars --show-control-chars "
     "--quote-name --quoting-style=. --reverse --recursive --size --sort=. --time=. "
     "--time-style=. --tabsize=. --width=. --context --zero",
     ""},
    {"cat", "r*",
     "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank "
     "--show-tabs --show-nonprinting",
     ""},
    {"tac", "r*", "-br -s:. --before --regex --separator=.", ""},
    {"rev", "r*", "", ""},
    {"head", "r*",
     "-0 -qvz -n:. -c:. --bytes=. --lines=. --quiet --silent --verbose "
     "--zero-terminated",
     "e"},
    {"tail", "r*",
     "-0 -fFqvz -n:. -c:. -s:. --bytes=. --follow?. --lines=. "
     "--max-unchanged-stats=. --pid=. --quiet --silent --retry --sleep-interval=. "
     "--verbose --zero-terminated",
     "e"},
    {"wc", "r*",
     "-clLmw --bytes --chars --lines --max-line-length --words --files0-from=J "
     "--total=.",
     "="},
    {"nl", "r*",
     "-p -b:. -d:. -f:. -h:. -i:. -l:. -n:. -s:. -v:. -w:. --body-numbering=. "
     "--section-delimiter=. --footer-numbering=. --header-numbering=. "
     "--line-increment=. --join-blank-lines=. --number-format=. --no-renumber "
     "--number-separator=. --starting-line-number=. --number-width=.",
     ""},
    {"od", "r*",
     "-abcdfilosxv -A:. -j:. -N:. -S:. -t:. -w:. --address-radix=. --endian=. "
     "--skip-bytes=. --read-bytes=. --strings?. --format=. --output-duplicates "
     "--width?. --traditional",
     ""},
    {"hexdump|hd", "r*", "-bcCdovx -e:. -f:r -L -n:. -s:.", "+"},
    {"xxd", "rw", "-abeEhipruvC -c:. -g:. -l:. -n:. -o:. -s:. -d", "+-"},
    {"strings", "r*",
     "-afwiv -n:. -t:. -e:. -T:. -o --all --data --print-file-name --bytes=. "
     "--radix=. --include-all-whitespace --encoding=. --target=.",
     ""},
    {"stat", "n*", "-Lft -c:. --dereference --file-system --cached=. --format=. --printf=. --terse",
     ""},
    {"file", "r*",
     "-bEhiIkLlnNprsSvzZ0dD -e:. -F:. -f:J -P:. -m:r --brief --exclude=. --extension "
     "--mime --mime-type --mime-encoding --keep-going --list --dereference "
     "--no-dereference --no-buffer --no-pad --print0 --preserve-date --parameter=. "
     "--raw --special-files --uncompress --separator=. --files-from=J --magic-file=r "
     "--apple --debug",
     ""},
    {"du", "n*",
     "-0abcDHhklmLPSsx -B:. -d:. -t:. -X:r --null --all --apparent-size "
     "--block-size=. --bytes --total --dereference-args --max-depth=. "
     "--files0-from=r --human-readable --inodes --dereference --count-links "
     "--no-dereference --separate-dirs --si --summarize --threshold=. --time?. "
     "--time-style=. --exclude-from=r --exclude=. --one-file-system",
     ""},
    {"df", "n*",
     "-ahHiklmPTv -B:. -t:. -x:. --all --block-size=. --human-readable --si --inodes "
     "--local --no-sync --output?. --portability --print-type --total --type=. "
     "--exclude-type=. --sync",
     ""},
    {"tree", "n*",
     "-adflxqNQpugshDFtcrUiACSnXJv -R!w -L:. -P:. -I:. -H:. -T:. -o:w --du --si --inodes "
     "--device --prune --dirsfirst --noreport --nolinks --charset=. --filelimit=. "
     "--timefmt=. --sort=. --gitignore --matchdirs --ignore-case --fromfile",
     "+"},
    {"md5", "r*", "-pqrtx -s:. -c:.", "+"},
    {"md5sum|sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|b2sum", "r*",
     "-bctwz -l:. --binary --check --tag --text --zero --ignore-missing --quiet "
     "--status --strict --warn --length=.",
     ""},
    {"cksum|sum", "r*",
     "-w --ignore-missing --quiet --status --strict --warn "
     "-rscz -l:. -a:. --sysv --algorithm=. --length=. --untagged --debug --check "
     "--zero --tag",
     ""},
    {"cmp", "rr..",
     "-v "
     "-bls -i:. -n:. --print-bytes --ignore-initial=. --verbose --bytes=. --quiet "
     "--silent",
     ""},
    {"diff", "rr*",
     "-v --paginate --no-ignore-file-name-case --GTYPE-group-format=. --LTYPE-line-format=. "
     "-aBbcdeEilnNpqsTtuwyZ -r@R -C:. -F:. -I:. -L:. -S:. -U:. -W:. -x:. -X:r -D:. "
     "--normal --brief --report-identical-files --context?. --unified?. --ed --rcs "
     "--side-by-side --width=. --left-column --suppress-common-lines "
     "--show-c-function --show-function-line=. --label=. --expand-tabs --initial-tab "
     "--tabsize=. --suppress-blank-empty --recursive@R --no-dereference --new-file "
     "--unidirectional-new-file --ignore-file-name-case --exclude=. --exclude-from=r "
     "--starting-file=. --from-file=r --to-file=r --ignore-case "
     "--ignore-tab-expansion --ignore-trailing-space --ignore-space-change "
     "--ignore-all-space --ignore-blank-lines --ignore-matching-lines=. --text "
     "--strip-trailing-cr --ifdef=. --line-format=. --old-line-format=. --new-line-format=. "
     "--unchanged-line-format=. --old-group-format=. --new-group-format=. "
     "--unchanged-group-format=. --changed-group-format=. --minimal --horizon-lines=. "
     "--speed-large-files --color?. --palette=.",
     ""},
    {"diff3", "rrr",
     "-v --overlap-only --strip-trailing-cr --diff-program=e "
     "-AaeEimTxX3 -L:. --show-all --text --ed --show-overlap --merge --label=. "
     "--initial-tab --easy-only",
     ""},
    {"comm", "rr",
     "-123z --check-order --nocheck-order --output-delimiter=. --total "
     "--zero-terminated",
     ""},
    {"readlink", "n*",
     "-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing "
     "--no-newline --quiet --silent --verbose --zero",
     ""},
    {"realpath", "n*",
     "-eLmPqsz --canonicalize-existing --canonicalize-missing --logical --physical "
     "--quiet --relative-to=. --relative-base=. --strip --no-symlinks --zero",
     ""},
    {"basename", ".*", "-az -s:. --multiple --suffix=. --zero", ""},
    {"dirname", ".*", "-z --zero", ""},
    {"pathchk", ".*", "-pP --portability", ""},
    {"namei", "n*", "-xmolnv --mountpoints --modes --owners --long --nosymlinks --vertical", ""},
    {"touch", "a*",
     "-acfhm -d:. -r:n -t:. --no-create --date=. --no-dereference --reference=n "
     "--time=.",
     ""},
    {"mkdir", "a*", "-pvZ -m:. --mode=. --parents --verbose --context?.", ""},
    {"rmdir", "0*", "-pv --ignore-fail-on-non-empty --parents --verbose", ""},
    {"mktemp", "X*", "-dqV -u!0 -p:X -t --directory --dry-run!0 --quiet --suffix=. --tmpdir?X",
     "ae"},
    {"mkfifo", "a*", "-Z -m:. --mode=. --context?.", ""},
    {"mknod", "a..*", "-Z -m:. --mode=.", "P"},
    {"rm", "d*",
     "-dfiIv -R@D -r@D --recursive@D --dir --force --interactive?. --one-file-system "
     "--no-preserve-root --preserve-root?. --verbose",
     ""},
    {"unlink", "d", "", ""},
    {"cp", "r*w",
     "-bfHilLnPpsTuvxZ -a@R -d -R@R -r@R -S:. -t:w$ --archive@R --attributes-only --backup?. "
     "--copy-contents --debug --force --interactive --link --dereference "
     "--no-clobber --no-dereference --preserve?. --no-preserve=. --parents "
     "--recursive@R --reflink?. --remove-destination --sparse=. "
     "--strip-trailing-slashes --symbolic-link --suffix=. --target-directory=w$ "
     "--no-target-directory --update?. --verbose --one-file-system --context?. "
     "--keep-directory-symlink",
     ""},
    {"mv", ">*w",
     "-bfinTuvZ -S:. -t:w$ --backup?. --debug --exchange --force --interactive "
     "--no-clobber --no-copy --strip-trailing-slashes --suffix=. "
     "--target-directory=w$ --no-target-directory --update?. --verbose --context",
     ""},
    {"rename|prename|file-rename", "eD*", "-fnvd -e:e --force --no-act --verbose --nono", "+"},
    {"ln", "4*a",
     "-bdfFiLnPrsTv -S:. -t:a$ --backup?. --directory --force@w --interactive "
     "--logical --no-dereference --physical --relative --symbolic --suffix=. "
     "--target-directory=a$ --no-target-directory --verbose",
     ""},
    {"link", "4a", "", ""},
    {"install", "r*w",
     "-Z --preserve-context --context?. "
     "-bcCdDpsTv -g:. -m:y -o:. -S:. -t:w$ --backup?. --compare --directory@a "
     "--group=. --mode=y --owner=. --preserve-timestamps --strip --strip-program=e "
     "--suffix=. --target-directory=w$ --no-target-directory --verbose",
     ""},
    {"chmod", "ym*",
     "-cfv -R@M -r?y# -s?y# -t?y# -w?y# -x?y# -X?y# "
     "--changes --silent --quiet --verbose --no-preserve-root "
     "--preserve-root --recursive@M --reference=n#",
     ""},
    {"chown|chgrp", ".m*",
     "-cfhvHLP -R@M --changes --silent --quiet --verbose --dereference "
     "--no-dereference --from=. --no-preserve-root --preserve-root --recursive@M "
     "--reference=n#",
     ""},
    {"chattr", ".m*", "-fVR@M -v:. -p:.", "+"},
    {"lsattr", "n*", "-RVadlvp", "+"},
    {"setfacl", "m*",
     "-m:. -x:. -M:r -X:r -bkndLP -R@M --modify=. --remove=. --remove-all "
     "--recursive@M --restore=r!U",
     ""},
    {"getfacl", "n*",
     "-aceEsRLPtpnd --access --default --recursive --numeric --absolute-names "
     "--omit-header",
     ""},
    {"truncate", "w*", "-co -r:n -s:. --no-create --io-blocks --reference=n --size=.", ""},
    {"shred", "z*",
     "-fuvxz -n:. -s:. --force --iterations=. --random-source=r --size=. --remove?. "
     "--verbose --exact --zero",
     ""},
    {"wipe|srm", "z*", "-cDfFikqrRsvz -b:. -Q:. -P:.", "+"},
    {"split", "ra",
     "-deuvxz -a:. -b:. -C:. -l:. -n:. -t:. --suffix-length=. --additional-suffix=. "
     "--bytes=. --line-bytes=. --numeric-suffixes?. --hex-suffixes?. "
     "--elide-empty-files --filter=x --lines=. --number=. --separator=. --unbuffered "
     "--verbose",
     "w"},
    {"csplit", "r.*",
     "--silent "
     "-kqsz -b:. -f:a -n:. --suffix-format=. --prefix=a --keep-files --digits=. "
     "--quiet --elide-empty-files --suppress-matched",
     "w"},
    {"tee", "w*", "-ip -a@a --append@a --ignore-interrupts --output-error?.", ""},
    {"sync", "n*", "-df --data --file-system", ""},
    {"gzip|gunzip|bzip2|bunzip2|xz|unxz|lzma|unlzma|zstd|unzstd|lz4|compress|"
     "uncompress|pigz",
     "w*",
     "-019fkLnNqvV2345678 -d@w -z@w -r@W -S:. -b:. -p:. -T:. -c@r -t@r -l@r -h!0 --license!0 "
     "--stdout@r --to-stdout@r --decompress@w --uncompress@w --force --keep --list@r --no-name "
     "--name --quiet --recursive@W --rm!w --suffix=. --synchronous --test@r --verbose "
     "--fast --best --rsyncable --threads=. --compress@w --extreme",
     ""},
    {"stdout:gzip|stdout:gunzip|stdout:bzip2|stdout:bunzip2|stdout:xz|stdout:unxz|stdout:lzma|"
     "stdout:unlzma|stdout:zstd|stdout:unzstd|stdout:lz4|stdout:compress|stdout:uncompress|"
     "stdout:pigz",
     "r*",
     "-019cdfhklLnNqrtvVz2345678 -S:. -b:. -p:. -T:. --stdout --to-stdout --decompress "
     "--uncompress --force --keep --list --no-name --name --quiet --recursive --rm!w --suffix=. "
     "--synchronous --test --verbose --fast --best --rsyncable --threads=. --compress --extreme",
     ""},
    {"zcat|bzcat|xzcat|lzcat|zstdcat|gzcat|lz4cat", "r*",
     "-S:. -k --list --recursive "
     "--suffix=. --synchronous --test --verbose --keep --no-name --name "
     "-cdfhlLnNqrtvV --stdout --force --quiet",
     ""},
    {"zgrep|bzgrep|xzgrep|zegrep|zfgrep", ".r*",
     "-EFPivwxcLlqsbHhnoarUzIZy -e:.# -f:r# -m:. -A:. -B:. -C:. --color?.", ""},
    {"zdiff|zcmp|xzdiff|bzdiff", "rr", "-abBcdiqrsuw", ""},
    {"zless|zmore|bzless|xzless", "r*", "", ""},
    {"bzip2recover", "r", "", "U"},
    {"rpm2cpio", "r", "", "+"},
    {"uuencode", "r.", "-mr", "+"},
    {"pv", "r*",
     "-0abcCeEfgIklnpqrStTW8 -A:. -B:. -D:. -d:p -F:. -H:. -i:. -L:. -N:. -P:w -s:. -w:. "
     "--progress --timer --eta --rate --bytes --line-mode --null --quiet --numeric --wait --force "
     "--interval=. --name=. --size=. --rate-limit=. --width=. --height=. --buffer-size=. --cursor "
     "--average-rate --fineta --no-splice --skip-errors --stop-at-size --format=.",
     ""},
    {"zip", "wr*",
     "-0123456789bcdeEfFgGhjJklLoqrRSuvVXyz -x:. -i:. -n:. -P:. -s:. -t:. -m!U -T!U "
     "--exclude=. --include=. --recurse-paths --quiet --junk-paths --password=.",
     "+"},
    {"unzip", "r.*", "-aACbjLnoquUVWXK -d:w -p!0 -l!0 -v!0 -t!0 -z!0 -Z!0 -c!0 -P:. -x", "w+"},
    {"zipinfo", "r.*", "-12ChlMmstTvz", "+"},
    {"ar", "..r*", "", "U"},
    {"ldd", "L*", "-vudr --verbose --unused --data-relocs --function-relocs", ""},
    {"identify", "I*",
     "-verbose -ping -quiet -unique -moments -format:E -precision:. -units:. -depth:. -density:. "
     "-version",
     "+_"},
    {"convert|magick", "I*3",
     "-resize:. -crop:. -quality:. -rotate:. -density:. -geometry:. -gravity:. -background:. "
     "-fill:. -pointsize:. -colorspace:. -depth:. -type:. -size:. -delay:. -loop:. -scale:. "
     "-sample:. -thumbnail:. -extent:. -blur:. -sharpen:. -unsharp:. -level:. -modulate:. "
     "-fuzz:. -border:. -bordercolor:. -compress:. -units:. -alpha:. -channel:. -threshold:. "
     "-gamma:. -page:. -dispose:. -layers:. -colors:. -brightness-contrast:. -contrast-stretch:. "
     "-interlace:. -filter:. -sampling-factor:. -roll:. -shave:. -splice:. -chop:. -swirl:. "
     "-wave:. -charcoal:. -paint:. -sepia-tone:. -posterize:. -opaque:. -transparent:. "
     "-strokewidth:. -stroke:. -limit:. -strip -flip -flop -negate -normalize -trim "
     "-auto-orient -append -coalesce -flatten -monochrome -equalize -enhance -despeckle "
     "-verbose -quiet -transpose -transverse -version",
     "+_"},
    {"pdftotext", "rw",
     "-f:. -l:. -r:. -x:. -y:. -W:. -H:. -fixed:. -colspacing:. -enc:. -eol:. -opw:. -upw:. "
     "-layout -raw -nodiag -htmlmeta -bbox -bbox-layout -tsv -cropbox -nopgbrk -listenc -q -v -h",
     "+_"},
    {"pdfinfo", "r",
     "-f:. -l:. -enc:. -opw:. -upw:. -box -meta -custom -js -struct -struct-text -isodates "
     "-rawdates -dests -url -listenc -v -h",
     "+_"},
    {"cpio", ".*",
     "-AbBcdfklLmnostSuvV0 -C:. -D:W -E:r -F:w -H:. -I:r -M:. -O:w -R:. -i!U -p@C "
     "--append --create --block-size=. --dereference --directory=W --dot --extract!U --file=w "
     "--format=. --io-size=. --link --list --make-directories --no-absolute-filenames "
     "--no-preserve-owner --nonmatching --null --numeric-uid-gid --only-verify-crc --owner=. "
     "--pass-through@C --pattern-file=r --preserve-modification-time --quiet --rename-batch-file=r "
     "--sparse --swap --swap-bytes --swap-halfwords --unconditional --verbose",
     "+"},
    {"7z|7za|7zr", "v", "", "+-"},
    {"7z l|7z t|7za l|7za t|7zr l|7zr t", "r.*", "", "+"},
    {"7z a|7z x|7z e|7z d|7z u|7za a|7za x", ".*", "", "wU+"},
    {"ffprobe", "U",
     "-v:. -loglevel:. -hide_banner -show_format -show_streams -show_entries:. -show_frames "
     "-show_packets -show_chapters -show_programs -show_error -show_data -count_frames "
     "-count_packets -select_streams:. -read_intervals:. -of:. -print_format:. -pretty -unit "
     "-prefix -sexagesimal -byte_binary_prefix -version -formats -codecs -i:U",
     "+_"},
    {"ldconfig", ".*",
     "-p!0 -NvXn -C:r -f:r -r:n -c:. -V!0 -l --print-cache!0 --verbose --format=.",
     "I"},
    {"nm|objdump|readelf|size", "r*",
     "-aADdCfghHiIlnoprsStTuvVwWxX -j:. -M:. --demangle --disassemble --headers --symbols "
     "--all --dynamic --sections --section-headers --program-headers",
     "+"},
    {"fsck|e2fsck|fsck.ext4|fsck.vfat|xfs_repair|tune2fs|resize2fs|e2label", "z*", "", "U"},
    {"mkfs|mkfs.ext2|mkfs.ext3|mkfs.ext4|mkfs.xfs|mkfs.btrfs|mkfs.vfat|mkfs.ntfs|"
     "mkfs.fat|mke2fs|mkswap|mkfs.exfat|mkfs.f2fs",
     "z.",
     "-cDFfIKjnqvV -b:. -C:. -E:. -G:. -g:. -i:. -J:. -L:. -l:. -m:. -N:. -O:. -r:. "
     "-t:. -T:. -U:. -d:. -s:. -S:. -R:. --type=. --label=. --force",
     "+"},
    {"wipefs", "z*",
     "-afipqJ -b!a -n@n -o:. -t:. --all --backup!a --force --noheadings --no-act@n --offset=. "
     "--output=. --parsable --quiet --types=. --json",
     ""},
    {"blkdiscard", "z",
     "-fszv -o:. -l:. -p:. --force --offset=. --length=. --step=. --secure --zeroout "
     "--verbose",
     ""},
    {"hdparm", "z*", "-aAcdgIitTvBS", "+"},
    {"fdisk|sfdisk|gdisk|sgdisk|cfdisk|parted|cryptsetup|dmsetup|mdadm|zpool|zfs|"
     "btrfs|pvremove|vgremove|lvremove|pvcreate|vgcreate|lvcreate|lvresize",
     "z*", "-l@n --list@n", "U"},
    {"swapon", "n*",
     "-adefv -o:. -p:. -L:. -U:. -s!0 --show?.!0 --all --discard?. --ifexists --fixpgsz "
     "--options=. --priority=. --summary!0 --noheadings --raw --bytes --verbose",
     "P"},
    {"swapoff|losetup|umount", "n*", "-aflnrRvsde -o:. -t:. --all --show?. --list", "P"},
    {"mount", "nn",
     "-abfilnrsvwFhM -t:. -o:. -O:. -L:. -U:. -B --bind --move --rbind --all "
     "--types=. --options=. --read-only",
     "PE"},
    {"lsblk", "n*",
     "-abdDzfiJlmnOpPrsStTVAMNqv -e:. -I:. -o:. -E:. -x:. -w:. --all --bytes "
     "--nodeps --discard --exclude=. --fs --include=. --ascii --json --list --merge "
     "--perms --noheadings --output=. --output-all --paths --pairs --raw --inverse "
     "--scsi --topology --tree?. --sort=. --zoned",
     ""},
    {"blkid", "n*", "-g!m -iklpDdhv -c:w -L:. -O:. -o:. -s:. -t:. -U:.", "+"},
    {"findmnt", "n*",
     "-aAbcCDeEfFhiJklmnNPpRrsuUvVxyZ -O:. -o:. -t:. -S:. -T:. -M:. --df --all "
     "--ascii --json --list --kernel --noheadings --output=. --pairs --raw "
     "--target=. --types=. --submounts --verify",
     ""},
    {"locate|mlocate|plocate", ".*",
     "-AbceiLNPpqSw0 -d:r -l:. -n:. -r:. --all --basename --count --existing "
     "--ignore-case --limit=. --null --regex --regexp=. --statistics --wholename",
     ""},
    {"updatedb", "", "", "U"},
    {"lsof", "n*", "-abCEhKlnNOPRtUvVxX -c:. -d:. -F?. -g:. -i?. -p:. -s:. -u:. -S:. -T:.", "+"},
    {"fuser", "n*", "-acfilmMsuvVw46 -k!q -n:.", "+"},
    {"dircolors", "r",
     "--bourne-shell --c-shell "
     "-bcp --sh --csh --print-database --print-ls-colors",
     ""},
    {"chroot", "nc", "--groups=. --userspec=. --skip-chdir", "P"},
    {"mountpoint", "n", "-dqx --nofollow --fs-devno --quiet --devno", ""},
    {"vidir", "n*", "", "U"},
    {"shuf", "r",
     "-z -e@. -i:. -n:. -o:w -r --echo@. --input-range=. --head-count=. --output=w "
     "--random-source=r --repeat --zero-terminated",
     "e"},
    {"exiftool", "O*",
     "-s -S -s1 -s2 -s3 -a -G -G0 -G1 -G2 -G3 -g -g1 -j -json -X -csv -n -t -T -l -h -H -D -e -f "
     "-q "
     "-u -U -b -r@R -recurse@R -d:. -dateFormat:. -c:. -ext:. -lang:. -charset:. -sep:. -x:. -fast "
     "-fast2 -ver -validate -warning -error -common -all -All -ALL -EXIF:all -exif:all -EXIF:All "
     "-IPTC:all -iptc:all -XMP:all -xmp:all -GPS:all -gps:all -time:all -Time:All -Make -Model "
     "-DateTimeOriginal -CreateDate -ModifyDate -FileModifyDate -FileName -FileSize -FileType "
     "-MIMEType -ImageSize -ImageWidth -ImageHeight -Orientation -GPSLatitude -GPSLongitude "
     "-GPSPosition -GPSAltitude -LensModel -Lens -ISO -FNumber -Aperture -ShutterSpeed "
     "-ExposureTime -FocalLength -Duration -Title -Artist -Author -Creator -Copyright -Keywords "
     "-Subject -Comment -Description -PageCount -Software -SerialNumber",
     "+_"},
    {"rsync", "hh*",
     "-abcCdDEgHhiIklLmnoOpPqrRStuvWxXyzAUNFVJ0 -8@h -e:e -f:. -T:. -M:e -B:. "
     "--archive --verbose --quiet --recursive --links --copy-links --perms --owner "
     "--group --times --dry-run --human-readable --progress --partial --stats "
     "--compress --exclude=. --exclude-from=r --include=. --include-from=r "
     "--files-from=J --info=. --update --inplace --checksum --size-only "
     "--ignore-existing --ignore-errors --bwlimit=. --timeout=. --max-size=. "
     "--min-size=. --delete!D --delete-after!D --delete-before!D --delete-during!D "
     "--delete-excluded!D --remove-source-files!D --rsh=e --rsync-path=e --backup "
     "--backup-dir=. --suffix=. --mkpath --relative --hard-links --acls --xattrs "
     "--numeric-ids --chmod=. --chown=. --itemize-changes --list-only --whole-file "
     "--append --sparse --port=. --password-file=r --log-file=w --temp-dir=w "
     "--out-format=. --filter=. --iconv=. --copy-dirlinks --blocking-io "
     "--remove-sent-files!D",
     ""},
};

}  // namespace

constinit const RowTable kFileRows = table_of<kRows, 0>();

}  // namespace wick::shell
