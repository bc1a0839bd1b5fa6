#!/usr/bin/env python3
"""wick serve as a process: it says where it listens, answers, reads keys again on SIGHUP and ends as it is told to."""
# labels: cli
import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import tiny
from serving import SECONDS, Server, close_at_end

WICK = sys.argv.pop(1)
# An answer that goes on until somebody ends it: the tiny model's context is long, and it never says its end.
ENDLESS = {"messages": [{"role": "user", "content": "a"}], "stream": True, "ignore_eos": True}


class Serve(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = tiny.Home(WICK, folder.name, context=1 << 16)

    def serve(self, *arguments, **options):
        return close_at_end(self, Server(self.home, *arguments, **options))

    def test_it_says_where_it_listens_and_answers(self):
        server = self.serve()
        self.assertRegex(server.first, r"^listening on http://127\.0\.0\.1:\d+$")
        self.assertEqual(server.ask("/health")[0], 200)
        self.assertEqual(server.ask("/ready")[0], 200)
        status, text = server.ask("/v1/chat/completions", {"model": "tiny", "messages": [{"role": "user", "content": "a"}], "max_tokens": 4})
        self.assertEqual(status, 200, text)
        self.assertEqual(json.loads(text)["model"], "tiny")
        self.assertEqual(server.ask("/v1/chat/completions", {"model": "/etc/passwd", "messages": ENDLESS["messages"]})[0], 404)
        code, out, log = server.end()
        self.assertEqual((code, out), (0, ""))
        self.assertRegex(log, r"request req_[0-9a-f]{16} POST /v1/chat/completions 200 \d+ bytes \d+\.\d ms\n")

    def test_two_models_have_names_and_the_second_is_loaded_when_it_is_asked_for(self):
        # As in Hugging Face's cache: the name is that of the link.
        tiny.write_model(self.home.folder / "blob", context=512)
        (self.home.folder / "other.gguf").symlink_to("blob")
        server = self.serve("-m", self.home.folder / "other.gguf", "--no-access-log")
        for name in ("tiny", "other", str(self.home.folder / "other.gguf")):
            status, text = server.ask("/v1/chat/completions", {"model": name, "messages": [{"role": "user", "content": "a"}], "max_tokens": 1})
            self.assertEqual(status, 200, text)
        code, _, log = server.end()
        self.assertEqual((code, log.count("request ")), (0, 0))

    def test_what_is_wrong_is_said_before_it_listens(self):
        for arguments, code, word in ((["--host", "0.0.0.0"], 2, "no keys"), (["--host", "192.0.2.1"], 4, "cannot listen"),
                                      (["--tls-cert", "x"], 2, "certificate"), (["--api-key-file", "x"], 4, "no such key file"),
                                      (["--allow-origin", "*"], 2, "origin"), (["-m", "missing.gguf"], 4, "missing.gguf"),
                                      (["-m", self.home.model, "--port", "70000"], 2, "65535")):
            arguments = arguments if "-m" in arguments else ["-m", self.home.model, "--port", "0", *arguments]
            done = self.home.wick("serve", "--offline", *arguments)
            self.assertEqual(done.returncode, code, (arguments, done.stderr))
            self.assertIn(word, done.stderr.decode())
            self.assertEqual(done.stdout, b"")

    def test_an_address_that_is_taken_is_told_before_a_model_is_looked_for(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            done = self.home.wick("serve", "--offline", "-m", "missing.gguf", "--port", taken.getsockname()[1])
        self.assertEqual(done.returncode, 4)
        self.assertIn("cannot listen", done.stderr.decode())

    def new_key(self, *arguments):
        """The key, and its line of the file."""
        file = self.home.folder / "made"
        key = json.loads(self.home.wick("key", "create", "--api-key-file", file, "--json", *arguments).stdout)["key"]
        return key, file.read_text().splitlines()[-1]

    def test_keys_are_read_again_on_sighup(self):
        (first, first_line), (second, second_line) = self.new_key(), self.new_key("--admin")
        self.assertRegex(first, r"^sk-wick-[A-Za-z0-9]{12}-[A-Za-z0-9]{48}$")
        self.assertNotIn(first[21:], first_line)
        self.assertTrue(second_line.endswith(" infer,admin"))
        keys = self.home.folder / "keys"
        keys.write_text(first_line + "\n")
        server = self.serve("--api-key-file", keys)
        ask = {"messages": [{"role": "user", "content": "a"}], "max_tokens": 1}

        def status(key):
            return server.ask("/v1/chat/completions", ask, {"Authorization": f"Bearer {key}"})[0]

        self.assertEqual((status(first), status(second), status("x")), (200, 401, 401))
        keys.write_text(second_line + "\n")
        server.run.send_signal(signal.SIGHUP)
        while status(second) == 401:
            pass
        self.assertEqual(status(first), 401)
        keys.write_text("nonsense\n")
        server.run.send_signal(signal.SIGHUP)
        while "keys:1: the public part" not in server.line(server.run.stderr):
            pass
        self.assertEqual(status(second), 200)
        code, _, log = server.end()
        self.assertEqual(code, 0)
        for key in (first, second):
            self.assertNotIn(key[21:], log)

    def test_it_writes_no_core_dumps(self):
        server = self.serve(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE)[1:] * 2))
        self.assertEqual(resource.prlimit(server.run.pid, resource.RLIMIT_CORE)[0], 0)

    def test_a_second_signal_ends_a_stream_at_once(self):
        server = self.serve()
        stream = server.stream(ENDLESS)
        self.addCleanup(stream.close)
        first = stream.readline()
        self.assertTrue(first.startswith(b"data: "), first)
        server.run.send_signal(signal.SIGTERM)
        while "shutting down" not in server.line(server.run.stderr):
            pass
        with self.assertRaises(OSError):
            while True:  # until it refuses connections
                socket.create_connection(("127.0.0.1", server.port), SECONDS).close()
        self.assertIsNone(server.run.poll(), "the stream goes on meanwhile")
        self.assertTrue(stream.readline())
        code, _, _ = server.end()
        self.assertIn(code, (0, 130))

    def test_sigint_ends_it_too(self):
        code, _, _ = self.serve().end(signal.SIGINT)
        self.assertEqual(code, 0)

    def test_a_unix_socket_alone(self):
        path = self.home.folder / "s"
        server = self.serve("--unix", path)
        self.assertEqual(server.first, f"listening on unix:{path}")
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(path))
        client.sendall(b"GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n")
        self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 200 OK"))
        client.close()
        self.assertEqual(server.end()[0], 0)
        self.assertFalse(path.exists())

    def test_socket_activation(self):
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]

        def hand_over():
            os.dup2(listening.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ["LISTEN_PID"] = str(os.getpid())

        # The shell sets LISTEN_PID to the process that it becomes.
        words = ["sh", "-c", 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" serve -m "$1"', self.home.program, str(self.home.model)]
        run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, env=self.home.environment, cwd=self.home.folder,
                               preexec_fn=hand_over, pass_fds=(3,))
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.kill)
        self.assertEqual(Server.line(run.stdout), f"listening on http://127.0.0.1:{port}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        connection.request("GET", "/health")
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        listening.close()
        run.terminate()
        self.assertEqual(run.wait(SECONDS), 0)

    def test_a_log_that_nobody_reads_holds_nothing_up(self):
        server = self.serve()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
        for _ in range(3000):  # 150 kB of log; a pipe takes 64 kB
            connection.request("GET", "/health")
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, 200)
        connection.close()
        code, _, log = server.end()
        self.assertEqual((code, log.count("GET /health 200")), (0, 3000))


if __name__ == "__main__":
    unittest.main(verbosity=0)
