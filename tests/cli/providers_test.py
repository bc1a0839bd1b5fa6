#!/usr/bin/env python3
"""Providers by configuration: the README's lines against an upstream on this machine, through run, chat, serve, route and usage."""
# labels: cli
import http.client
import http.server
import json
import pathlib
import re
import resource
import signal
import sys
import tempfile
import threading
import unittest
from xml.etree import ElementTree

import serving
import tiny

PROGRAM = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
KEY = "sk-canary-5512"


class Upstream(http.server.BaseHTTPRequestHandler):
    """OpenAI's API. Its answers and what was asked stand in the class."""
    asked, status, statuses, breaks_off, usage = [], 200, [], False, {"prompt_tokens": 1000, "completion_tokens": 100}

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Upstream.asked.append((self.path, dict(self.headers), body))
        status = Upstream.statuses.pop(0) if Upstream.statuses else self.status
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream" if status == 200 else "application/json")
        self.end_headers()
        if status != 200:
            self.wfile.write(json.dumps({"error": {"message": f"no: {self.headers['Authorization']}", "code": KEY}}).encode())
            return
        if self.path.endswith("/embeddings"):
            rows = [{"index": i, "embedding": [1, 0]} for i in range(len(body["input"]))]
            self.wfile.write(json.dumps({"data": rows, "usage": {"prompt_tokens": 1000}}).encode())
            return
        if self.breaks_off:
            self.frame({"choices": [{"index": 0, "delta": {"content": "from"}, "finish_reason": None}]})
            self.frame({"error": {"message": f"broken: {KEY}", "code": 500}})
            return
        for delta in ("from", " afar"):
            self.frame({"model": f"{body['model']} {KEY}", "choices": [{"index": 0, "delta": {"content": delta}, "finish_reason": None}]})
        self.frame({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.frame({"choices": [], "usage": self.usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def frame(self, value):
        self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")


def readme_lines():
    return re.search(r"```toml\n(\[\[provider\]\].*?)```", (ROOT / "README.md").read_text(), re.S)[1]


class Providers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.home = tiny.Home(PROGRAM, self.folder.name, context=4096)
        self.home.environment.update(XDG_STATE_HOME=self.folder.name, OPENAI_API_KEY=KEY)
        self.upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
        threading.Thread(target=self.upstream.serve_forever, daemon=True).start()
        self.addCleanup(self.upstream.server_close)
        self.addCleanup(self.upstream.shutdown)
        Upstream.asked, Upstream.status, Upstream.breaks_off = [], 200, False
        self.configure()

    def configure(self, more="", **changes):
        lines = readme_lines().replace('name = "openai"', f'name = "openai"\nendpoint = "http://127.0.0.1:{self.upstream.server_port}/v1"'
                                       '\nkey_env = "OPENAI_API_KEY"', 1)
        lines = re.sub(r'"local/[^"]*"', f'"local/{self.home.model}"', lines)
        for old, new in changes.items():
            lines = lines.replace(old, new)
        file = pathlib.Path(self.folder.name) / "wick/config.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(lines + more)

    def run_wick(self, *arguments, status=0):
        done = self.home.wick(*arguments)
        self.assertEqual(done.returncode, status, (done.stdout + done.stderr).decode())
        self.assertNotIn(KEY.encode(), done.stdout + done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def test_the_readme_has_few_lines(self):
        self.assertLessEqual(len([line for line in readme_lines().splitlines() if line.strip()]), 12)

    def test_short_prompts_stay_and_long_ones_go(self):
        said = json.loads(self.run_wick("run", "auto", "a", "-n", "4", "--json")[0])
        self.assertEqual(Upstream.asked, [])
        self.assertEqual(said["parameters"]["route"]["value"], "route 2")
        out, _ = self.run_wick("run", "auto", "a " * 8000, "-q")
        self.assertEqual(out, "from afar\n")
        path, headers, body = Upstream.asked[0]
        self.assertEqual((path, headers["Authorization"], body["model"]), ("/v1/chat/completions", f"Bearer {KEY}", "gpt-4o-mini"))
        self.assertEqual(body["max_completion_tokens"], 4096)

    def test_without_a_home_no_ledger_begins_in_the_current_folder(self):
        del self.home.environment["XDG_STATE_HOME"]
        before = sorted(pathlib.Path(self.folder.name).rglob("*"))
        for home, what in ((None, "HOME is not set"), ("", "HOME is '', no absolute path"), ("here", "HOME is 'here', no absolute path")):
            self.home.environment.pop("HOME", None)
            if home is not None:
                self.home.environment["HOME"] = home
            for words in (("usage",), ("run", "openai/gpt-4o-mini", "a")):
                _, error = self.run_wick(*words, status=2)
                self.assertIn(what, error)
                self.assertIn("hint: set HOME, or ledger = ", error)
        self.assertEqual((Upstream.asked, sorted(pathlib.Path(self.folder.name).rglob("*"))), ([], before))

    def test_money_is_counted_and_ends(self):
        self.run_wick("run", "openai/gpt-4o-mini", "a", "-q")
        usage = json.loads(self.run_wick("usage", "--json")[0])
        row = usage["usage"][0]
        self.assertEqual((row["provider"], row["requests"], row["prompt_tokens"]), ("openai", 1, 1000))
        self.assertEqual(row["cost_usd"], "0.000210")  # 1000 · 0.15 + 100 · 0.60 millionths
        self.assertEqual(row["price"], "input 0.15 output 0.6 USD/M (config)")
        self.assertEqual(usage["budgets"][0], {"budget": "monthly", "cap_usd": "5.000000", "used_usd": "0.000210",
                                               "reserved_usd": "0.000000"})
        self.assertIn("0.000210 of 5.000000 USD used", self.run_wick("usage")[0])
        self.assertRegex(self.run_wick("usage", "--plot")[0], r"(?s)openai/gpt-4o-mini +1 +0 +1000 +0 +100 +0\.000210\n.*cost per day\n0\.000210 USD")
        self.assertRegex(self.run_wick("usage", "--csv")[0], r"\n\d{4}-\d\d-\d\d,openai,gpt-4o-mini,1,0,0,1000,0,100,0\.000210,input 0\.15 output 0\.6 USD/M \(config\)\n$")
        for name, begin in (("u.svg", "<svg "), ("u.csv", "day,"), ("u.json", '{"budgets":')):
            self.run_wick("usage", "-o", pathlib.Path(self.folder.name) / name)
            self.assertTrue((pathlib.Path(self.folder.name) / name).read_text().startswith(begin), name)
        ElementTree.parse(pathlib.Path(self.folder.name) / "u.svg")
        self.assertIn("it must end in .svg", self.run_wick("usage", "-o", pathlib.Path(self.folder.name) / "u.png", status=2)[1])
        self.configure(**{'"5 USD"': '"0.002 USD"'})
        _, error = self.run_wick("run", "openai/gpt-4o-mini", "a", status=13)
        self.assertIn("the budget 'monthly' of 0.002000 USD has 0.001790 left", error)
        self.assertEqual(len(Upstream.asked), 1)
        said = self.run_wick("run", "openai/gpt-4o-mini", "a", "--json", status=13)[0]
        self.assertEqual(json.loads(said)["error"]["code"], "budget_exceeded")

    def test_what_has_no_price_or_is_private_is_refused(self):
        self.configure('\n[[route]]\nwhen = { contains = ["secret"] }\nprivate = true\n')
        self.run_wick("run", "openai/gpt-4o-mini", "my SECRET", status=13)
        self.configure(**{', input = "0.15 USD/M", output = "0.60 USD/M"': ", free = false"})
        _, error = self.run_wick("run", "openai/gpt-4o-mini", "a", status=13)
        self.assertIn("its price is not known", error)
        self.configure(**{'models = [{': 'free = false\nmodels = [{', ', input = "0.15 USD/M", output = "0.60 USD/M"': ""})
        self.run_wick("run", "openai/gpt-4o-mini", "a", status=13)
        self.assertEqual(Upstream.asked, [])

    def test_prices_come_from_a_file_of_litellm(self):
        prices = pathlib.Path(self.folder.name) / "prices.json"
        prices.write_text(json.dumps({"gpt-4o-mini": {"litellm_provider": "openai", "input_cost_per_token": 1.5e-07, "output_cost_per_token": 6e-07}}))
        without = {', input = "0.15 USD/M", output = "0.60 USD/M"': "", "models = [": "free = false\nmodels = ["}
        self.configure(**without)
        self.run_wick("run", "openai/gpt-4o-mini", "a", status=13)
        self.configure(f'prices = "{prices}"\n', **without)
        self.run_wick("run", "openai/gpt-4o-mini", "a", "-q")
        row = json.loads(self.run_wick("usage", "--json")[0])["usage"][0]
        self.assertEqual(row["cost_usd"], "0.000210")
        self.assertRegex(row["price"], r"^input 0\.15 output 0\.6 USD/M \(prices\.json of \d{4}-\d\d-\d\d\)$")
        prices.write_text("{")
        self.assertIn("prices.json is no JSON object", self.run_wick("run", "openai/gpt-4o-mini", "a", status=2)[1])

    def test_explain_says_why(self):
        out, _ = self.run_wick("route", "explain", "-p", "a")
        self.assertRegex(out, r"^rule: route 2\nprompt: about 1 tokens\n1\. local/\S+: at most 0\.000000 USD\n2\. openai/gpt-4o-mini: at")
        out, _ = self.run_wick("route", "explain", "-p", "a " * 8000)
        self.assertIn("rule: route 1 (more than 3000 tokens)\nprompt: about 4000 tokens\n1. openai/gpt-4o-mini: at most 0.005", out)
        log = pathlib.Path(self.folder.name) / "log.jsonl"
        log.write_text(json.dumps({"model": "auto", "messages": [{"role": "user", "content": "a"}]}) + "\n"
                       + json.dumps({"model": "remote/gpt-4o-mini", "messages": [{"role": "user", "content": "a"}]}) + "\n")
        out, _ = self.run_wick("route", "test", log, "--json")
        first, second = map(json.loads, out.splitlines())
        self.assertEqual((first["rule"], first["candidates"][0]["provider"]), ("route 2", "local"))
        self.assertEqual((second["rule"], second["candidates"][0]["provider"]), ("model name", "openai"))
        self.configure(**{"tokens_over = 3000": "tools = true", '"5 USD"': '"0.002 USD"'})
        tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
        log.write_text(json.dumps({"model": "auto", "messages": serving.TALK, "tools": [tool], "max_completion_tokens": 5}) + "\n")
        self.assertRegex(self.run_wick("route", "test", log)[0], r"rule: route 1 \(tools\)\nprompt: about \d+ tokens, tools\n1. openai/gpt-4o-mini: at most 0.000")
        self.assertRegex(self.run_wick("route", "explain", "openai", "-p", "a")[0],
                         r"\nnot openai/gpt-4o-mini: the budget 'monthly' of 0\.002000 USD has 0\.002000 left, the request may cost 0\.002\d+\n")
        self.assertEqual(Upstream.asked, [])

    def test_explain_says_what_is_not_there(self):
        def explained(*words):
            return self.run_wick("route", "explain", *words, "-p", "a")[0]
        self.assertIn("\nnot local/opnai/gpt-4o-mini: there is no model 'opnai/gpt-4o-mini' on this machine; the nearest provider is openai\n"
                      "no provider would answer\n", explained("opnai/gpt-4o-mini"))
        self.assertIn("hint: the nearest provider is openai", self.run_wick("run", "opnai/gpt-4o-mini", "a", status=4)[1])
        self.assertIn("\nnot openai/gpt-4o-min: openai has no model 'gpt-4o-min'; the nearest are: gpt-4o-mini\n", explained("openai/gpt-4o-min"))
        self.assertIn("\nnot openai/x: openai has no model 'x'; it has gpt-4o-mini\n", explained("openai/x"))
        self.assertIn("1. local/qwen3-0.6b: at most 0.000000 USD; it is not on this machine, and is downloaded first (639 MB)\n", explained("local/qwen3-0.6b"))
        said = json.loads(explained("local/qwen3-0.6b", "--json"))["candidates"][0]
        self.assertEqual((said["rejected"], said["remark"]), ("", "it is not on this machine, and is downloaded first (639 MB)"))
        self.home.environment["WICK_HUB_OFFLINE"] = "1"
        self.assertIn("\nnot local/qwen3-0.6b: it is not on this machine, and hub.offline forbids fetching it\n", explained("local/qwen3-0.6b"))
        del self.home.environment["OPENAI_API_KEY"]
        self.assertIn("\nnot openai/gpt-4o-mini: ", explained("openai/gpt-4o-mini"))
        self.assertIn("OPENAI_API_KEY", explained("openai/gpt-4o-mini"))
        self.assertEqual(Upstream.asked, [])

    def test_a_bad_line_of_a_log_does_not_hide_the_others(self):
        log = pathlib.Path(self.folder.name) / "log.jsonl"
        good = json.dumps({"model": "auto", "messages": [{"role": "user", "content": "a"}]})
        log.write_text(f"{good}\nnope\n{{}}\n{good}\n")
        out, error = self.run_wick("route", "test", log, status=2)
        self.assertEqual([line for line in out.splitlines() if line.startswith("#")], ["# line 1", "# line 4"])
        self.assertIn(f"{log}:2: JSON is not well formed at line 1, column 1: unexpected 'no'\n", error)
        self.assertIn(f"{log}:3: there are no messages", error)
        lines = [json.loads(line) for line in self.run_wick("route", "test", log, "--json", status=2)[0].splitlines()]
        self.assertEqual([sorted(one)[0] for one in lines], ["candidates", "error", "error", "candidates"])

    def test_the_doctor_reads_the_configuration(self):
        def examined(*words, status):
            out, _ = self.run_wick("doctor", *words, status=status)
            return out
        file = pathlib.Path(self.folder.name) / "wick/config.toml"
        out = examined(status=0)
        self.assertIn(f"config            {file}\n", out)
        self.assertIn(f"provider_openai   http://127.0.0.1:{self.upstream.server_port}/v1, the key is there\n", out)
        for more, words in (("[local]\nthreads = 5000\n", f"{file}:14:1: local.threads is 5000"), ('[[provider]]\nname = "x"\n', f"{file}:13:1: there is no kind of provider 'x'"),
                            ("[", f"{file}:13:")):
            self.configure(more)
            self.assertIn(words, examined(status=2))
            self.assertIn(words, json.loads(examined("--json", status=2))["config"])
            self.assertIn(words, self.run_wick("run", "auto", "a", status=2)[1])
        self.assertIn("/no/such.toml: is no file that can be read", examined("--config", "/no/such.toml", status=2))
        self.home.environment["WICK_CONFIG"] = "/no/such.toml"
        self.assertIn("/no/such.toml: is no file that can be read", examined(status=2))
        del self.home.environment["WICK_CONFIG"], self.home.environment["OPENAI_API_KEY"]
        self.configure()
        out = examined(status=0)  # the rules may have others
        self.assertRegex(out, r"provider_openai   \S+, .*OPENAI_API_KEY")

    def test_the_page_of_the_api_has_the_codes_of_remote_failures(self):
        page = (ROOT / "docs/api.md").read_text().partition("\n## Errors\n")[2].partition("\n## ")[0]
        codes = re.findall(r'ErrorCode::k\w+, "(\w+)"\}', (ROOT / "src/remote/refusal.cc").read_text())
        self.assertGreaterEqual(len(codes), 10)
        for code in (*codes, "breaker_open"):
            self.assertIn(f"`{code}`", page)

    def test_wrong_settings_are_named(self):
        for more, words in (('[[route]]\nto = ["opnai/x"]\n', "names the provider 'opnai', which there is not"),
                            ('[[route]]\ntoo = ["*"]\n', "has no setting 'too'"),
                            ('[[provider]]\nname = "x"\nkind = "opena"\n', "kind must be openai, azure,"),
                            ('[[provider]]\nname = "openai"\n', "two providers are called 'openai'")):
            self.configure("\n" + more)
            _, error = self.run_wick("run", "auto", "a", status=2)
            self.assertIn(words, error)

    def test_a_provider_that_fails_leaves_the_local_model(self):
        Upstream.status = 401
        self.configure(**{"tokens_over = 3000": "tokens_over = 0",
                          'to = ["openai/gpt-4o-mini"]': f'to = ["openai/gpt-4o-mini", "local/{self.home.model}"]'})
        said = json.loads(self.run_wick("run", "auto", "a", "-n", "4", "--temp", "0", "--json")[0])
        self.assertEqual((said["parameters"]["route"]["value"], said["usage"]["generated_tokens"]), ("route 1", 4))
        self.assertEqual(len(Upstream.asked), 1)

    def test_what_breaks_off_goes_on_here(self):
        Upstream.breaks_off = True
        both = f'["openai/gpt-4o-mini", "local/{self.home.model}"]'
        self.configure(**{"tokens_over = 3000 }": "tokens_over = 0 }\ncontinue = true", '["openai/gpt-4o-mini"]': both})
        said = json.loads(self.run_wick("run", "auto", "a", "-n", "8", "--temp", "0", "--json")[0])
        self.assertTrue(said["text"].startswith("from") and len(said["text"]) > 4, said)
        self.assertEqual(said["parameters"]["continued_from"]["value"], "openai/gpt-4o-mini")
        self.assertEqual(said["parameters"]["max_tokens"]["value"], 4, "of 8, four are said: a token for each byte")
        self.configure(**{"tokens_over = 3000": "tokens_over = 0"})
        _, error = self.run_wick("run", "auto", "a", "-n", "8", status=4)
        self.assertIn("broken", error)

    def test_local_without_a_name_is_the_default_model(self):
        self.configure('\n[alias]\nhere = "local"\nthere = { to = "openai/gpt-4o-mini", continue = true }\n')
        server = serving.close_at_end(self, serving.Server(self.home))
        talk = {"messages": serving.TALK, "max_tokens": 8, "temperature": 0, "ignore_eos": True}
        named = server.json("/v1/chat/completions", talk | {"model": "tiny"})
        self.assertEqual(server.json("/v1/chat/completions", talk | {"model": "here"})["choices"], named["choices"])
        Upstream.breaks_off = True
        said = server.json("/v1/chat/completions", talk | {"model": "there"})["choices"][0]["message"]["content"]
        self.assertTrue(said.startswith("from") and len(said) > 4, said)
        self.assertEqual([one["name"] for one in server.json("/api/ps")["models"]], ["tiny"], "loaded once")
        server.end(signal.SIGTERM)
        rows = json.loads(self.run_wick("usage", "--json")[0])["usage"]
        self.assertEqual([(row["model"], row["requests"]) for row in rows if row["provider"] == "local"], [("tiny", 3)])

    def test_local_without_a_name_is_the_configured_model_where_a_flag_names_a_route(self):
        self.configure(f'\n[alias]\nhere = "local"\n[local]\nmodel_path = "{self.home.model}"\n')
        for route in ("here", "local/"):
            said = json.loads(self.run_wick("run", route, "a", "-n", "4", "--temp", "0", "--json")[0])
            self.assertEqual(said["usage"]["generated_tokens"], 4)
        rows = json.loads(self.run_wick("usage", "--json")[0])["usage"]
        self.assertEqual([(row["provider"], row["model"], row["requests"]) for row in rows], [("local", str(self.home.model), 2)])
        self.assertNotIn("not on this machine", self.run_wick("route", "explain", "here", "-p", "a")[0])

    def test_local_names_stay_here(self):
        talk = {"messages": serving.TALK, "max_tokens": 4}

        def asked(*names):
            server = serving.close_at_end(self, serving.Server(self.home, model=False))
            served = [model["id"] for model in server.json("/v1/models")["data"]]
            self.assertEqual(len(served), len(set(served)))
            counts = []
            for name in names:
                Upstream.asked.clear()
                server.json("/v1/chat/completions", talk | {"model": name})
                server.json("/v1/chat/completions", talk | {"model": name.split("/")[-1]}, {"x-wick-provider": name.split("/")[0]} if "/" in name else {})
                counts.append(len(Upstream.asked))
            return counts
        # A provider with a model of the same name, an alias, a local model with the name of a provider.
        self.configure(**{"gpt-4o-mini": "tiny"})
        self.assertEqual(asked("local/tiny", "tiny", "remote/tiny", "openai/tiny"), [0, 0, 2, 2])
        self.configure('[alias]\ntiny = "openai/gpt-4o-mini"\n')
        self.assertEqual(asked("local/tiny", "tiny", "remote/gpt-4o-mini"), [0, 2, 2])
        self.home.model = self.home.model.rename(self.home.model.with_name("openai.gguf"))
        self.configure()
        self.assertEqual(asked("local/openai", "openai/gpt-4o-mini"), [0, 2])

    def test_aliases_spread_over_equal_providers(self):
        other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Other", (Upstream,), {}))
        threading.Thread(target=other.serve_forever, daemon=True).start()
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        self.configure(f'''
[[provider]]
name = "twin"
kind = "openai-compatible"
endpoint = "http://127.0.0.1:{other.server_port}/v1"
models = ["gpt-4o-mini"]
[alias]
mini = {{ to = ["openai/gpt-4o-mini", "twin/gpt-4o-mini"], strategy = "weighted" }}
twin-only = "twin/gpt-4o-mini"
''')
        self.run_wick("run", "twin-only", "a", "-q")
        self.assertNotIn("Authorization", Upstream.asked[-1][1], "the key of another provider")
        server = serving.Server(self.home)
        try:
            names = [model["id"] for model in server.json("/v1/models")["data"]]
            self.assertEqual(names, ["tiny", "auto", "mini", "twin-only", "openai/gpt-4o-mini", "twin/gpt-4o-mini", "remote/gpt-4o-mini"])
            talk = {"messages": serving.TALK, "max_tokens": 4}
            Upstream.asked.clear()
            for _ in range(40):
                server.json("/v1/chat/completions", talk | {"model": "mini"})
            hosts = {asked[1]["Host"] for asked in Upstream.asked}
            self.assertEqual(len(hosts), 2, "a coin that falls 40 times on one side: one in 5e11")
            self.assertEqual(server.json("/v1/chat/completions", talk | {"model": "gpt-4o-mini"})["choices"][0]["message"]["content"],
                             "from afar", "any provider that has it")
        finally:
            server.run.terminate()
            server.run.communicate(timeout=30)
        for more, words in (('[alias]\nopenai = "openai/x"\n', "has the name of a provider"), ('[alias]\na = "nobody/x"\n', "which there is not"),
                            ('[alias]\na = []\n', "is missing"), ('[alias]\n"a/b" = "openai/x"\n', "must be a name without '/'")):
            self.configure("\n" + more)
            self.assertIn(words, self.run_wick("run", "auto", "a", status=2)[1])

    def test_a_key_is_seen_nowhere(self):
        class Collector(http.server.BaseHTTPRequestHandler):
            """Of traces."""
            bodies = []

            def log_message(self, *_):
                pass

            def do_POST(self):
                Collector.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.end_headers()

        collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        self.addCleanup(collector.server_close)
        self.addCleanup(collector.shutdown)
        self.configure(**{"tokens_over = 3000": "tokens_over = 0"})
        audit = pathlib.Path(self.folder.name) / "audit.jsonl"
        server = serving.Server(self.home, "--audit-log", audit, "--otlp-endpoint", f"http://127.0.0.1:{collector.server_port}")
        seen = []
        try:
            talk = {"model": "openai/gpt-4o-mini", "messages": serving.TALK, "max_tokens": 4}
            answer = server.json("/v1/chat/completions", talk | {"wick": {"parameters": True}})
            self.assertIn("gpt-4o-mini [key]", json.dumps(answer), "the model that the API names")
            seen.append(json.dumps(answer))
            for status in (200, 400, 401, 403, 404, 408, 413, 422, 429, 500, 529):
                Upstream.status = status
                for body in (talk, talk | {"stream": True}, talk | {"model": "auto", "stream": True}):
                    seen.append(server.ask("/v1/chat/completions", body)[1])
                seen.append(server.ask("/v1/messages", talk)[1])
                seen.append(server.ask("/v1/embeddings", {"model": "openai/gpt-4o-mini", "input": "a"})[1])
            Upstream.status, Upstream.breaks_off = 200, True
            seen += [server.ask("/v1/chat/completions", talk | {"stream": streams, "user": KEY})[1] for streams in (False, True)]
            paths = [path for path, methods in server.json("/openapi.json")["paths"].items() if "get" in methods]
            self.assertGreater(len(paths), 10)
            for path in (*paths, "/debug", "/debug/vars", "/debug/pprof/heap", f"/{KEY}"):
                seen.append(server.ask(path)[1])
        finally:
            server.run.terminate()
            out, log = server.run.communicate(timeout=30)
        self.assertGreater(len(Upstream.asked), 8, "until the circuit breaker opens, by answers and embeddings")
        self.assertTrue(all(headers["Authorization"] == f"Bearer {KEY}" for _, headers, _ in Upstream.asked))
        for words in (("doctor",), ("config", "show"), ("usage",), ("usage", "--json"), ("usage", "--csv"), ("key", "list"), ("model", "list"),
                      ("route", "explain", "-p", "a"), ("run", "openai/gpt-4o-mini", "a"), ("chat", "openai/gpt-4o-mini")):
            done = self.home.wick(*words)
            seen.append((done.stdout + done.stderr).decode())
        self.assertIn(b"gpt-4o-mini", audit.read_bytes())
        self.assertTrue(Collector.bodies)
        files = {path.name: path.read_bytes() for path in pathlib.Path(self.folder.name).rglob("*") if path.is_file()}
        self.assertIn(b"gpt-4o-mini", files["usage.db"] + files.get("usage.db-wal", b""))
        told = "".join(seen).replace(f"there is no GET /{KEY}", "")  # what the client itself has sent
        for place, text in (("answers", told.encode()), ("log", log.replace(f"GET /{KEY}".encode(), b"")), ("output", out),
                            ("traces", b"".join(Collector.bodies)), *files.items()):
            self.assertNotIn(KEY.encode(), text, place)

    def test_a_core_dump_has_no_key(self):
        """As an administrator may want it: the limit that the server sets is raised again. The key is longer than registers, which dumps have."""
        self.configure(**{"tokens_over = 3000": "tokens_over = 0"})
        key = "sk-canary-" + "".join(map(str, range(100)))
        self.home.environment.update(OPENAI_API_KEY=key)
        server = serving.Server(self.home)
        server.json("/v1/chat/completions", {"model": "openai/gpt-4o-mini", "messages": serving.TALK, "max_tokens": 4})
        self.assertEqual(Upstream.asked[-1][1]["Authorization"], f"Bearer {key}")
        self.assertEqual(pathlib.Path(f"/proc/{server.run.pid}/coredump_filter").read_text().strip(), "00000000")
        most = resource.getrlimit(resource.RLIMIT_CORE)[1]
        self.assertEqual(resource.prlimit(server.run.pid, resource.RLIMIT_CORE)[0], 0)
        resource.prlimit(server.run.pid, resource.RLIMIT_CORE, (most, most))
        server.end(signal.SIGABRT)
        for core in pathlib.Path(self.home.folder).glob("core*"):
            self.assertEqual(core.read_bytes().count(key.encode()), 0)

    def test_the_server_tells_who_answered(self):
        server = serving.Server(self.home)
        try:
            for path, body in (("/v1/chat/completions", {"messages": serving.TALK, "max_tokens": 4}),
                               ("/v1/embeddings", {"input": ["hello"]}), ("/api/embed", {"input": ["hello"]})):
                for model, provider in (("local/tiny", "local"), ("openai/gpt-4o-mini", "openai")):
                    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=serving.SECONDS)
                    connection.request("POST", path, json.dumps(body | {"model": model}), serving.JSON | {"x-wick-tag": "a"})
                    answer = connection.getresponse()
                    answer.read()
                    self.assertEqual((path, answer.status, answer.getheader("x-wick-provider")), (path, 200, provider))
                    connection.close()
        finally:
            server.run.terminate()
            server.run.communicate(timeout=30)
        rows = json.loads(self.run_wick("usage", "--json", "--tag", "a")[0])["usage"]  # rows of requests without a price wait in groups
        self.assertEqual([(row["provider"], row["requests"]) for row in rows if row["provider"] == "openai"], [("openai", 3)])

    def test_token_ids_are_for_models_of_this_machine(self):
        self.configure('[alias]\nfar = "openai/gpt-4o-mini"\n')
        server = serving.close_at_end(self, serving.Server(self.home))
        for model in ("openai/gpt-4o-mini", "remote/gpt-4o-mini", "far"):
            error = server.json("/v1/embeddings", {"model": model, "input": [[1, 2]]}, status=400)["error"]
            self.assertEqual((error["param"], "send texts" in error["message"]), ("input", True), error)

    def test_what_fails_is_asked_again(self):
        server = serving.close_at_end(self, serving.Server(self.home))
        for path, body in (("/v1/chat/completions", {"messages": serving.TALK}), ("/v1/embeddings", {"input": ["a", "b"]})):
            Upstream.asked.clear()
            Upstream.statuses = [503, 529]
            server.json(path, body | {"model": "openai/gpt-4o-mini"})
            self.assertEqual(len(Upstream.asked), 3, path)
            Upstream.statuses = [400]
            self.assertEqual(server.ask(path, body | {"model": "openai/gpt-4o-mini"})[0], 400)
            self.assertEqual(len(Upstream.asked), 4, path)

    def test_ignored_fields_are_named(self):
        self.configure('[generation]\nmin_p = 0.2\n')
        Upstream.asked.clear()
        server = serving.close_at_end(self, serving.Server(self.home))
        talk = {"messages": serving.TALK, "max_tokens": 4, "temperature": 0.5, "top_k": 3, "repetition_penalty": 1.5, "frob": 1,
                "user": "u", "metadata": {}}

        def told(body):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=serving.SECONDS)
            connection.request("POST", "/v1/chat/completions", json.dumps(body), serving.JSON)
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200, answer.read())
            connection.close()
            return answer.headers["x-wick-ignored"]
        for streams in (False, True):
            body = talk | {"stream": streams}
            self.assertEqual(told(body | {"model": "openai/gpt-4o-mini"}), "frob, top_k, repetition_penalty, metadata")
            self.assertEqual(told(body | {"model": "local/tiny"}), "frob")
        sent = Upstream.asked[0][2]
        self.assertEqual((sent["temperature"], sent["user"], "top_k" in sent, "metadata" in sent), (0.5, "u", False, False))
        # Flags are named, settings of config.toml are for all models.
        for command in ("run", "chat"):
            _, error = self.run_wick(command, "openai/gpt-4o-mini", *(["-p"] if command == "chat" else []), "a", "--top-k", "3", "--temp", "0.25")
            self.assertEqual([line for line in error.splitlines() if "ignores" in line], ["warning: openai ignores top_k"])
            self.assertEqual(Upstream.asked[-1][2]["temperature"], 0.25)

    def test_the_server_keeps_answers_that_repeat(self):
        self.configure("[response_cache]\nmax_mb = 1\n")
        server = serving.Server(self.home)
        try:
            talk = {"model": "openai/gpt-4o-mini", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 20}
            for temperature, asked in ((0, 1), (1, 2)):
                Upstream.asked.clear()
                for _ in range(2):
                    said = server.json("/v1/chat/completions", talk | {"temperature": temperature})
                    self.assertEqual(said["choices"][0]["message"]["content"], "from afar")
                self.assertEqual(len(Upstream.asked), asked)
            stream = server.stream(talk | {"temperature": 0, "stream": True}).read().decode()
            self.assertIn("from", stream)
            self.assertEqual(len(Upstream.asked), 2)
        finally:
            server.run.terminate()
            server.run.communicate(timeout=30)

    def test_servers_keep_their_own_answers_while_redis_is_away(self):
        self.configure('[response_cache]\nstore = "redis+unix:///nowhere/redis.sock"\n')
        server = serving.Server(self.home)
        talk = {"model": "openai/gpt-4o-mini", "messages": serving.TALK, "max_tokens": 20, "temperature": 0}
        for _ in range(2):
            self.assertEqual(server.json("/v1/chat/completions", talk)["choices"][0]["message"]["content"], "from afar")
        self.assertEqual(len(Upstream.asked), 1)
        self.assertIn("each process has its own answers meanwhile", server.end()[2])
        self.configure('[response_cache]\nstore = "memcached://x"\n')
        self.assertIn("the store of the response cache does not begin with redis://", self.run_wick("run", "auto", "a", status=2)[1])

    def test_a_server_that_asks_itself_ends(self):
        class Mirror(http.server.BaseHTTPRequestHandler):
            """Leads back to the server that asks."""
            port, hops = 0, []

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                Mirror.hops.append(self.headers["x-wick-hops"])
                back = http.client.HTTPConnection("127.0.0.1", Mirror.port, timeout=serving.SECONDS)
                back.request("POST", "/v1/chat/completions", body, serving.JSON | {"x-wick-hops": Mirror.hops[-1]})
                answer = back.getresponse()
                text = answer.read()
                back.close()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.getheader("content-type"))
                self.end_headers()
                self.wfile.write(text)

        mirror = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
        threading.Thread(target=mirror.serve_forever, daemon=True).start()
        self.addCleanup(mirror.server_close)
        self.addCleanup(mirror.shutdown)
        self.configure(f'''
[[provider]]
name = "mirror"
kind = "wick"
endpoint = "http://127.0.0.1:{mirror.server_port}/v1"
models = ["x"]
[alias]
x = "mirror/x"
''')
        server = serving.Server(self.home)
        Mirror.port = server.port
        try:
            status, text = server.ask("/v1/chat/completions", {"model": "x", "messages": serving.TALK})
            self.assertGreaterEqual(status, 400)
            self.assertIn("was passed on 4 times", text)
            self.assertEqual(Mirror.hops, ["1", "2", "3", "4"], "and nobody tries again")
            straight = server.ask("/v1/chat/completions", {"model": "x", "messages": serving.TALK}, {"x-wick-hops": "4"})
            self.assertEqual((straight[0], json.loads(straight[1])["error"]["code"]), (508, "loop_detected"))
        finally:
            server.run.terminate()
            server.run.communicate(timeout=30)

    def test_similar_questions_get_one_answer(self):
        self.configure(f'[response_cache]\nmax_mb = 1\nsimilar_by = "local/{self.home.model}"\nsimilarity = 0.9\n')
        refused = self.run_wick("serve", "-m", self.home.model, "--port", "0", status=2)[1]
        self.assertIn("similar_by of [response_cache]: ", refused)
        self.assertIn("tiny.gguf is a chat model: it has no pooling_type, wanted is an embedding model", refused)
        tiny.write_model(self.home.model, context=4096, more=[("llama.pooling_type", 4)])
        self.assertIn("is a cross-encoder", self.run_wick("serve", "-m", self.home.model, "--port", "0", status=2)[1])
        tiny.write_model(self.home.model, context=4096, more=[("llama.pooling_type", 1)])
        server = serving.Server(self.home)
        try:
            def ask(text, **more):
                body = {"model": "openai/gpt-4o-mini", "messages": [{"role": "user", "content": text}], "max_tokens": 20, "temperature": 0,
                        "wick": {"parameters": True}} | more
                said = server.json("/v1/chat/completions", body)
                self.assertEqual(said["choices"][0]["message"]["content"], "from afar")
                found = said["choices"][0]["wick"]["parameters"] if "wick" in said["choices"][0] else said["wick"]["parameters"]
                return {one["key"]: one["value"] for one in found}.get("cache") if isinstance(found, list) else found.get("cache", {}).get("value")
            text = "What is the capital of the country whose largest river is the Loire, and how many people live there today?"
            self.assertEqual([ask(text), ask(text), ask(text[:-1] + "."), ask("1 2 3")], [None, "hit", "similar", None])
            self.assertEqual(len(Upstream.asked), 2)
            self.assertEqual(ask(text[:-1] + "!", max_tokens=21), None, "another parameter")
        finally:
            server.run.terminate()
            server.run.communicate(timeout=30)
        for more, words in (('similar_by = "openai/x"', "must be an embedding model of this machine"), ("similarity = 0.5", "from 0.8 to 1")):
            self.configure("[response_cache]\n" + more + "\n")
            self.assertIn(words, self.run_wick("run", "auto", "a", status=2)[1])

    def test_the_server_serves_them_all(self):
        self.configure(**{'"5 USD"': '"0.004 USD"'})
        server = serving.Server(self.home, model=False)  # the local model is that of the rules
        try:
            names = [model["id"] for model in server.json("/v1/models")["data"]]
            self.assertEqual(names, ["tiny", "auto", "openai/gpt-4o-mini"])
            talk = {"messages": serving.TALK, "max_tokens": 4}
            for model in ("local/tiny", "auto"):
                server.json("/v1/chat/completions", talk | {"model": model})
            self.assertEqual(Upstream.asked, [])
            for body, headers in ((talk | {"model": "remote/gpt-4o-mini"}, {}),
                                  (talk | {"model": "gpt-4o-mini"}, {"x-wick-provider": "openai"})):
                said = server.json("/v1/chat/completions", body, headers)
                self.assertEqual(said["choices"][0]["message"]["content"], "from afar")
                self.assertEqual(said["usage"]["prompt_tokens"], 1000)
            stream = server.stream(talk | {"model": "openai/gpt-4o-mini", "stream": True}).read().decode()
            self.assertEqual("".join(re.findall(r'"content":"([^"]*)"', stream)), "from afar")
            for streams in (False, True):  # a stream does not begin before its reservation
                whole = server.ask("/v1/chat/completions",
                                   talk | {"model": "openai/gpt-4o-mini", "max_tokens": 9000, "stream": streams})
                self.assertEqual((whole[0], json.loads(whole[1])["error"]["code"]), (429, "insufficient_quota"))
            Upstream.status = 400
            self.assertEqual(server.ask("/v1/chat/completions", talk | {"model": "openai/gpt-4o-mini"})[0], 400)
            self.assertNotIn(KEY, server.ask("/metrics")[1])
        finally:
            server.run.terminate()
            out, log = server.run.communicate(timeout=30)
            self.assertNotIn(KEY.encode(), out + log)


if __name__ == "__main__":
    unittest.main()
