#!/usr/bin/env python3
"""Each option that a GNU tool's --help names is in its row of src/shell, or listed as unknown on purpose.

labels: cli
"""
# labels: cli
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

WICK = str(pathlib.Path(sys.argv.pop(1)).resolve())
ON_PURPOSE = pathlib.Path(__file__).parents[1] / "data/shell/unknown_options.tsv"
# GNU's coreutils, findutils, grep, sed, diffutils and gzip. Tools that Debian does not install are skipped.
TOOLS = """ls dir cat tac head tail wc nl od stat du df md5sum sha256sum cksum sum cmp diff diff3 sdiff comm readlink realpath basename dirname
pathchk touch mkdir rmdir mktemp mkfifo rm unlink cp mv ln link install chmod chown chgrp truncate shred split csplit tee sync sort uniq
cut paste join tr fold fmt pr expand unexpand base64 base32 basenc seq factor numfmt tsort uname whoami id groups date nice nohup timeout
stdbuf env printenv shuf nproc tty users who pinky hostid logname arch yes dircolors grep sed xargs gzip zcat""".split()


def options_of(tool):
    text = subprocess.run([tool, "--help"], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, timeout=20, check=False).stdout
    found = {}
    for line in text.splitlines():
        head = re.match(r"^ {1,8}(-.*?)(  |$)", line)
        if not head:
            continue
        for option in re.finditer(r"(?:(?<=[ ,])|^)(--?[A-Za-z0-9][\w-]*)((?:\[?=)\S+)?", head.group(1)):
            name, value = option.group(1), option.group(2) or ""
            if re.fullmatch(r"-[A-Za-z0-9]|--[\w-]+", name) and name not in ("--help", "--version"):
                found[name] = "=1" if value.startswith("=") and name.startswith("--") else ""
    return found


class Options(unittest.TestCase):
    def test_every_option_is_known_or_unknown_on_purpose(self):
        listed = {tuple(line.split("\t")[:2]) for line in ON_PURPOSE.read_text().splitlines() if line and line[0] != "#"}
        asked = [(tool, name, f"{tool} {name}{value}") for tool in TOOLS if shutil.which(tool) for name, value in options_of(tool).items()]
        self.assertGreater(len(asked), 500)
        lines = "".join(json.dumps({"command": command, "cwd": "/home/u/p"}) + "\n" for _, _, command in asked)
        done = subprocess.run([WICK, "check", "--batch", "--json"], input=lines, capture_output=True, text=True, timeout=60, check=True)
        gaps = set()
        for (tool, name, _), line in zip(asked, done.stdout.splitlines(), strict=True):
            if any(re.search(r"the option .* is not known", effect["why"]) for effect in json.loads(line)["effects"]):
                gaps.add((tool, name))
        self.assertEqual(sorted(gaps - listed), [], "options of --help that no row has")
        known = {(tool, name) for tool, name, _ in asked}
        self.assertEqual(sorted((listed & known) - gaps), [], "options listed as unknown that a row has")


if __name__ == "__main__":
    unittest.main()
