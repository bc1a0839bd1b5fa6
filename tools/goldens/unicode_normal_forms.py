#!/usr/bin/env python3
"""Prints src/unicode/normal_forms_data.cc: which characters Normalization Form C may change or join to what stands before them (Debian's
unicode-data 15.0), and which of them Hugging Face's tokenizers 0.23.3, whose tables are those of Unicode 9, leaves alone.

    ~/.cache/wick-ref/bin/python tools/goldens/unicode_normal_forms.py > src/unicode/normal_forms_data.cc
"""
import pathlib

import tokenizers
from tokenizers.normalizers import NFC, NFKD

assert tokenizers.__version__ == "0.23.3"
UNICODE = pathlib.Path("/usr/share/unicode")
normalize = NFC().normalize_str


def derived(name):
    for line in (UNICODE / "DerivedNormalizationProps.txt").read_text().splitlines():
        fields = [f.strip() for f in line.split("#")[0].split(";")]
        if len(fields) > 1 and fields[1] == name:
            first, _, last = fields[0].partition("..")
            yield from range(int(first, 16), int(last or first, 16) + 1)


rows = [line.split(";") for line in (UNICODE / "UnicodeData.txt").read_text().splitlines()]
classes = {int(row[0], 16): int(row[3]) for row in rows if row[3] != "0"}
pairs = {int(row[0], 16): [int(c, 16) for c in row[5].split()] for row in rows
         if row[5] and not row[5].startswith("<") and " " in row[5]}
active = set(derived("NFC_QC")) | set(classes)

# A mark that the reference knows sorts behind one of a lower class, or before one of a higher.
left_alone = set()
for code, its_class in classes.items():
    texts = ["a" + chr(code) + "\u0334", "a\u0315" + chr(code)]
    wanted = ["a\u0334" + chr(code) if its_class > 1 else None, "a" + chr(code) + "\u0315" if its_class < 232 else None]
    if any(w is not None and normalize(t) != w and normalize(t) == t for t, w in zip(texts, wanted)):
        left_alone.add(code)
# Pairs that it does not join (those that Unicode excludes from joining are split again by everyone).
excluded = set(derived("Full_Composition_Exclusion"))
for joint, (first, second) in pairs.items():
    if joint not in excluded and normalize(chr(first) + chr(second)) != chr(joint):
        left_alone |= {joint, second}
active |= left_alone
# What forms KC and KD write otherwise.
for row in rows:
    if row[5].startswith("<") and NFKD().normalize_str(chr(int(row[0], 16))) == chr(int(row[0], 16)):
        left_alone.add(int(row[0], 16))


def ranges(codes):
    runs = []
    for code in sorted(codes):
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return runs


def table(name, codes):
    lines, line = [], ""
    for first, last in ranges(codes):
        item = "{0x%X, 0x%X}, " % (first, last)
        if len(line) + len(item) > 94:
            lines.append(line.rstrip())
            line = ""
        line += item
    lines.append(line.rstrip())
    body = "\n".join("    " + text for text in lines)
    return f"constexpr NfcRange {name}[] = {{\n{body}\n}};\n"


print("""// Made by tools/goldens/unicode_normal_forms.py with tokenizers 0.23.3; do not edit.
#include "unicode/normal_forms.h"

namespace wick {
namespace {
""")
print(table("kActive", active))
print(table("kLeftAlone", left_alone))
print("""}  // namespace

std::span<const NfcRange> nfc_active() noexcept {
  return kActive;
}

std::span<const NfcRange> nfc_left_alone() noexcept {
  return kLeftAlone;
}

}  // namespace wick""")
