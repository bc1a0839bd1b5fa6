#!/usr/bin/env python3
"""How far `wick ask` reaches: what leaves this machine, the socket of a running server, the sandbox, doctor."""
# labels: cli
import http.server
import json
import os
import pathlib
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import asking
import tiny
from asking import cmd

WICK = os.path.abspath(sys.argv.pop(1))
PROGRAM = pathlib.Path(WICK).parent / "wick_scripted_program"
MENU = "[q]uit > "


class Upstream(http.server.BaseHTTPRequestHandler):
    """OpenAI's API; keeps the bytes that it got."""
    got, says = [], cmd("ls")

    def log_message(self, *_):
        pass

    def do_POST(self):
        Upstream.got.append((str(self.headers), self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for delta, finish in (({"content": self.says}, None), ({}, "stop")):
            self.wfile.write(b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")


class Socket(Upstream):
    """The same on a Unix socket, and when each request came."""
    asked_at, says = [], "```bash\nls\n```"

    def address_string(self):
        return "unix"

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"object": "list", "data": [{"id": "m", "object": "model", "created": 0, "owned_by": "x"}]}).encode())

    def do_POST(self):
        Socket.asked_at.append(time.monotonic())
        super().do_POST()


class Reach(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = asking.Home(PROGRAM, folder.name)

    def start_upstream(self, models='["m"]', more=""):
        Upstream.got.clear()
        upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        self.addCleanup(upstream.server_close)
        self.addCleanup(upstream.shutdown)
        (self.home.config / "config.toml").write_text(
            f'[[provider]]\nname = "up"\nkind = "vllm"\nendpoint = "http://127.0.0.1:{upstream.server_port}/v1"\nmodels = {models}\n{more}')

    def test_a_secret_that_is_typed_into_the_command_stays_here(self):
        self.start_upstream()
        secrets = [f"canary{n}x{os.urandom(8).hex()}" for n in range(3)]
        terminal = self.home.terminal("-e", "list files", environment={"WICK_LOCAL_MODEL_PATH": "up/m"}).until(MENU).say("e").until("edit > ls")
        terminal.say(f" --password={secrets[0]} https://me:{secrets[1]}@host API_TOKEN={secrets[2]}").until(secrets[2] + "\nrisk").until(MENU, times=2)
        terminal.say("v shorter").until(MENU, times=3).say("e").until("edit > ls", times=2).say(f" -u me:{secrets[0]}; export TOKEN={secrets[1]}")
        terminal.until(MENU, times=4).say("x").until(MENU, times=5).say("")
        self.assertEqual(terminal.finish(), 1)
        requests = [json.loads(body)["messages"] for _, body in Upstream.got]
        self.assertEqual(len(requests), 4)  # a proposal, its explanation, the change, an explanation
        self.assertIn("--password=***", requests[2][-2]["content"])
        self.assertIn("-u me:***", requests[3][-1]["content"])
        kept = json.dumps(requests) + (self.home.home / ".local/state/wick/history.jsonl").read_text()
        for secret in secrets:
            self.assertNotIn(secret, kept)

    def test_a_remote_model_gets_what_show_prompt_prints_and_no_canary(self):
        self.start_upstream()
        canaries = [f"canary{n:02}x{os.urandom(8).hex()}" for n in range(50)]
        for canary in canaries[:20]:
            (self.home.work / canary).touch()
        (self.home.work / ".git").mkdir()
        (self.home.work / ".git/HEAD").write_text(f"ref: refs/heads/{canaries[20]}\n")
        environment = {"WICK_LOCAL_MODEL_PATH": "up/m", **{f"SECRET_{n}": canary for n, canary in enumerate(canaries[21:40])}}
        words = ("list", "files")
        shown = self.home.ask("--show-prompt", "--json", *words, environment=environment)
        text = self.home.ask("--show-prompt", *words, environment=environment).stdout.decode()
        self.assertEqual(Upstream.got, [])
        done = self.home.ask(*words, environment=environment, stdin=" ".join(canaries[40:]).encode())
        self.assertEqual((done.returncode, done.stdout), (0, b"ls\n"), done)
        (headers, body), = Upstream.got
        self.assertEqual(json.loads(body)["messages"], json.loads(shown.stdout))
        for message in json.loads(shown.stdout):
            self.assertIn(message["content"], text)
        known = {"model", "messages", "stream", "stream_options", "temperature", "max_tokens", "response_format"}
        self.assertLessEqual(set(json.loads(body)), known)
        history = (self.home.home / ".local/state/wick/history.jsonl").read_text()
        for canary in [*canaries, str(self.home.home)]:
            self.assertNotIn(canary, headers + body)
        for canary in canaries:
            self.assertNotIn(canary, history + done.stderr.decode())

    def test_the_socket_of_a_running_server_is_used(self):
        model = self.home.folder / "tiny.gguf"
        tiny.write_model(model, context=2048)
        runtime = self.home.folder / "runtime"
        runtime.mkdir(mode=0o700)
        environment = {**self.home.environment, "XDG_RUNTIME_DIR": str(runtime)}
        environment.pop("WICK_LOCAL_MODEL_PATH")
        environment["WICK_LOCAL_THREADS"] = "1"
        with subprocess.Popen([WICK, "serve", "-m", model, "--unix", runtime / "wick.sock"], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as server:
            self.addCleanup(server.kill)
            self.assertIn(b"listening", server.stdout.readline())
            begin = time.monotonic()
            done = subprocess.run([WICK, "ask", "--offline", "--shell", "bash", "--json", "list"], env=environment, capture_output=True, timeout=60,
                                  input=b"", cwd=self.home.work)
            took = time.monotonic() - begin
            server.terminate()
            log = server.communicate(timeout=30)[1].decode()
        self.assertIn("/v1/chat/completions", log)
        # What the tiny model says is noise: a command, or no usable answer.
        self.assertIn(done.returncode, (0, 1, 4), done)
        self.assertLess(took, 30)
        # Without the server there is no such model here, and none may be fetched.
        done = subprocess.run([WICK, "ask", "--offline", "--shell", "bash", "list"], env=environment, capture_output=True, timeout=60, input=b"",
                              cwd=self.home.work)
        self.assertEqual((done.returncode, b"hint: " in done.stderr), (4, True))

    def serve_and_ask(self, program, model, asked, secrets):
        """What the server and each (arguments, standard input) of `asked` printed; the server has secrets in its environment, too."""
        runtime = self.home.folder / "runtime"
        runtime.mkdir(mode=0o700, exist_ok=True)
        environment = {**self.home.environment, "XDG_RUNTIME_DIR": str(runtime), "WICK_LOCAL_THREADS": "1",
                       **{f"SECRET_{n}": secret for n, secret in enumerate(secrets)}}
        environment.pop("WICK_LOCAL_MODEL_PATH")
        with subprocess.Popen([program, "serve", "-m", model, "--unix", runtime / "wick.sock"], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=self.home.work) as server:
            self.addCleanup(server.kill)
            self.assertIn(b"listening", server.stdout.readline())
            done = [subprocess.run([WICK, "ask", "--offline", "--shell", "bash", *words], env=environment, capture_output=True, timeout=60,
                                   input=text.encode(), cwd=self.home.work) for words, text in asked]
            server.terminate()
            out, log = server.communicate(timeout=30)
        return out.decode() + log.decode(), done

    def test_no_canary_is_in_the_log_of_a_server_or_in_the_history(self):
        canaries = [f"canary{n:02}x{os.urandom(8).hex()}" for n in range(50)]
        environment, listing, stdin, command = canaries[:20], canaries[20:30], canaries[30:40], canaries[40:]
        for canary in listing:
            (self.home.work / canary).touch()
        model = self.home.folder / "tiny.gguf"
        tiny.write_model(model, context=2048)
        sentence = f"log in with password={command[0]} and --token {command[1]}"
        asked = [(("list", "files"), " ".join(stdin)), (("--json", sentence), ""), (("list",), " ".join(stdin) * 200)]  # the last is too long
        log, done = self.serve_and_ask(WICK, model, asked, environment)
        self.assertGreaterEqual(log.count("/v1/chat/completions"), 2)
        self.assertEqual(done[2].returncode, 2, done[2])
        says = (f"curl -u me:{command[2]} http://x", f"mysql -p{command[3]} db", f"export API_TOKEN='two words {command[4]}'",
                f"q={command[5]}; sshpass -p $q ssh h", f"echo {command[6]} | sudo -S ls", f"curl -H 'Authorization: Bearer {command[7]}' http://x",
                f"psql postgresql://u:{command[8]}@h/db", f"docker login -u me -p {command[9]} r")
        self.home.says(*(f"```bash\n{line}\n```" for line in says))
        more, answers = self.serve_and_ask(PROGRAM, f"lines:{self.home.lines}", [(("do", "it"), " ".join(stdin))] * len(says), environment)
        self.assertEqual([one.stdout.decode() for one in answers], [line + "\n" for line in says])
        self.assertEqual(more.count("/v1/chat/completions"), len(says))
        history = (self.home.home / ".local/state/wick/history.jsonl").read_text()
        self.assertIn("***", history)
        self.assertGreaterEqual(history.count("\n"), len(says))
        written = "".join(path.read_text(errors="replace") for top in (self.home.home, self.home.folder / "store") for path in top.rglob("*") if path.is_file())
        for canary in canaries:
            self.assertNotIn(canary, log + more + history + written)

    def test_a_running_server_sends_nothing_to_a_remote_model(self):
        self.start_upstream('["m", "tiny"]', "free = true\n")
        model = self.home.folder / "tiny.gguf"
        tiny.write_model(model, context=2048)
        (self.home.folder / "small.gguf").symlink_to(model)
        runtime = self.home.folder / "runtime"
        runtime.mkdir(mode=0o700)
        environment = {**self.home.environment, "XDG_RUNTIME_DIR": str(runtime), "WICK_LOCAL_THREADS": "1"}
        environment.pop("WICK_LOCAL_MODEL_PATH")
        # None here; one whose name the remote provider has, too (it is local/tiny); one that is this machine's alone.
        for models, is_asked in (((), False), (("-m", model), True), (("-m", self.home.folder / "small.gguf"), True)):
            Upstream.got.clear()
            with subprocess.Popen([WICK, "serve", *models, "--unix", runtime / "wick.sock"], env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as server:
                self.addCleanup(server.kill)
                self.assertIn(b"listening", server.stdout.readline())
                done = subprocess.run([WICK, "ask", "--offline", "--shell", "bash", "--json", "list"], env=environment, capture_output=True, timeout=60,
                                      input=b"", cwd=self.home.work)
                server.terminate()
                log = server.communicate(timeout=30)[1].decode()
            self.assertEqual((Upstream.got, "/v1/chat/completions" in log), ([], is_asked), (models, done, log))
            if not is_asked:
                self.assertEqual(done.returncode, 4, done)

    def test_with_a_running_server_the_prompt_is_sent_at_once(self):
        runtime = self.home.folder / "runtime"
        runtime.mkdir(mode=0o700)
        environment = {**self.home.environment, "XDG_RUNTIME_DIR": str(runtime)}
        environment.pop("WICK_LOCAL_MODEL_PATH")
        serving = socketserver.ThreadingUnixStreamServer(str(runtime / "wick.sock"), Socket)
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        self.addCleanup(serving.server_close)
        self.addCleanup(serving.shutdown)
        took = []
        for _ in range(10):
            Socket.asked_at.clear()
            begin = time.monotonic()
            done = subprocess.run([WICK, "ask", "--offline", "--shell", "bash", "list"], env=environment, capture_output=True, timeout=60, input=b"",
                                  cwd=self.home.work)
            self.assertEqual((done.returncode, done.stdout), (0, b"ls\n"), done)
            took.append(Socket.asked_at[0] - begin)
        print(f"start to prompt: {min(took) * 1000:.0f} ms, the least of {len(took)}")
        self.assertLess(min(took), 0.1 if os.environ.get("WICK_TEST_STRICT") else 2)

    def test_doctor_names_shell_and_sandbox(self):
        rows = json.loads(self.home.wick("doctor", "--json").stdout)
        self.assertEqual((rows["shell"], rows["shell_dialect"]), ("/bin/bash", "bash"))
        self.assertTrue(rows["shell_tools"].startswith("GNU:"))
        self.assertTrue(rows["sandbox"])


def has_sandbox():
    return subprocess.run(["unshare", "-Urmn", "true"], capture_output=True).returncode == 0


class Sandbox(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = asking.Home(PROGRAM, folder.name)
        self.fill()

    def fill(self):
        (self.home.work / "a").write_text("one\n")
        (self.home.work / "b").write_text("two\n")
        (self.home.work / "d").mkdir(exist_ok=True)
        (self.home.work / "d/e").write_text("three\n")

    def tree(self):
        return {str(path.relative_to(self.home.folder)): path.read_bytes() if path.is_file() else None
                for path in sorted(self.home.folder.rglob("*")) if path not in (self.home.asked_file, self.home.lines) and ".local" not in path.parts}

    def try_out(self, command):
        self.home.says(cmd(command))
        terminal = self.home.terminal("--sandbox", "--safety-level", "permissive", "x").until(MENU)
        terminal.say("")
        self.assertEqual(terminal.finish(), 1)
        return terminal.seen.split("tried in a sandbox, ")[1].split("[r]un")[0].split("not run:")[0].splitlines()

    def test_thirty_commands_change_nothing_and_the_diff_is_right(self):
        if not has_sandbox():
            self.skip_as_refused()
            return
        none = "no file here would change"
        x = f"wick-{os.getpid()}-x"
        listed = (("echo new > c", ["+ c"]), ("echo x >> a", ["~ a"]), ("rm a", ["- a"]), ("rm -r d", ["- d", "- d/e"]), ("mv a z", ["- a", "+ z"]),
                  ("chmod 700 a", ["~ a"]), ("mkdir -p p/q; touch p/q/r", ["+ p", "+ p/q", "+ p/q/r"]), ("ln -s a l", ["+ l"]), ("cat a", [none]),
                  ("touch a", [none]), ("sed -i s/one/1/ a", ["~ a"]), ("rm -rf ./*", ["- a", "- b", "- d", "- d/e"]),
                  ("cp a b", ["~ b"]), ("printf 'one\\n' > a", [none]), ("truncate -s 0 d/e", ["~ d/e"]),
                  (f"touch {self.home.folder}/home/x", [none]), ("touch ~/x; rm -rf ~", [none]), ("rm -rf ../home", [none]),
                  (f"touch /usr/{x} /etc/{x} /{x} /var/tmp/{x}", [none]), (f"touch /tmp/{x} && ls /tmp/{x}", [none]), (f"mount -o remount,rw /; touch /{x}", [none]),
                  ("umount .; touch f", ["+ f"]), (f"unshare -Urm sh -c 'umount -l .; mount -o remount,rw,bind / ; touch /{x}'", [none]),
                  ("kill -9 -1", [none]), (f"kill -9 {os.getpid()}", [none]), ("(sleep 60; touch late) & true", [none]),
                  ("python3 -c \"import socket; socket.create_connection(('127.0.0.1', 9), 1)\"", [none]),
                  ("python3 -c \"import socket; socket.socket(socket.AF_UNIX)\"; echo $?", [none]),
                  ("echo b > /proc/sysrq-trigger; echo x > /proc/sys/kernel/hostname", [none]),
                  (f"nsenter -t 1 -m touch /{x}; chroot /proc/1/root touch /{x}", [none]))
        self.assertEqual(len(listed), 30)
        before = self.tree()
        for command, changes in listed:
            lines = self.try_out(command)
            kept = sorted((line for line in lines if line[:2] in ("+ ", "- ", "~ ") or line == none), key=lambda line: line[2:])
            self.assertEqual(kept, sorted(changes, key=lambda line: line[2:]), (command, lines))
            self.assertEqual(self.tree(), before, command)
        for place in ("/", "/usr", "/etc", "/tmp", "/var/tmp"):
            self.assertFalse(os.path.exists(f"{place}/{x}"), place)
        self.assertIn("one", self.try_out("cat a"))
        self.assertIn("exit status 7", self.try_out("exit 7")[0])

    def test_what_was_edited_or_revised_is_tried_first(self):
        if not has_sandbox():
            self.skip_as_refused()
            return
        self.home.says(cmd("touch c"), cmd("touch d2"))
        terminal = self.home.terminal("--sandbox", "x").until("+ c\n").until(MENU).say("e").until("edit > ").say("2")
        terminal.until("+ c2\n").until(MENU, times=2).say("v another").until("+ d2\n").until(MENU, times=3).say("q")
        self.assertEqual(terminal.finish(), 1)
        self.assertEqual(terminal.seen.count("tried in a sandbox, "), 3)

    def skip_as_refused(self):
        self.home.says(cmd("touch c"))
        terminal = self.home.terminal("--sandbox", "x")
        self.assertEqual(terminal.finish(), 4)
        self.assertIn("there is no sandbox here, so nothing was tried", terminal.seen)
        self.assertFalse((self.home.work / "c").exists())

    def test_where_namespaces_are_forbidden_nothing_is_tried(self):
        if not has_sandbox():
            return self.skip_as_refused()
        self.home.says(cmd("touch c"))
        script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
        terminal = asking.Terminal(self.home, "-Ur", "sh", "-c", script, "sh", str(PROGRAM.resolve()), "ask", "--shell", "bash", "--sandbox", "x",
                                   program="unshare")
        self.assertEqual(terminal.finish(), 4, terminal.seen)
        self.assertIn("there is no sandbox here, so nothing was tried", terminal.seen)
        self.assertFalse((self.home.work / "c").exists())

    def test_the_trash_of_a_mount_whose_name_has_a_blank_is_listed(self):
        if not has_sandbox():
            self.skip_as_refused()
            return
        (self.home.work / "m n").mkdir()
        script = 'mount -t tmpfs t "m n" && echo 1 > "m n/f" && "$0" trash "m n/f" >/dev/null && "$0" trash --list'
        done = subprocess.run(["unshare", "-Urm", "sh", "-c", script, str(PROGRAM.resolve())], cwd=self.home.work, env=self.home.environment,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("m n/f", done.stdout)

    def test_a_fork_bomb_is_not_tried(self):
        self.home.says(cmd("b(){ b|b& };b"))
        terminal = self.home.terminal("--sandbox", "x")
        self.assertEqual(terminal.finish(), 4)
        self.assertIn("a fork bomb is not tried", terminal.seen)


if __name__ == "__main__":
    unittest.main()
