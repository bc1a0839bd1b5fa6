#!/usr/bin/env python3
"""What the program writes: files appear whole or not at all and replace nothing but what was asked for."""
# labels: cli
import hashlib
import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import tiny

WICK = sys.argv.pop(1)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.home = tiny.Home(WICK, folder.name)
        self.before = set(os.listdir(folder.name))

    def chat(self, session, **options):
        return self.home.wick("chat", self.home.model, "-p", "hi", "-n", "4", "--temp", "0", "--session-file", session, **options)

    def embed(self, target):
        return self.home.wick("embed", "-m", self.home.model, "a", "-o", target)

    def logits(self, out, *more):
        return self.home.wick("logits", "-m", self.home.model, "--ids", "1,2", *more, "-o", out)

    def left_over(self):
        return set(os.listdir(self.folder)) - self.before - {"store"}

    def test_a_session_file_may_be_named_without_a_folder(self):
        for _ in range(2):
            done = self.chat("rel.bin")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.left_over(), {"rel.bin"})

    def test_a_session_that_cannot_be_written_is_told_before_the_answer(self):
        for target, word in (("", b"is empty"), ("none/s.bin", b"No such file or directory"), (".", b"a folder"), ("none/", b"a folder")):
            done = self.chat(target)
            self.assertIn(done.returncode, (2, 4), target)
            self.assertEqual(done.stdout, b"", target)
            self.assertIn(word, done.stderr, target)

    def test_nothing_but_a_regular_file_is_replaced(self):
        os.mkfifo(self.folder / "pipe")
        os.symlink(self.folder / "nowhere", self.folder / "dangling")
        device = "/dev/null"
        if os.geteuid() == 0:  # a node of our own: a program that replaces it must not take the machine's
            device = self.folder / "node"
            os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
            self.before.add("node")
        os.symlink(device, self.folder / "device")
        self.before |= {"pipe", "dangling", "device"}
        for target in ("pipe", "dangling", "device", device):
            for done in (self.chat(target), self.logits(target), self.embed(target)):
                self.assertEqual(done.returncode, 2, (target, done))
                self.assertIn(b"wanted is a regular file", done.stderr, target)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.folder / "pipe").st_mode))
        self.assertTrue(stat.S_ISCHR(os.stat(device).st_mode))
        self.assertEqual(self.left_over(), set())

    def test_a_link_stays_and_the_file_behind_it_is_replaced(self):
        (self.folder / "data").mkdir()
        (self.folder / "data" / "real.npy").write_bytes(b"old")
        (self.folder / "data" / "real.npy").chmod(0o640)
        os.symlink("data/real.npy", self.folder / "link.npy")
        self.assertEqual(self.logits("link.npy").returncode, 0)
        self.assertTrue(os.path.islink(self.folder / "link.npy"))
        self.assertTrue((self.folder / "data" / "real.npy").read_bytes().startswith(b"\x93NUMPY"))
        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "data" / "real.npy").st_mode), 0o640)
        self.assertEqual(os.listdir(self.folder / "data"), ["real.npy"])

    def test_an_input_is_never_the_output(self):
        model = self.home.model.read_bytes()
        ids = self.folder / "ids.txt"
        ids.write_text("1,2")
        os.symlink("tiny.gguf", self.folder / "link.gguf")
        os.link(self.home.model, self.folder / "hard.gguf")
        for target in ("tiny.gguf", "./tiny.gguf", "link.gguf", "hard.gguf"):
            for done in (self.logits(target), self.embed(target)):
                self.assertEqual(done.returncode, 2, (target, done))
                self.assertIn(b"is read by this command", done.stderr, target)
        done = self.home.wick("embed", "-m", self.home.model, "-f", ids, "-o", ids)
        self.assertEqual((done.returncode, ids.read_text()), (2, "1,2"))
        done = self.home.wick("logits", "-m", self.home.model, "--ids-file", ids, "-o", ids)
        self.assertEqual((done.returncode, ids.read_text()), (2, "1,2"))
        self.assertEqual(self.home.model.read_bytes(), model)

    def settings(self, folder, text="[generation]\nseed = 1\n"):
        path = self.folder / folder / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.before.add(pathlib.PurePath(folder).parts[0] if folder else "config.toml")
        return path

    def test_settings_in_use_are_never_the_output(self):
        """Whoever names the file: --config, WICK_CONFIG, or the place where wick looks for it."""
        for path, flags, environment in ((self.settings("a"), True, {}), (self.settings("b"), False, {"WICK_CONFIG": self.folder / "b/config.toml"}),
                                         (self.settings("wick"), False, {})):
            before = path.read_bytes()
            more = ["--config", path] if flags else []
            os.symlink(path, self.folder / "link.toml")
            os.symlink(path, self.folder / "link.csv")
            done = self.home.wick("usage", *more, "-o", "link.csv", environment=environment)
            self.assertEqual((done.returncode, path.read_bytes()), (2, before), done)
            self.assertIn(b"is read by this command", done.stderr)
            (self.folder / "link.csv").unlink()
            for target in (path, "link.toml"):
                for command in (["logits", "-m", self.home.model, "--ids", "1", *more, "-o", target],
                                ["embed", "-m", self.home.model, "a", *more, "-o", target],
                                ["chat", self.home.model, "-p", "hi", "-n", "1", *more, "--session-file", target]):
                    done = self.home.wick(*command, environment=environment)
                    self.assertEqual((done.returncode, path.read_bytes()), (2, before), (command, done))
                    self.assertIn(b"is read by this command", done.stderr, command)
            (self.folder / "link.toml").unlink()

    def test_every_flag_that_writes_a_file_is_tried_here(self):
        def leaves(*path):
            text = self.home.wick(*path, "--help-all").stdout.decode()
            names = re.findall(r"^  ([a-z]+) ", text.partition("ubcommands:\n")[2], re.M)
            return [leaf for name in names for leaf in leaves(*path, name)] or [(path, " ".join(text.split()))]
        writing = {(*path, flag) for path, text in leaves() for flag in re.findall(r"(-\S+) TEXT (?:REQUIRED )?[^-]*?writ", text)}
        self.assertEqual(writing, {("logits", "-o"), ("embed", "-o"), ("chat", "--session-file"), ("usage", "-o,--out")})

    def test_a_talk_saves_over_nothing_that_it_reads(self):
        config = self.settings("")
        terminal = tiny.Terminal(self.home, "chat", self.home.model, "--config", config)
        terminal.until(b"> ")
        told = b"is read by this command"
        for n, target in enumerate(("config.toml", "tiny.gguf", "store/history"), 1):
            terminal.say("/save " + target)
            terminal.until(told, times=n)
        for line, told in (("/save", b"/save needs the name of a file"), ("/load", b"/load needs the name of a file"),
                           ("/load store", b"store: is a folder"), ("/load config.toml", b"config.toml: JSON is not well formed"),
                           ("/load none.json", b"none.json: cannot be read")):
            terminal.say(line)
            terminal.until(told)
        terminal.say("/quit")
        self.assertEqual(terminal.finish(), 0)
        self.assertEqual(config.read_bytes(), b"[generation]\nseed = 1\n")
        self.assertEqual(self.left_over(), set())

    def test_what_is_said_of_a_place_that_takes_no_file(self):
        for target, told in (("", b"the name of the file to write is empty"),
                             ("/proc/self/mem", b"cannot write /proc/self/mem: a new file in the folder /proc/"),
                             ("none/o.npy", b"cannot write none/o.npy: a new file in the folder none cannot be created: No such file or directory")):
            for done in (self.logits(target), self.chat(target) if target else self.logits(target)):
                self.assertIn(done.returncode, (2, 4), done)
                self.assertIn(told, done.stderr)

    def test_a_failed_write_leaves_the_old_file_and_no_other(self):
        target = self.folder / "o.npy"
        target.write_bytes(b"old")
        done = self.home.wick("logits", "-m", self.home.model, "--ids", "1,2", "-o", target,
                              preexec_fn=lambda: tiny.limit_file_size(100))
        self.assertEqual(done.returncode, 4, done)
        self.assertIn(b"File too large", done.stderr)
        self.assertIn(b"hint: make room there, or name a file on another disk", done.stderr)
        self.assertNotIn(b"WICK_HOME", done.stderr)
        self.assertEqual(target.read_bytes(), b"old")
        self.assertEqual(self.left_over(), {"o.npy"})

    def test_two_writers_at_once_both_write_whole_files(self):
        runs = [subprocess.Popen([self.home.program, "chat", self.home.model, "-p", f"question {i}", "-n", "4", "--session-file", "both.bin"],
                                 cwd=self.folder, env=self.home.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for i in range(8)]
        for run in runs:
            _, err = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 0, err)
        self.assertEqual(self.chat("both.bin").returncode, 0, "the file is one writer's, whole")
        self.assertEqual(self.left_over(), {"both.bin"})


class StandardOutput(unittest.TestCase):
    """A result that nobody got is no success."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.home = tiny.Home(WICK, folder.name, context=8192)
        self.store_a_model("here")
        (self.folder / "m.json").write_text('[{"role": "user", "content": "hi"}]')
        figures = {"test": "a", "threads": 1, "x_ms": 1, "x_ms_q1": 1, "x_ms_q3": 1}
        (self.folder / "bench.jsonl").write_text(json.dumps(figures) + "\n")
        (self.folder / "log.jsonl").write_text(json.dumps({"messages": [{"role": "user", "content": "a"}]}) + "\n")

    def store_a_model(self, name):
        data = self.home.model.read_bytes()
        sha256 = hashlib.sha256(data).hexdigest()
        for part, content in ((f"blobs/sha256-{sha256}", data), (f"models/{name}.json", json.dumps(
                {"name": name, "source": "x", "files": [{"name": "m.gguf", "sha256": sha256, "bytes": len(data)}]}).encode())):
            path = self.folder / "store" / part
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def commands(self):
        m = ["-m", self.home.model]
        ask, quick, keys = ["-p", "hi", "-n", "3"], ["-n", "2", "-r", "1"], ["--api-key-file", self.folder / "keys"]
        return [
            ["--help"], ["--version"], ["chat", "--help"], ["config", "--help"],
            ["chat", self.home.model, *ask], ["chat", self.home.model, *ask, "--json"], ["run", *m, *ask], ["run", *m, *ask, "--json"],
            ["tokenize", *m, "-p", "abc"], ["tokenize", *m, "-p", "abc", "--json"], ["tokenize", *m, "-p", "abc", "--count"],
            ["template", "m.json", *m], ["template", "m.json", *m, "--json"], ["template", "m.json", *m, "--tokens"],
            ["embed", *m, "a"], ["embed", *m, "a", "--json"], ["embed", *m, "-p", "a", "-p", "b", "--similarity"],
            ["logits", *m, "--ids", "1", "-o", "o.npy", "--json"], ["estimate", self.home.model], ["estimate", self.home.model, "--json"],
            ["bench", *m, "-p", "4", *quick], ["bench", "single", *m, *quick],
            ["bench", "chat", *m, *quick], ["bench", "serve", *m, *quick, "-p", "4", "--concurrency", "1"],
            ["bench", "matrix", *m, *quick, "-p", "4", "--warm-up", "0"], ["bench", "compare", "bench.jsonl", "bench.jsonl"],
            ["config", "show"], ["config", "show", "--json"], ["config", "path"], ["config", "schema"], ["config", "table"],
            ["check", "ls"], ["check", "rm -rf /"], ["check", "ls", "--json"], ["explain", "ls"], ["explain", "ls", "--json"],
            ["grammar", "check", "--help"], ["grammar", "sample", "--regex", "a*"], ["grammar", "explain", "--regex", "a"], ["route", "explain", "-p", "a"], ["route", "test", "log.jsonl"],
            ["usage"], ["usage", "--json"], ["serve", "--help"], ["ps", "--help"], ["stop", "--help"],
            ["key", "create", *keys], ["key", "create", *keys, "--json"], ["key", "list", *keys], ["key", "revoke", "--help"],
            ["key", "update", "--help"], ["key", "block", "--help"], ["key", "unblock", "--help"],
            ["ask", "--show-prompt", "list the files"], ["init", "bash"], ["history", "--help"], ["trash", "--help"],
            ["doctor"], ["doctor", "--json"], ["model", "list"], ["model", "list", "--json"], ["model", "info", self.home.model],
            ["model", "pull", "here"], ["model", "verify", "here"], ["model", "rm", "here"],
        ]

    def leaves(self, *path):
        """Each command that can be run, as `wick --help` tells."""
        text = self.home.wick(*path, "--help-all").stdout.decode()
        names = re.findall(r"^  ([a-z]+) ", text.partition("ubcommands:\n")[2], re.M)
        return [leaf for name in names for leaf in self.leaves(*path, name)] or [path]

    def test_a_full_disk_is_an_error_of_every_command(self):
        self.store_a_model("here")
        self.home.wick("key", "create", "--api-key-file", self.folder / "keys")  # to list: the command without a disk makes none
        tried = {tuple(word for word in command[:3] if str(word).isalpha()) for command in map(list, self.commands())}
        for leaf in self.leaves():
            self.assertTrue(any(found[:len(leaf)] == leaf for found in tried), f"{leaf} is not tried")
        for command in self.commands():
            with open("/dev/full", "wb") as full:
                done = self.home.wick(*command, stdout=full)
            self.assertEqual(done.returncode, 4, (command, done))
            self.assertIn(b"wick: standard output cannot be written: No space left on device\n", done.stderr, command)

    def test_an_error_in_json_that_stdout_does_not_take_goes_to_stderr(self):
        with open("/dev/full", "wb") as full:
            done = self.home.wick("model", "info", "/no/such.gguf", "--json", stdout=full)
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"wick: there is no file /no/such.gguf\n", done.stderr)

    def test_a_closed_stdout_is_an_error_and_no_file_takes_its_place(self):
        closed = ["sh", "-c", 'exec "$@" >&-', "sh", self.home.program]
        for command in (["model", "info", self.home.model], ["chat", self.home.model, "-p", "hi", "-n", "3", "--session-file", "s.bin"],
                        ["logits", "-m", self.home.model, "--ids", "1", "-o", "o.npy", "--json"]):
            done = subprocess.run([*closed, *map(str, command)], cwd=self.folder, env=self.home.environment, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 4, done)
            self.assertIn(b"standard output cannot be written: Bad file descriptor", done.stderr)
        self.assertTrue((self.folder / "s.bin").read_bytes().startswith(b"wick kv"))
        self.assertTrue((self.folder / "o.npy").read_bytes().startswith(b"\x93NUMPY"))
        again = self.home.wick("chat", self.home.model, "-p", "hi", "-n", "3", "--session-file", "s.bin")
        self.assertEqual(again.returncode, 0, again)

    def test_a_reader_who_has_gone_ends_the_program_without_a_word(self):
        for how in (signal.SIG_DFL, signal.SIG_IGN):
            for command in (["model", "info", self.home.model], ["config", "table"], ["--help"],
                            ["run", "-m", self.home.model, "-p", "hi", "-n", "3"]):
                reader, writer = os.pipe()
                os.close(reader)
                with open(writer, "wb") as pipe:
                    done = self.home.wick(*command, stdout=pipe, restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, how))
                self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""), (command, how))

    def test_a_pipe_that_does_not_block_gets_everything(self):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        (self.folder / "text").write_bytes(b"xyz " * 50_000)
        with subprocess.Popen([self.home.program, "tokenize", "-m", self.home.model, "--json", "-f", self.folder / "text"],
                              env=self.home.environment, stdout=writer, stderr=subprocess.PIPE) as run:
            os.close(writer)
            time.sleep(0.2)  # the pipe is full by now
            with open(reader, "rb") as pipe:
                ids = json.loads(pipe.read())["ids"]
            self.assertEqual((run.wait(timeout=60), len(ids)), (0, 200_000))


if __name__ == "__main__":
    unittest.main(verbosity=0)
