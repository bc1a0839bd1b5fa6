#!/usr/bin/env python3
"""What one hostile client costs fifteen others (serving.md R8): the time between their tokens while a sixteenth behaves as they do, and while it
is hostile: it does not read its stream, sends bodies of 12 MB, prompts of 6,000 tokens, and leaves in the middle. Each client has its own API
key; with `addresses` for KEYS its own address instead (127.0.0.2, …), with `none` neither. The hostile client is a process of its own. In turns, medians:

  isolation.py build/release/wick MODEL.gguf [PAIRS=5] [SECONDS=12] [KEYS=each] [KIND…]     KIND: slow, body, prompt, leaves; default: all
"""
import asyncio
import json
import multiprocessing
import pathlib
import random
import statistics
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import serving
import tiny

NORMAL = 15
SETTLE = 2  # seconds until those who begin together have parted
WORDS = "river tree house stone light water cloud road paper green small quick north music glass".split()


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def talk(draw, words, tokens):
    text = " ".join(draw.choice(WORDS) for _ in range(words))
    return {"messages": [{"role": "user", "content": text}], "max_tokens": tokens, "ignore_eos": True, "stream": True, "temperature": 0}


async def normal(port, who, seed, begin, end, gaps):
    """Chats one behind another, each of its own prompt; `gaps`: ms between the pieces of a stream."""
    draw = random.Random(seed)
    while time.monotonic() < end:
        reader, writer, status, head = await serving.post(port, talk(draw, 40, 64), **who)
        assert status == 200, head
        last = None
        while (line := await reader.readline()) and line != b"data: [DONE]\n":
            if b'"content":"' in line and b'"content":""' not in line:
                now = time.monotonic()
                if last is not None and begin < last and now < end:
                    gaps.append(1000 * (now - last))
                last = now
        writer.close()


async def hostile(port, who, seed, end, kinds, done):
    draw = random.Random(seed)
    huge = json.dumps({"messages": [{"role": "user", "content": "x" * (12 << 20)}]}).encode()
    while time.monotonic() < end:
        kind = draw.choice(kinds)
        body = {"slow": talk(draw, 40, 4000), "body": huge, "prompt": talk(draw, 6000, 1), "leaves": talk(draw, 40, 400)}[kind]
        reader, writer, status, head = await serving.post(port, body, **who)
        assert status == (400 if kind == "body" else 200), (kind, status)
        if kind == "slow":
            writer.transport.pause_reading()
            await asyncio.sleep(2)
        elif kind == "prompt":
            while await reader.readline() not in (b"", b"data: [DONE]\n"):
                pass
        elif kind == "leaves":
            await asyncio.sleep(draw.random() * 0.3)
        writer.transport.abort()
        done.append(kind)


def be_hostile(port, who, seed, end, kinds, done):
    kept = []
    asyncio.run(hostile(port, who, seed, end, kinds, kept))
    done.put(kept)


def run(port, keys, seed, seconds, kinds, done):
    """`kinds`: of what the sixteenth client does; none: as the others."""
    begin = time.monotonic() + SETTLE
    end, gaps = begin + seconds, []
    if kinds:
        told = multiprocessing.Queue()
        other = multiprocessing.Process(target=be_hostile, args=(port, keys[NORMAL], seed, end, kinds, told))
        other.start()

    async def everybody():
        await asyncio.gather(*[normal(port, keys[i], seed + i, begin, end, gaps) for i in range(NORMAL)],
                             *([] if kinds else [normal(port, keys[NORMAL], seed + NORMAL, begin, end, [])]))

    asyncio.run(everybody())
    if kinds:
        for kind in told.get(timeout=60):
            done[kind] = done.get(kind, 0) + 1
        other.join()
    return gaps


def main(program, model, pairs=5, seconds=12, each="each", *kinds):
    kinds = kinds or ("slow", "body", "prompt", "leaves")
    with tempfile.TemporaryDirectory() as folder:
        home = tiny.Home(program, folder)
        home.model = pathlib.Path(model)
        keys = [{}] * (NORMAL + 1)
        if each == "addresses":
            keys = [{"address": f"127.0.0.{2 + i}"} for i in range(NORMAL + 1)]
        if each == "each":
            home.environment["WICK_SERVER_API_KEY_FILE"] = f"{folder}/keys"
            made = [json.loads(home.wick("key", "create", "--json").stdout)["key"] for _ in keys]
            keys = [{"headers": {"Authorization": f"Bearer {key}"}} for key in made]
        server = serving.Server(home, "--parallel", NORMAL + 1, "--no-access-log")
        try:
            run(server.port, keys, 1000, min(3, float(seconds)), (), {})
            done, rows = {}, []
            for pair in range(int(pairs)):
                order = ((), kinds) if pair % 2 == 0 else (kinds, ())
                gaps = {kind: run(server.port, keys, 100 * pair, float(seconds), kind, done) for kind in order}
                rows.append([round(percentile(gaps[kind], share), 1) for kind in ((), kinds) for share in (.5, .99)])
                means = [round(statistics.mean(gaps[kind]), 1) for kind in ((), kinds)]
                print(json.dumps({"pair": pair, "p50 ms": rows[-1][0::2], "p99 ms": rows[-1][1::2], "mean ms": means}), flush=True)
            assert server.end()[0] == 0
        finally:
            server.run.kill()
            server.run.wait()
        ratio = {name: round(statistics.median(row[2 + i] / row[i] for row in rows), 3) for i, name in enumerate(("p50", "p99"))}
        print(json.dumps({"keys": each, "hostile": done, "beside the hostile client, times": ratio}))
        assert set(done) == set(kinds), done
        assert ratio["p50"] < 1.1, "the others' tokens take longer"
        # All as one client: a step with prompts takes about step_target_ms (100, docs/engine.md), so that is what a token waits at most.
        assert each == "none" or ratio["p99"] < 1.1, "some of the others' tokens take longer"
        assert max(row[3] for row in rows) < 200, "a token of another's waits longer than a step may take"


if __name__ == "__main__":
    main(*sys.argv[1:])
