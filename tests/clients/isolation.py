#!/usr/bin/env python3
"""What one hostile client costs fifteen others (serving.md R8): the time between their tokens (ITL) while a sixteenth behaves as they do, and
while it is hostile: it does not read its stream, sends bodies of 12 MB, prompts of 6,000 tokens, and leaves in the middle. Each client has its
own API key; with `addresses` for KEYS its own address instead (127.0.0.2, …), with `none` neither. The hostile client is a process of its own.

  isolation.py build/release/wick MODEL.gguf [ROUNDS=10] [SECONDS=8] [KEYS=each] [KIND…]     KIND: slow, body, prompt, leaves; default: all

The fifteen chat all the time. A round has three phases of SECONDS, in random order: two in which the sixteenth is normal, and the hostile one.
The gaps of all rounds are pooled, because a step with several prompts delays fifteen tokens at once: one phase has few such steps. The ratio of
the two normal phases says how exact the measurement is.
"""
import asyncio
import contextlib
import json
import multiprocessing
import pathlib
import random
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import serving
import tiny

NORMAL = 15
SETTLE = 1.5  # seconds at the beginning of a phase that do not count
PHASES = ("normal", "normal again", "hostile")
WORDS = "river tree house stone light water cloud road paper green small quick north music glass".split()


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def talk(draw, words, tokens):
    text = " ".join(draw.choice(WORDS) for _ in range(words))
    return {"messages": [{"role": "user", "content": text}], "max_tokens": tokens, "ignore_eos": True, "stream": True, "temperature": 0}


async def normal(port, who, seed, end, tell):
    """Chats one behind another, each of its own prompt and length: answers of one length would begin and end together for all clients.
    `tell`: of each two pieces of a stream, when they came."""
    draw = random.Random(seed)
    while time.monotonic() < end:
        reader, writer, status, head = await serving.post(port, talk(draw, 40, draw.randrange(32, 97)), **who)
        assert status == 200, head
        last = None
        while time.monotonic() < end and (line := await reader.readline()) and line != b"data: [DONE]\n":
            if b'"content":"' in line and b'"content":""' not in line:
                now = time.monotonic()
                if last is not None:
                    tell(last, now)
                last = now
        writer.close()


HUGE = json.dumps({"messages": [{"role": "user", "content": "x" * (12 << 20)}]}).encode()


async def hostile(port, who, draw, kind):
    """A request, and how its client behaves."""
    body = HUGE if kind == "body" else talk(draw, *{"slow": (40, 4000), "prompt": (6000, 1), "leaves": (40, 400)}[kind])
    reader, writer, status, head = await serving.post(port, body, **who)
    try:
        assert status == (400 if kind == "body" else 200), (kind, status)
        if kind == "slow":
            writer.transport.pause_reading()
            await asyncio.sleep(2)
        elif kind == "prompt":
            while await reader.readline() not in (b"", b"data: [DONE]\n"):
                pass
        elif kind == "leaves":
            await asyncio.sleep(draw.random() * 0.3)
    finally:
        writer.transport.abort()


def be_hostile(port, who, phases, kinds, told):
    """One kind behind another until the phase ends; it leaves what takes more than two seconds."""
    done, draw = {kind: 0 for kind in kinds}, random.Random(16)

    async def phase_of(begin, end):
        await asyncio.sleep(begin - time.monotonic())
        while (left := end - time.monotonic()) > 0:
            kind = min(kinds, key=lambda one: (done[one], draw.random()))
            done[kind] += 1
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(hostile(port, who, draw, kind), min(left, 2.5))

    for begin, end, phase in phases:
        if PHASES[phase] == "hostile":
            asyncio.run(phase_of(begin, end))
    told.put(done)


def plan(rounds, seconds):
    """Begin, end and kind of each phase."""
    draw, at, phases = random.Random(8), time.monotonic() + 3, []
    for _ in range(rounds):
        for phase in draw.sample(range(len(PHASES)), len(PHASES)):
            phases.append((at, at + seconds, phase))
            at = phases[-1][1]
    return phases


def measure(port, keys, rounds, seconds, kinds):
    """The gaps of each phase in ms, in the order of PHASES for each round, and what the hostile client has done."""
    phases = plan(rounds, seconds)
    gaps = [[] for _ in phases]
    told = multiprocessing.Queue()
    other = multiprocessing.Process(target=be_hostile, args=(port, keys[NORMAL], phases, kinds, told))
    other.start()

    def tell(last, now):
        place = int((now - phases[0][0]) // seconds)
        if 0 <= place < len(phases) and last >= phases[place][0] + SETTLE:
            gaps[place].append(1000 * (now - last))

    async def sixteenth():
        for begin, end, phase in phases:
            if PHASES[phase] != "hostile":
                await asyncio.sleep(max(0, begin - time.monotonic()))
                await normal(port, keys[NORMAL], int(1000 * (end - phases[0][0])), end, lambda last, now: None)

    async def everybody():
        await asyncio.gather(sixteenth(), *[normal(port, keys[i], 1000 + i, phases[-1][1], tell) for i in range(NORMAL)])

    asyncio.run(everybody())
    done = told.get(timeout=60)
    other.join()
    by_round = [sorted(range(i, i + len(PHASES)), key=lambda place: phases[place][2]) for i in range(0, len(phases), len(PHASES))]
    return [[gaps[place] for place in places] for places in by_round], done


def ratios(rounds):
    """Of p50 and p99 of a phase's pooled gaps to those of all normal gaps (for "normal again": of the first normal ones)."""
    first, again, beside = ([gap for one in rounds for gap in one[phase]] for phase in range(len(PHASES)))
    both = first + again
    return {name: [percentile(again, share) / percentile(first, share), percentile(beside, share) / percentile(both, share)]
            for name, share in (("p50", .5), ("p99", .99))}


def spread(rounds):
    """The same of rounds drawn 200 times: the middle nine tenths."""
    draw = random.Random(9)
    seen = [ratios(draw.choices(rounds, k=len(rounds))) for _ in range(200)]
    return {name: [[round(percentile([one[name][i] for one in seen], share), 3) for share in (.05, .95)] for i in range(2)] for name in seen[0]}


def main(program, model, rounds=10, seconds=8, each="each", *kinds):
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
            seen, done = measure(server.port, keys, int(rounds), float(seconds), kinds)
            assert server.end()[0] == 0
        finally:
            server.run.kill()
            server.run.wait()
    for phase, name in enumerate(PHASES):
        all_gaps = [gap for one in seen for gap in one[phase]]
        print(json.dumps({name: len(all_gaps), **{f"p{100 * s:g} ms": round(percentile(all_gaps, s), 1) for s in (.5, .9, .99, .999)}}))
    ratio, span = ratios(seen), spread(seen)
    for i, name in enumerate(PHASES[1:]):
        print(json.dumps({f"{name}, times": {p: [round(ratio[p][i], 3), span[p][i]] for p in ratio}}))
    print(json.dumps({"keys": each, "hostile": done}))
    assert all(done.values()), done
    assert ratio["p50"][1] < 1.1, "the others' tokens take longer"
    # All as one client: a step with prompts takes about step_target_ms (100, docs/engine.md), so that is what a token waits at most.
    assert each == "none" or ratio["p99"][1] < 1.1, "some of the others' tokens take longer"


if __name__ == "__main__":
    main(*sys.argv[1:])
