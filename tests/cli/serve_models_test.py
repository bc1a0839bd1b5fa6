#!/usr/bin/env python3
"""The models of wick serve: several, a folder, loaded when they are asked for, kept as long as told, swapped and read again while
streams go on."""
# labels: cli
import asyncio
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest

import tiny
from serving import SECONDS, TALK, Server, close_at_end, is_instrumented, stream_text

WICK = sys.argv.pop(1)
STREAMS = 16
TOKENS = 1500


def ask(model, **fields):
    return {"model": model, "messages": TALK, "max_tokens": 8, "seed": 1, "temperature": 2, **fields}


def until(what, seconds=SECONDS):
    """Waits for `what` to become true."""
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            raise AssertionError("it did not come to be")
        time.sleep(0.02)


def bodies(model):
    return [ask(model, seed=number, max_tokens=TOKENS, ignore_eos=True) for number in range(STREAMS)]


async def texts(port, model, meanwhile=None):
    """Of 16 streams at once; `meanwhile` runs in a thread of its own when each has said ten pieces."""
    counts, all_run = [0] * STREAMS, asyncio.Event()

    def count(number):
        counts[number] += 1
        if min(counts) >= 10:
            all_run.set()

    tasks = [asyncio.ensure_future(stream_text(port, body, lambda n=n: count(n))) for n, body in enumerate(bodies(model))]
    if meanwhile:
        await asyncio.wait([asyncio.ensure_future(all_run.wait()), *tasks], return_when=asyncio.FIRST_COMPLETED)
        await asyncio.to_thread(meanwhile)
        assert not all(task.done() for task in tasks), "the streams were over before it was done"
    return await asyncio.gather(*tasks)


class Models(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = tiny.Home(WICK, folder.name, context=4096)
        self.other = self.home.folder / "other.gguf"
        tiny.write_model(self.other, context=4096, seed=2)

    def serve(self, *arguments, **options):
        return close_at_end(self, Server(self.home, *arguments, **options))

    def loaded(self, server):
        return [one["id"] for one in server.json("/v1/models")["data"] if one["loaded"]]

    def said(self, server, model):
        return server.json("/v1/chat/completions", ask(model))["choices"][0]["message"]["content"]

    def folder_of_models(self):
        folder = self.home.folder / "models"
        folder.mkdir()
        for number, name in enumerate(("one", "three", "two-00002-of-00002")):
            tiny.write_model(folder / f"{name}.gguf", context=512, seed=number)
        (folder / "notes.txt").write_text("no model")
        return folder

    def test_a_folder_is_its_models_each_loaded_when_it_is_asked_for(self):
        folder = self.folder_of_models()
        server = self.serve("-m", folder, model=False)
        self.assertEqual([one["id"] for one in server.json("/v1/models")["data"]], ["one", "three"])
        self.assertEqual(self.loaded(server), [])
        self.said(server, "three")
        self.assertEqual(self.loaded(server), ["three"])
        self.assertEqual(server.ask("/v1/chat/completions", ask(str(folder / "one.gguf")))[0], 404)
        empty = self.home.folder / "empty"
        empty.mkdir()
        done = self.home.wick("serve", "--port", "0", "-m", empty)
        self.assertEqual(done.returncode, 4)
        self.assertIn("holds neither GGUF files", done.stderr.decode())

    def test_two_models_share_one_team_of_threads(self):
        server = self.serve("-m", self.other, "--threads", "3")
        self.said(server, "tiny")
        one = server.threads()
        self.said(server, "other")
        self.assertEqual(server.threads(), one + 1, "the second model brings the thread of its engine alone")

    def test_keep_alive_of_the_server_and_of_a_request(self):
        server = self.serve("-m", self.other, "--keep-alive", "300ms")
        self.said(server, "other")
        until(lambda: self.loaded(server) == [])
        talk = {"model": "tiny", "messages": TALK, "stream": False, "options": {"num_predict": 2}}
        server.json("/api/chat", {**talk, "keep_alive": -1})
        server.json("/api/chat", {**talk, "model": "other", "keep_alive": "1h"})
        time.sleep(0.6)
        self.assertEqual(sorted(self.loaded(server)), ["other", "tiny"])
        expiries = {one["name"]: one["expires_at"] for one in server.json("/api/ps")["models"]}
        self.assertTrue(expiries["tiny"].startswith("23"))
        self.assertEqual(expiries["other"][:2], "20")
        server.json("/api/chat", {**talk, "keep_alive": 0})
        until(lambda: self.loaded(server) == ["other"])
        self.assertEqual(server.json("/api/generate", {"model": "other", "keep_alive": 0, "prompt": ""})["done_reason"], "unload")
        self.assertEqual(self.loaded(server), [])
        self.assertEqual(server.ask("/api/chat", {**talk, "keep_alive": "soon"})[0], 400)

    def test_where_memory_is_short_the_longest_unused_goes_and_what_fits_never_is_refused_before_it_is_read(self):
        third = self.home.folder / "third.gguf"
        tiny.write_model(third, context=4096, seed=3)
        large = self.home.folder / "large.gguf"
        tiny.write_model(large, context=1 << 20, seed=4)
        bytes_of_one = self.serve().json("/v1/models")["data"][0]["meta"]["memory"]
        server = self.serve("-m", self.other, "-m", third, "-m", large, "--memory-limit", str(2 * bytes_of_one + 4096))
        for model in ("tiny", "other", "tiny", "third"):
            self.said(server, model)
        self.assertEqual(sorted(self.loaded(server)), ["third", "tiny"])
        before = server.kernel_number("status", "RssAnon")
        refused = server.json("/v1/chat/completions", ask("large"), status=503)
        self.assertIn(refused["error"]["code"], ("memory_limit", "out_of_memory"))
        self.assertEqual(sorted(self.loaded(server)), ["third", "tiny"], "nothing went for it")
        touched = server.kernel_number("status", "RssAnon") - before
        if not is_instrumented(WICK):  # AddressSanitizer's shadow of what is reserved counts as touched
            self.assertLess(touched, 8 << 10, "nothing of it was touched")

    def test_ps_and_stop_of_the_program_ask_the_server(self):
        server = self.serve("-m", self.other)
        self.said(server, "other")
        done = self.home.wick("ps", "--port", server.port)
        self.assertEqual([line.split()[0] for line in done.stdout.decode().splitlines()], self.loaded(server), done)
        done = self.home.wick("stop", "other", "--url", f"http://127.0.0.1:{server.port}/")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        until(lambda: "other" not in self.loaded(server))
        done = self.home.wick("stop", "none", "--port", server.port)
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"/api/generate does not exist (status 404)", done.stderr)

    def test_admins_load_and_unload(self):
        server = self.serve("-m", self.other, "--open-admin")
        self.assertEqual(server.json("/v1/models/load", {"model": "other"})["loaded"], True)
        self.assertEqual(server.json("/v1/models/unload", {"model": "tiny"})["loaded"], False)
        self.assertEqual(self.loaded(server), ["other"])
        self.assertEqual(server.ask("/v1/models/unload", {"model": "tiny"})[0], 404)
        self.assertEqual(server.ask("/v1/models/load", {"model": "/etc/passwd"})[0], 404)
        closed = self.serve()
        self.assertEqual(closed.ask("/v1/models/load", {"model": "tiny"})[0], 403)

    def test_a_model_is_swapped_under_sixteen_streams_and_its_memory_goes(self):
        for path, seed in ((self.home.model, 1), (self.other, 2)):
            tiny.write_model(path, context=1 << 15, seed=seed)  # a cache that can be seen
        self.home.environment["MALLOC_ARENA_MAX"] = "1"  # threads would take address space of their own
        server = self.serve("--open-admin")
        wanted = asyncio.run(texts(server.port, "tiny"))
        self.assertEqual(asyncio.run(texts(server.port, "tiny")), wanted)
        of_old = self.said(server, "tiny")
        server.json("/v1/models/load", {"model": "tiny", "reload": True})  # once without anybody: threads that come stay
        self.said(server, "tiny")
        space = server.kernel_number("status", "VmSize")
        seen = {}

        def swap():
            os.replace(self.other, self.home.model)
            self.assertEqual(server.json("/v1/models/load", {"model": "tiny", "reload": True})["loaded"], True)
            seen["during"] = server.kernel_number("status", "VmSize")
            seen["new"] = self.said(server, "tiny")
            self.assertTrue(server.mapped("(deleted)"), "streams go on on the old file")

        self.assertEqual(asyncio.run(texts(server.port, "tiny", swap)), wanted, "streams end on the model that they began with")
        self.assertNotEqual(seen["new"], of_old)
        self.assertEqual(self.said(server, "tiny"), seen["new"])
        self.assertGreater(seen["during"], space + (20 << 10), "two models were there: the measure sees them")
        until(lambda: not server.mapped("tiny.gguf (deleted)"))
        if not is_instrumented(WICK):
            self.assertLess(server.kernel_number("status", "VmSize"), space + (4 << 10), "the old model's memory has gone")

    def test_sighup_reads_settings_and_models_under_sixteen_streams(self):
        folder = self.folder_of_models()
        config = self.home.folder / "config.toml"

        def write(models, more=""):
            config.write_text(f"[server]\nmodels = {json.dumps([str(m) for m in models])}\n{more}")

        def hup(word):
            server.run.send_signal(signal.SIGHUP)
            return server.log_until(word)

        write([self.home.model, self.other, folder])
        server = self.serve("--config", config, "--no-access-log", model=False)
        wanted = asyncio.run(texts(server.port, "tiny"))
        of_other, of_one = self.said(server, "other"), self.said(server, "one")
        effective = {**ask("tiny"), "wick": {"parameters": True}}
        effective.pop("temperature")

        def reload():
            tiny.write_model(folder / "new", context=512, seed=9)
            os.replace(folder / "new", folder / "one.gguf")
            tiny.write_model(folder / "four.gguf", context=512, seed=7)
            write([self.home.model, folder], "max_connections_per_address = 40\nkeep_alive = \"1h\"\n[generation]\ntemperature = 0.25\n")
            hup("reloaded settings, models")

        self.assertEqual(asyncio.run(texts(server.port, "tiny", reload)), wanted, "no stream notices")
        self.assertEqual([one["id"] for one in server.json("/v1/models")["data"]], ["tiny", "four", "one", "three"])
        self.assertEqual(server.ask("/v1/chat/completions", ask("other"))[0], 404)
        self.assertNotEqual(self.said(server, "one"), of_one, "its file is another one")
        self.said(server, "four")
        held = server.json("/v1/chat/completions", effective)["wick"]["parameters"]
        self.assertEqual(held["temperature"]["value"], 0.25)
        self.assertIn("config.toml:", held["temperature"]["origin"])
        self.assertEqual(held["temperature"]["origin"].rpartition(":")[2], "6")
        write([self.home.folder / "missing.gguf"])
        hup("missing.gguf")
        self.assertEqual(len(server.json("/v1/models")["data"]), 4, "all stays as it was")
        write([self.other], "port = 70000\n")
        hup("65535")
        self.assertNotIn("other", self.loaded(server))
        write([self.other])
        hup("reloaded settings, models")
        self.assertEqual(self.said(server, "other"), of_other)
        self.assertEqual(server.end()[0], 0)


if __name__ == "__main__":
    unittest.main(verbosity=0)
