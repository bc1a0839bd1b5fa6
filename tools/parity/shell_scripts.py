#!/usr/bin/env python3
"""Hold wick's shell parser to bash and dash over the scripts of this machine.

    tools/build release shell_parse && python3 tools/parity/shell_scripts.py build/release/shell_parse [FOLDER…]

Every sh and bash script of /usr/bin, /usr/sbin, /etc/init.d and /var/lib/dpkg/info (or of the folders named) is accepted exactly
when `bash -n` (sh: `dash -n`) accepts it; print → parse gives the equal tree; and `bash --pretty-print` and the tree of `shfmt
--to-json` (Debian's package shfmt), without positions and comments, are the same for the original and for our print. Each difference
is listed. Exit 1 if there is one. Listed, too, and no difference: scripts that shfmt refuses though bash or dash accepts them, and those
that wick refuses for an expansion which `dash -n` passes over and dash refuses as a "Bad substitution" when it comes to run it.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDERS = ["/usr/bin", "/usr/sbin", "/etc/init.d", "/var/lib/dpkg/info"]


def dialect_of(path):
    try:
        with open(path, "rb") as file:
            first = file.readline(200)
    except OSError:
        return None
    if not first.startswith(b"#!"):
        return None
    words = first[2:].split()
    if words and words[0].endswith(b"/env"):
        words = words[1:]
    name = words[0].rsplit(b"/", 1)[-1] if words else b""
    return {b"sh": "posix", b"dash": "posix", b"bash": "bash"}.get(name)


def run(*command):
    return subprocess.run(command, capture_output=True, check=False, timeout=60)


def ends_dash(ours):
    """Whether dash, too, refuses the expansion of wick's message: `7:1 ${name:…} is not POSIX`."""
    found = re.search(r"(\$\{\w+[^\w…])…\} is not POSIX$", ours)
    return bool(found) and b"Bad substitution" in run("dash", "-c", f": {found.group(1)}0}}").stderr


def pretty(path):
    done = run("bash", "--pretty-print", path)
    if done.returncode != 0:
        return None
    return re.sub(rb"[;\s]+", b" ", done.stdout).strip()  # a newline and `;` are the same; comments leave empty lines


# Other spellings of one thing, which our print does not keep: `…` and $(…), ; and a newline, $x and ${x}.
PLACES = ("Pos", "End", "Position", "Comments", "Last", "ThenLast", "DoLast", "ElseLast", "Backquotes", "Semicolon")


def without_tabs(lines, is_begin):
    """The text of a here-document whose lines lose their tabs, as `<<-` does."""
    return "".join(line.lstrip("\t") if i > 0 or is_begin else line for i, line in enumerate(lines.splitlines(keepends=True)))


def document(node):
    """A here-document's word without its delimiter's spelling: `<<-` and `<<` with the tabs gone are one."""
    parts = []
    for part in node.get("Parts", []):
        if part.get("Type") == "Lit":
            is_begin = not parts or parts[-1].get("Value", "").endswith("\n")
            part = {**part, "Value": without_tabs(part["Value"], is_begin)}
        if part.get("Type") != "Lit" or part["Value"]:
            parts.append(part)
    return {"Parts": parts}


def joined(parts):
    """Texts beside each other as one: shfmt begins a new one behind a line that goes on."""
    whole = []
    for part in parts:
        if is_text(part) and whole and is_text(whole[-1]):
            whole[-1] = whole[-1] | {"Value": whole[-1].get("Value", "") + part.get("Value", "")}
        else:
            whole.append(part)
    return whole


def is_text(part):
    return isinstance(part, dict) and part.get("Type") == "Lit"


def without_places(node):
    if isinstance(node, list):
        return joined([without_places(one) for one in node])
    if not isinstance(node, dict):
        return node
    if "Offset" in node and "Line" in node:
        return None
    if "Hdoc" in node:
        node = {key: value for key, value in node.items() if key not in ("Op", "Word")} | {"Hdoc": document(node["Hdoc"])}
    kept = {key: without_places(value) for key, value in node.items() if key not in PLACES}
    if isinstance(kept.get("Value"), str):
        kept["Value"] = kept["Value"].replace("\\\n", "")  # a line that goes on
    return {key: value for key, value in kept.items() if value not in (None, [], False, "")}


def tree(path, dialect):
    """What shfmt reads, or its error."""
    with open(path, "rb") as file:
        done = subprocess.run(["shfmt", "-ln", dialect, "--to-json"], stdin=file, capture_output=True, check=False, timeout=60)
    return without_places(json.loads(done.stdout)) if done.returncode == 0 else done.stderr.decode(errors="replace").strip()


def first_difference(a, b, place=""):
    if type(a) is not type(b):
        return f"{place}: {str(a)[:80]} | {str(b)[:80]}"
    if isinstance(a, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            if found := first_difference(a.get(key), b.get(key), f"{place}/{key}"):
                return found
    elif isinstance(a, list):
        for i, (x, y) in enumerate(zip(a, b)):
            if found := first_difference(x, y, f"{place}/{i}"):
                return found
        if len(a) != len(b):
            return f"{place}: {len(a)} and {len(b)} parts"
    elif a != b:
        return f"{place}: {str(a)[:80]} | {str(b)[:80]}"
    return ""


def main():
    driver, *folders = sys.argv[1:]
    scripts = {"posix": [], "bash": []}
    for folder in folders or FOLDERS:
        for path in sorted(pathlib.Path(folder).rglob("*") if folders else pathlib.Path(folder).glob("*")):
            if path.is_file() and not path.is_symlink() and (dialect := dialect_of(path)):
                scripts[dialect].append(str(path))
    differences = []
    refused = []
    has_shfmt = shutil.which("shfmt") is not None
    accepted = pretty_equal = tree_equal = 0
    for dialect, paths in scripts.items():
        checker = "dash" if dialect == "posix" else "bash"
        if not paths:
            continue
        for line in run(driver, dialect, *paths).stdout.decode().splitlines():
            path, _, ours = line.partition("\t")
            theirs = run(checker, "-n", path).returncode == 0
            if checker == "dash" and theirs and ends_dash(ours):
                refused.append(f"{path}: {ours}; dash refuses it, too, but only when it runs it")
                continue
            if theirs != (ours == "ok"):
                differences.append(f"{path}: {checker} {'accepts' if theirs else 'refuses'}, wick: {ours}")
                continue
            if not theirs:
                continue
            accepted += 1
            with tempfile.NamedTemporaryFile() as printed:
                printed.write(run(driver, "--print", dialect, path).stdout)
                printed.flush()
                if (want := pretty(path)) is not None:
                    if want == pretty(printed.name):
                        pretty_equal += 1
                    else:
                        differences.append(f"{path}: bash --pretty-print differs between the original and our print")
                original = tree(path, dialect) if has_shfmt else ""
                if has_shfmt and isinstance(original, str):
                    refused.append(f"{path}: {checker} and wick accept, shfmt: {original}")
                elif has_shfmt:
                    if found := first_difference(original, tree(printed.name, dialect)):
                        differences.append(f"{path}: shfmt sees another tree in our print: {found}")
                    else:
                        tree_equal += 1
    print("\n".join(refused + differences))
    print(f"{sum(map(len, scripts.values()))} scripts ({len(scripts['posix'])} sh, {len(scripts['bash'])} bash): "
          f"{accepted} accepted by both, {pretty_equal} of them with equal bash --pretty-print, "
          + (f"{tree_equal} with the equal tree of shfmt, {len(refused)} refused by it or by wick and dash, " if has_shfmt else "shfmt is not here, ")
          + f"{len(differences)} differences")
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
