#!/usr/bin/env python3
"""`wick ask` with a model whose answers are written down: what is printed, what is asked before something runs, and what never runs."""
# labels: cli
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import asking
from asking import cmd

PROGRAM = pathlib.Path(sys.argv.pop(1)).parent / "wick_scripted_program"
DANGER = "rm -rf *"
MENU = "[q]uit > "


class Asked(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = asking.Home(PROGRAM, folder.name)
        self.marker = self.home.work / "marker"

    def fails(self, done, status, *texts):
        self.assertEqual(done.returncode, status, done)
        self.assertEqual(done.stdout, b"")
        for text in texts:
            self.assertIn(text, done.stderr.decode())


class WithoutTerminal(Asked):
    def test_the_command_alone_is_printed_and_nothing_runs(self):
        self.home.says(cmd("touch marker"))
        for more in ((), ("-y",), ("-x", "-y"), ("--print",)):
            done = self.home.ask(*more, "make a marker")
            self.assertEqual((done.returncode, done.stdout), (0, b"touch marker\n"))
            self.assertEqual(done.stderr.decode(), "risk: moderate  creates or appends to marker\n")
        self.assertFalse(self.marker.exists())
        self.assertEqual([row["outcome"] for row in self.home.history()], ["printed"] * 4)

    def test_output_names_a_format(self):
        plain = self.home.ask("--output", "plain", "x")
        self.assertEqual((plain.returncode, plain.stdout, plain.stderr), (0, b"ls\n", b"risk: safe  output only\n"))
        self.assertEqual(json.loads(self.home.ask("--output", "json", "x").stdout)["cmd"], "ls")
        self.assertEqual(json.loads(self.home.ask("--output=json", " ").stdout)["error"]["code"], "empty_sentence")
        self.fails(self.home.ask("--output", "yaml", "x"), 2, "--output is 'yaml', allowed are plain and json")

    def test_five_shapes_of_an_answer(self):
        for text, wanted in (('{"cmd":"awk \'{print $1}\' f"}', "awk '{print $1}' f"), ("```json\n" + cmd("ls -l") + "\n```", "ls -l"),
                             ("Sure! " + cmd("pwd") + " Done.", "pwd"), ("<think>{\"cmd\": \"no\"}</think>" + cmd("ls"), "ls")):
            self.home.says(text)
            self.assertEqual(self.home.ask("x").stdout.decode(), wanted + "\n")
        self.home.says("Run ls.", cmd("ls"))
        self.assertEqual(self.home.ask("x").stdout, b"ls\n")
        first, second = self.home.asked()
        self.assertEqual(second[:len(first)], first)
        self.assertEqual(second[-2], {"role": "assistant", "content": "Run ls."})
        self.assertIn("there is no JSON object", second[-1]["content"])

    def test_no_usable_answer_is_an_error_and_prose_never_a_command(self):
        for texts in (["Run ls.", "ls"], [cmd("echo 'a"), cmd("echo $(")], [None and "", '{"cmd": ""}']):
            self.home.says(*[text or "" for text in texts])
            self.fails(self.home.ask("x"), 4, "the model gave no usable command", "hint: ")
            self.assertEqual(len(self.home.asked()), 2)
        done = self.home.ask("--json", "x")
        self.assertEqual((done.returncode, json.loads(done.stdout)["error"]["code"]), (4, "no_usable_reply"))

    def test_a_local_model_is_asked_for_a_fence_and_a_server_for_json(self):
        said = {}
        for model in ("model.gguf", f"lines:{self.home.lines}"):
            for frame in ("auto", "fence", "json"):
                said[model, frame] = self.home.ask("-m", model, "--frame", frame, "--show-prompt", "x").stdout.decode()
            self.assertIn("in a fenced code block", said[model, "fence"])
            self.assertIn("with JSON alone", said[model, "json"])
            self.assertEqual(said[model, "auto"], said[model, "fence" if model == "model.gguf" else "json"])
        self.home.says("Use this:\n```sh\nls -l\n```\nIt lists.")
        self.assertEqual(self.home.ask("--frame", "fence", "x").stdout, b"ls -l\n")

    def test_limits_are_named_with_the_size(self):
        self.fails(self.home.ask(" \t "), 2, "the sentence is empty", "4096")
        self.fails(self.home.ask(), 2, "the sentence is empty")
        self.fails(self.home.ask("a" * 4097), 2, "the sentence has 4097 bytes, the limit is 4096")
        self.home.says(cmd("echo " + "".join(f"{n:04}" for n in range(1023))))
        self.fails(self.home.ask("x"), 2, "the command has 4097 bytes, the limit is 4096")
        self.fails(self.home.ask("--max-command-length", "9", "x"), 2, "the limit is 9")
        self.assertEqual(json.loads(self.home.ask("--json", " ").stdout)["error"]["code"], "empty_sentence")

    def test_a_missing_model_is_an_error_with_a_hint(self):
        self.fails(self.home.ask("-m", self.home.folder / "none.gguf", "x"), 4, "none.gguf", "hint: ")
        done = self.home.ask("-m", self.home.folder / "none.gguf", "--json", "x")
        self.assertEqual((done.returncode, sorted(json.loads(done.stdout)["error"])), (4, ["code", "hint", "message"]))

    def test_a_safe_command_has_its_line_without_colors(self):
        self.home.says(cmd("ls -la"))
        done = self.home.ask("list all files", environment={"NO_COLOR": ""})
        self.assertEqual((done.stdout, done.stderr.decode().split()[:2]), (b"ls -la\n", ["risk:", "safe"]))
        self.assertNotIn(b"\x1b", done.stderr)

    def test_a_question_is_no_command(self):
        self.home.says('{"ask": "which file?"}')
        self.fails(self.home.ask("x"), 1, "needs an answer: which file?")
        self.assertEqual(json.loads(self.home.ask("--json", "x").stdout), {"ask": "x", "question": "which file?"})

    def test_json_has_the_verdict(self):
        self.home.says(cmd(DANGER))
        said = json.loads(self.home.ask("--json", "remove all").stdout)
        self.assertEqual((said["ask"], said["cmd"], said["level"], said["shell"]), ("remove all", DANGER, "high", "bash"))
        self.assertEqual(said["effects"][0]["kind"], "deletes")
        self.assertIsInstance(said["ms"], int)
        self.assertEqual(said["retries"], 0)

    def test_what_is_piped_in_is_context(self):
        self.home.environment["WICK_SHELL_REMOTE_CONTEXT"] = "input"
        self.home.ask("what is this", stdin=b"line \"one\"\n\x1b[31m")
        self.assertTrue(self.home.asked()[0][-1]["content"].endswith(r': "line \"one\"\n\u001b[31m"'), self.home.asked()[0][-1])

    def test_input_that_is_not_sent_is_said(self):
        (self.home.work / "f").write_text("in the file")
        self.fails(self.home.ask("--input", "f", "x"), 2, "--input is not sent to this model: shell.remote_context does not list input",
                   "--remote-facts input")
        self.assertEqual(self.home.asked(), [])
        done = self.home.ask("x", stdin=b"piped")
        self.assertEqual((done.returncode, done.stdout), (0, b"ls\n"), done)
        self.assertIn(b"warning: standard input is not sent to this model: shell.remote_context", done.stderr)
        self.assertNotIn("piped", str(self.home.asked()))
        self.assertNotIn(b"warning", self.home.ask("x").stderr)
        done = self.home.ask("--remote-facts", "input", "--input", "f", "x")
        self.assertEqual((done.returncode, b"warning" in done.stderr), (0, False), done)
        self.assertIn("in the file", str(self.home.asked()[-1]))

    def test_batch_keeps_the_order_and_runs_nothing(self):
        self.home.says(*[cmd(f"touch m{n}") for n in range(8)])
        done = self.home.ask("--batch", "--json", stdin=b"".join(b"make m%d\n" % n for n in range(8)) + b"\n" + b"a" * 5000 + b"\n")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([row["ask"] for row in rows[:8]], [f"make m{n}" for n in range(8)])
        self.assertEqual(sorted(row["cmd"] for row in rows[:8]), [f"touch m{n}" for n in range(8)])
        self.assertEqual([row["error"]["code"] for row in rows[8:]], ["empty_sentence", "input_too_long"])
        self.assertEqual((done.returncode, list(self.home.work.iterdir())), (2, []))
        self.home.says(cmd("ls"))
        self.assertEqual(self.home.ask("--batch", stdin=b"list\nlist again\n").stdout, b"ls\nls\n")

    def test_batch_writes_the_bytes_of_print_or_says_that_it_cannot(self):
        self.home.says(cmd("printf 'a\tb'"))
        self.assertEqual(self.home.ask("--batch", stdin=b"x\n").stdout, b"printf 'a\tb'\n")
        self.home.says(cmd("echo a\necho b"))
        done = self.home.ask("--batch", stdin=b"x\n")
        self.assertEqual((done.stdout, done.returncode), (b"\n", 4))
        self.assertIn(b"several lines", done.stderr)
        self.assertEqual(json.loads(self.home.ask("--batch", "--json", stdin=b"x\n").stdout)["cmd"], "echo a\necho b")

    def test_alternatives(self):
        self.home.says(cmd("ls"), cmd("ls"), cmd("ls -a"), cmd("dir"))
        self.assertEqual(self.home.ask("--alternatives", "2", "list").stdout, b"ls\nls -a\ndir\n")

    def test_dry_run_lists_effects(self):
        self.home.says(cmd("mv a b && cat c"))
        done = self.home.ask("--dry-run", "x")
        self.assertEqual(done.returncode, 0)
        self.assertIn("       ^  moderate: overwrites b", done.stdout.decode())
        self.assertIn("safe: reads c", done.stdout.decode())

    def test_dry_run_has_the_models_explanation(self):
        self.home.says(cmd("touch marker"), "It makes a file.")
        done = self.home.ask("-e", "--dry-run", "x")
        self.assertEqual(done.returncode, 0)
        self.assertIn("the model says, which proves nothing: It makes a file.\n", done.stdout.decode(), done.stderr)

    def test_flags_that_contradict(self):
        for words in (("--batch", "x"), ("--batch", "--input", "f"), ("--widget", "--json", "x"), ("-x", "--print", "x")):
            done = self.home.ask(*words)
            self.assertEqual((done.returncode, b"wick ask --help" in done.stdout + done.stderr), (2, True))


class Rules(Asked):
    def rules(self, text):
        (self.home.config / "rules.toml").write_text(text)

    def test_a_broken_file_is_an_error_with_its_line_and_never_fewer_rules(self):
        for text, place in (("[[deny]]\nargv = ['rm'", ":2:"), ("[[deny]]\nargv = ['rm']\n[[deni]]\nargv = ['ls']\n", ":3:"),
                            ("\n[[deny]]\nargv = []\n", ":2:"), ("[[ask]]\nargv = ['ls']\nlevel = 'bad'\n", ":1:"), ("deny = 1\n", ":1:"),
                            ("[[allow]]\nargv = ['ls', 1]\n", ":1:")):
            self.rules(text)
            self.fails(self.home.ask("x"), 2, "rules.toml" + place)
            self.assertEqual(self.home.asked(), [])
        self.rules("")
        self.fails(self.home.ask("--rules", "more.toml", "x"), 2, "more.toml")
        path = self.home.config / "rules.toml"
        for target in ("gone.toml", "rules.toml", "/dev/null/rules.toml"):
            path.unlink()
            path.symlink_to(target)
            self.fails(self.home.ask("x"), 2, "rules.toml: is no file that can be read")
        path.unlink()
        self.home.config.rmdir()
        self.home.config.touch()
        self.fails(self.home.ask("x"), 2, "rules.toml: is no file that can be read")
        self.home.config.unlink()
        self.assertEqual(self.home.ask("x").returncode, 0)

    def test_deny_is_13_whatever_else_is_said(self):
        self.rules("[[deny]]\nargv = ['rm']\nreason = 'use trash'\n[[allow]]\nargv = ['rm']\n")
        for command in ("rm marker", "r''m marker", "ls; command rm marker", "sh -c 'rm marker'"):
            self.home.says(cmd(command))
            self.fails(self.home.ask("-y", "x"), 13, "a rule denies 'rm': use trash", "rules.toml:1")
            self.marker.touch()
            terminal = self.home.terminal("-x", "-y", "x")
            self.assertEqual(terminal.finish(), 13)
            self.assertIn("a rule denies 'rm': use trash", terminal.seen)
            self.assertTrue(self.marker.exists())
            done = self.home.ask("--json", "x")
            self.assertEqual((done.returncode, json.loads(done.stdout)["error"]["code"]), (13, "command_denied"), done)
        self.home.says(cmd("ls"), cmd("rm marker"))
        done = self.home.ask("--alternatives", "1", "x")
        self.assertEqual((done.returncode, done.stdout), (13, b""), done)
        self.home.says(cmd("echo rm"))
        self.assertEqual(self.home.ask("x").stdout, b"echo rm\n")

    def test_ask_beats_yes_and_allow(self):
        self.rules("[[ask]]\nargv = ['touch']\nreason = 'think'\n[[allow]]\nargv = ['touch']\n")
        self.home.says(cmd("touch marker"))
        terminal = self.home.terminal("-y", "x").until("rule: think").until(MENU)
        terminal.say("")
        self.assertEqual((terminal.finish(), self.marker.exists()), (1, False))

    def test_allow_lowers(self):
        self.rules("[[allow]]\nargv = ['git', 'push']\n")
        self.home.says(cmd("git push --force origin main"))
        terminal = self.home.terminal("x").until("[r]un")
        terminal.say("q")
        self.assertEqual(terminal.finish(), 1)


class AtTerminal(Asked):
    def test_colors_are_for_a_terminal_without_no_color(self):
        self.home.says(cmd("ls -la"))
        for no_color, has_color in (("", True), ("1", False)):
            terminal = self.home.terminal("list all files", environment={"NO_COLOR": no_color}).until(MENU).say("")
            self.assertEqual(terminal.finish(), 1)
            self.assertEqual(re.search(rb"risk: \x1b\[[0-9;]*msafe", terminal.raw) is not None, has_color, terminal.raw)
            self.assertEqual(b"risk: safe" in terminal.raw, not has_color)

    def test_a_redirected_output_gets_the_command_alone(self):
        self.home.says(cmd("touch marker"))
        with open(self.home.folder / "out", "w+b") as out:
            terminal = self.home.terminal("-x", "-y", "x", stdout=out)
            self.assertEqual(terminal.finish(), 0)
            out.seek(0)
            self.assertEqual(out.read(), b"touch marker\n")
        self.assertIn("…", terminal.seen)  # the progress
        self.assertIn("risk: moderate", terminal.seen)
        self.assertFalse(self.marker.exists())

    def test_enter_and_other_words_quit_and_nothing_runs(self):
        self.home.says(cmd("touch marker"))
        for word in ("", "q", "n", "no"):
            terminal = self.home.terminal("make a marker").until("touch marker\nrisk: moderate").until(MENU)
            terminal.say(word)
            self.assertEqual((terminal.finish(), self.marker.exists()), (1, False), terminal.seen)
        self.assertEqual({row["outcome"] for row in self.home.history()}, {"declined"})

    def test_a_word_that_is_no_key_asks_again(self):
        self.home.says(cmd("touch marker"))
        terminal = self.home.terminal("x").until(MENU).say("execute").until("There is no execute.").until(MENU, times=2).say("")
        self.assertEqual((terminal.finish(), self.marker.exists()), (1, False))

    def test_r_and_y_run_and_the_status_is_the_commands(self):
        for key in ("r", "y", "run", "yes"):
            self.home.says(cmd("printf '%s' \"$0\" > marker; (exit 7)"))
            terminal = self.home.terminal("x").until(MENU).say(key)
            self.assertEqual((terminal.finish(), self.marker.exists()), (7, True), terminal.seen)
            self.marker.unlink()
        self.home.says(cmd("kill -9 $$"))
        self.assertEqual(self.home.terminal("--safety-level", "permissive", "x").until(MENU).say("r").finish(), 128 + 9)

    def test_x_asks_once(self):
        self.home.says(cmd("touch marker"))
        terminal = self.home.terminal("-x", "x").until("Run this command? [y/N] ").say("")
        self.assertEqual((terminal.finish(), self.marker.exists()), (1, False))
        self.home.says(cmd("touch marker; (exit 7)"))
        terminal = self.home.terminal("-x", "x").until("touch marker; (exit 7)\nrisk: moderate").until("[y/N] ").say("y")
        self.assertEqual((terminal.finish(), self.marker.exists()), (7, True))

    def test_high_wants_the_word_and_yes_does_not_cover_it(self):
        self.home.says(cmd(DANGER))
        self.marker.touch()
        for more in ((), ("-y",), ("--allow-critical", "-y")):
            terminal = self.home.terminal(*more, "x").until("type `delete` to run, ").say("r").until("This needs the word.")
            terminal.until(MENU, times=2).say("y").until(MENU, times=3).say("")
            self.assertEqual((terminal.finish(), self.marker.exists()), (1, True))
        terminal = self.home.terminal("x").until(MENU).say("delete")
        self.assertEqual((terminal.finish(), self.marker.exists()), (0, False))
        self.marker.touch()
        terminal = self.home.terminal("-x", "-y", "x").until("Type `delete`: ").say("y")
        self.assertEqual((terminal.finish(), self.marker.exists()), (1, True))

    def test_critical_is_refused_then_wants_its_target(self):
        # With this home the command deletes the test's own folder, and only when it runs.
        self.home.says(cmd("rm -rf ~"))
        (self.home.home / "marker").touch()
        for more in ((), ("-y",)):
            terminal = self.home.terminal(*more, "x").until("critical needs --allow-critical").say("r").until("This does not run.")
            terminal.until(MENU, times=2).say("")
            self.assertEqual(terminal.finish(), 1)
        terminal = self.home.terminal("-x", "-y", "x")
        self.assertEqual(terminal.finish(), 13)
        terminal = self.home.terminal("--allow-critical", "-y", "x").until("to run, ")
        target = terminal.seen.split("type `")[1].split("`")[0]
        terminal.say("y").until("This needs the word.").say("delete").until(MENU, times=3)
        self.assertTrue((self.home.home / "marker").exists())
        terminal.say(target)
        terminal.finish()
        self.assertFalse((self.home.home / "marker").exists(), terminal.seen)

    def test_strict_and_permissive(self):
        self.home.says(cmd("touch marker"))
        terminal = self.home.terminal("--safety-level", "strict", "x").until("type `create` to run").say("create")
        self.assertEqual((terminal.finish(), self.marker.exists()), (0, True))
        self.home.says(cmd(DANGER))
        terminal = self.home.terminal("--safety-level", "strict", "x").until("safety.level refuses it").say("delete").until(MENU, times=2)
        terminal.say("")
        self.assertEqual((terminal.finish(), self.marker.exists()), (1, True))
        terminal = self.home.terminal("--safety-level", "permissive", "-y", "x").until("[r]un").say("r")
        self.assertEqual((terminal.finish(), self.marker.exists()), (0, False))

    def test_yes_runs_safe_and_moderate(self):
        self.home.says(cmd("touch marker; echo done"))
        terminal = self.home.terminal("-y", "x")
        self.assertEqual((terminal.finish(), self.marker.exists()), (0, True))
        self.assertNotIn(MENU, terminal.seen)

    def test_end_of_input_interrupts_and_a_lost_terminal_run_nothing(self):
        self.home.says(cmd("touch marker"))
        terminal = self.home.terminal("x").until(MENU)
        # The prompt comes before the line editor takes the terminal, which makes a NUL of an earlier Ctrl-D: Ctrl-U removes it.
        while terminal.run.poll() is None:
            terminal.type("\x15\x04")
            time.sleep(0.1)
        self.assertEqual(terminal.finish(), 1)
        terminal = self.home.terminal("x").until(MENU)
        terminal.interrupt()
        self.assertEqual(terminal.finish(), 130)
        terminal = self.home.terminal("x").until(MENU)
        os.close(terminal.end)
        self.assertEqual(terminal.run.wait(timeout=30), 1)
        self.home.says(None)
        terminal = self.home.terminal("x").until("…")
        took = terminal.interrupt()
        self.assertEqual(terminal.finish(), 130)
        self.assertLess(took, 1)
        self.assertFalse(self.marker.exists())

    def test_ctrl_c_goes_to_the_command_and_the_terminal_is_its_own(self):
        self.home.says(cmd("echo 'rea'dy; cat; echo 'aft'er"))
        terminal = self.home.terminal("x").until(MENU).say("r").until("ready")
        terminal.interrupt()
        self.assertEqual(terminal.finish(), 130)
        self.assertNotIn("after", terminal.seen)

    def test_edit_is_judged_again(self):
        self.home.says(cmd("touch marke"))
        terminal = self.home.terminal("x").until(MENU).say("e").until("edit > ").until("touch marke", times=2)
        terminal.say("r; rm -rf /").until("critical").until(MENU, times=2).say("")
        self.assertEqual((terminal.finish(), self.marker.exists()), (1, False))
        terminal = self.home.terminal("-i", "x").until("edit > ").until("touch marke").say("r").until("touch marker\nrisk").until(MENU)
        terminal.say("r")
        self.assertEqual((terminal.finish(), self.marker.exists()), (0, True))

    def test_revise_goes_to_the_same_conversation(self):
        self.home.says(cmd("find . -name '*.tmp' -delete"), cmd("touch marker"))
        terminal = self.home.terminal("remove temporary files").until(MENU).say("v only big ones").until("touch marker\nrisk").until(MENU, times=2)
        terminal.say("r")
        self.assertEqual((terminal.finish(), self.marker.exists()), (0, True))
        asked = self.home.asked()[1]
        self.assertEqual([row["content"] for row in asked[-3:]],
                         ["remove temporary files", json.dumps({"cmd": "find . -name '*.tmp' -delete"}), "only big ones"])

    def test_a_question_is_answered(self):
        self.home.says('{"ask": "which file?"}', cmd("touch marker"))
        terminal = self.home.terminal("convert").until("needs an answer: which file?").say("a.mov").until(MENU).say("r")
        self.assertEqual((terminal.finish(), self.marker.exists()), (0, True))
        self.home.says('{"ask": "which file?"}')
        terminal = self.home.terminal("convert").until("which file?").say("")
        self.assertEqual(terminal.finish(), 1)

    def test_alternatives_are_chosen(self):
        self.home.says(cmd("ls"), cmd("touch marker"))
        terminal = self.home.terminal("--alternatives", "1", "x").until("which one > ").say("2").until(MENU).say("r")
        self.assertEqual((terminal.finish(), self.marker.exists()), (0, True))

    def test_explain_names_effects_and_marks_the_models_words(self):
        self.home.says(cmd("touch marker"), "It makes a file.")
        terminal = self.home.terminal("-e", "x").until("the model says, which proves nothing: It makes a file.").until(MENU)
        terminal.say("x").until("moderate: creates or appends to marker", times=2).until(MENU, times=2).say("")
        self.assertEqual(terminal.finish(), 1)

    def test_copy_writes_to_the_terminals_clipboard(self):
        self.home.says(cmd("touch marker"))
        terminal = self.home.terminal("x").until(MENU).say("c")
        self.assertEqual((terminal.finish(), self.marker.exists()), (0, False))
        self.assertIn(b"\x1b]52;c;dG91Y2ggbWFya2Vy\x07", terminal.raw)

    def test_hostile_characters_are_shown_escaped_and_at_least_high(self):
        for text, shown in (("touch marker\x1b[2J", "\\x1B[2J"), ("touch mar\u202eker", "\\u202E"), ("t\u043euch marker", "t\u043euch"),
                            ("touch\u200b marker", "\\u200B"), ("touch marker\rls", "\\x0D")):
            self.home.says(cmd(text))
            terminal = self.home.terminal("-y", "x").until(MENU)
            self.assertIn(shown, terminal.seen)
            self.assertRegex(terminal.seen, "risk: (high|critical)")
            self.assertNotIn(b"\x1b[2J", terminal.raw)
            terminal.say("")
            self.assertEqual((terminal.finish(), self.marker.exists()), (1, False))

    def test_a_nul_does_not_run(self):
        self.home.says(cmd("touch marker\0; ls"))
        terminal = self.home.terminal("x")
        self.assertEqual((terminal.finish(), self.marker.exists()), (4, False))
        self.assertIn("holds a NUL byte", terminal.seen)

    def test_no_rc_file_and_no_function_of_the_environment(self):
        (self.home.home / "rc").write_text("touch marker\n")
        self.home.says(cmd("ls"))
        terminal = self.home.terminal("x", environment={"BASH_ENV": str(self.home.home / "rc"), "BASH_FUNC_ls%%": "() { touch marker; }"})
        terminal.until(MENU).say("r")
        self.assertEqual((terminal.finish(), self.marker.exists()), (0, False))

    def test_other_shells_run_it(self):
        for shell, text in (("sh", "echo $0 > marker"), ("zsh", "print -r $ZSH_NAME > marker"), ("fish", "status fish-path > marker")):
            if subprocess.run(["sh", "-c", f"command -v {shell}"], stdout=subprocess.DEVNULL).returncode:
                continue  # the journeys of .ci/long have all of them
            self.home.says(cmd(text))
            terminal = asking.Terminal(self.home, "ask", "--shell", shell, "--safety-level", "permissive", "x").until(MENU).say("r")
            self.assertEqual(terminal.finish(), 0, terminal.seen)
            self.assertIn(shell, self.marker.read_text())
        self.home.says(cmd("ls"))
        terminal = asking.Terminal(self.home, "ask", "--shell", "frobnish", "x").until("warning: the shell 'frobnish' is not known").until("risk: high").until(MENU).say("")
        self.assertEqual(terminal.finish(), 1)


class Acts(Asked):
    def test_trash_and_restore(self):
        for name in ("a.tmp", "b.tmp", "c.txt"):
            (self.home.work / name).write_text(name)
        self.home.says(cmd("rm *.tmp"))
        terminal = self.home.terminal("x").until("[t]rash instead").say("t")
        self.assertEqual(terminal.finish(), 0, terminal.seen)
        self.assertEqual(sorted(os.listdir(self.home.work)), ["c.txt"])
        self.assertIn("a.tmp", self.home.wick("trash", "--list").stdout.decode())
        undo = self.home.wick("history", "--undo").stdout.decode().splitlines()
        self.assertEqual(len(undo), 2)
        for line in undo:
            self.assertEqual(line.split()[:3], ["wick", "trash", "--restore"])
            self.assertEqual(self.home.wick(*line.split()[1:]).returncode, 0)
        self.assertEqual((self.home.work / "a.tmp").read_text(), "a.tmp")
        self.assertEqual(sorted(os.listdir(self.home.work)), ["a.tmp", "b.tmp", "c.txt"])
        self.assertEqual(self.home.wick("trash", "--list").stdout, b"")

    def test_trash_is_offered_for_what_it_can_do(self):
        (self.home.work / "d").mkdir()
        for command in ("rm d", "rm none", "rm $X", "rm a | cat", "rm -rf /", "rm a > b"):
            self.home.says(cmd(command))
            terminal = self.home.terminal("x").until(MENU)
            self.assertNotIn("[t]rash", terminal.seen, command)
            terminal.say("")
            terminal.finish()

    def test_trash_command(self):
        (self.home.work / "a b").write_text("x")
        self.assertEqual(self.home.wick("trash", "a b").returncode, 0)
        self.assertFalse((self.home.work / "a b").exists())
        (self.home.work / "a b").write_text("new")
        done = self.home.wick("trash", "--restore", "a b")
        self.assertEqual((done.returncode, "is there already" in done.stderr.decode()), (2, True))
        (self.home.work / "a b").unlink()
        self.assertEqual(self.home.wick("trash", "--restore", "a b").returncode, 0)
        self.assertEqual((self.home.work / "a b").read_text(), "x")
        self.assertEqual(self.home.wick("trash", "none").returncode, 2)
        self.assertEqual(self.home.wick("trash").returncode, 2)

    def test_undo_is_said_before_and_takes_back(self):
        (self.home.work / "a").write_text("x")
        self.home.says(cmd("mv a b"))
        terminal = self.home.terminal("x").until("undo: mv -n -- ").until(MENU).say("r")
        self.assertEqual(terminal.finish(), 0)
        self.assertEqual(os.listdir(self.home.work), ["b"])
        for line in self.home.wick("history", "--undo").stdout.decode().splitlines():
            subprocess.run(["bash", "-c", line], check=True)
        self.assertEqual(os.listdir(self.home.work), ["a"])
        self.home.says(cmd("rm a"))
        terminal = self.home.terminal("x").until("no undo").until(MENU).say("r")
        self.assertEqual(terminal.finish(), 0)
        done = self.home.wick("history", "--undo")
        self.assertEqual((done.returncode, done.stdout), (1, b""))

    def test_an_undo_command_that_would_be_masked_is_none(self):
        """`rm -- /…/***` would remove every file there."""
        for name in ("npm_debug_backup.log", "AbcdefGhijklmnopqrstuvwxyz0123456789"):
            self.home.says(cmd(f"touch {name}"))
            terminal = self.home.terminal("x").until("no undo").until(MENU).say("r")
            self.assertEqual(terminal.finish(), 0)
            self.assertTrue((self.home.work / name).exists())
            done = self.home.wick("history", "--undo")
            self.assertEqual((done.returncode, done.stdout), (1, b""))

    def test_history_has_the_level_that_was_shown(self):
        def level():
            return self.home.history()[-1]["level"]

        for words in (("--print",), ("--widget",), ("--json",)):
            done = self.home.wick("ask", "--shell", "tcsh", *words, "x")
            shown = json.loads(done.stdout)["level"] if words == ("--json",) else done.stderr.decode()
            self.assertIn("high", shown)
            self.assertEqual(level(), "high", words)
        terminal = asking.Terminal(self.home, "ask", "--shell", "tcsh", "x").until("risk: high").until(MENU).say("")
        self.assertEqual((terminal.finish(), level()), (1, "high"))
        (self.home.config / "rules.toml").write_text("[[ask]]\nargv = ['ls']\nlevel = 'moderate'\n")
        self.assertIn("risk: moderate", self.home.ask("--print", "x").stderr.decode())
        self.assertEqual(level(), "moderate")
        terminal = self.home.terminal("x").until("risk: moderate").until(MENU).say("")
        self.assertEqual((terminal.finish(), level()), (1, "moderate"))

    def test_the_verdict_is_about_the_bytes_and_never_the_models(self):
        self.home.says(json.dumps({"cmd": "r''m -rf /", "level": "safe"}))
        self.assertIn("risk: critical", self.home.ask("--print", "x").stderr.decode())

    def test_history_is_private_and_has_no_secrets(self):
        secrets = ["ghp_" + "a1B2" * 9, "hunter2secret", "AKIAABCDEFGHIJKLMNOP", "sk-" + "x9Y" * 12, "eyJ" + "hbGciOi" * 6]
        self.home.says(cmd(f"curl -H 'Authorization: Bearer {secrets[0]}' -u me:{secrets[1]} https://me:{secrets[1]}@example.com; "
                           f"AWS_KEY={secrets[2]} TOKEN={secrets[3]} mysql --password={secrets[1]}"))
        self.home.ask(f"log in with token {secrets[4]}, password: {secrets[1]}", stdin=b"piped " + secrets[0].encode())
        path = self.home.home / ".local/state/wick/history.jsonl"
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        text = path.read_text()
        for secret in secrets:
            self.assertNotIn(secret, text)
        self.assertIn("***", text)
        path.chmod(0o644)
        self.home.ask("x")
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        self.home.ask("--no-history", "not this one")
        self.assertNotIn("not this one", path.read_text())
        self.assertIn("log in", self.home.wick("history", "--search", "log in").stdout.decode())
        self.assertEqual(json.loads(self.home.wick("history", "--last", "--json").stdout)["ask"], "x")
        path.unlink()
        path.symlink_to(self.home.work / "elsewhere")
        done = self.home.ask("x")
        self.assertEqual(done.returncode, 0)
        self.assertIn("warning", done.stderr.decode())
        self.assertFalse((self.home.work / "elsewhere").exists())


class Widget(Asked):
    def line(self, command, shell="bash", *more):
        self.home.says(cmd(command))
        return self.home.wick("ask", "--widget", "--shell", shell, *more, "--", "some sentence")

    def test_the_line_has_no_end_and_nothing_runs(self):
        done = self.line("touch marker")
        self.assertEqual((done.returncode, done.stdout), (0, b"touch marker"))
        self.assertIn("risk: moderate", done.stderr.decode())
        self.assertFalse(self.marker.exists())

    def test_critical_is_a_comment(self):
        for shell, begin in (("bash", b"# critical: "), ("sh", b"# critical: ")):
            done = self.line("rm -rf /; echo 'x'\nls", shell)
            self.assertTrue(done.stdout.startswith(begin), done)
            self.assertNotIn(b"\n", done.stdout)

    def test_history_expansion_is_escaped(self):
        for command, wanted in (("echo hello!x", r"echo hello\!x"), ('echo "a!b"', r'echo "a"\!"b"'), ("echo 'a!b'", "echo 'a!b'"),
                                ("test ! -e x", "test ! -e x"), ("[ a != b ]", "[ a != b ]"), (r"echo \!x", r"echo \!x")):
            self.assertEqual(self.line(command).stdout.decode(), wanted)

    def test_what_a_terminal_obeys_never_gets_there(self):
        for command in ("echo '\x1b[2J'", "echo '\u202e'", "echo 'a\tb'", "echo 'a\rb'"):
            done = self.line(command)
            self.fails(done, 4, "so it is not put into the line")

    def test_failure_prints_nothing(self):
        self.home.says("no", "no")
        self.fails(self.home.wick("ask", "--widget", "--shell", "bash", "--", "x"), 4)
        self.home.says('{"ask": "which?"}')
        self.fails(self.home.wick("ask", "--widget", "--shell", "bash", "--", "x"), 1, "needs an answer: which?")

    def test_the_sentence_is_kept_where_asked(self):
        self.assertEqual(self.line("ls", "bash", "--keep-sentence").stdout, b"ls  # some sentence")

    def test_scripts_are_accepted_by_their_shells(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.home.wick("init", shell).stdout
            self.assertIn(b"ask --widget --shell " + shell.encode(), script)
            if subprocess.run(["sh", "-c", f"command -v {shell}"], stdout=subprocess.DEVNULL).returncode == 0:
                self.assertEqual(subprocess.run([shell, "-n"], input=script, capture_output=True).stderr, b"")
        self.assertIn(rb'"\C-g": __wick_widget', self.home.wick("init", "bash", "--key", "ctrl-g").stdout)
        for words in (("init", "tcsh"), ("init", "bash", "--key", "ctrl-c"), ("init", "bash", "--key", "alt-';x")):
            self.assertEqual(self.home.wick(*words).returncode, 2)


if __name__ == "__main__":
    unittest.main()
