#!/usr/bin/env python3
"""Ten minutes of mixed requests to `wick serve`: chats, completions, embeddings, streamed and whole, wrong ones, one in ten of a client that
leaves in the middle, a model that is unloaded and comes back, SIGHUP each minute. Before, all that is bounded is filled: the KV caches of
both models, and what each tokenizer keeps for a thread that encodes beside others (1 MB). Afterwards memory and descriptors must be what
they were after the first minute, and nothing may be under way:

  soak.py build/release/wick [SECONDS]
"""
import asyncio
import json
import pathlib
import random
import re
import signal
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import serving
import tiny

CLIENTS = 12


def request(draw):
    text = "x" * draw.choice((3, 30, 300, 1500))
    talk = {"messages": [{"role": "user", "content": text}], "max_tokens": draw.choice((1, 8, 64, 400)), "ignore_eos": True,
            "model": draw.choice(("tiny", "tiny", "other")), "temperature": draw.choice((0, 1)), "stream": draw.random() < 0.6}
    return draw.choice((("/v1/chat/completions", talk), ("/v1/chat/completions", {**talk, "n": 3, "logprobs": True}),
                        ("/v1/completions", {"prompt": [text, "b"], "max_tokens": 20, "stream": talk["stream"]}), ("/v1/messages", talk),
                        ("/v1/responses", {"input": text, "max_output_tokens": 30, "stream": talk["stream"], "store": False}),
                        ("/api/chat", {"messages": talk["messages"], "keep_alive": draw.choice((0, "2s", -1)), "model": talk["model"]}),
                        ("/v1/embeddings", {"input": [text] * 5}), ("/v1/chat/completions", {"messages": 3}),
                        ("/v1/chat/completions", {**talk, "model": "nobody"}), ("/tokenize", {"content": text})))


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
            if status >= 500:
                counts.setdefault("failures", []).append(text.decode()[:300])
        writer.close()
        name = "left" if leaves else status
        counts[name] = counts.get(name, 0) + 1


async def run(server, seconds):
    counts, seen = {}, []
    begin = time.monotonic()

    async def watch():
        hup = begin
        while time.monotonic() < begin + seconds:
            await asyncio.sleep(min(5, seconds / 20))
            files = len(list(pathlib.Path(f"/proc/{server.run.pid}/fd").iterdir()))
            seen.append((time.monotonic() - begin, server.kernel_number("status", "RssAnon"), files))
            if time.monotonic() > hup + 60:
                hup = time.monotonic()
                server.run.send_signal(signal.SIGHUP)

    await asyncio.gather(watch(), *[client(server.port, seed, begin + seconds, counts) for seed in range(CLIENTS)])
    return counts, seen


def main(program, seconds=600):
    with tempfile.TemporaryDirectory() as folder:
        home = tiny.Home(program, folder, context=4096)
        tiny.write_model(home.folder / "other.gguf", context=4096, seed=2)
        server = serving.Server(home, "-m", home.folder / "other.gguf", "--parallel", 8, "--no-access-log")
        asyncio.run(fill(server))
        counts, seen = asyncio.run(run(server, seconds))
        deadline = time.monotonic() + 10
        while server.metric("wick_requests_running") + server.metric("wick_requests_waiting") + server.metric("wick_answers_under_way"):
            assert time.monotonic() < deadline, "something is under way that nobody waits for"
        free, blocks = server.metric("wick_cache_free_blocks"), server.metric("wick_cache_blocks")
        code, _, log = server.end()
        failures = counts.pop("failures", [])
        warm = [row for row in seen if row[0] > seconds / 6]
        first, last = warm[:len(warm) // 3], warm[-(len(warm) // 3):]
        most = lambda rows: max(row[1] for row in rows)
        print(json.dumps({"requests": sum(counts.values()), "by": {str(k): v for k, v in sorted(counts.items(), key=str)},
                          "anonymous kB": [most(first), most(last)], "files": [first[0][2], last[-1][2]]}))
        assert code == 0, log[-2000:]
        assert counts.get("broken", 0) == 0 and counts.get(200, 0) > 100 and not [k for k in counts if isinstance(k, int) and k >= 500], (counts, failures[:3])
        assert most(last) < 1.02 * most(first) + 1024, "memory grows"
        assert max(row[2] for row in last) <= max(row[2] for row in warm[:3]) + CLIENTS, "descriptors are left open"
        assert free == blocks, "blocks of the cache are held by nobody"


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:3]))
