#!/usr/bin/env python3
"""`wick ask` with the default model: --batch and single runs, a running server and none, a network and none give the same commands."""
# labels: cli model
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import asking
import tiny

WICK = pathlib.Path(sys.argv.pop(1)).resolve()
MODEL = tiny.default_model()
SENTENCES = ["list all files", "find text files", "show current directory", "git status", "show disk usage", "count the lines of a.txt",
             "print the date", "show the last lines of a.txt", "who am i", "find python files modified today"]


class WithModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.home = asking.Home(WICK, folder.name)
        cls.home.environment["WICK_LOCAL_MODEL_PATH"] = MODEL
        cls.single, cls.seconds = [], []
        for sentence in SENTENCES[:4]:
            begin = time.monotonic()
            cls.single.append(cls.answer(cls.home.ask("--json", sentence)))
            cls.seconds.append(time.monotonic() - begin)

    @staticmethod
    def answer(done):
        row = json.loads(done.stdout)
        return {key: row[key] for key in ("ask", "cmd", "level")}

    def batch(self, sentences):
        begin = time.monotonic()
        done = self.home.ask("--batch", "--json", stdin="".join(one + "\n" for one in sentences).encode())
        self.assertEqual(done.returncode, 0, done)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return [{key: row[key] for key in ("ask", "cmd", "level")} for row in rows], time.monotonic() - begin

    def test_progress_is_on_standard_error_and_only_on_a_terminal(self):
        def shown(*arguments):
            with tempfile.TemporaryFile() as out:
                terminal = self.home.terminal("--output", "plain", *arguments, SENTENCES[0], stdout=out)
                self.assertEqual(terminal.finish(), 0, terminal.seen)
                out.seek(0)
                return out.read().decode(), terminal.seen

        name = pathlib.Path(MODEL).name
        command, progress = shown()
        self.assertEqual(command, self.single[0]["cmd"] + "\n")
        self.assertIn(f"loading {name}…", progress)
        self.assertRegex(progress, rf"{name} on cpu, loaded in \d+\.\d\d s, answered in \d+\.\d\d s\n")
        self.assertNotIn("answered in", shown("-q")[1])
        done = self.home.ask("--output", "plain", SENTENCES[0])
        self.assertEqual(done.stdout.decode(), command)
        self.assertNotIn("load", done.stderr.decode())

    def test_a_batch_keeps_the_order_equals_single_runs_and_takes_less_time(self):
        rows, seconds = self.batch(SENTENCES[:4])
        self.assertEqual(rows, self.single)
        print(f"4 sentences: {seconds:.2f} s as a batch, {sum(self.seconds):.2f} s alone")
        self.assertLess(seconds, sum(self.seconds))
        self.assertEqual(self.batch(SENTENCES[3::-1])[0], self.single[::-1])
        self.assertEqual(list(self.home.work.iterdir()), [])

    def test_ten_sentences_take_less_than_ten_seconds(self):
        rows, seconds = self.batch(SENTENCES)
        self.assertEqual([row["ask"] for row in rows], SENTENCES)
        self.assertEqual(rows[:4], self.single)
        print(f"10 sentences: {seconds:.2f} s")
        self.assertLess(seconds, 10 if os.environ.get("WICK_TEST_STRICT") else 60)

    def test_a_server_on_the_socket_gives_the_same_command(self):
        runtime = self.home.folder / "runtime"
        runtime.mkdir(mode=0o700)
        environment = {**self.home.environment, "XDG_RUNTIME_DIR": str(runtime)}
        with subprocess.Popen([WICK, "serve", "-m", MODEL, "--unix", runtime / "wick.sock"], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as server:
            try:
                self.assertIn(b"listening", server.stdout.readline())
                del environment["WICK_LOCAL_MODEL_PATH"]
                done = subprocess.run([WICK, "ask", "--offline", "--shell", "bash", "--json", SENTENCES[0]], env=environment, capture_output=True,
                                      timeout=60, input=b"", cwd=self.home.work)
            finally:
                server.terminate()
        self.assertEqual(self.answer(done), self.single[0])

    def test_without_a_route_the_local_model_answers(self):
        space = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-Urn"]
        if subprocess.run([*space, "true"], capture_output=True).returncode != 0:
            space = ["env", "WICK_HUB_OFFLINE=true"]  # no namespaces here
        else:
            routes = subprocess.run([*space, "cat", "/proc/net/route"], capture_output=True, text=True).stdout.splitlines()
            self.assertLessEqual(len(routes), 1)  # the heading
        done = subprocess.run([*space, WICK, "ask", "--shell", "bash", "--json", SENTENCES[0]], input=b"", env=self.home.environment,
                              cwd=self.home.work, capture_output=True, timeout=60)
        self.assertEqual(self.answer(done), self.single[0])


if __name__ == "__main__":
    unittest.main()
