#!/usr/bin/env python3
"""What wick serve promises as a process: no answer is cut by its end and it is soon back (serving.md R11), no page of another site gets
through to any of its routes (R15), and no key reaches what is another's (R19)."""
# labels: cli
import asyncio
import json
import signal
import socket
import sys
import tempfile
import time
import unittest

import tiny
from serving import TALK, Server, close_at_end, is_instrumented, stream_text

WICK = sys.argv.pop(1)
SLOW = 20 if is_instrumented(WICK) else 1
STREAMS = 16


class Promises(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = tiny.Home(WICK, folder.name, context=1 << 16)

    def serve(self, *arguments, **options):
        return close_at_end(self, Server(self.home, "--no-access-log", *arguments, **options))

    def test_sigterm_cuts_none_of_sixteen_streams(self):
        server = self.serve("--parallel", STREAMS)
        body = lambda seed: {"messages": TALK, "seed": seed, "temperature": 2, "ignore_eos": True, "max_tokens": 1500}
        wanted = [asyncio.run(stream_text(server.port, body(seed))) for seed in (0, STREAMS - 1)]

        async def all_of_them():
            begun = set()

            def begin(seed):
                begun.add(seed)
                if len(begun) == STREAMS and not ended:
                    ended.append(seed)
                    server.run.send_signal(signal.SIGTERM)

            ended = []
            texts = await asyncio.gather(*[stream_text(server.port, body(seed), lambda seed=seed: begin(seed)) for seed in range(STREAMS)])
            self.assertEqual(len(ended), 1, "all were under way when the signal came")
            return texts

        texts = asyncio.run(all_of_them())  # each comes to its [DONE]
        self.assertEqual([texts[0], texts[-1]], wanted)
        self.assertEqual(server.run.wait(30), 0)

    def test_behind_sigkill_it_is_ready_again_within_two_seconds(self):
        server = self.serve()
        stream = server.stream({"messages": TALK, "stream": True, "ignore_eos": True})
        self.assertTrue(stream.readline())
        server.run.kill()
        server.run.wait()
        stream.close()
        begin = time.monotonic()
        again = self.serve(port=server.port)
        self.assertEqual(again.ask("/ready")[0], 200)
        again.json("/v1/chat/completions", {"messages": TALK, "max_tokens": 1})
        seconds = time.monotonic() - begin
        print(f"ready and answering {seconds:.2f} s after SIGKILL", file=sys.stderr)
        self.assertLess(seconds, 2 * SLOW)

    def attacks(self, port):
        """(headers) of what a page can make a browser send; a Host that is rebound has the server's own port."""
        own, evil = f"localhost:{port}", "https://evil.example"
        as_json = "Content-Type: application/json\r\n"
        for host in ("evil.example", f"evil.example:{port}", f"localhost.evil.example:{port}", "127.0.0.1.nip.io", "0.0.0.0", "127.0.0.2"):
            yield f"Host: {host}\r\n{as_json}"
            yield f"Host: {host}\r\n{as_json}Origin: http://{host}\r\n"
        for origin in (evil, "null", "", "file://", "http://localhost:3000", f"http://localhost:{port}.evil.example", "chrome-extension://a",
                       "app://localhost", f"https://evil@localhost:{port}"):
            yield f"Host: {own}\r\n{as_json}Origin: {origin}\r\n"
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain;charset=application/json"):
            yield f"Host: {own}\r\nContent-Type: {kind}\r\n"
            yield f"Host: {own}\r\nContent-Type: {kind}\r\nOrigin: {evil}\r\n"
        for site in ("cross-site", "same-site"):
            yield f"Host: {own}\r\n{as_json}Sec-Fetch-Site: {site}\r\n"
        yield f"Host: {own}\r\n{as_json}Origin: {evil}\r\nX-HTTP-Method-Override: GET\r\n"

    def test_no_page_of_another_site_reaches_a_route(self):
        server = self.serve("--open-admin")  # the worst case: nobody needs a key
        table = server.json("/openapi.json")["paths"]
        routes = [(path, method) for path, methods in table.items() for method in methods if method in ("post", "delete")]
        self.assertGreater(len(routes), 25)
        body = json.dumps({"model": "tiny", "messages": TALK, "prompt": "a", "input": "a", "content": "a", "max_tokens": 1}).encode()
        n = 0
        before = server.metric("wick_requests_total"), server.metric("wick_http_requests_total")
        for path, method in routes:
            for headers in self.attacks(server.port):
                with socket.create_connection(("127.0.0.1", server.port), 30) as client:
                    path = path.replace("{rest}", "x").split("{")[0]
                    client.sendall(f"{method.upper()} {path} HTTP/1.1\r\n{headers}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
                    with client.makefile("rb") as file:
                        answer = file.read().decode()
                n += 1
                self.assertIn(int(answer.split()[1]), (400, 403, 415), f"{method} {path}\n{headers}\n{answer}")
                self.assertNotIn("access-control-", answer.lower())
        after = server.metric("wick_requests_total"), server.metric("wick_http_requests_total")
        self.assertEqual(after[0], before[0], "one of them was computed")
        print(f"{n} attacks on {len(routes)} routes, none succeeds", file=sys.stderr)

    def test_no_key_reaches_what_is_anothers(self):
        keys = []
        for _ in range(2):
            key = json.loads(self.home.wick("key", "create", "--api-key-file", "keys", "--json").stdout)["key"]
            keys.append({"Authorization": f"Bearer {key}"})
        server = self.serve("--api-key-file", "keys")
        mine, theirs = keys
        body = {"messages": [{"role": "user", "content": "b" * 3000}], "max_tokens": 1}
        cached = lambda key, ask: server.json("/v1/chat/completions", ask, key)["usage"]["prompt_tokens_details"]["cached_tokens"]
        self.assertEqual(cached(mine, body), 0)
        self.assertGreater(cached(mine, body), 2900)
        self.assertEqual(server.json("/v1/estimate", body, theirs)["cached_tokens"], 0, "an estimate tells nothing of others")
        self.assertGreater(server.json("/v1/estimate", body, mine)["cached_tokens"], 2900)
        self.assertEqual(cached(theirs, body), 0, "another's prefix was a hit")
        stored = server.json("/v1/responses", {"input": "a", "max_output_tokens": 2}, mine)["id"]
        ways = (("GET", f"/v1/responses/{stored}", None), ("POST", "/v1/responses", {"input": "b", "previous_response_id": stored, "max_output_tokens": 2}),
                ("DELETE", f"/v1/responses/{stored}", None))
        for who, wanted in ((theirs, 404), ({}, 401), ({"Authorization": "Bearer sk-wick-x"}, 401), (mine, 200)):
            for method, path, ask in ways:
                status, text = server.ask(path, ask, who, method)
                self.assertEqual(status, wanted, f"{method} {path}: {text}")
        self.assertEqual(server.ask(f"/v1/responses/{stored}", None, mine)[0], 404, "it was deleted")


if __name__ == "__main__":
    unittest.main(verbosity=0)
