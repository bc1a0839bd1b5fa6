#!/usr/bin/env python3
"""The program's start: commands do without the libraries that they do not need. A shell's start: the script of `wick init` starts no process.

labels: cli
"""
# labels: cli
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

WICK = str(pathlib.Path(sys.argv.pop(1)).resolve())
LATE = ("libcurl.so.4", "libssl.so.3", "libcrypto.so.3", "libzip.so.4", "libsqlite3.so.0", "libedit.so.2")
# What the shell knows of its children before and after the script, and the keys then. $FOLDER has the script and takes the answers.
RC = {"bash": """read -r before </proc/$$/stat
. $FOLDER/script
read -r after </proc/$$/stat
printf '%s\n' "$before" "$after" >$FOLDER/children
{ bind -X; bind -s; } >$FOLDER/keys
exit
""", "zsh": """read -r before </proc/$$/stat
. $FOLDER/script
read -r after </proc/$$/stat
print -rl -- $before $after >$FOLDER/children
bindkey '^[w' >$FOLDER/keys
exit
""", "fish": """read before </proc/$fish_pid/stat
source $FOLDER/script
read after </proc/$fish_pid/stat
printf '%s\n' $before $after >$FOLDER/children
bind --user >$FOLDER/keys
exit
"""}
OWN_KEY = {"bash": "bind -x '\"\\ew\": echo mine'\n", "zsh": "bindkey '^[w' beginning-of-line\n", "fish": "bind \\ew 'echo mine'\n"}
OWN_COMMAND = {"bash": "echo mine", "zsh": "beginning-of-line", "fish": "echo mine"}


class Start(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for library in LATE:  # the loader's search finds these files first, and they are no libraries
            pathlib.Path(self.folder.name, library).write_text("no library")

    def wick(self, *args, **env):
        return subprocess.run([WICK, *args], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "LD_LIBRARY_PATH": self.folder.name, "WICK_HOME": self.folder.name, **env})

    def test_check_runs_without_them(self):
        done = self.wick("check", "ls -l")
        self.assertEqual((done.returncode, done.stdout), (0, "safe\n"), done.stderr)

    def test_a_download_without_libcurl_says_so(self):
        pathlib.Path(self.folder.name, "libcrypto.so.3").unlink()
        done = self.wick("model", "pull", "http://127.0.0.1:1/x.gguf")
        self.assertEqual(done.returncode, 4)
        self.assertIn("libcurl cannot be loaded", done.stderr)
        self.assertIn("install libcurl", done.stderr)

    def test_keys_tls_and_ledger_name_the_library_that_is_missing(self):
        for args, library, package in ((("key", "create", "--api-key-file", f"{self.folder.name}/keys"), "libcrypto", "libssl3"),
                                       (("serve", "--port", "0", "--tls-cert", "a", "--tls-key", "b"), "libssl", "libssl3"),
                                       (("usage",), "libsqlite3", "libsqlite3-0")):
            with self.subTest(library):
                done = self.wick(*args, XDG_STATE_HOME=self.folder.name)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn(f"{library} cannot be loaded", done.stderr)
                self.assertIn(f"Debian: {package})", done.stderr)
                there = self.wick(*args, XDG_STATE_HOME=self.folder.name, LD_LIBRARY_PATH="")
                self.assertNotIn("cannot be loaded", there.stderr)

    def test_doctor_names_libcurl_or_says_that_it_is_missing(self):
        rows = json.loads(self.wick("doctor", "--json", LD_LIBRARY_PATH="").stdout)
        self.assertRegex(rows["network"], r"^libcurl/\d+\.\d+")
        without = self.wick("doctor", "--json")
        self.assertEqual(without.returncode, 2)
        self.assertIn("libcurl cannot be loaded", json.loads(without.stdout)["network"])

    def test_check_loads_none_of_them(self):
        report = self.wick("check", "ls -l", LD_DEBUG="files", LD_LIBRARY_PATH="").stderr
        loaded = set(re.findall(r"file=(lib[^.\s]*)", report))
        self.assertIn("libstdc++", loaded)  # the loader did report
        self.assertEqual(loaded & {library.split(".")[0] for library in LATE}, set())


class Shells(unittest.TestCase):
    """Interactive shells on a terminal; the script of `wick init` is sourced."""

    def started(self, shell, before="", runtime=True):
        """(page faults of children before the script, after it, bound keys, what the terminal shows)"""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        home = pathlib.Path(folder.name)
        environment = {"HOME": str(home), "ZDOTDIR": str(home), "FOLDER": str(home), "XDG_CONFIG_HOME": str(home / "config"),
                       "PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8"}
        if runtime:
            environment["XDG_RUNTIME_DIR"] = str(home)
        script = subprocess.run([WICK, "init", shell], env=environment, capture_output=True, timeout=60, check=True).stdout
        (home / "script").write_bytes(script)
        rc = home / {"bash": "bashrc", "zsh": ".zshrc", "fish": "config/fish/config.fish"}[shell]
        rc.parent.mkdir(parents=True, exist_ok=True)
        rc.write_text(before + RC[shell])
        end, other = pty.openpty()
        run = subprocess.Popen([shell, *(["--rcfile", str(rc)] if shell == "bash" else []), "-i"], stdin=other, stdout=other, stderr=other,
                               env=environment, cwd=home, start_new_session=True)
        os.close(other)
        shown = bytearray()

        def read():
            try:
                while part := os.read(end, 65536):
                    shown.extend(part)
            except OSError:  # the terminal's other side is closed
                pass

        reader = threading.Thread(target=read)
        reader.start()
        try:
            run.wait(30)
        finally:
            run.kill()
            reader.join()
            os.close(end)
        # Behind the name in brackets, cminflt is the ninth: it grows when a child ends.
        faults = [int(line.rpartition(")")[2].split()[8]) for line in (home / "children").read_text().splitlines()]
        return (*faults, (home / "keys").read_text(), shown.decode(errors="replace"))

    def shells(self):
        found = [shell for shell in RC if shutil.which(shell)]
        self.assertIn("bash", found)
        return found

    def test_the_script_binds_the_key_and_starts_no_process(self):
        for shell in self.shells():
            for runtime in (True, False):  # without it, the folder of the history takes the file
                with self.subTest(shell=shell, runtime=runtime):
                    before, after, keys, shown = self.started(shell, runtime=runtime)
                    self.assertEqual(after, before, "a child ended while the script ran")
                    self.assertIn("__wick_widget", keys)
                    self.assertNotIn("wick:", shown)

    def test_a_process_would_be_seen(self):
        for shell in self.shells():
            with self.subTest(shell=shell):
                before, after, *_ = self.started(shell, "mkdir $FOLDER/x; ")
                self.assertEqual(after, before)
                self.assertGreater(before, 0)

    def test_a_key_of_the_user_is_left_alone(self):
        for shell in self.shells():
            with self.subTest(shell=shell):
                before, after, keys, shown = self.started(shell, OWN_KEY[shell])
                self.assertEqual(after, before)
                self.assertIn(OWN_COMMAND[shell], keys)
                self.assertIn("the key is bound already", shown)


if __name__ == "__main__":
    unittest.main()
