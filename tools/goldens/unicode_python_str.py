#!/usr/bin/env python3
"""Writes src/unicode/python_str_data.cc: the character properties of this Python's str (3.11: Unicode 14).

    python3 tools/goldens/unicode_python_str.py > src/unicode/python_str_data.cc
"""
import sys
import unicodedata

SCALARS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def ranges(holds):
    out = []
    for c in SCALARS:
        if not holds(chr(c)):
            continue
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def runs(mapped):
    """Single mappings as (first, last, step, delta); what maps to several characters stands elsewhere."""
    out = []
    for c in SCALARS:
        to = mapped(chr(c))
        if len(to) != 1 or ord(to) == c:
            continue
        delta = ord(to) - c
        if out and out[-1][3] == delta:
            first, last, step, _ = out[-1]
            if step == 0 and c - last in (1, 2) or step == c - last:
                out[-1][1], out[-1][2] = c, c - last
                continue
        out.append([c, c, 0, delta])
    return out


def specials(mapped):
    return [(c, [ord(x) for x in mapped(chr(c))]) for c in SCALARS if len(mapped(chr(c))) > 1]


def rows(items):
    line = " "
    for item in items:
        if len(line) + len(item) > 98:
            print(line)
            line = " "
        line += " " + item + ","
    print(line)


print(f"""// Made by tools/goldens/unicode_python_str.py with Python {sys.version.split()[0]}, Unicode {unicodedata.unidata_version}. Do not edit.
// clang-format off
#include "unicode/python_str_data.h"

namespace wick::unicode_data {{
""".replace(sys.version.split()[0], ".".join(map(str, sys.version_info[:2]))))
for name, holds in {
    "kAlpha": str.isalpha, "kDecimal": str.isdecimal, "kDigit": str.isdigit, "kNumeric": str.isnumeric,
    "kLower": str.islower, "kUpper": str.isupper, "kTitle": lambda c: unicodedata.category(c) == "Lt",
    "kPrintable": str.isprintable, "kIdentifierStart": str.isidentifier,
    "kIdentifierPart": lambda c: ("a" + c).isidentifier(),
    "kCaseIgnorable": lambda c: ("AΣ" + c).lower()[1] == "ς" and ("A" + c + "Σ").lower()[-1] == "ς",
}.items():
    found = ranges(holds)
    print(f"constexpr Range k{name[1:]}Rows[] = {{")
    rows([f"{{0x{a:X}, 0x{b:X}}}" for a, b in found])
    print(f"}};\nextern const Table<Range> {name} = {{k{name[1:]}Rows, {len(found)}}};\n")
for name, mapped in {"Upper": str.upper, "Lower": str.lower, "Title": str.title, "Fold": str.casefold}.items():
    found = runs(mapped)
    print(f"constexpr Run kTo{name}Rows[] = {{")
    rows([f"{{0x{a:X}, 0x{b:X}, {max(s, 1)}, {d}}}" for a, b, s, d in found])
    print(f"}};\nextern const Table<Run> kTo{name} = {{kTo{name}Rows, {len(found)}}};\n")
    found = specials(mapped)
    print(f"constexpr Special kTo{name}SpecialRows[] = {{")
    rows(["{0x%X, {%s}}" % (c, ", ".join("0x%X" % x for x in to)) for c, to in found])
    print(f"}};\nextern const Table<Special> kTo{name}Special = {{kTo{name}SpecialRows, {len(found)}}};\n")
print("}  // namespace wick::unicode_data")
