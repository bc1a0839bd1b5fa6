#!/usr/bin/env python3
"""Several `wick serve` as several machines: replicas behind one, with prefix affinity and bounded load. With WICK_TEST_REDIS (.ci/long stores)
also two that share a response cache."""
# labels: cli
import collections
import concurrent.futures
import http.client
import json
import os
import pathlib
import signal
import sys
import tempfile
import unittest

import serving
import tiny

PROGRAM = sys.argv.pop(1)
NAMES = ("one", "two", "three")
FRONT = "".join(f'[[provider]]\nname = "{name}"\nkind = "wick"\nendpoint = "http://127.0.0.1:{{{name}}}/v1"\nmodels = ["tiny"]\nfree = true\n'
                for name in NAMES) + '[alias]\nreplica = {{ to = ["one/tiny", "two/tiny", "three/tiny"], strategy = "prefix-affinity" }}\n'
LONG = {"logit_bias": {"257": -100, "258": -100, "259": -100}}  # no token that ends the answer


class Machines(unittest.TestCase):
    def start(self, name, config="", model=True):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        home = tiny.Home(PROGRAM, folder.name, context=4096)
        home.environment.update(XDG_STATE_HOME=folder.name, OPENAI_API_KEY="sk-none")
        file = pathlib.Path(folder.name) / "wick/config.toml"
        file.parent.mkdir()
        file.write_text(config)
        return serving.close_at_end(self, serving.Server(home, "--threads", 1, model=model))


class Replicas(Machines):
    def setUp(self):
        self.replicas = {name: self.start(name) for name in NAMES}
        self.front = self.start("front", FRONT.format(**{name: server.port for name, server in self.replicas.items()}), model=False)

    def test_a_gateway_has_no_model_of_its_own(self):
        names = [model["id"] for model in self.front.json("/v1/models")["data"]]
        self.assertEqual(names, ["auto", "replica", "one/tiny", "two/tiny", "three/tiny", "remote/tiny"])
        self.assertEqual(self.front.mapped(".gguf"), [])
        self.assertEqual(self.front.ask("/v1/chat/completions", {"model": "local", "messages": serving.TALK})[0], 404)
        self.front.json("/v1/chat/completions", {"model": "auto", "messages": serving.TALK, "max_tokens": 2})
        self.front.json("/props")

    def ask(self, prefix, question, **more):
        """Who answered, and how many tokens of the prompt were in its prefix cache."""
        connection = http.client.HTTPConnection("127.0.0.1", self.front.port, timeout=serving.SECONDS)
        talk = [{"role": "system", "content": f"{prefix} " * 100}, {"role": "user", "content": question}]
        connection.request("POST", "/v1/chat/completions", json.dumps({"model": "replica", "messages": talk, "max_tokens": 2} | more), serving.JSON)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        self.assertEqual(answer.status, 200, text)
        usage = json.loads(text)["usage"]
        self.assertGreater(usage["prompt_tokens"], 1000)
        return answer.getheader("x-wick-provider"), usage["prompt_tokens_details"]["cached_tokens"]

    def test_a_prefix_stays_with_its_replica_until_that_is_gone(self):
        prefixes, owners = [f"Prefix {i:03}," for i in range(12)], {}
        for question in ("a", "b", "c"):
            for prefix in prefixes:
                name, cached = self.ask(prefix, question)
                self.assertEqual(owners.setdefault(prefix, name), name)
                if question != "a":
                    self.assertGreater(cached, 1000, "the prefix was in its cache")
        self.assertEqual(set(owners.values()), set(NAMES))
        for name, server in self.replicas.items():
            mine = sum(owner == name for owner in owners.values())
            self.assertEqual(server.metric("wick_requests_total"), 3 * mine, "nobody else asked it")
        gone = owners[prefixes[0]]
        self.replicas[gone].end(signal.SIGKILL)
        for question in ("d", "e"):
            for prefix, owner in owners.items():
                name, cached = self.ask(prefix, question)
                self.assertNotEqual(name, gone)
                if owner != gone:
                    self.assertEqual(name, owner, "only the prefixes of the one that is gone move")
                if owner != gone or question == "e":
                    self.assertGreater(cached, 1000)

    def test_a_hot_prefix_is_spread_and_comes_back(self):
        owner, _ = self.ask("Hot prefix,", "a")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(self.ask, "Hot prefix,", f"question {i}", max_tokens=1000, **LONG) for i in range(8)]
            served = collections.Counter(one.result()[0] for one in asked)
        self.assertEqual(set(served), set(NAMES))
        self.assertLessEqual(max(served.values()), 4, "1.25 of the average of 8 requests by 3, rounded up")
        self.assertEqual(self.ask("Hot prefix,", "b")[0], owner)

    if "WICK_TEST_REDIS" in os.environ:
        def test_machines_share_answers_in_redis(self):
            lines = FRONT.format(**{name: server.port for name, server in self.replicas.items()})
            lines += f'[response_cache]\nstore = "{os.environ["WICK_TEST_REDIS"]}"\n'
            fronts = [self.start("front", lines, model=False) for _ in range(2)]
            talk = {"model": "replica", "messages": serving.TALK, "temperature": 0, "max_tokens": 600, **LONG}
            with concurrent.futures.ThreadPoolExecutor(6) as pool:
                answers = [one.result() for one in [pool.submit(fronts[i % 2].json, "/v1/chat/completions", talk) for i in range(6)]]
            texts = {answer["choices"][0]["message"]["content"] for answer in answers}
            self.assertEqual(len(texts), 1)
            streamed = fronts[1].stream(talk | {"stream": True}).read().decode()
            pieces = [json.loads(line[6:])["choices"] for line in streamed.splitlines() if line.startswith("data: {")]
            self.assertEqual("".join(one[0]["delta"].get("content") or "" for one in pieces if one), texts.pop())
            self.assertEqual(sum(server.metric("wick_requests_total") for server in self.replicas.values()), 1)


if __name__ == "__main__":
    unittest.main()
