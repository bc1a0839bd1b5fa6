#!/usr/bin/env python3
"""The program as a user meets it: help, errors with hints, exit codes, JSON, piped input.

labels: cli model
"""
# labels: cli model
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import tiny

WICK = sys.argv.pop(1)
MODEL = tiny.default_model()


def wick(*args, stdin="", **env):
    return subprocess.run([WICK, *args], input=stdin, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "WICK_HOME": HOME.name, "XDG_CONFIG_HOME": HOME.name, **env})


MEASURE = """import os, re, subprocess, sys, time
run = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
anonymous = 0
while os.waitid(os.P_PID, run.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
    try:
        found = re.search(r'^Anonymous: +(\\d+)', open(f'/proc/{run.pid}/smaps_rollup').read(), re.M)
        anonymous = max(anonymous, int(found[1]) if found else 0)
    except (ProcessLookupError, FileNotFoundError):
        break
    time.sleep(0.002)
_, status, usage = os.wait4(run.pid, 0)
print(status, usage.ru_maxrss, anonymous)"""


def peak_memory(*args, stdin=""):
    """The most memory the program had at once, in bytes: (resident pages, where those of mapped files count, pages of its own).
    The first comes from the kernel's counters, which may be off by megabytes on a machine of many processors, and misses what the
    kernel has taken back; the second is counted page by page. A small process starts the program, because the kernel counts what the
    process that forks has at that moment."""
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, WICK, *args], input=stdin, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "WICK_HOME": HOME.name, "XDG_CONFIG_HOME": HOME.name})
    status, resident, anonymous = map(int, done.stdout.split())
    assert status == 0, args
    return resident * 1024, anonymous * 1024


class Program(unittest.TestCase):
    def test_every_command_explains_itself(self):
        commands = ["chat", "run", "model", "tokenize", "template", "embed", "logits", "bench", "doctor", "config", "estimate"]
        for command in commands:
            done = wick(command, "--help")
            self.assertEqual(done.returncode, 0, command)
            self.assertIn("--", done.stdout)
        top = wick("--help").stdout
        for command in commands:
            self.assertIn(command, top)

    def test_an_unknown_word_is_a_usage_error_with_a_hint(self):
        done = wick("nonsense")
        self.assertEqual(done.returncode, 2)
        self.assertIn("hint: ", done.stderr)

    def test_a_device_that_is_not_there_is_no_other_device(self):
        for kind in ("single", "serve", "chat", "matrix"):
            done = wick("bench", kind, "-m", MODEL, "--device", "cuda")
            self.assertEqual(done.returncode, 3)
            self.assertIn("there is no device 'cuda'", done.stderr)
        for done in (wick("run", "-m", MODEL, "--device", "cuda", "-p", "x"), wick("run", "-m", MODEL, "-p", "x", WICK_LOCAL_DEVICE="cuda")):
            self.assertEqual(done.returncode, 3)
            self.assertIn("there is no device 'cuda', this machine has: cpu", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_a_list_of_devices_is_checked_before_anything_is_done(self):
        for names, split, status, words in (
                ("cpu,cuda", "", 3, "there is no device 'cuda', this machine has: cpu"),
                ("cpu,", "", 3, "there is no device ''"),
                ("cpu,auto", "", 2, "'cpu,auto' names the device 'cpu' twice"),
                ("cpu", "3,1", 2, "tensor_split is '3,1', wanted are as many numbers as devices (1)"),
                ("cpu", "0", 2, "not all 0"),
                ("cpu", "x", 2, "tensor_split is 'x'")):
            for command in (["run", "-p", "x"], ["bench"], ["estimate"], ["logits", "--ids", "1", "-o", HOME.name + "/out.npy"]):
                done = wick(*command, "-m", MODEL, "--device", names, "--tensor-split", split)
                self.assertEqual(done.returncode, status, (command, done.stderr))
                self.assertIn(words, done.stderr)
        done = wick("run", "-m", MODEL, "--device", "cpu", "--tensor-split", "1", "-p", "x", "-n", "1")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_missing_file_says_so_and_what_to_do(self):
        done = wick("run", "-m", "/no/such/model.gguf", "--offline", "-p", "x")
        self.assertEqual(done.returncode, 4)
        self.assertIn("/no/such/model.gguf", done.stderr)
        self.assertIn("hint: ", done.stderr)

    def test_errors_are_json_on_stdout_when_asked(self):
        done = wick("run", "-m", "/no/such/model.gguf", "--offline", "-p", "x", "--json")
        error = json.loads(done.stdout)["error"]
        self.assertEqual(set(error), {"code", "message", "hint"})

    def test_a_number_out_of_range_is_refused_before_anything_runs(self):
        done = wick("run", "-m", MODEL, "-p", "x", "--top-p", "1.5")
        self.assertEqual(done.returncode, 2)
        self.assertIn("top-p", done.stderr)

    def test_a_prompt_that_does_not_fit_is_refused_with_the_numbers(self):
        done = wick("run", "-m", MODEL, "-c", "64", "-p", "one two three " * 40)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"prompt \d+ \+ max 1 > context 64 tokens")

    def test_greedy_answers_are_the_same_piped_flagged_and_for_any_thread_count(self):
        ask = "Name three colors."
        options = ["chat", MODEL, "--temp", "0", "-n", "24"]
        flagged = wick(*options, "-p", ask)
        piped = wick(*options, stdin=ask)
        threads = wick(*options, "-t", "3", "-p", ask)
        self.assertEqual(flagged.returncode, 0, flagged.stderr)
        self.assertGreater(len(flagged.stdout.split()), 5)
        self.assertEqual(flagged.stdout, piped.stdout)
        self.assertEqual(flagged.stdout, threads.stdout)
        self.assertNotIn("\x1b", flagged.stdout)
        self.assertEqual(flagged.stderr, "")  # quiet when piped

    def test_a_seed_gives_the_same_text_again(self):
        def answer(seed):
            return wick("run", "-m", MODEL, "-p", "Once upon a time", "-n", "16", "--seed", seed).stdout
        self.assertEqual(answer("7"), answer("7"))
        self.assertNotEqual(answer("7"), answer("8"))

    def test_a_seed_has_64_bits(self):
        def answer(*where):
            done = wick("run", "-m", MODEL, "-p", "Once", "-n", "16", "--temp", "3", "--json", *where)
            return json.loads(done.stdout)
        most = answer("--seed", "18446744073709551615")
        self.assertEqual(most["parameters"]["seed"]["value"], "18446744073709551615")
        self.assertNotEqual(most["text"], answer("--seed", "18446744073709551614")["text"])
        config = pathlib.Path(HOME.name, "seed.toml")
        config.write_text('generation.seed = "18446744073709551615"\n')
        self.assertEqual(most["text"], answer("--config", str(config))["text"])
        refused = wick("run", "-m", MODEL, "-p", "Once", "--seed", "18446744073709551616")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("seed is '18446744073709551616', allowed are whole numbers from 0 to 18446744073709551615", refused.stderr)

    def test_a_chat_goes_on_from_its_session_file_without_computing_the_past(self):
        with tempfile.TemporaryDirectory() as folder:
            file = folder + "/talk"

            def ask(*words, **env):
                return wick("chat", MODEL, "--temp", "0", "-n", "24", "--json", "--session-file", file, "-p", *words, **env)
            ask("What is the capital of Japan?")
            done = ask("And of France?")
            answer = json.loads(done.stdout)
            self.assertIn("Paris", answer["text"])
            self.assertGreater(answer["usage"]["cached_tokens"], 30)
            other = ask("And of Spain?", "--kv-type", "f16")
            self.assertEqual(other.returncode, 2)
            self.assertIn("another --kv-type", other.stdout)
            damaged = bytearray(pathlib.Path(file).read_bytes())
            damaged[len(damaged) // 2] ^= 1
            pathlib.Path(file).write_bytes(damaged)
            self.assertEqual(json.loads(ask("And of Spain?").stdout)["error"]["code"], "hash_mismatch")

    def test_a_logit_bias_bans_the_tokens_it_names(self):
        def answer(*more):
            return wick("run", "-m", MODEL, "-p", "Once upon a time", "-n", "8", "--temp", "0", *more).stdout
        plain = answer()
        self.assertIn(" city", plain)
        self.assertNotIn(" city", answer("--logit-bias", " city=-inf"))
        ids = json.loads(wick("tokenize", "-m", MODEL, "--json", stdin=" city").stdout)["ids"]
        self.assertEqual(answer("-l", f"{ids[0]}-inf"), answer("-l", " city=-inf"))
        for bad in ("x", "12", "=3", "12+", "a=1x", "12-nan"):
            self.assertEqual(wick("run", "-m", MODEL, "-p", "x", "-l", bad).returncode, 2, bad)

    def test_the_order_of_samplers_is_the_users(self):
        done = wick("run", "-m", MODEL, "-p", "x", "-n", "1", "--samplers", "top_k;no_such_thing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no_such_thing", done.stderr)
        self.assertIn("penalties;dry;top_n_sigma;top_k", done.stderr)
        common = ["run", "-m", MODEL, "-p", "Once", "-n", "8", "--seed", "3", "--temp", "5"]
        # Temperature 5 flattens what top-p sees unless it comes last.
        self.assertNotEqual(wick(*common, "--samplers", "temperature;top_p").stdout,
                            wick(*common, "--samplers", "top_p;temperature").stdout)

    def test_an_answer_ends_at_a_stop_id_and_not_before_min_tokens(self):
        common = ["run", "-m", MODEL, "-p", "Once upon a time", "-n", "12", "--temp", "0", "--json"]
        plain = json.loads(wick(*common).stdout)["text"]
        ids = json.loads(wick("tokenize", "-m", MODEL, "--json", stdin=plain).stdout)["ids"]
        done = json.loads(wick(*common, "--stop-id", str(ids[2])).stdout)
        self.assertEqual((done["stop"], done["usage"]["generated_tokens"]), ("stop", 3))
        longer = json.loads(wick(*common, "--stop-id", str(ids[2]), "--min-tokens", "5").stdout)
        self.assertGreaterEqual(longer["usage"]["generated_tokens"], 5)

    def test_log_probabilities_are_those_of_the_logits_in_double_precision(self):
        answer = json.loads(wick("run", "-m", MODEL, "-p", "Once upon a time", "-n", "6", "--seed", "2", "--json",
                                 "--logprobs", "5", "--prompt-logprobs").stdout)
        scored = answer["prompt_logprobs"] + answer["logprobs"]
        first = json.loads(wick("tokenize", "-m", MODEL, "--json", stdin="Once upon a time").stdout)["ids"][:1]
        ids = first + [token["id"] for token in scored]
        out = str(pathlib.Path(HOME.name) / "scores.npy")
        wick("logits", "-m", MODEL, "--ids", ",".join(map(str, ids[:-1])), "-o", out)
        data = pathlib.Path(out).read_bytes()
        start, vocab = 10 + int.from_bytes(data[8:10], "little"), 49152
        for i, token in enumerate(scored):
            row = struct.unpack_from(f"<{vocab}f", data, start + 4 * vocab * i)
            top = max(row)
            total = top + math.log(math.fsum(math.exp(x - top) for x in row))
            best = sorted(range(vocab), key=lambda id: (-row[id], id))[:5]
            self.assertEqual([t["id"] for t in token["top"]], best)
            for t in [token, *token["top"]]:
                self.assertAlmostEqual(t["logprob"], row[t["id"]] - total, delta=2e-6)

    def test_speculation_changes_no_token(self):
        common = ["run", "-m", MODEL, "-p", "one two three four one two three four one two", "-n", "40", "--json"]
        for how in (["--temp", "0"], ["--seed", "4"], ["--seed", "4", "--mirostat", "2"]):
            plain = json.loads(wick(*common, *how).stdout)
            drafted = json.loads(wick(*common, *how, "--spec", "ngram").stdout)
            self.assertEqual(plain["text"], drafted["text"])
            self.assertEqual(plain["usage"]["draft_tokens"], 0)
        self.assertEqual(wick(*common, "--spec", "psychic").returncode, 2)

    def test_json_answers_carry_text_stop_and_usage(self):
        done = wick("run", "-m", MODEL, "-p", "The sky is", "-n", "5", "--temp", "0", "--json")
        answer = json.loads(done.stdout)
        self.assertEqual(answer["stop"], "length")
        self.assertEqual(answer["usage"]["generated_tokens"], 5)
        self.assertEqual(answer["usage"]["cache_miss"]["reason"], "never seen")
        self.assertEqual(answer["usage"]["prompt_tokens"], 3)

    def test_json_answers_say_which_parameters_held_and_who_set_them(self):
        config = pathlib.Path(HOME.name, "some.toml")
        config.write_text("generation.top_p = 0.5\ngeneration.max_tokens = 3\n")
        ask = ["run", "-m", MODEL, "-p", "Once", "--json"]
        done = json.loads(wick(*ask, "--config", str(config), "--temp", "0.7", WICK_GENERATION_TOP_K="9").stdout)
        held = done["parameters"]
        self.assertEqual(held["temperature"], {"value": 0.7, "origin": "flag --temp"})
        self.assertEqual(held["top_p"], {"value": 0.5, "origin": f"{config}:1"})
        self.assertEqual(held["top_k"], {"value": 9, "origin": "environment WICK_GENERATION_TOP_K"})
        self.assertEqual(held["max_tokens"], {"value": 3, "origin": f"{config}:2"})
        self.assertEqual(held["min_p"], {"value": 0.05, "origin": "default"})
        again = json.loads(wick(*ask, "--temp", "0.7", "--top-p", "0.5", "--top-k", "9", "-n", "3",
                                "--seed", str(held["seed"]["value"])).stdout)
        self.assertEqual(again["text"], done["text"])

    def test_tokenize_reads_stdin_verbatim_and_keeps_control_tokens_plain(self):
        plain = json.loads(wick("tokenize", "-m", MODEL, "--json", stdin="a<|im_end|>\n").stdout)["ids"]
        special = json.loads(wick("tokenize", "-m", MODEL, "--special", "--json", stdin="a<|im_end|>\n").stdout)["ids"]
        self.assertEqual(len(special), 3)
        self.assertIn(2, special)
        self.assertNotIn(2, plain)
        lines = wick("tokenize", "-m", MODEL, "--null", "--json", stdin="a\0b b\0").stdout.splitlines()
        self.assertEqual(len(lines), 2)

    def test_tokenize_takes_texts_up_to_a_limit(self):
        endless = wick("tokenize", "-m", MODEL, "-f", "/dev/zero")
        self.assertNotEqual(endless.returncode, 0)
        self.assertIn("/dev/zero has more than 256 MB, which is the limit", endless.stderr)
        folder = wick("tokenize", "-m", MODEL, "-f", HOME.name)
        self.assertNotEqual(folder.returncode, 0)
        self.assertIn("cannot be read", folder.stderr)

    def test_tokenize_takes_a_text_in_any_parts_and_from_a_file(self):
        text = ("The 12 quick foxes\u2019 jumps, na\u00efve \u65e5\u672c\u8a9e <|im_end|>\r\n  \t{x: 3.14}" * 400).encode()
        path = os.path.join(HOME.name, "text.txt")
        pathlib.Path(path).write_bytes(text)
        for options in ([], ["--special"], ["--add-special"]):
            command = ["tokenize", "-m", MODEL, "--json", *options]
            whole = wick(*command, "--null", stdin=text.decode() + "\0").stdout
            self.assertGreater(len(json.loads(whole)["ids"]), 400 * 20)
            self.assertEqual(wick(*command, "-f", path).stdout, whole)
            with subprocess.Popen([WICK, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
                for at in range(0, len(text), 7):
                    run.stdin.write(text[at:at + 7])
                    run.stdin.flush()
                run.stdin.close()
                self.assertEqual(run.stdout.read().decode(), whole)
        count = wick("tokenize", "-m", MODEL, "--count", "-f", path).stdout
        self.assertEqual(int(count), len(json.loads(wick("tokenize", "-m", MODEL, "--json", "-f", path).stdout)["ids"]))
        missing = wick("tokenize", "-m", MODEL, "-f", "/no/such/text")
        self.assertEqual(missing.returncode, 4)
        self.assertIn("/no/such/text", missing.stderr)

    def test_logits_writes_numpy_rows_for_every_position(self):
        out = os.path.join(HOME.name, "o.npy")
        done = wick("logits", "-m", MODEL, "--ids", "1,2,3", "--kv-type", "f32", "-o", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        data = pathlib.Path(out).read_bytes()
        self.assertTrue(data.startswith(b"\x93NUMPY\x01\x00"))
        self.assertIn(b"'shape': (3, 49152)", data[:128])
        self.assertEqual(len(data), 128 + 3 * 49152 * 4)
        cut = os.path.join(HOME.name, "cut.npy")
        wick("logits", "-m", MODEL, "--ids", "1,2,3", "--kv-type", "f32", "--chunk", "1", "-o", cut)
        self.assertEqual(pathlib.Path(cut).read_bytes(), data)
        self.assertEqual(wick("logits", "-m", MODEL, "--ids", "1,49152", "-o", out).returncode, 2)
        self.assertIn("which is the limit", wick("logits", "-m", MODEL, "--ids-file", "/dev/zero", "-o", out).stderr)

    def test_bench_prints_one_object_a_line(self):
        done = wick("bench", "-m", MODEL, "-p", "16", "-n", "4", "-t", "1,2", "-r", "1", "-d", "0,32", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([row["test"] for row in rows], ["pp16", "tg4", "pp16@d32", "tg4@d32"] * 2)
        self.assertEqual({row["threads"] for row in rows}, {1, 2})
        for row in rows:
            self.assertGreater(row["tokens_per_second"], 0)
            self.assertGreater(row["gb_per_s"], 0)
            self.assertGreater(row["share_of_read_bandwidth"], 0)
            self.assertGreater(row["share_of_multiply_peak"], 0)
            # The peak is measured in the same run, and others may take the processor meanwhile.
            self.assertLess(row["share_of_multiply_peak"], 4)

    def test_bench_of_streams_is_compared_with_an_earlier_one(self):
        done = wick("bench", "serve", "-m", MODEL, "--concurrency", "1,2", "-p", "8", "-n", "4", "-r", "1", "--warm-up", "0", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([row["test"] for row in rows], ["serve c1 p8 n4", "serve c2 p8 n4"])
        before, after = pathlib.Path(HOME.name, "before.jsonl"), pathlib.Path(HOME.name, "after.jsonl")
        before.write_text(done.stdout)
        self.assertEqual(wick("bench", "compare", before, before).returncode, 0)
        for key in ("tokens_per_second", "tokens_per_second_q1", "tokens_per_second_q3"):
            rows[1][key] *= 0.9
        after.write_text("".join(json.dumps(row) + "\n" for row in rows))
        worse = wick("bench", "compare", before, after)
        self.assertEqual(worse.returncode, 4, worse.stdout)
        self.assertEqual(worse.stdout.count("  worse\n"), 1)
        self.assertEqual(wick("bench", "compare", before, after, "--limit", "20").returncode, 0)

    def test_memory_stays_within_the_plan(self):
        text = "The quick brown fox jumps over the lazy dog. " * 95  # 950 tokens
        size = ["-c", "1024", "--kv-limit", "1MB", "-t", "2"]  # then the cache is one context
        plan = json.loads(wick("estimate", MODEL, *size, "--json").stdout)
        self.assertEqual(plan["total_bytes"], sum(plan[f"{part}_bytes"] for part in ("weight", "cache", "scratch", "draft")))
        self.assertEqual(plan["context"], 1024)
        self.assertEqual([one["device"] for one in plan["devices"]], ["cpu"])
        self.assertLess(plan["total_bytes"] - plan["devices"][0]["bytes"], 2_000_000, "the rest is bookkeeping")
        program = peak_memory("estimate", MODEL, *size)  # with the tokenizer, and nothing touched
        used = peak_memory("run", "-m", MODEL, *size, "--temp", "0", "-n", "40", stdin=text)
        resident, anonymous = (of_run - of_plan for of_run, of_plan in zip(used, program))
        self.assertLessEqual(resident, plan["total_bytes"] + (4 << 20))  # what a request itself takes
        # Every weight is read, and lies in the file; whether its pages stay is the system's business.
        self.assertLessEqual(plan["weight_bytes"], os.path.getsize(MODEL))
        self.assertGreater(plan["weight_bytes"] + anonymous, 0.8 * plan["total_bytes"], "a plan far above the truth says little")

    def test_a_plan_is_shown_and_kept_to(self):
        shown = wick("estimate", MODEL, "-c", "512").stdout
        for word in ("weights", "cache", "scratch", "together", "machine"):
            self.assertIn(word, shown)
        verbose = wick("run", "-m", MODEL, "-c", "512", "-p", "x", "-n", "1", "-v")
        self.assertIn("together", verbose.stderr)
        done = wick("run", "-m", MODEL, "-c", "512", "-p", "x", "-n", "1", "--memory-limit", "50MB")
        self.assertEqual(done.returncode, 4)
        self.assertIn("the limit is 50.0 MB", done.stderr)
        self.assertEqual(done.stdout, "")
        draft = json.loads(wick("estimate", MODEL, "-c", "512", "--spec", "draft", "--draft-model", MODEL, "--json").stdout)
        self.assertGreater(draft["draft_bytes"], 98_000_000)

    def test_model_info_and_doctor_speak_json(self):
        info = json.loads(wick("model", "info", MODEL, "--json").stdout)
        self.assertEqual(info["architecture"], "llama")
        self.assertEqual(info["context"], 8192)
        doctor = json.loads(wick("doctor", "--json").stdout)
        self.assertIn(doctor["kernels"], ["scalar", "avx2", "avx512", "neon"])
        self.assertEqual((doctor["devices"], doctor["device"]), ("cpu", f"cpu/{doctor['kernels']}"))
        self.assertEqual(json.loads(wick("doctor", "--json", WICK_ISA="scalar").stdout)["kernels"], "scalar")
        self.assertEqual(wick("doctor", WICK_ISA="mmx").returncode, 2)

    def test_a_damaged_file_is_refused_by_name(self):
        path = pathlib.Path(HOME.name) / "cut.gguf"
        path.write_bytes(pathlib.Path(MODEL).read_bytes()[:3_000_000])
        done = wick("run", "-m", str(path), "-p", "x")
        self.assertEqual(done.returncode, 4)
        self.assertIn("cut.gguf", done.stderr)


if __name__ == "__main__":
    HOME = tempfile.TemporaryDirectory()
    unittest.main(verbosity=1)
