#!/usr/bin/env python3
"""Who reaches wick serve and whom it reaches: a collector of traces, pages with a key, admins of the store, and users without rights over
TCP, TLS, a Unix socket and a socket that is handed over."""
# labels: cli
import base64
import hashlib
import http.server
import json
import os
import pathlib
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import tiny
from serving import SECONDS, TALK, Server, close_at_end

WICK = sys.argv.pop(1)
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.put((self.path, self.headers["content-type"], body))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


class Reach(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = tiny.Home(WICK, folder.name, context=4096)

    def serve(self, *arguments, **options):
        return close_at_end(self, Server(self.home, *arguments, **options))

    def test_traces_reach_a_collector(self):
        collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
        collector.seen = queue.Queue()
        thread = threading.Thread(target=collector.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(collector.server_close)
        self.addCleanup(collector.shutdown)
        server = self.serve("--otlp-endpoint", f"http://127.0.0.1:{collector.server_port}")
        body = {"messages": TALK, "max_tokens": 4, "ignore_eos": True}
        server.json("/v1/chat/completions", body, {"traceparent": f"00-{TRACE}-{PARENT}-01", "x-request-id": "mine"})
        server.json("/v1/completions", {"prompt": "a", "max_tokens": 3, "ignore_eos": True})
        server.json("/v1/chat/completions", body, {"traceparent": f"00-{TRACE}-{PARENT}-00"})
        server.stream({**body, "max_tokens": 4000, "stream": True}).close()
        spans = []
        while len(spans) < 3:
            path, kind, sent = collector.seen.get(timeout=SECONDS)
            self.assertEqual((path, kind), ("/v1/traces", "application/json"))
            spans += sent["resourceSpans"][0]["scopeSpans"][0]["spans"]
        self.assertEqual(len(spans), 3, "what is not sampled is not sent")
        told = {one["key"]: one["value"] for one in spans[0]["attributes"]}
        self.assertEqual((spans[0]["traceId"], spans[0]["parentSpanId"], spans[0]["name"]), (TRACE, PARENT, "chat tiny"))
        self.assertEqual(told["gen_ai.usage.output_tokens"], {"intValue": "4"})
        self.assertEqual(told["wick.request.id"], {"stringValue": "mine"})
        self.assertEqual(told["gen_ai.response.finish_reasons"], {"arrayValue": {"values": [{"stringValue": "length"}]}})
        self.assertLess(int(spans[0]["startTimeUnixNano"]), int(spans[0]["endTimeUnixNano"]))
        self.assertEqual(spans[1]["name"], "text_completion tiny")
        self.assertEqual(spans[2]["status"], {"code": 2})
        done = self.home.wick("serve", "--otlp-endpoint", "ftp://x", "-m", self.home.model)
        self.assertNotEqual(done.returncode, 0)

    def test_a_page_shows_its_key_as_a_subprotocol(self):
        keys = self.home.folder / "keys"
        key = json.loads(self.home.wick("key", "create", "--api-key-file", keys, "--json").stdout)["key"]
        server = self.serve("--api-key-file", keys)
        nonce = base64.b64encode(os.urandom(16)).decode()

        def upgrade(words):
            client = socket.create_connection(("127.0.0.1", server.port), SECONDS)
            client.sendall(f"GET /v1/ws HTTP/1.1\r\nHost: localhost:{server.port}\r\nOrigin: http://localhost:{server.port}\r\n"
                           f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {nonce}\r\n"
                           f"Sec-WebSocket-Protocol: {words}\r\n\r\n".encode())
            head = b""
            while b"\r\n\r\n" not in head:
                part = client.recv(4096)
                if not part:
                    break
                head += part
            client.close()
            return head.decode().lower()

        head = upgrade(f"wick, wick-key.{key}")
        self.assertTrue(head.startswith("http/1.1 101"), head)
        self.assertIn("sec-websocket-protocol: wick\r\n", head)
        accept = base64.b64encode(hashlib.sha1((nonce + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
        self.assertIn(accept.lower(), head)
        self.assertTrue(upgrade("wick, wick-key.sk-wick-wrong").startswith("http/1.1 401"))
        log = server.end()[2]
        self.assertNotIn(key[21:], log)

    def test_admins_copy_and_remove_models_of_the_store(self):
        store = self.home.folder / "store"
        (store / "blobs").mkdir(parents=True)
        (store / "models").mkdir()
        raw = self.home.model.read_bytes()
        digest = hashlib.sha256(raw).hexdigest()
        (store / "blobs" / f"sha256-{digest}").write_bytes(raw)
        record = {"name": "mine", "source": "hf:a/b:c.gguf", "files": [{"name": "c.gguf", "sha256": digest, "bytes": len(raw)}]}
        (store / "models" / "mine.json").write_text(json.dumps(record))
        server = self.serve("-m", "mine", "--open-admin", "--offline", model=False)
        names = lambda: [one["name"] for one in server.json("/api/tags")["models"]]
        self.assertEqual(names(), ["mine"])
        self.assertEqual(server.ask("/api/copy", {"source": "mine", "destination": "yours"})[0], 200)
        self.assertEqual(names(), ["mine", "yours"])
        server.json("/api/chat", {"model": "yours", "messages": TALK, "stream": False, "options": {"num_predict": 2}})
        self.assertEqual(server.ask("/api/copy", {"source": "mine", "destination": "../../x"})[0], 400)
        self.assertEqual(server.ask("/api/copy", {"source": "nobody", "destination": "x"})[0], 404)
        self.assertEqual(server.ask("/api/delete", {"model": "yours"}, method="DELETE")[0], 200)
        self.assertEqual(names(), ["mine"])
        self.assertTrue((store / "blobs" / f"sha256-{digest}").exists(), "another model needs it")
        self.assertEqual(server.ask("/api/delete", {"model": "yours"}, method="DELETE")[0], 404)
        self.assertEqual(server.ask("/api/pull", {"model": "smollm2-135m", "stream": False})[0], 400, "it is offline")
        self.assertEqual(server.ask("/api/pull", {"model": "http://127.0.0.1/x.gguf", "stream": False})[0], 400)
        server.end()
        closed = self.serve("-m", "mine", "--offline", model=False)
        self.assertEqual(closed.ask("/api/delete", {"model": "mine"}, method="DELETE")[0], 403)


class WithoutRights(unittest.TestCase):
    """Everything as a user that is nobody, if the test may become one; else as the user that we are, who has no rights either."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        program = shutil.copy(WICK, self.folder / "wick")  # where the user may look
        self.home = tiny.Home(program, self.folder, context=512)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", self.folder / "key.pem", "-out",
                        self.folder / "cert.pem"], check=True, capture_output=True)
        self.rights = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        if self.rights:
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, 65534, 65534)

    def curl(self, *arguments):
        body = json.dumps({"messages": TALK, "max_tokens": 3, "ignore_eos": True})
        done = subprocess.run(["curl", "-sS", "--max-time", "20", "-H", "content-type: application/json", "-d", body, *map(str, arguments)],
                              capture_output=True, check=False, cwd=self.folder, env=self.home.environment, **self.rights)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["usage"]["completion_tokens"], 3)

    def serve(self, *arguments):
        server = close_at_end(self, Server(self.home, *arguments, **self.rights))
        if self.rights:
            self.assertEqual(server.kernel_number("status", "Uid"), 65534)
        return server

    def test_over_a_port_and_over_tls(self):
        self.curl(f"http://localhost:{self.serve().port}/v1/chat/completions")
        port = self.serve("--tls-cert", "cert.pem", "--tls-key", "key.pem").port
        self.curl("--cacert", "cert.pem", f"https://localhost:{port}/v1/chat/completions")

    def test_over_a_unix_socket(self):
        server = self.serve("--unix", "wick.sock")
        self.curl("--unix-socket", "wick.sock", "http://localhost/v1/chat/completions")
        self.assertEqual((self.folder / "wick.sock").stat().st_mode & 0o777, 0o660)
        self.assertEqual(server.end()[0], 0)

    def test_over_sockets_that_are_handed_over(self):
        path = str(self.folder / "given.sock")
        with socket.create_server(("127.0.0.1", 0)) as port, socket.socket(socket.AF_UNIX) as local:
            local.bind(path)
            local.listen()
            os.chmod(path, 0o666)
            fds = (os.dup(port.fileno()), os.dup(local.fileno()))

            def hand_over():
                copies = [os.dup(fd) for fd in fds]
                for number, fd in enumerate(copies):
                    os.dup2(fd, 3 + number)

            words = ["sh", "-c", 'LISTEN_FDS=2 LISTEN_PID=$$ exec "$0" serve -m "$1"', self.home.program, str(self.home.model)]
            run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, env=self.home.environment,
                                   cwd=self.folder, preexec_fn=hand_over, pass_fds=(3, 4), **self.rights)
            self.addCleanup(run.stdout.close)
            self.addCleanup(run.wait)
            self.addCleanup(run.kill)
            for fd in fds:
                os.close(fd)
            lines = {Server.line(run.stdout), Server.line(run.stdout)}
            number = port.getsockname()[1]
            self.assertEqual(lines, {f"listening on http://127.0.0.1:{number}", f"listening on unix:{path}"})
            self.curl(f"http://localhost:{number}/v1/chat/completions")
            self.curl("--unix-socket", path, "http://localhost/v1/chat/completions")
            run.terminate()
            self.assertEqual(run.wait(SECONDS), 0)
            self.assertTrue(os.path.exists(path), "who made the socket removes it")


if __name__ == "__main__":
    unittest.main(verbosity=0)
