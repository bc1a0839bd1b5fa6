#!/usr/bin/env python3
"""Memory of `wick serve` as a gateway: REQUESTS requests (default 10⁶) over 16 connections to a scripted API, free and paid targets in turns. In
the middle third the disk of the ledger is full. API and clients are bench/gateway_load.cc, built as build/release/bench_gateway_load. As root (the
ledger is on a tmpfs of its own). The resident memory must be at most 40 MB before the first request. After the first tenth it may grow by 3 MB
and no more: rows that wait for the disk are bounded. Paid requests are refused while the disk is full and answered afterwards. A line a slice
goes to standard error:

  gateway_memory.py build/release/wick [REQUESTS]
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import serving
import tiny

LOAD = pathlib.Path(__file__).resolve().parents[2] / "build/release/bench_gateway_load"
IDLE_MB, GROWTH_MB = 40, 3
DISK = "512m"  # 10⁶ rows have about 100 MB
CONFIG = """[[provider]]
name = "free"
kind = "openai-compatible"
endpoint = "http://127.0.0.1:{port}/v1"
models = ["m"]
[[provider]]
name = "paid"
kind = "openai-compatible"
endpoint = "http://127.0.0.1:{port}/v1"
models = [{{ name = "m", input = "0.15 USD/M", output = "0.60 USD/M" }}]
[budget]
monthly = "1000000 USD"
ledger = "{ledger}"
"""

# VmRSS, or its part RssAnon: heap and stacks, without the program's file and SQLite's shared memory.
def rss_mb(pid, part="VmRSS"):
    return int(re.search(rf"{part}:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024


# Requests of one slice, and how many of them were refused.
def load(port, model, seconds):
    body = json.dumps({"model": model, "max_tokens": 16, "messages": [{"role": "user", "content": "Say hello."}]})
    out = subprocess.run([LOAD, "clients", str(port), "16", str(seconds), "Content-Type: application/json\r\n", body],
                         capture_output=True, text=True, check=True)
    answer = json.loads(out.stdout)
    return answer["requests"] + answer["errors"], answer["errors"]


def fill(disk):
    with open(disk / "filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 16))
        except OSError:
            pass


def run(wick, wanted, folder, disk):
    home = tiny.Home(wick, folder)
    upstream = subprocess.Popen([LOAD, "api"], stdout=subprocess.PIPE, text=True)
    config = pathlib.Path(home.environment["XDG_CONFIG_HOME"]) / "wick/config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(CONFIG.format(port=int(upstream.stdout.readline()), ledger=disk / "usage.db"))
    server = serving.Server(home, "--no-access-log", model=False)
    errors, done, peak, base = [], 0, 0.0, None
    try:
        time.sleep(1)
        idle = rss_mb(server.run.pid)
        if idle > IDLE_MB:
            errors.append(f"{idle:.1f} MB before the first request, allowed are {IDLE_MB}")
        slices, was_full = 0, False
        while done < wanted:
            is_full = wanted / 3 <= done < 2 * wanted / 3
            if is_full != was_full:
                fill(disk) if is_full else (disk / "filler").unlink()
                was_full = is_full
            model = "paid/m" if slices % 4 == 3 else "free/m"
            n, refused = load(server.port, model, 5)
            done, slices = done + n, slices + 1
            now = rss_mb(server.run.pid)
            print(f"{done} requests, {model}, disk {'full' if is_full else 'free'}: {refused} refused, {now:.1f} MB, "
                  f"{rss_mb(server.run.pid, 'RssAnon'):.1f} of them heap and stacks", file=sys.stderr, flush=True)
            if refused and not (is_full and model == "paid/m"):
                errors.append(f"{refused} of {n} requests for {model} were refused, disk {'full' if is_full else 'free'}")
            if base is None and done >= wanted / 10:
                base = now
            if base is not None:
                peak = max(peak, now)
        if peak - base > GROWTH_MB:
            errors.append(f"from {base:.1f} MB after a tenth of the requests to {peak:.1f} MB, allowed are {GROWTH_MB} MB more")
        print(f"{done} requests: {idle:.1f} MB idle, {base:.1f} MB after a tenth, {peak:.1f} MB at most")
    finally:
        server.run.send_signal(signal.SIGTERM)
        server.run.communicate(timeout=60)
        upstream.kill()
        upstream.wait()
    return errors


def main():
    wick, wanted = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        disk = folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", disk], check=True)
        try:
            errors = run(os.path.abspath(wick), wanted, folder, disk)
        finally:
            subprocess.run(["umount", disk], check=True)
    for error in errors:
        print("error:", error)
    sys.exit(1 if errors else 0)


main()
