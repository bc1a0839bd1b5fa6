#!/usr/bin/env python3
"""Hold the parser to `bash -n` on a file of commands, and count their levels and what is unknown in them.

    tools/build release wick && python3 tools/parity/shell_corpus.py build/release/wick COMMANDS [--top 20]

COMMANDS has a command a line. Listed: each that `bash -n` accepts and wick refuses, or the other way round; how many commands have
each level; how many have an unknown command or option among their effects, how many of these nothing else that is unknown, and how
many another unknown; the most frequent unknown commands and options. Without cwd, so for this user, home and folder. Exit 1 if more
than 1 % of what bash accepts does not parse, or in more than 5 % only a command or an option is unknown.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

# The sentences of src/shell for a name or an option that no row has; `a word that is not known` is a value, not a name.
NAMES = re.compile(r"(the command (?!a word).+|'.+'|.+: the option (?!a word).+|find: -.+) is not known( here)?", re.S)


def share(part, whole):
    return f"{part} ({100 * part / whole:.2f} %)"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wick")
    parser.add_argument("commands", type=pathlib.Path)
    parser.add_argument("--top", type=int, default=20)
    args = parser.parse_args()
    lines = [line for line in args.commands.read_text().split("\n") if line]
    rows = list(dict.fromkeys(lines))
    requests = "".join(json.dumps({"command": row}) + "\n" for row in rows)
    judged = subprocess.run([args.wick, "check", "--batch", "--json"], input=requests, capture_output=True, text=True, check=False).stdout
    verdicts = dict(zip(rows, map(json.loads, judged.splitlines()), strict=True))
    accepted = [row for row in rows if subprocess.run(["bash", "-n"], input=(row + "\n").encode(), capture_output=True, check=False).returncode == 0]
    refused = set(rows) - set(accepted)
    unparsed = [row for row in accepted if verdicts[row].get("error")]
    for row in unparsed:
        error = verdicts[row]["error"]
        print(f"bash accepts, wick refuses at column {error['column']}: {error['message']}\n  {row}")
    for row in refused:
        if not verdicts[row].get("error"):
            print(f"bash refuses, wick accepts\n  {row}")
    levels = collections.Counter(verdicts[row]["level"] for row in accepted)
    names, with_names, only_names, with_values = collections.Counter(), 0, 0, 0
    for row in accepted:
        unknown = {effect["why"] for effect in verdicts[row]["effects"] if effect["kind"] == "unknown"}
        of_names = {why for why in unknown if NAMES.fullmatch(why)}
        names.update(of_names)
        with_names += bool(of_names)
        only_names += bool(of_names) and of_names == unknown
        with_values += bool(unknown - of_names)
    print(f"{len(rows)} commands (in {len(lines)} lines), bash -n accepts {len(accepted)}; of these wick parses "
          f"{share(len(accepted) - len(unparsed), len(accepted))}; of the other {len(refused)} wick refuses "
          f"{sum(1 for row in refused if verdicts[row].get('error'))}")
    print("levels: " + ", ".join(f"{level} {share(levels[level], len(accepted))}" for level in ("safe", "moderate", "high", "critical")))
    print(f"an unknown command or option: {share(with_names, len(accepted))}, and nothing else is unknown: {share(only_names, len(accepted))}; "
          f"another unknown (a value, code, a tool without a description): {share(with_values, len(accepted))}")
    for why, count in names.most_common(args.top):
        print(f"{count:5} {why}")
    return len(unparsed) > 0.01 * len(accepted) or only_names > 0.05 * len(accepted)


if __name__ == "__main__":
    sys.exit(main())
