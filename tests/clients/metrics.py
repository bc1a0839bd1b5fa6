#!/usr/bin/env python3
"""/metrics against Prometheus' own promtool, and its histograms against what a load client measures itself: time to the first token, time
between tokens and end to end within 2 %, tokens and answers exactly. Prompts are long, so that a client's own milliseconds do not count:

  metrics.py build/release/wick MODEL.gguf [ANSWERS]
"""
import asyncio, json, pathlib, random, re, subprocess, sys, time, urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import serving

CLIENTS, SLOTS = 6, 4  # so that some wait
TOLERANCE = 0.02
WORDS = "river mountain seven above the quiet old house where nobody had ever seen a green and blue morning".split()


def lint(text, allowed=()):
    """promtool's complaints but for those that have `allowed` in them."""
    run = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
    complaints = [line for line in (run.stdout + run.stderr).splitlines() if line and not any(word in line for word in allowed)]
    assert not complaints, complaints
    assert run.returncode == 0 or allowed, run.returncode


async def answer(port, draw, seen):
    prompt = " ".join(draw.choice(WORDS) for _ in range(draw.randint(150, 400)))
    tokens = draw.randint(8, 48)
    begin = time.monotonic()
    reader, writer, status, head = await serving.post(port, {
        "messages": [{"role": "user", "content": prompt}], "max_tokens": tokens, "ignore_eos": True, "stream": True, "logprobs": True,
        "stream_options": {"include_usage": True}})
    assert status == 200, head
    first, last, usage = None, None, None
    while line := await reader.readline():
        if line == b"data: [DONE]\n":
            break
        if not line.startswith(b"data: {"):
            continue
        chunk = json.loads(line[6:])
        usage = chunk["usage"] or usage
        if chunk["choices"] and (chunk["choices"][0]["logprobs"] or {}).get("content"):
            last = time.monotonic()
            first = first or last
    writer.close()
    assert usage["completion_tokens"] == tokens, usage
    seen.append({"ttft": first - begin, "e2e": last - begin, "itl": (last - first) / (tokens - 1), "prompt": usage["prompt_tokens"],
                 "cached": usage["prompt_tokens_details"]["cached_tokens"], "generated": tokens})


async def load(port, answers):
    seen, draws = [], [random.Random(seed) for seed in range(CLIENTS)]

    async def client(draw):
        for _ in range(answers // CLIENTS):
            await answer(port, draw, seen)

    await asyncio.gather(*map(client, draws))
    return seen


def main(wick, model, answers=60):
    server = subprocess.Popen([wick, "serve", "-m", model, "--port", "0", "--parallel", str(SLOTS), "--metrics-compat", "vllm",
                               "--no-access-log"], stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[-1]
        seen = asyncio.run(load(int(url.rsplit(":", 1)[1]), int(answers)))
        text = urllib.request.urlopen(url + "/metrics").read().decode()
    finally:
        server.terminate()
        server.wait(60)
    lint("".join(line for line in text.splitlines(True) if "vllm:" not in line))
    lint(text, allowed=("metric names should not contain ':'",))  # vLLM's have one; Prometheus keeps it for rules
    number = lambda name: sum(float(row) for row in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.M))
    print(f"{len(seen)} answers, {CLIENTS} clients, {SLOTS} slots; promtool has nothing to say")
    worst = 0
    for key, name in (("ttft", "wick_time_to_first_token_seconds"), ("itl", "wick_inter_token_latency_seconds"),
                      ("e2e", "wick_e2e_request_latency_seconds")):
        own, told = sum(row[key] for row in seen), number(name + "_sum")
        worst = max(worst, abs(told / own - 1))
        print(f"{name}: client {own:.3f} s, server {told:.3f} s, {100 * (told / own - 1):+.2f} %")
        assert number(name + "_count") == len(seen)
        assert number(name.replace("wick_", "vllm:") + "_sum") == told
    for key, name in (("prompt", "wick_prompt_tokens_total"), ("cached", "wick_cached_prompt_tokens_total"),
                      ("generated", "wick_generated_tokens_total")):
        assert number(name) == sum(row[key] for row in seen), name
    assert number("wick_answers_total") == number("wick_requests_total") == len(seen)
    parts = sum(number(f"wick_{part}_time_seconds_sum") for part in ("queue", "prefill", "decode"))
    assert abs(parts / number("wick_e2e_request_latency_seconds_sum") - 1) < 0.001, "queue, prefill and decode are not the whole"
    assert worst <= TOLERANCE, f"{100 * worst:.2f} %"


if __name__ == "__main__":
    main(*sys.argv[1:])
