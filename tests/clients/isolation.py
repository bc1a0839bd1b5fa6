#!/usr/bin/env python3
"""What one hostile client costs fifteen others (serving.md R8): the time between their tokens while a sixteenth behaves as they do, and while it
is hostile: it does not read its stream, sends bodies of 12 MB, prompts of 6,000 tokens, and leaves in the middle. In turns, medians:

  isolation.py build/release/wick MODEL.gguf [PAIRS=5] [SECONDS=10] [KIND…]     KIND: slow, body, prompt, leaves; default: all
"""
import asyncio
import json
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
WORDS = "river tree house stone light water cloud road paper green small quick north music glass".split()


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def talk(draw, words, tokens):
    text = " ".join(draw.choice(WORDS) for _ in range(words))
    return {"messages": [{"role": "user", "content": text}], "max_tokens": tokens, "ignore_eos": True, "stream": True, "temperature": 0}


async def normal(port, seed, end, gaps):
    """Chats one behind another, each of its own prompt; `gaps`: ms between the pieces of a stream."""
    draw = random.Random(seed)
    while time.monotonic() < end:
        reader, writer, status, head = await serving.post(port, talk(draw, 40, 64))
        assert status == 200, head
        last = None
        while (line := await reader.readline()) and line != b"data: [DONE]\n":
            if b'"content":"' in line and b'"content":""' not in line:
                now = time.monotonic()
                if last is not None:
                    gaps.append(1000 * (now - last))
                last = now
        writer.close()


async def hostile(port, seed, end, kinds, done):
    draw = random.Random(seed)
    huge = {"messages": [{"role": "user", "content": "x" * (12 << 20)}]}
    while time.monotonic() < end:
        kind = draw.choice(kinds)
        body = {"slow": talk(draw, 40, 4000), "body": huge, "prompt": talk(draw, 6000, 1), "leaves": talk(draw, 40, 400)}[kind]
        reader, writer, status, head = await serving.post(port, body)
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
        done[kind] = done.get(kind, 0) + 1


async def run(port, seed, seconds, kinds, done):
    """`kinds`: of what the sixteenth client does; none: as the others."""
    gaps, end = [], time.monotonic() + seconds
    last = hostile(port, seed, end, kinds, done) if kinds else normal(port, seed + NORMAL, end, [])
    await asyncio.gather(last, *[normal(port, seed + i, end, gaps) for i in range(NORMAL)])
    return gaps


def main(program, model, pairs=5, seconds=10, *kinds):
    kinds = kinds or ("slow", "body", "prompt", "leaves")
    with tempfile.TemporaryDirectory() as folder:
        home = tiny.Home(program, folder)
        home.model = pathlib.Path(model)
        server = serving.Server(home, "--parallel", NORMAL + 1, "--no-access-log")
        try:
            asyncio.run(run(server.port, 1000, min(5, float(seconds)), (), {}))
            done, rows = {}, []
            for pair in range(int(pairs)):
                order = ((), kinds) if pair % 2 == 0 else (kinds, ())
                gaps = {kind: asyncio.run(run(server.port, 100 * pair, float(seconds), kind, done)) for kind in order}
                rows.append([round(percentile(gaps[kind], share), 1) for kind in ((), kinds) for share in (.5, .99)])
                print(json.dumps({"pair": pair, "p50 ms": rows[-1][0::2], "p99 ms": rows[-1][1::2]}), flush=True)
            assert server.end()[0] == 0
        finally:
            server.run.kill()
            server.run.wait()
        ratio = {name: round(statistics.median(row[2 + i] / row[i] for row in rows), 3) for i, name in enumerate(("p50", "p99"))}
        print(json.dumps({"hostile": done, "beside the hostile client, times": ratio}))
        assert set(done) == set(kinds), done
        assert ratio["p50"] < 1.2, "the others' tokens take longer"
        # A step with prompts takes about step_target_ms (100, docs/engine.md), so that is what a token waits at most.
        assert max(row[3] for row in rows) < 200, "a token of another's waits longer than a step may take"


if __name__ == "__main__":
    main(*sys.argv[1:])
