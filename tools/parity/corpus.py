#!/usr/bin/env python3
"""Builds the text that tokenizers are held against: over 100 MB out of Debian's packages, the same for everyone who has the same
packages, and random strings.

    python3 tools/parity/corpus.py            # into ~/.cache/wick-test/corpus; fetches 160 MB by apt-get download

corpus.txt holds texts that end with NUL: prose in some twenty scripts, code in some fifteen languages, HTML, JSON, base64,
numbers, runs of white space, control characters, emoji. strings.txt holds 1,000,000 random strings; U+F8FF in them stands for
one of a tokenizer's own added tokens. Both come from the seed below. Prints what the corpus is made of.
"""
import argparse
import base64
import collections
import gettext
import gzip
import html
import io
import json
import os
import pathlib
import random
import re
import subprocess
import tarfile
import unicodedata

from random_text import SPECIAL, random_text

SEED = 20261121
FOLDER = pathlib.Path(os.environ.get("WICK_TEST_CACHE", pathlib.Path.home() / ".cache/wick-test")) / "corpus"
MARKUP = re.compile(r"<script.*?</script>|<style.*?</style>|<[^>]*>", re.S)

# What is read: package, the end of a file's name, how it becomes text, at most so many bytes (MB). HTML is taken half as it is,
# half without its markup.
HELP = [("libreoffice-help-" + x, ".html", "html", 2.5) for x in "dz km hi ja ko zh-cn zh-tw ru el vi".split()]
CATALOGUES = [("libreoffice-l10n-" + x, ".mo", "mo", 1.2)
              for x in "am ar as bn dz fa gu he hi hy ka kk km kn ko ml mn mr my ne or pa-in si ta te th ug el ru ja".split()]
SOURCES = [
    ("manpages-ru", ".gz", "gz", 2), ("manpages-ja", ".gz", "gz", 2), ("manpages-zh", ".gz", "gz", 2),
    ("installation-guide-amd64", ".html", "html", 12), ("golang-1.19-src", ".go", "text", 4), ("rust-src", ".rs", "text", 4),
    ("erlang-src", ".erl", "text", 2), ("node-typescript", ".js", "text", 2), ("node-typescript", ".ts", "text", 2),
    ("libruby3.1", ".rb", "text", 2), ("perl-modules-5.36", ".pm", "text", 2), ("perl-modules-5.36", ".pl", "text", 1),
    ("emacs-el", ".el.gz", "gz", 3), ("octave-common", ".m", "text", 2), ("sbcl-source", ".lisp", "text", 2),
    ("libboost1.74-dev", ".hpp", "text", 3), ("libpython3.11-stdlib", ".py", "text", 3), ("guile-3.0-libs", ".scm", "text", 1),
    ("php-symfony-http-kernel", ".php", "text", 1), ("libtcl8.6", ".tcl", "text", 1), ("vim-runtime", ".vim", "text", 2),
    ("iso-codes", ".json", "text", 3), ("iso-codes", ".mo", "mo", 3), ("unicode-data", ".txt", "text", 3),
    ("cmake-data", ".cmake", "text", 1), ("mime-support", ".types", "text", 0.1), ("shared-mime-info", ".xml", "text", 2),
    ("publicsuffix", ".dat", "text", 0.3), ("wamerican", "-english", "text", 0.5), ("bash-completion", "", "text", 1),
]


def some_texts(megabytes, seed):
    """So much of corpus.txt, as `seed` draws it."""
    texts, left = (FOLDER / "corpus.txt").read_bytes().decode().split("\0")[:-1], megabytes * 1e6
    random.Random(seed).shuffle(texts)
    for text in texts:
        yield text
        left -= len(text.encode())
        if left < 0:
            return


def package(name):
    """The package's file, fetched if it is not here; None if this machine's Debian has none of that name."""
    found = sorted((FOLDER / "packages").glob(f"{name}_*.deb"))
    if not found:
        subprocess.run(["apt-get", "download", "-qq", name], cwd=FOLDER / "packages", check=False, stderr=subprocess.DEVNULL)
        found = sorted((FOLDER / "packages").glob(f"{name}_*.deb"))
    return found[0] if found else None


def as_text(data, how):
    if how == "mo":
        return "\n".join(t for t in gettext.GNUTranslations(io.BytesIO(data))._catalog.values() if isinstance(t, str))
    return (gzip.decompress(data) if how == "gz" else data).decode()


def texts_of(source):
    name, suffix, how, megabytes = source
    path = package(name)
    if path is None:
        print(f"{name}: no such package, left out")
        return
    left = megabytes * 1e6
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", path], stdout=subprocess.PIPE) as files:
        archive = tarfile.open(fileobj=files.stdout, mode="r|")
        for number, member in enumerate(archive):
            if not member.isfile() or not member.name.endswith(suffix) or member.size > 3_000_000:
                continue
            try:
                text = as_text(archive.extractfile(member).read(), how)
            except (OSError, ValueError, IndexError):  # not UTF-8, or damaged
                continue
            if how == "html" and number % 2:
                text = html.unescape(MARKUP.sub("", text))
            left -= len(text.encode())
            yield text
            if left < 0:
                break
        files.kill()


def numbers(rng):
    forms = ("{:d}", "{:,d}", "{:x}", "0x{:08X}", "{:b}", "{:e}", "{:.3f}", "-{:d}", "{:d}%", "${:,d}.99", "{:d}/12/2026", "1.{:d}.0")
    return " ".join(rng.choice(forms).format(rng.getrandbits(rng.choice((4, 10, 20, 40, 64)))) for _ in range(400))


def spaces(rng):
    out = []
    for _ in range(200):
        out.append(rng.choice(" \t\n\r\v\f\u00a0\u2003\u3000\u200b\u2028") * rng.choice((1, 2, 3, 4, 8, 17, 64, 300)))
        out.append(rng.choice(("", "", "x", "word", "1", ".", "日", "{", "//")))
    return "".join(out)


def controls(rng):
    codes = [*range(1, 0x20), *range(0x7f, 0xa0), 0x200c, 0x200d, 0x200e, 0x200f, *range(0x202a, 0x202f), 0xfeff, 0xfffd, 0xfffe, 0xe0001]
    return "".join(rng.choice(("text", " ", "é", "")) + chr(rng.choice(codes)) for _ in range(600))


def emoji(rng):
    people, skins, joined = "👩👨🧑👧👦👴👵", ["", "🏻", "🏽", "🏿"], ["❤️", "💻", "🚀", "🏳️", "🌈", "⚕️", "✈️", "⚖️"]
    out = []
    for _ in range(300):
        kind = rng.random()
        if kind < 0.4:
            out.append("\u200d".join(rng.choice(people) + rng.choice(skins) for _ in range(rng.randint(1, 4))))
        elif kind < 0.6:
            out.append(rng.choice(people) + "\u200d" + rng.choice(joined))
        elif kind < 0.75:
            out.append("".join(chr(0x1F1E6 + rng.randrange(26)) for _ in range(2)))
        elif kind < 0.85:
            out.append(rng.choice("0123456789#*") + "\ufe0f\u20e3")
        else:
            out.append(chr(rng.randint(0x1F300, 0x1FAFF)))
        out.append(rng.choice(("", " ", "! ", " ok ")))
    return "".join(out)


def made(rng):
    """Kinds of text that packages have little of: 19 MB."""
    for _ in range(450):
        yield numbers(rng)
        yield spaces(rng)
        yield controls(rng)
        yield emoji(rng)
        yield base64.encodebytes(rng.randbytes(3000)).decode()
        yield json.dumps({str(rng.random()): [rng.random(), None, True, "ü\n\"" * rng.randint(0, 9)] for _ in range(30)}, indent=rng.choice((None, 2)))
        yield rng.choice("a .-=\u3000字\t") * rng.choice((500, 5000)) + rng.randbytes(500).decode("latin-1")


def chunks(text, rng):
    at = 0
    while at < len(text):
        size = rng.choice((150, 600, 2500, 2500, 10_000, 40_000))
        part = text[at:at + size].replace("\0", "")
        at += size
        if part:
            yield part


def script(char):
    return unicodedata.name(char, "?").split(" ")[0].split("-")[0] if char.isalpha() else ""


def build_corpus(path):
    rng, out, kinds = random.Random(SEED), [], collections.Counter()
    for source in HELP + CATALOGUES + SOURCES:
        for text in texts_of(source):
            kinds[source[0] + " " + source[1]] += len(text.encode())
            out += chunks(text, rng)
    for text in made(rng):
        kinds["made"] += len(text.encode())
        out += chunks(text, rng)
    rng.shuffle(out)
    path.with_suffix(".part").write_text("".join(part + "\0" for part in out), "utf-8", newline="")
    path.with_suffix(".part").rename(path)
    scripts = collections.Counter()
    for part in out[::20]:
        scripts.update(map(script, part))
    print("\n".join(f"{n / 1e6:8.2f} MB  {kind}" for kind, n in kinds.most_common()))
    print("letters, one chunk in twenty:", ", ".join(f"{name} {n}" for name, n in scripts.most_common(31) if name))
    print(f"{path}: {path.stat().st_size} bytes, {len(out)} texts")


def build_strings(path, count):
    rng = random.Random(SEED)
    with path.with_suffix(".part").open("w", encoding="utf-8", newline="") as file:
        for _ in range(count):
            file.write(random_text(rng, [SPECIAL]) + "\0")
    path.with_suffix(".part").rename(path)
    print(f"{path}: {path.stat().st_size} bytes, {count} strings, seed {SEED}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strings", type=int, default=1_000_000)
    args = parser.parse_args()
    (FOLDER / "packages").mkdir(parents=True, exist_ok=True)
    if not (FOLDER / "corpus.txt").exists():
        build_corpus(FOLDER / "corpus.txt")
    if not (FOLDER / "strings.txt").exists():
        build_strings(FOLDER / "strings.txt", args.strings)


if __name__ == "__main__":
    main()
