#!/usr/bin/env python3
"""Prints src/text/unicode_data.cc: what \\p{..} matches in tokenizers 0.23.3 (Oniguruma) beyond Unicode 14, which is
the version of Debian 12's PCRE2 and of Python 3.11's unicodedata.

    ~/.cache/wick-ref/bin/python tools/goldens/text_unicode.py > src/text/unicode_data.cc
"""
import pathlib
import re
import unicodedata

import tokenizers
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

assert tokenizers.__version__ == "0.23.3" and unicodedata.unidata_version == "14.0.0"

CODES = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
ALL = "".join(map(chr, CODES))
CATEGORIES = ["L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps", "Pe",
              "S", "Sm", "Sc", "Sk", "So", "Z", "Zs"]  # those that only grew; Mn and Mc traded members
SCRIPTS = ["Han", "Hiragana", "Katakana", "Hangul", "Thai", "Lao", "Khmer", "Myanmar"]  # as in unicode_table.h


def matched(pattern):
    split = Split(Regex(pattern), "removed", invert=True)
    return {ord(c) for part, _ in split.pre_tokenize_str(ALL) for c in part}


def newer(category):
    old = {c for c in CODES if unicodedata.category(chr(c)).startswith(category)}
    now = matched(r"\p{%s}" % category)
    assert old <= now, category
    return now - old


def newer_of_script(script):
    # Python has no scripts: what the category of unassigned characters says is enough for additions.
    return {c for c in matched(r"\p{%s}" % script) if unicodedata.category(chr(c)) == "Cn"}


def newer_alphabetic():
    # Versions 15 and 16 made marks Alphabetic that were there before; Debian's tables of 15 tell the latter.
    lines = pathlib.Path("/usr/share/unicode/DerivedCoreProperties.txt").read_text()
    old = set()
    for first, last in re.findall(r"^([0-9A-F]+)(?:\.\.([0-9A-F]+))? *; Alphabetic ", lines, re.M):
        old |= set(range(int(first, 16), int(last or first, 16) + 1))
    old -= {0xC04, 0xF82, 0xF83, 0x11080, 0x11081}
    now = matched(r"\p{Alphabetic}")
    assert old <= now
    return newer_of_script("Alphabetic") | (now - old)


def ranges(codes):
    runs = []
    for code in sorted(codes):
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return ["\\\\x{%x}" % a if a == b else "\\\\x{%x}-\\\\x{%x}" % (a, b) for a, b in runs]


print("""// Made by tools/goldens/text_unicode.py with tokenizers 0.23.3; do not edit.
#include "text/unicode_data.h"

#include <algorithm>
#include <array>

namespace wick {
namespace {

struct Row {
  std::string_view property;
  std::string_view ranges;
};

constexpr auto kRows = std::to_array<Row>({""")
rows = [(c, newer(c)) for c in CATEGORIES] + [(s, newer_of_script(s)) for s in SCRIPTS]
rows += [("Emoji", newer_of_script("Emoji")), ("Alphabetic", newer_alphabetic())]
for name, codes in rows:
    if not codes:
        continue
    lines, line = [], ""
    for item in ranges(codes):
        if len(line) + len(item) > 84:
            lines.append(line)
            line = ""
        line += item
    lines.append(line)
    print('    {"%s",' % name)
    print("\n".join('     "%s"' % text for text in lines) + "},")
print("""});

}  // namespace

std::string_view newer_characters(std::string_view property) noexcept {
  const auto* const row = std::find_if(kRows.begin(), kRows.end(),
                                       [&](const Row& r) { return r.property == property; });
  return row == kRows.end() ? std::string_view() : row->ranges;
}

}  // namespace wick""")
