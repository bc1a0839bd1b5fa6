#!/usr/bin/env python3
"""Where the system refuses something, the program says so in a sentence and ends with a status of its own."""
# labels: cli
import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest

import tiny

WICK = sys.argv.pop(1)


def no_threads():
    """Each new thread would get a stack that is larger than the address space."""
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 47, resource.RLIM_INFINITY))


class Refusal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = tiny.Home(WICK, folder.name)

    def test_a_thread_that_cannot_start_is_an_error_of_every_command(self):
        model = self.home.model
        for command in (["chat", model, "-p", "hi", "-t", "4"], ["chat", model, "-p", "hi", "-t", "1"], ["run", "-m", model, "-p", "hi"],
                        ["estimate", model], ["logits", "-m", model, "--ids", "1", "-t", "2", "-o", "o.npy"],
                        ["bench", "-m", model, "-p", "8", "-n", "0", "-t", "2"], ["bench", "serve", "-m", model, "-t", "2"],
                        ["bench", "chat", "-m", model, "-t", "1"], ["model", "pull", "http://127.0.0.1:9/m.gguf"]):
            done = self.home.wick(*command, preexec_fn=no_threads)
            self.assertEqual(done.returncode, 4, (command, done))
            self.assertIn(b"wick: the system starts no further thread: ", done.stderr, command)
            self.assertIn(b"hint: ", done.stderr, command)

    def test_a_model_that_is_truncated_while_it_is_mapped_is_named(self):
        ids = self.home.folder / "ids"
        for more in ([], ["--json"]):
            model = self.home.folder / f"a \u009b\x1b{len(more)}.gguf"
            tiny.write_model(model)
            os.mkfifo(ids)
            with subprocess.Popen([self.home.program, "logits", "-m", model, "--ids-file", ids, "-o", "o.npy", *more],
                                  cwd=self.home.folder, env=self.home.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
                with open(ids, "w") as pipe:  # opens when the program does, which has mapped the model then
                    os.truncate(model, 0)
                    pipe.write("1,2")
                out, err = run.communicate(timeout=60)
            ids.unlink()
            self.assertEqual(run.returncode, 4, (out, err))
            if more:
                out = json.loads(out)["error"]
                self.assertEqual(out["code"], "file_truncated")
                self.assertIn(b"replace a model by renaming", out["hint"].encode())
            message = out["message"].encode() if more else err
            self.assertIn(f"a ???{len(more)}.gguf ended while it was being read".encode(), message)
            self.assertFalse((self.home.folder / "o.npy").exists())

    def test_an_answer_that_fails_on_its_way_keeps_what_it_said(self):
        ask = ["-n", "8", "--temp", "0"]
        run, chat = ["run", "-m", self.home.model, "-p", "hi"], ["chat", self.home.model, "-p", "hi", "--session-file", "s.bin"]
        whole = json.loads(self.home.wick(*run, *ask, "--json", "--logprobs", "0").stdout)
        ids = [token["id"] for token in whole["logprobs"]]
        bad = next(id for i, id in enumerate(ids) if i >= 3 and id not in ids[:i])
        unsaid = set(range(256)) - set(b"<|im_start|>user\nhi<|im_end|>assistant\n")
        for command, poisoned in ((run, {bad}), (chat, unsaid)):  # it is said, and what follows it is not a number
            tiny.write_model(self.home.model, poisoned=poisoned)
            done = self.home.wick(*command, *ask, "--json")
            self.assertEqual(done.returncode, 4, "the model is broken, not the device")
            self.assertEqual(done.stderr, b"")
            answer = json.loads(done.stdout)
            self.assertEqual((answer["error"]["code"], answer["stop"]), ("no_token", "error"))
            said = self.home.wick(*command, *ask)
            self.assertEqual(said.returncode, done.returncode)
            self.assertEqual(said.stdout.decode(errors="replace"), answer["text"] + "\n")
            self.assertTrue(answer["text"])
            self.assertIn(b"wick: ", said.stderr)
            if command is run:
                self.assertEqual(answer["usage"]["generated_tokens"], ids.index(bad) + 1)
                self.assertTrue(whole["text"].startswith(answer["text"]), answer["text"])
        self.assertFalse((self.home.folder / "s.bin").exists())

    def test_a_model_whose_numbers_are_no_numbers_is_an_error_of_the_model(self):
        """Exit 3 is the device's; a file that computes to nothing but NaN is no fault of it."""
        tiny.write_model(self.home.model, poisoned=range(tiny.VOCAB))
        m = ["-m", self.home.model]
        for command in (["chat", self.home.model, "-p", "hi"], ["run", *m, "-p", "hi"], ["bench", "single", *m, "-n", "2", "-r", "1"],
                        ["bench", "serve", *m, "-n", "2", "-r", "1", "-p", "4", "--concurrency", "1"]):
            done = self.home.wick(*command)
            self.assertEqual(done.returncode, 4, (command, done))
            self.assertIn(b"no logit of the model's says anything: all are NaN or -infinity", done.stderr, command)
        answer = json.loads(self.home.wick("run", *m, "-p", "hi", "--json").stdout)
        self.assertEqual(answer["error"]["code"], "no_token")


if __name__ == "__main__":
    unittest.main(verbosity=0)
