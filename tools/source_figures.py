#!/usr/bin/env python3
"""Files, lines, median lines and share of comment lines of each module, without tests and tables (*_data.*), as Markdown.

    tools/source_figures.py [COMMIT…]     default: the working tree; several commits are columns

Comment lines are those that begin with //, /* or *; headers are counted on their own, too."""
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def files_of(commit):
    """(name, lines) of the sources at a commit; of the working tree without one."""
    if commit is None:
        for path in sorted((ROOT / "src").rglob("*")):
            if path.is_file():
                yield path.relative_to(ROOT).as_posix(), path.read_text(errors="replace").splitlines()
        return
    names = subprocess.run(["git", "-C", ROOT, "ls-tree", "-r", "--name-only", commit, "src"], capture_output=True, text=True, check=True)
    names = names.stdout.split()
    done = subprocess.run(["git", "-C", ROOT, "cat-file", "--batch"], input="".join(f"{commit}:{name}\n" for name in names).encode(),
                          capture_output=True, check=True)
    data, at = done.stdout, 0
    for name in names:
        end = data.index(b"\n", at)
        size = int(data[at:end].split()[2])
        yield name, data[end + 1:end + 1 + size].decode(errors="replace").splitlines()
        at = end + 1 + size + 1


def is_source(name):
    stem = pathlib.Path(name).stem
    return name.endswith((".h", ".cc")) and not stem.endswith(("_test", "_data")) and name.count("/") > 1


def figures(commit):
    modules = {}
    for name, lines in files_of(commit):
        if is_source(name):
            for module in (name.split("/")[1], "all"):
                modules.setdefault(module, []).append((name, lines))
    return {module: summary(found) for module, found in modules.items()}


def summary(found):
    def comments(lines):
        return sum(line.lstrip().startswith(("//", "/*", "*")) for line in lines)

    total = sum(len(lines) for _, lines in found)
    headers = [lines for name, lines in found if name.endswith(".h")]
    in_headers = sum(map(len, headers))
    share = 100 * sum(comments(lines) for _, lines in found) / max(total, 1)
    header_share = 100 * sum(map(comments, headers)) / max(in_headers, 1)
    return f"{len(found)} | {total:,} | {statistics.median(len(lines) for _, lines in found):.0f} | {share:.1f} | {header_share:.1f}"


def main():
    commits = sys.argv[1:] or [None]
    columns = [figures(commit) for commit in commits]
    modules = sorted(set().union(*columns) - {"all"}) + ["all"]
    print("| module |" + " files | lines | median | comment % | in headers % |" * len(columns))
    print("|---|" + "--:|--:|--:|--:|--:|" * len(columns))
    for module in modules:
        print(f"| {module} | " + " | ".join(column.get(module, " | | | | ") for column in columns) + " |")


if __name__ == "__main__":
    main()
