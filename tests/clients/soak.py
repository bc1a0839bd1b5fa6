#!/usr/bin/env python3
"""Ten minutes of mixed requests to `wick serve` (serving.md R10): chats, completions, embeddings, streamed and whole, wrong ones, one in ten of
a client that leaves in the middle, a model that is unloaded and comes back, SIGHUP each minute, and a paid provider that fails one request in
twenty. Before, all that is bounded is filled: the KV caches of both models, and what each tokenizer keeps for a thread that encodes beside
others (1 MB). Afterwards memory and descriptors must be what they were after the first sixth, and nothing may be under way.

The server refuses requests with 503 (Anthropic's API: 529) and Retry-After, for which a client waits here, if the machine stands still for a
minute, since running answers then look late, or if other processes leave it so little time that answers would wait for more than a minute.
More than one such refusal in a hundred requests is an error unless either was seen. A line a minute goes to standard error:

  soak.py build/release/wick [SECONDS=600]
"""
import asyncio
import contextlib
import http.server
import json
import pathlib
import random
import re
import signal
import statistics
import sys
import tempfile
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import serving
import tiny

CLIENTS = 12
STANDSTILL = 30  # seconds: about half of --max-wait-ms
STARVED = 0.95  # of the time in which the server's threads could run they waited for a processor


class Upstream(http.server.BaseHTTPRequestHandler):
    """OpenAI's API, which refuses or breaks off one answer in twenty."""
    draw = random.Random(20)

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        fault = self.draw.choice(("refused", "cut")) if self.draw.random() < 0.05 else ""
        self.send_response(503 if fault == "refused" else 200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        if fault == "refused":
            return
        frames = [{"choices": [{"index": 0, "delta": {"content": "afar "}, "finish_reason": None}]}] * 5
        frames += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
                   {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}]
        text = b"".join(b"data: %s\n\n" % json.dumps(frame).encode() for frame in (frames[:3] if fault else frames))
        try:
            self.wfile.write(text + (b"" if fault else b"data: [DONE]\n\n"))
        except OSError:
            pass  # the client's client has left


def request(draw):
    text = "x" * draw.choice((3, 30, 300, 1500))
    talk = {"messages": [{"role": "user", "content": text}], "max_tokens": draw.choice((1, 8, 64, 400)), "ignore_eos": True,
            "model": draw.choice(("tiny", "tiny", "other")), "temperature": draw.choice((0, 1)), "stream": draw.random() < 0.6}
    return draw.choice((("/v1/chat/completions", talk), ("/v1/chat/completions", {**talk, "n": 3, "logprobs": True}),
                        ("/v1/completions", {"prompt": [text, "b"], "max_tokens": 20, "stream": talk["stream"]}), ("/v1/messages", talk),
                        ("/v1/responses", {"input": text, "max_output_tokens": 30, "stream": talk["stream"], "store": False}),
                        ("/api/chat", {"messages": talk["messages"], "keep_alive": draw.choice((0, "2s", -1)), "model": talk["model"]}),
                        ("/v1/embeddings", {"input": [text] * 5}), ("/v1/chat/completions", {"messages": 3}),
                        ("/v1/chat/completions", {**talk, "model": "nobody"}), ("/tokenize", {"content": text}),
                        ("/v1/chat/completions", {**talk, "model": "far/m"})))


async def fill(server):
    """Random prompts until each model's cache has held all its blocks twice, and eight threads that encode at once."""
    draw = random.Random(1)
    text = lambda n: "".join(draw.choice("abcdefgh ") for _ in range(n))

    async def whole(path, body):
        reader, writer, status, head = await serving.post(server.port, body, path)
        await reader.readexactly(int(re.search(r"(?i)content-length: (\d+)", head)[1]))
        writer.close()
        assert status == 200, head

    for model in ("tiny", "other"):
        await whole("/v1/completions", {"model": model, "prompt": "a", "max_tokens": 1})
    prompts = 2 * 16 * int(server.metric("wick_cache_blocks")) // 2 // 1500 + 1  # of two models alike, a byte is a token
    for model in ("tiny", "other"):
        for _ in range(prompts):
            await whole("/v1/completions", {"model": model, "prompt": text(1500), "max_tokens": 1})
        for _ in range(10):
            await asyncio.gather(*[whole("/tokenize", {"model": model, "content": text(50000)}) for _ in range(8)])


async def client(port, seed, end, counts):
    draw = random.Random(seed)
    while time.monotonic() < end:
        path, body = request(draw)
        is_far = body.get("model") == "far/m"
        try:
            reader, writer, status, head = await serving.post(port, body, path)
        except (OSError, asyncio.IncompleteReadError):
            counts["broken"] = counts.get("broken", 0) + 1
            continue
        leaves = draw.random() < 0.1
        if leaves:
            await asyncio.sleep(draw.random() * 0.05)
        elif "chunked" in head:
            while not (await reader.readuntil(b"\r\n")) == b"0\r\n":
                pass
        else:
            text = await reader.readexactly(int(re.search(r"(?i)content-length: (\d+)", head)[1]))
            if status >= 500 and not is_far:
                counts.setdefault("failures", []).append(text.decode()[:300])
        writer.close()
        again = re.search(r"(?i)^retry-after: (\d+)", head, re.M)
        name = "left" if leaves else "refused" if status in (503, 529) and again and not is_far else status
        name = f"far {name}" if is_far else name
        counts[name] = counts.get(name, 0) + 1
        if name == "refused":
            await asyncio.sleep(int(again[1]))


async def run(server, seconds):
    counts, seen, still, times = {}, [], [], {}
    begin = time.monotonic()

    async def watch():
        hup, pause = begin, min(5, seconds / 20)
        while time.monotonic() < begin + seconds:
            slept = time.monotonic()
            await asyncio.sleep(pause)
            now = time.monotonic()
            if now - slept > pause + STANDSTILL:
                still.append(round(now - slept - pause))
            process = pathlib.Path(f"/proc/{server.run.pid}")
            for thread in process.glob("task/*/schedstat"):
                with contextlib.suppress(OSError):  # it has ended
                    times[thread] = [int(ns) for ns in thread.read_text().split()[:2]]
            files = len(list((process / "fd").iterdir()))
            seen.append((now - begin, server.kernel_number("status", "RssAnon"), files))
            if now > hup + 60:
                hup = now
                server.run.send_signal(signal.SIGHUP)
                print(f"{now - begin:.0f} s, {told(counts)}, {seen[-1][1]} kB, {files} files", file=sys.stderr, flush=True)

    await asyncio.gather(watch(), *[client(server.port, seed, begin + seconds, counts) for seed in range(CLIENTS)])
    ran, waited = map(sum, zip(*times.values()))
    return counts, seen, still, waited / (ran + waited)


def told(counts):
    return {str(name): n for name, n in sorted(counts.items(), key=str) if name != "failures"}


def kb_per_hour(rows):
    """The slope of the line through (seconds, kB)."""
    times, sizes = [row[0] / 3600 for row in rows], [row[1] for row in rows]
    return statistics.covariance(times, sizes) / statistics.variance(times)


def main(program, seconds=600):
    with tempfile.TemporaryDirectory() as folder:
        home = tiny.Home(program, folder, context=4096)
        upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        config = home.folder / "wick/config.toml"
        config.parent.mkdir()
        config.write_text(f"""[[provider]]
name = "far"
kind = "openai-compatible"
endpoint = "http://127.0.0.1:{upstream.server_port}/v1"
models = [{{ name = "m", input = "1 USD/M", output = "1 USD/M" }}]
""")
        home.environment["XDG_STATE_HOME"] = folder
        tiny.write_model(home.folder / "other.gguf", context=4096, seed=2)
        server = serving.Server(home, "-m", home.folder / "other.gguf", "--parallel", 8, "--no-access-log")
        try:
            asyncio.run(fill(server))
            counts, seen, still, starved = asyncio.run(run(server, seconds))
            deadline = time.monotonic() + 10
            while server.metric("wick_requests_running") + server.metric("wick_requests_waiting") + server.metric("wick_answers_under_way"):
                assert time.monotonic() < deadline, "something is under way that nobody waits for"
            free, blocks = server.metric("wick_cache_free_blocks"), server.metric("wick_cache_blocks")
            code, _, log = server.end()
        finally:
            server.run.kill()
        failures = counts.pop("failures", [])
        warm = [row for row in seen if row[0] > seconds / 6]
        first, last = warm[:len(warm) // 3], warm[-(len(warm) // 3):]
        most = lambda rows: max(row[1] for row in rows)
        print(json.dumps({"seconds": seconds, "requests": sum(counts.values()), "by": told(counts), "anonymous kB": [most(first), most(last)],
                          "kB an hour": round(kb_per_hour(warm)), "files": [first[0][2], last[-1][2]], "standstills, s": still, "starved": round(starved, 3)}),
              flush=True)
        assert code == 0, log[-2000:]
        assert counts.get("broken", 0) == 0 and counts.get(200, 0) > 100 and not [k for k in counts if isinstance(k, int) and k >= 500], (counts, failures[:3])
        refused = counts.get("refused", 0)
        assert still or starved > STARVED or refused <= 0.01 * sum(counts.values()), ("requests are refused, though the machine went on", counts, failures[:3])
        far = {name: n for name, n in counts.items() if str(name).startswith("far ")}
        assert sum(n for name, n in far.items() if name not in ("far 200", "far left")) < 0.1 * sum(far.values()), far
        assert most(last) < 1.02 * most(first) + 1024, "memory grows"
        assert seconds < 3600 or kb_per_hour(warm) < 1024, "memory grows"
        assert max(row[2] for row in last) <= max(row[2] for row in warm[:3]) + CLIENTS, "descriptors are left open"
        assert free == blocks, "blocks of the cache are held by nobody"


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:3]))
