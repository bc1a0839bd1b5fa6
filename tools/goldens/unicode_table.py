#!/usr/bin/env python3
"""Prints src/unicode/table_data.cc: general category, script (of a few), White_Space and Alphabetic of every
character, as tokenizers 0.23.3 (Oniguruma, Unicode 16) matches them, in two stages. Debian's unicode-data is of Unicode 15: where it
knows a character, the two must agree, which this script checks.

    ~/.cache/wick-ref/bin/python tools/goldens/unicode_table.py > src/unicode/table_data.cc
"""
import pathlib
import sys

import tokenizers
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

assert tokenizers.__version__ == "0.23.3"
DEBIAN = pathlib.Path("/usr/share/unicode/UnicodeData.txt")
CATEGORIES = ["Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
              "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co"]
SCRIPTS = ["Han", "Hiragana", "Katakana", "Hangul", "Thai", "Lao", "Khmer", "Myanmar"]
BLOCK = 128  # characters; src/unicode/table.h knows it
LIMIT = 0x110000
CODES = [c for c in range(LIMIT) if not 0xD800 <= c < 0xE000]
ALL = "".join(map(chr, CODES))


def matched(pattern):
    split = Split(Regex(pattern), "removed", invert=True)
    return [ord(c) for part, _ in split.pre_tokenize_str(ALL) for c in part]


def table_of(names):
    table = {}
    for name in names:
        for code in matched(r"\p{%s}" % name):
            assert code not in table, (name, code)
            table[code] = name
    return table


def check_against_debian(category):
    first, moved = None, []
    for line in DEBIAN.read_text().splitlines():
        code, name, wanted = line.split(";")[:3]
        code = int(code, 16)
        begin = first if name.endswith(", Last>") else code
        first = code
        for c in range(begin, code + 1):
            if wanted != "Cs" and category.get(c, "Cn") != wanted:
                moved.append(c)
    # U+1734 moved from Mn to Mc and such: a handful between two versions, no more.
    assert len(moved) < 50, moved
    print("moved since Unicode 15:", " ".join(f"U+{c:04X}" for c in moved), file=sys.stderr)


category = table_of(CATEGORIES)
script = table_of(SCRIPTS)
space = set(matched(r"\s"))
alphabetic = set(matched(r"\p{Alphabetic}"))
# What the readers of patterns take \w for: alone, and inside of a class, where Oniguruma has no table of Latin-1.
word = alphabetic | set(matched(r"[\p{M}\p{Nd}\p{Pc}]"))
assert set(matched(r"[\w]")) == word and set(matched(r"\w")) - word == set(map(ord, "²³¹¼½¾"))
check_against_debian(category)

atoms = []  # distinct combinations, in the order of their first character
numbers = []
for code in range(LIMIT):
    atom = (category.get(code, "Cs" if 0xD800 <= code < 0xE000 else "Cn"), script.get(code, ""), code in space,
            code in alphabetic)
    if atom not in atoms:
        atoms.append(atom)
    numbers.append(atoms.index(atom))
for skipped in sorted('"\\?'):  # characters that a string literal cannot hold as they are
    if ord(skipped) - ord("!") < len(atoms):
        at = ord(skipped) - ord("!")
        atoms.insert(at, ("", "", False, False))
        numbers = [n + (n >= at) for n in numbers]
assert len(atoms) <= 0x7F - ord("!"), len(atoms)

blocks, stage1 = [], []
for begin in range(0, LIMIT, BLOCK):
    block = "".join(chr(n + ord("!")) for n in numbers[begin:begin + BLOCK])
    if block not in blocks:
        blocks.append(block)
    stage1.append(blocks.index(block))
assert len(blocks) < 65536


def wrapped(items, width, join):
    lines, line = [], ""
    for item in items:
        if len(line) + len(item) > width:
            lines.append(line)
            line = ""
        line += item + join
    return lines + [line]


print("""// Made by tools/goldens/unicode_table.py with tokenizers 0.23.3; do not edit.
#include "unicode/table.h"

namespace wick {
namespace {

constexpr UnicodeAtom kAtoms[] = {""")
for name, place, *flags in atoms:
    print('    {"%s", "%s", %s, %s},' % (name, place, *("true" if flag else "false" for flag in flags)))
print("""};

}  // namespace

std::span<const UnicodeAtom> unicode_atoms() noexcept {
  return kAtoms;
}

// Which block of kUnicodeStage2 describes the 128 characters from 128 * i.
const std::uint16_t kUnicodeStage1[] = {""")
print("\n".join("    " + line.rstrip() for line in wrapped([str(n) for n in stage1], 90, ", ")))
print("""};

// Atoms, one printable character each, from '!'.
const char kUnicodeStage2[] =""")
print("\n".join('    "%s"' % block[at:at + 64] for block in blocks for at in range(0, BLOCK, 64)) + ";")
print("""
}  // namespace wick""")
