#!/usr/bin/env python3
"""Runs the JSON Schema test suite against `wick grammar check`.

    tools/schema_suite/run.py build/release/wick [--update] [--optional] [SUITE]

SUITE is a checkout of JSON-Schema-Test-Suite; without one, that of Debian's libtest-json-schema-acceptance-perl. Prints for each
draft how many tests pass, fail, were wrongly accepted or refused, and each keyword that has such. Failures are compared with
tests/data/grammar/schema_suite.txt: one that is not listed there is an error, and so is a listed one that passes; --update
writes the list.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys

DEBIAN = pathlib.Path("/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance")
LIST = pathlib.Path(__file__).parents[2] / "tests/data/grammar/schema_suite.txt"
DRAFTS = {"draft4": "4", "draft6": "6", "draft7": "7", "draft2019-09": "2019-09", "draft2020-12": "2020-12"}


def cases(suite, draft, optional):
    folder = suite / "tests" / draft
    files = sorted(folder.glob("optional/**/*.json" if optional else "*.json"))
    for file in files:
        for group in json.loads(file.read_text()):
            for test in group["tests"]:
                name = f"{draft}/{file.relative_to(folder).with_suffix('')}: {group['description']}: {test['description']}"
                yield name, str(file.relative_to(folder).with_suffix("")), group["schema"], test["data"], test["valid"]


def answers(wick, suite, lines):
    done = subprocess.run([wick, "grammar", "check", "--batch", "--json", "--registry", suite / "remotes"],
                          input="".join(json.dumps(line) + "\n" for line in lines), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"wick ends with {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def verdict(answer, valid):
    if "error" in answer:
        return "refused"
    if answer["accepts"] == valid:
        return "pass"
    return "wrongly accepted" if answer["accepts"] else "wrongly rejected"


def run(wick, suite, optional):
    failures = []
    for draft, number in DRAFTS.items():
        tests = list(cases(suite, draft, optional))
        found = answers(wick, suite, [{"schema": schema, "text": json.dumps(data), "order": "any", "draft": number}
                                      for _, _, schema, data, _ in tests])
        assert len(found) == len(tests), f"{len(tests)} lines, {len(found)} answers"
        total, by_file = collections.Counter(), collections.defaultdict(collections.Counter)
        for (name, file, _, _, valid), answer in zip(tests, found):
            what = verdict(answer, valid)
            total[what] += 1
            by_file[file][what] += 1
            if what != "pass":
                failures.append(f"{what}: {name}" + (f"   [{answer['error']['message']}]" if "error" in answer else ""))
        print(f"{draft}: {total['pass']} of {len(tests)} pass ({100 * total['pass'] / len(tests):.1f} %), "
              f"{total['wrongly rejected']} wrongly rejected, {total['wrongly accepted']} wrongly accepted, {total['refused']} refused")
        for file, count in by_file.items():
            if count["pass"] != sum(count.values()):
                print(f"  {file}: {count['pass']} of {sum(count.values())}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("wick")
    parser.add_argument("suite", nargs="?", type=pathlib.Path, default=DEBIAN)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--optional", action="store_true", help="the optional tests; no list is kept of them")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not options.suite.is_dir():
        sys.exit("no suite: apt-get install libtest-json-schema-acceptance-perl, or name a checkout")
    failures = run(options.wick, options.suite, options.optional)
    if options.verbose:
        print("\n".join(failures))
    if options.optional:
        return 0
    names = [line.split("   [")[0] for line in failures]
    if options.update:
        LIST.parent.mkdir(parents=True, exist_ok=True)
        LIST.write_text("".join(name + "\n" for name in names))
        return 0
    known = LIST.read_text().splitlines()
    for name in sorted(set(names) - set(known)):
        print("new failure:", name)
    for name in sorted(set(known) - set(names)):
        print("passes now, take it off the list:", name)
    return 0 if set(names) == set(known) else 1


if __name__ == "__main__":
    sys.exit(main())
