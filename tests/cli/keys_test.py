#!/usr/bin/env python3
"""API keys: wick key and the admin routes make, change and revoke them, and a running server obeys: models, budgets, tokens, and an end."""
# labels: cli
import asyncio
import http.server
import json
import os
import pathlib
import re
import signal
import stat
import sys
import tempfile
import threading
import time
import unittest

import serving
import tiny

PROGRAM = sys.argv.pop(1)


class Upstream(http.server.BaseHTTPRequestHandler):
    """OpenAI's API: each answer has 1,000 prompt tokens and 100 generated ones."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for frame in ({"choices": [{"index": 0, "delta": {"content": "afar"}, "finish_reason": "stop"}]},
                      {"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}):
            self.wfile.write(b"data: " + json.dumps(frame).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")


class Keys(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = tiny.Home(PROGRAM, folder.name, context=4096)
        self.home.environment.update(XDG_STATE_HOME=folder.name)
        self.file = pathlib.Path(folder.name) / "keys"
        upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        self.addCleanup(upstream.server_close)
        self.addCleanup(upstream.shutdown)
        config = pathlib.Path(folder.name) / "wick/config.toml"
        config.parent.mkdir(exist_ok=True)
        config.write_text(f"""[server]
api_key_file = "{self.file}"
[[provider]]
name = "far"
kind = "openai-compatible"
endpoint = "http://127.0.0.1:{upstream.server_port}/v1"
models = [{{ name = "m", input = "1 USD/M", output = "1 USD/M" }}]
""")

    def key(self, *words, status=0):
        done = self.home.wick("key", *words, "--json")
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return json.loads(done.stdout)

    def serve(self):
        return serving.close_at_end(self, serving.Server(self.home))

    def usage(self, *words):
        return json.loads(self.home.wick("usage", "--json", *words).stdout)["usage"]

    @staticmethod
    def bearer(key):
        return {"Authorization": f"Bearer {key}"}

    def chat(self, server, key, model="tiny", **more):
        talk = {"model": model, "messages": serving.TALK, "max_tokens": 4, "temperature": 0}
        status, text = server.ask("/v1/chat/completions", talk | more, self.bearer(key))
        return status, json.loads(text)

    def head(self, server, key, **more):
        async def ask():
            body = {"model": "tiny", "messages": serving.TALK, **more}
            _, writer, status, head = await serving.post(server.port, body, headers=self.bearer(key))
            writer.close()
            return status, head

        return asyncio.run(ask())

    def until(self, condition, what):
        end = time.monotonic() + serving.SECONDS
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.05)

    def test_the_command_makes_lists_and_revokes(self):
        made = self.key("create", "--name", "alice", "--models", "tiny,gpt-*", "--budget", "5/month", "--budget", "1/day", "--rpm", "60",
                        "--tpm", "9000", "--parallel", "4", "--expires", "9999-12-31")
        self.assertRegex(made["key"], r"^sk-wick-[A-Za-z0-9]{12}-[A-Za-z0-9]{48}$")
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)
        self.assertNotIn(made["key"][21:], self.file.read_text(), "the file has the hash alone")
        admin = self.key("create", "--admin")
        first, second = sorted(self.key("list")["keys"], key=lambda one: one["scope"], reverse=True)
        self.assertEqual((first["name"], first["models"], first["rpm"], first["tpm"], first["parallel"], first["expires"]),
                         ("alice", ["tiny", "gpt-*"], 60, 9000, 4, "9999-12-31"))
        self.assertEqual(first["budgets"], [{"budget": "5/month", "cap_usd": "5.000000", "used_usd": "0.000000", "reserved_usd": "0.000000"},
                                            {"budget": "1/day", "cap_usd": "1.000000", "used_usd": "0.000000", "reserved_usd": "0.000000"}])
        self.assertEqual((second["scope"], second["rpm"], second["models"]), ("admin", None, []))
        table = self.home.wick("key", "list").stdout.decode()
        self.assertIn("0.000000 of 5/month USD, 0.000000 of 1/day USD", table)
        self.key("revoke", admin["id"])
        self.assertEqual([one["id"] for one in self.key("list")["keys"]], [made["id"]])
        self.assertEqual(self.key("revoke", admin["id"], status=4)["error"]["code"], "key_not_found")
        for words in (["--budget", "5 USD"], ["--budget", "x/day"], ["--budget", "5/year"], ["--name", "a b"], ["--expires", "soon"],
                      ["--models", "a b"], ["--budget", "5/day", "--budget", "6/day"]):
            self.assertIn("error", self.key("create", *words, status=2), words)
        self.assertEqual(len(self.key("list")["keys"]), 1)
        days = self.key("create", "--expires", "30d")["expires"]
        self.assertRegex(days, r"^\d{4}-\d\d-\d\d$")

    def test_the_command_changes_and_blocks(self):
        kept = self.key("create", "--name", "bob")
        made = self.key("create", "--name", "alice", "--models", "tiny", "--budget", "5/month", "--rpm", "60", "--tpm", "9000", "--expires", "9999-12-31")
        self.file.write_text(self.file.read_text().rstrip("\n") + "  # of the lab\n")
        now = self.key("update", made["id"], "--budget", "7/month", "--budget", "1/day", "--models", "tiny,far/*")["keys"]
        self.assertEqual(now, [one for one in self.key("list")["keys"] if one["id"] == made["id"]])
        self.assertEqual([one["cap_usd"] for one in now[0].pop("budgets")], ["7.000000", "1.000000"])
        self.assertEqual(now[0], {name: made[name] for name in now[0]} | {"models": ["tiny", "far/*"]}, "the others stay")
        bare = self.key("update", made["key"], "--budget", "", "--models", "", "--expires", "", "--name", "", "--rpm", "0", "--tpm", "0")["keys"][0]
        self.assertEqual((bare["name"], bare["models"], bare["budgets"], bare["expires"], bare["rpm"], bare["tpm"]), ("", [], [], "", None, None))
        self.assertRegex(self.file.read_text().splitlines()[1], rf"^{made['id']} [0-9a-f]{{64}} infer # of the lab$")
        before = self.file.read_text()
        for words, status in ((["--budget", "x"], 2), (["--name", "a b"], 2), (["--expires", "soon"], 2), ([], 2)):
            self.assertIn("error", self.key("update", made["id"], *words, status=status), words)
        self.assertEqual(self.key("update", "abcdefghijkl", "--rpm", "1", status=4)["error"]["code"], "key_not_found")
        self.assertEqual(self.key("block", "abcdefghijkl", status=4)["error"]["code"], "key_not_found")
        self.assertEqual(self.file.read_text(), before, "what is refused changes nothing")
        self.assertEqual([one["blocked"] for one in self.key("block", made["id"], kept["id"])["keys"]], [True, True])
        self.assertIn("blocked", self.home.wick("key", "list").stdout.decode())
        self.assertEqual(self.home.wick("key", "unblock", made["id"], kept["id"]).stdout.decode(),
                         f"unblocked {made['id']}\nunblocked {kept['id']}\n")
        self.assertEqual(self.file.read_text(), before)

    def test_what_a_key_cannot_have_is_named(self):
        made = self.key("create", "--name", "old", "--expires", "1d")["id"]
        expired = self.file.read_text().replace(self.key("list")["keys"][0]["expires"], "2020-01-01")
        self.file.write_text(expired)
        self.assertIn("expires=2020-01-01", self.home.wick("key", "list").stdout.decode())
        for words in (["create"], ["update", made]):
            for flag, value, part in (("--expires", "tomorrow", "expires is 'tomorrow'"), ("--expires", "2021-12-31", "expires is 2021-12-31, today is"),
                                      ("--name", "al ice", "name 'al ice'"), ("--models", "gpt 4", "model 'gpt 4'"), ("--budget", "5 USD", "5 USD")):
                self.assertIn(part, self.key(*words, flag, value, status=2)["error"]["message"], flag)
        self.assertEqual(self.file.read_text(), expired)
        self.assertEqual(self.key("update", made, "--rpm", "5")["keys"][0]["expires"], "2020-01-01", "what it has already may stay")
        today = time.strftime("%Y-%m-%d", time.gmtime())
        self.assertIn(self.key("create", "--expires", today)["expires"], today)

    def test_a_missing_file_is_named_with_all_its_settings(self):
        (pathlib.Path(self.file.parent) / "wick/config.toml").unlink()
        done = self.home.wick("key", "list")
        self.assertEqual(done.returncode, 2)
        for part in ("--api-key-file", "WICK_SERVER_API_KEY_FILE", "server.api_key_file"):
            self.assertIn(part, done.stderr.decode())
        self.home.environment["WICK_SERVER_API_KEY_FILE"] = str(self.file)
        self.key("create")

    def test_the_command_wants_to_know_which_key(self):
        bob, first, second = [self.key("create", "--name", name)["id"] for name in ("bob", "al", "al")]
        nameless = self.key("create")["id"]
        before = self.file.read_text()
        for words in (["block"], ["unblock"], ["revoke"], ["update", "--rpm", "5"]):
            done = self.home.wick("key", *words)
            self.assertEqual((done.returncode, done.stdout), (2, b""), words)
            self.assertIn(f"wick key {words[0]} ID", done.stderr.decode())
            refused = self.key(*words, "al", status=2)["error"]
            self.assertEqual(refused["code"], "several_keys")
            self.assertIn(first, refused["message"])
            self.assertIn(second, refused["message"])
            self.assertEqual(self.key(*words, "bob", "nobody", status=4)["error"]["code"], "key_not_found")
            self.assertEqual(self.key(*words, "", status=4)["error"]["code"], "key_not_found")
        self.assertEqual(self.file.read_text(), before, "of several, all or none")
        self.assertEqual(self.home.wick("key", "block", "bob").stdout.decode(), f"blocked {bob}\n")
        self.assertEqual(self.key("update", "bob", "--rpm", "5")["keys"][0]["rpm"], 5)
        self.assertEqual(self.key("revoke", "bob", bob)["revoked"], [bob])
        self.assertEqual({one["id"] for one in self.key("list")["keys"]}, {first, second, nameless})

    def test_a_key_that_nobody_was_shown_is_not_made(self):
        with open("/dev/full", "wb") as full:
            done = self.home.wick("key", "create", stdout=full)
        self.assertEqual(done.returncode, 4, done)
        self.assertFalse(self.file.exists())
        made = self.key("create")["id"]
        read, write = os.pipe()
        os.close(read)
        self.home.wick("key", "create", "--json", stdout=write)
        os.close(write)
        self.assertEqual([one["id"] for one in self.key("list")["keys"]], [made])

    def test_a_key_may_ask_its_models_alone(self):
        local, far = self.key("create", "--models", "tiny")["key"], self.key("create", "--models", "far/*")["key"]
        server = self.serve()
        self.assertEqual(self.chat(server, local)[0], 200)
        status, said = self.chat(server, local, "far/m")
        self.assertEqual((status, said["error"]["code"], said["error"]["param"]), (403, "model_not_allowed", "model"))
        self.assertEqual(self.chat(server, local, "auto")[0], 403, "the rules could lead anywhere")
        self.assertEqual(self.chat(server, local, "tiny:latest")[0], 200)
        self.assertEqual(self.chat(server, far, "remote/m")[0], 200, "another name of an allowed model")
        self.assertEqual(self.chat(server, far)[0], 403)
        for key, seen in ((local, ["tiny"]), (far, ["far/m"])):
            self.assertEqual([one["id"] for one in server.json("/v1/models", headers=self.bearer(key))["data"]], seen)
            self.assertEqual([one["name"] for one in server.json("/api/tags", headers=self.bearer(key))["models"]], seen)
        self.assertEqual(server.ask("/v1/models/tiny", None, self.bearer(far))[0], 403)
        self.assertEqual(server.ask("/api/show", {"model": "tiny"}, self.bearer(far))[0], 403)
        self.assertNotIn("tiny", [one["name"] for one in server.json("/api/ps", headers=self.bearer(far))["models"]])
        for path, body in (("/v1/embeddings", {"input": "a"}), ("/api/chat", {"messages": serving.TALK}), ("/tokenize", {"content": "a"}),
                           ("/v1/messages", {"messages": serving.TALK, "max_tokens": 4}), ("/v1/responses", {"input": "a"}),
                           ("/v1/completions", {"prompt": "a"})):
            self.assertEqual(server.ask(path, body | {"model": "tiny"}, self.bearer(far))[0], 403, path)
        names = json.loads(server.ask("/v1/models", None, self.bearer(far))[1])["data"]
        self.assertEqual([one["id"] for one in names], ["far/m"])

    def test_a_key_has_its_own_budget(self):
        poor, rich = self.key("create", "--budget", "0.003/day")["key"], self.key("create")["key"]
        server = self.serve()
        # A request may cost 1,092 prompt tokens and 4 of an answer, and costs 1,100 tokens, so that two are all.
        statuses = [self.chat(server, poor, "far/m")[0] for _ in range(4)]
        self.assertEqual(statuses, [200, 200, 429, 429])
        refused = self.chat(server, poor, "far/m")[1]["error"]
        self.assertEqual(refused["code"], "insufficient_quota")
        self.assertIn("the budget 'key ", refused["message"])
        self.assertEqual(self.chat(server, rich, "far/m")[0], 200)
        self.assertEqual(self.chat(server, poor)[0], 200, "this machine costs nothing")
        self.until(lambda: [(one["cap_usd"], one["used_usd"]) for key in self.key("list")["keys"] for one in key["budgets"]] == [("0.003000", "0.002200")],
                   "a thread writes what is settled")
        for words, cost in (([], "0.003300"), (["--key", poor[8:20]], "0.002200"), (["--key", rich[8:20]], "0.001100")):
            self.until(lambda: [row["cost_usd"] for row in self.usage(*words) if row["provider"] == "far"] == [cost],
                       f"what is settled: {words}")

    def test_a_ledger_that_is_away_at_the_start_is_tried_again(self):
        folder = self.home.folder / "away"
        folder.write_text("not a folder")
        config = pathlib.Path(self.home.environment["XDG_CONFIG_HOME"]) / "wick/config.toml"
        config.write_text(config.read_text() + f'[budget]\nmonthly = "1 USD"\nledger = "{folder}/usage.db"\n')
        key = self.key("create")["key"]
        server = self.serve()
        status, said = self.chat(server, key, "far/m")
        self.assertEqual(status, 429, said)
        self.assertIn(f"cannot open {folder}/usage.db", said["error"]["message"])
        self.assertIn("check the folder of `ledger` in [budget]", said["error"]["message"])
        self.assertEqual(self.chat(server, key)[0], 200, "this machine costs nothing")
        server.log_until("warning: providers with a price are refused for now: the ledger: cannot open ")
        folder.unlink()
        folder.mkdir()
        self.until(lambda: self.chat(server, key, "far/m")[0] == 200, "no restart is needed")
        costs = {"far": "0.001100", "local": "0.000000"}
        self.until(lambda: {row["provider"]: row["cost_usd"] for row in self.usage()} == costs, "a thread writes what is settled")

    def test_a_key_has_tokens_of_a_minute(self):
        slow = self.key("create", "--tpm", "300")["key"]
        server = self.serve()
        statuses = [self.chat(server, slow, max_tokens=20, ignore_eos=True)[0] for _ in range(40)]
        self.assertEqual(statuses[:3], [200] * 3, statuses)
        self.assertEqual(statuses[-1], 429, statuses)
        # When the first of them is a minute ago, however fast the model answers.
        status, head = self.head(server, slow, max_tokens=20)
        self.assertEqual(status, 429)
        self.assertGreater(int(re.search(r"(?i)^retry-after: (\d+)", head, re.M)[1]), 61 - serving.SECONDS)
        self.assertNotIn("x-should-retry", head)
        status, head = self.head(server, slow, max_tokens=1000)
        self.assertEqual(status, 429)
        self.assertNotIn("retry-after", head)
        self.assertIn("x-should-retry: false", head)
        error = self.chat(server, slow, max_tokens=1000)[1]["error"]
        self.assertEqual(error["code"], "rate_limit_exceeded")
        self.assertIn("ask for fewer max_tokens", error["message"])

    def test_a_refused_request_costs_no_tokens(self):
        key = self.key("create", "--tpm", "300")["key"]
        server = self.serve()
        too_many = {"model": "tiny", "prompt": ["a"] * 40, "n": 2, "max_tokens": 60}
        for _ in range(8):
            status, text = server.ask("/v1/completions", too_many, self.bearer(key))
            self.assertEqual((status, json.loads(text)["error"]["param"]), (400, "prompt"))
        self.assertEqual(self.chat(server, key)[0], 200)

    def test_a_running_server_takes_changes(self):
        first = self.key("create")
        server = self.serve()
        self.assertEqual(self.chat(server, first["key"])[0], 200)
        second = self.key("create", "--name", "later")
        self.until(lambda: self.chat(server, second["key"])[0] == 200, "a new key")
        self.key("block", first["id"])
        self.until(lambda: self.chat(server, first["key"])[0] == 401, "a blocked key")
        self.assertEqual(self.chat(server, first["key"])[1]["error"]["code"], "blocked_api_key")
        self.key("unblock", first["id"])
        self.until(lambda: self.chat(server, first["key"])[0] == 200, "an unblocked key")
        self.key("update", first["id"], "--models", "far/*")
        self.until(lambda: self.chat(server, first["key"])[0] == 403, "other models")
        self.key("revoke", first["id"])
        self.until(lambda: self.chat(server, first["key"])[0] == 401, "a revoked key")
        self.file.write_text(self.file.read_text() + "nonsense\n")
        server.log_until("the public part has 8 characters")
        self.assertEqual(self.chat(server, second["key"])[0], 200, "a wrong file changes nothing")

    def test_an_audit_log_has_no_content(self):
        audit = self.home.folder / "audit.jsonl"
        key = self.key("create", "--models", "tiny,far/*", "--budget", "0.0015")
        server = serving.close_at_end(self, serving.Server(self.home, "--audit-log", audit))
        talk = {"messages": [{"role": "user", "content": "CANARY-CONTENT"}], "max_tokens": 4}

        def written(n):
            self.until(lambda: audit.read_text().count("\n") == n, "a line is written after its answer has gone, by a thread")

        said = server.json("/v1/chat/completions", talk | {"model": "far/m"}, self.bearer(key["key"]) | {"x-request-id": "mine", "x-wick-tag": "t"})
        written(1)  # else the next line may come before it
        self.assertEqual(server.ask("/v1/chat/completions", talk | {"model": "far/m"}, self.bearer(key["key"]))[0], 429)
        written(2)
        self.assertEqual(server.ask("/v1/embeddings", {"model": "tiny", "input": "CANARY-CONTENT"}, self.bearer(key["key"]))[0], 200)
        written(3)
        self.assertEqual(server.ask("/v1/messages", talk | {"model": "tiny"}, self.bearer(key["key"]))[0], 200)
        written(4)
        audit.rename(audit.with_suffix(".1"))
        server.run.send_signal(signal.SIGHUP)
        server.log_until("reloaded")
        self.assertEqual(self.chat(server, key["key"])[0], 200)
        server.end()
        text = audit.with_suffix(".1").read_text()
        lines = [json.loads(line) for line in text.splitlines()]
        first, refused, vectors, message = lines
        self.assertEqual({name: first[name] for name in ("request_id", "operation", "key", "tag", "model", "provider", "rule", "prompt_tokens",
                                                         "generated_tokens", "finish", "error")},
                         {"request_id": "mine", "operation": "chat", "key": key["id"], "tag": "t", "model": "far/m", "provider": "far",
                          "rule": "model name", "prompt_tokens": 1000, "generated_tokens": 100, "finish": "stop", "error": None})
        self.assertRegex(first["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual((refused["error"], refused["key"]), ("budget_exceeded", key["id"]))
        self.assertEqual((vectors["operation"], vectors["model"], vectors["error"]), ("embeddings", "tiny", None))
        self.assertGreater(vectors["prompt_tokens"], 0)
        self.assertEqual((message["model"], message["provider"]), ("tiny", "local"))
        self.assertEqual(len(audit.read_text().splitlines()), 1, "the file was opened again")
        self.assertEqual(stat.S_IMODE(os.stat(audit).st_mode), 0o600)
        for secret in ("CANARY-CONTENT", key["key"][21:], said["choices"][0]["message"]["content"]):
            self.assertNotIn(secret, text)

    def test_admins_change_keys_over_the_network(self):
        admin, plain = self.key("create", "--admin"), self.key("create", "--budget", "0.003/day", "--rpm", "900", "--name", "alice")
        server = self.serve()
        headers = self.bearer(admin["key"])
        self.assertEqual([self.chat(server, plain["key"], "far/m")[0] for _ in range(3)], [200, 200, 429])
        for path in ("/v1/keys/" + plain["id"], "/key/update", "/key/block", "/key/unblock"):
            self.assertEqual(server.ask(path, {"key": plain["id"]}, self.bearer(plain["key"]))[0], 403, path)
        changed = server.json("/key/update", {"key": plain["key"], "max_budget": 0.006, "budget_duration": "day", "tpm_limit": 100000}, headers)
        self.assertEqual((changed["key_alias"], changed["rpm_limit"], changed["tpm_limit"]), ("alice", 900, 100000), "the others stay")
        budget = changed["budgets"][0]
        self.assertEqual((budget["cap_usd"], budget["used_usd"]), ("0.006000", "0.002200"), "what was used stays used")
        self.until(lambda: self.chat(server, plain["key"], "far/m")[0] == 200, "a larger budget")
        raised = server.json("/key/update", {"key": plain["key"], "max_budget": 0.5}, headers)
        self.assertEqual(raised["budgets"][0]["budget"], "0.5/day", "the period stays")
        self.assertTrue(server.json("/key/block", {"key": plain["id"]}, headers)["blocked"])
        self.until(lambda: self.chat(server, plain["key"])[0] == 401, "blocked")
        self.assertFalse(server.json("/key/unblock", {"key": plain["key"]}, headers)["blocked"])
        self.until(lambda: self.chat(server, plain["key"])[0] == 200, "unblocked")
        bare = server.json("/v1/keys/" + plain["id"], {"max_budget": None, "rpm_limit": None, "key_alias": None, "models": ["tiny"], "duration": "7d"}, headers)
        self.assertEqual((bare["budgets"], bare["rpm_limit"], bare["key_alias"], bare["models"], bare["tpm_limit"]), ([], None, None, ["tiny"], 100000))
        self.until(lambda: self.chat(server, plain["key"], "far/m")[0] == 403, "other models")
        self.assertTrue(server.json("/v1/keys/" + plain["id"], {"blocked": True, "models": None}, headers)["blocked"])
        before = self.file.read_text()
        for body, status in (({"key": "abcdefghijkl"}, 404), ({}, 404), ({"key": plain["id"], "scope": "admin"}, 400),
                             ({"key": plain["id"], "budget_duration": "day"}, 400), ({"key": plain["id"], "key_alias": "a\nb infer"}, 400),
                             ({"key": plain["id"], "duration": "x"}, 400), ({"key": plain["id"], "duration": "0d"}, 400), ({"key": plain["id"], "models": ["a b"]}, 400),
                             ({"key": 1}, 400)):
            self.assertEqual(server.ask("/key/update", body, headers)[0], status, body)
        for field, value in (("duration", "1h"), ("models", ["a,b"])):
            self.assertEqual(server.json("/key/update", {"key": plain["id"], field: value}, headers, 400)["error"]["param"], field)
        self.assertEqual(server.ask("/key/block", {}, headers)[0], 404)
        self.assertEqual(self.file.read_text(), before)
        self.assertNotIn(plain["key"][21:], server.end()[2])

    def test_a_key_reads_itself_and_admins_read_all(self):
        admin, plain = self.key("create", "--admin"), self.key("create", "--budget", "0.003/day", "--models", "far/*", "--name", "alice", "--tpm", "90000")
        server = self.serve()
        self.assertEqual(self.chat(server, plain["key"], "far/m")[0], 200)
        def spent():
            return server.json("/key/info", None, self.bearer(plain["key"]))["info"]["spend"]
        self.until(lambda: spent() == 0.0011, "it is settled")
        for who, path in ((plain, "/key/info"), (plain, "/key/info?key=" + plain["id"]), (admin, "/key/info?x=&key=" + plain["id"]),
                          (admin, "/key/info?key=" + plain["key"])):
            told = server.json(path, None, self.bearer(who["key"]))
            self.assertEqual(told["key"], plain["id"])
            info = told["info"]
            self.assertEqual((info["key_alias"], info["models"], info["tpm_limit"], info["max_budget"], info["spend"], info["blocked"]),
                             ("alice", ["far/*"], 90000, 0.003, 0.0011, False))
            self.assertEqual(info["budgets"], [{"budget": "0.003/day", "cap_usd": "0.003000", "used_usd": "0.001100", "reserved_usd": "0.000000"}])
            self.assertNotIn(plain["key"][21:], json.dumps(told))
            one = server.json("/v1/keys/" + plain["id"], None, self.bearer(who["key"]))
            self.assertEqual((one["id"], one["budgets"]), (plain["id"], info["budgets"]))
        own = server.json("/key/info", None, self.bearer(admin["key"]))
        self.assertEqual((own["key"], own["info"]["scope"], own["info"]["spend"]), (admin["id"], "admin", None))
        # Whether another key exists is not told.
        for path in ("/key/info?key=" + admin["id"], "/key/info?key=abcdefghijkl", "/v1/keys/" + admin["id"], "/v1/keys/abcdefghijkl", "/v1/keys/x"):
            status, text = server.ask(path, None, self.bearer(plain["key"]))[:2]
            self.assertEqual((status, json.loads(text)["error"]["code"]), (403, "key_not_visible"), path)
        for path in ("/key/info?key=abcdefghijkl", "/v1/keys/abcdefghijkl", "/v1/keys/x"):
            self.assertEqual(server.ask(path, None, self.bearer(admin["key"]))[0], 404, path)
        self.assertEqual(server.ask("/key/info")[0], 401)
        self.assertNotIn(plain["key"][21:], server.end()[2])

    def test_admins_make_and_revoke_over_the_network(self):
        admin, plain = self.key("create", "--admin"), self.key("create")
        server = self.serve()
        headers = self.bearer(admin["key"])
        self.assertEqual(server.ask("/v1/keys", {}, self.bearer(plain["key"]))[0], 403)
        self.assertEqual(server.ask("/v1/keys", {})[0], 401)
        for path in ("/v1/keys", "/key/generate"):
            made = server.json(path, {"key_alias": "bob", "models": ["tiny"], "max_budget": 0.1, "budget_duration": "30d", "rpm_limit": 100,
                                      "tpm_limit": 100000, "max_parallel_requests": 3, "duration": "7d"}, headers)
            self.assertEqual((made["key_alias"], made["models"], made["rpm_limit"], made["tpm_limit"]), ("bob", ["tiny"], 100, 100000))
            self.assertEqual((made["budgets"][0]["budget"], made["budgets"][0]["cap_usd"]), ("0.1/30d", "0.100000"))
            self.until(lambda: self.chat(server, made["key"])[0] == 200, path)
            self.assertEqual(self.chat(server, made["key"], "far/m")[0], 403)
            listed = server.json("/v1/keys", None, headers)["data"]
            self.assertEqual(len(listed), 3)
            self.assertNotIn(made["key"][21:], json.dumps(listed))
            if path == "/v1/keys":
                self.assertTrue(json.loads(server.ask(f"/v1/keys/{made['id']}", None, headers, "DELETE")[1])["deleted"])
            else:
                self.assertEqual(server.json("/key/delete", {"keys": [made["key"]]}, headers), {"deleted_keys": [made["id"]]})
            self.until(lambda: self.chat(server, made["key"])[0] == 401, "revoked")
        self.assertEqual(server.ask("/v1/keys/abcdefghijkl", None, headers, "DELETE")[0], 404)
        for body in ({"max_budget": -1}, {"budget_duration": "day"}, {"max_budget": 1, "budget_duration": "soon"}, {"models": [1]},
                     {"key_alias": "a\nb infer,admin"}, {"duration": "x"}, {"scope": "root"}, {"rpm_limit": 0}):
            self.assertEqual(server.ask("/v1/keys", body, headers)[0], 400, body)
        log = server.end()[2]
        for one in (admin, plain, made):
            self.assertNotIn(one["key"][21:], log)


if __name__ == "__main__":
    unittest.main()
