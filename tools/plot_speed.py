#!/usr/bin/env python3
"""Measures tokens per second against depth and threads with `wick bench`, and draws them: prompt on the left, answer on the right,
the median as a line and the quartiles as a band.

    PYTHON tools/plot_speed.py [--wick build/release/wick] [-m MODEL] [-d 0,1024,2048,4096,7168] [-t 1,2] [-r 5] docs/speed.png

PYTHON has matplotlib. Some minutes on an otherwise idle machine. A depth is how many positions stand in the cache before.
"""
import argparse
import collections
import json
import os
import platform
import subprocess

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

PROMPT, ANSWER = 512, 32


def measure(args):
    """(kind, threads) → [(depth, median, lower quartile, upper quartile)]"""
    command = [args.wick, "bench", "-p", str(PROMPT), "-n", str(ANSWER), "-d", args.depths, "-t", args.threads, "-r", str(args.repetitions), "--json"]
    if args.model:
        command += ["-m", args.model]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    rows = collections.defaultdict(list)
    for row in map(json.loads, lines):
        test, _, depth = row["test"].partition("@d")
        rows[test[:2], row["threads"]].append((int(depth or 0), *(row[f"tokens_per_second{which}"] for which in ("", "_q1", "_q3"))))
    return rows


def draw(rows, title, path):
    figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for panel, kind, name in zip(panels, ("pp", "tg"), (f"prompt ({PROMPT} tokens)", f"answer ({ANSWER} tokens)"), strict=True):
        for (test, threads), points in sorted(rows.items()):
            if test != kind:
                continue
            depths, medians, lower, upper = zip(*sorted(points), strict=True)
            line, = panel.plot(depths, medians, marker="o", label=f"{threads} thread{'s' if threads > 1 else ''}")
            panel.fill_between(depths, lower, upper, color=line.get_color(), alpha=0.2, linewidth=0)
        panel.set(title=name, xlabel="positions in the cache", ylabel="tokens per second", ylim=(0, None))
        panel.grid(alpha=0.3)
        panel.legend()
    figure.suptitle(title)
    figure.savefig(path, dpi=110)


def processor():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture")
    parser.add_argument("--wick", default="build/release/wick")
    parser.add_argument("-m", "--model", default="")
    parser.add_argument("-d", "--depths", default="0,1024,2048,4096,7168")
    parser.add_argument("-t", "--threads", default="1,2")
    parser.add_argument("-r", "--repetitions", type=int, default=5)
    args = parser.parse_args()
    name = os.path.basename(args.model) or "SmolLM2-135M-Instruct Q4_1"
    draw(measure(args), f"{name}, {processor()}", args.picture)


if __name__ == "__main__":
    main()
