#!/usr/bin/env python3
"""Writes texts to measure tokenizers with, out of what Debian's packages ship on this machine: English (manuals in plain
text), code (C++ and Python sources), Chinese (translations). At most 4 MB each.

    python3 bench/text_corpus.py [FOLDER]      default: ~/.cache/wick-test/text
"""
import gettext
import pathlib
import sys

LIMIT = 4_000_000


def texts(*patterns):
    for pattern in patterns:
        for path in sorted(pathlib.Path("/").glob(pattern)):
            if path.is_file() and path.stat().st_size < 1_000_000:
                yield path.read_bytes().decode("utf-8", "ignore")


def translations(language):
    for path in sorted(pathlib.Path("/usr/share/locale", language, "LC_MESSAGES").glob("*.mo")):
        with path.open("rb") as file:
            catalog = gettext.GNUTranslations(file)._catalog
        yield "\n".join(text for key, text in catalog.items() if key and isinstance(text, str)) + "\n"


def chinese():
    for language in ("zh_CN", "zh_TW", "zh_HK"):
        for text in translations(language):  # sentences, without those that are mostly format and markup
            for line in text.splitlines(keepends=True):
                if sum("\u4e00" <= c <= "\u9fff" for c in line) * 2 > len(line):
                    yield line


SOURCES = {
    "english": lambda: texts("usr/share/vim/vim*/doc/*.txt", "usr/share/perl/*/pod/*.pod", "usr/share/doc/*/README*.txt",
                             "usr/share/doc/*/*.md", "usr/share/doc/*/README", "usr/share/doc/*/NEWS", "usr/share/doc/*/FAQ*",
                             "usr/share/common-licenses/*", "usr/lib/python3*/**/*.rst", "usr/share/doc/*/copyright"),
    "code": lambda: texts("usr/include/c++/*/bits/*.h", "usr/lib/python3.*/*.py"),
    "chinese": chinese,
}
folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path.home() / ".cache/wick-test/text"
folder.mkdir(parents=True, exist_ok=True)
for name, source in SOURCES.items():
    data = b""
    for text in source():
        data += text.encode()
        if len(data) >= LIMIT:
            break
    data = data[:LIMIT].decode("utf-8", "ignore").encode()
    (folder / f"{name}.txt").write_bytes(data)
    print(f"{folder / name}.txt: {len(data)} bytes")
