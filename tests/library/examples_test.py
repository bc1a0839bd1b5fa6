#!/usr/bin/env python3
"""Each program under examples/, run on the default model, does what its first lines say."""
# labels: cli model
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from common import MODEL, ROOT

EXAMPLES = pathlib.Path(sys.argv.pop(1)).resolve() / "examples"


def example(name, *arguments):
    return subprocess.run([EXAMPLES / f"example_{name}", *arguments], text=True, capture_output=True, timeout=120)


class Examples(unittest.TestCase):
    def output(self, name, *arguments):
        done = example(name, MODEL, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_local_inference_goes_on_from_a_text(self):
        self.assertRegex(self.output("local_inference"), r"^The capital of France is Paris")
        self.assertTrue(self.output("local_inference", "One, two, three,").startswith("One, two, three, four"))

    def test_streaming_chat_answers(self):
        self.assertIn("Tokyo", self.output("streaming_chat"))

    def test_sessions_compute_only_what_is_new(self):
        counts = re.findall(r"\[(\d+) tokens, (\d+) of them cached\]", self.output("sessions"))
        self.assertEqual(len(counts), 6)
        for tokens, cached in counts[2:]:
            self.assertGreater(2 * int(cached), int(tokens))

    def test_batch_gives_each_the_answer_it_gets_alone(self):
        output = self.output("batch")  # the program itself compares
        self.assertIn("One, two, three, four, five", output)
        self.assertIn("A, B, C, D, E", output)

    def test_custom_sampler_writes_without_the_letter_e(self):
        text = self.output("custom_sampler")
        self.assertGreater(len(text), 40)
        self.assertNotRegex(text, "[eE]")

    def test_custom_constraint_holds_the_answers_to_its_rules(self):
        numbers, mail, lucky = self.output("custom_constraint").splitlines()
        rising = [int(number) for number in numbers.split(",")]
        self.assertEqual(rising, sorted(set(rising)))
        self.assertRegex(mail, r"^[a-z]{1,12}@[a-z]{1,12}\.[a-z]{2,3}$")
        self.assertRegex(lucky, r"^[0-9]{4,6}$")
        self.assertEqual(sum(map(int, lucky)) % 7, 0)

    def test_custom_arch_runs_a_file_that_wick_alone_refuses(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "acme.gguf"
            data = pathlib.Path(MODEL).read_bytes()
            end = data.index(b"tokenizer.ggml.tokens")
            path.write_bytes(data[:end].replace(b"llama", b"acme2") + data[end:])
            refused = example("local_inference", path)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("the architecture is 'acme2'", refused.stderr)
            done = example("custom_arch", path, "The capital of France is")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("Paris", done.stdout)
            self.assertEqual(done.stdout, self.output("custom_arch", "The capital of France is"))

    def test_every_example_is_run_here_and_refuses_what_is_no_model(self):
        names = sorted(path.stem for path in (ROOT / "examples").glob("*.cc"))
        self.assertEqual(names, ["batch", "custom_arch", "custom_constraint", "custom_sampler", "local_inference", "sessions", "streaming_chat"])
        for name in names:
            with self.subTest(name):
                self.assertEqual(example(name).returncode, 2)
                done = example(name, "/no/such/model.gguf")
                self.assertEqual(done.returncode, 1)
                self.assertIn("/no/such/model.gguf", done.stderr)


if __name__ == "__main__":
    unittest.main()
