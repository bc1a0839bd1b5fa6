#!/usr/bin/env python3
"""Prints src/unicode/classes_data.cc: what the normalizers and pre-tokenizers of tokenizers 0.23.3 take for marks, control
characters and punctuation, and their lower case. Each of them has tables of another Unicode version, so each is asked.

    ~/.cache/wick-ref/bin/python tools/goldens/unicode_classes.py > src/unicode/classes_data.cc
"""
import tokenizers
from tokenizers import normalizers, pre_tokenizers

assert tokenizers.__version__ == "0.23.3"
CODES = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
ACCENTS = normalizers.StripAccents()
BERT_ACCENTS = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
BERT_CLEAN = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
LOWER = normalizers.Lowercase()
PUNCTUATION = pre_tokenizers.Punctuation()


def removed_by(normalizer):
    return [c for c in CODES if normalizer.normalize_str(f"a{chr(c)}b") == "ab"]


CLASSES = {
    "kAccents": removed_by(ACCENTS),
    "kBertAccents": removed_by(BERT_ACCENTS),
    "kBertControls": removed_by(BERT_CLEAN),
    "kPunctuation": [c for c in CODES if len(PUNCTUATION.pre_tokenize_str(f"a{chr(c)}b")) == 3],
}


def ranges(codes):
    runs = []
    for code in codes:
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return runs


def lower_ranges():
    """[first, last, step, distance]: characters `step` apart whose lower case is as far away."""
    runs = []
    for code in CODES:
        lower = LOWER.normalize_str(chr(code))
        if lower == chr(code) or len(lower) > 1:
            continue
        distance = ord(lower) - code
        if runs and runs[-1][3] == distance:
            first, last, step, _ = runs[-1]
            if (first == last and code - last <= 2) or (first < last and code - last == step):
                runs[-1][1:3] = [code, code - last]
                continue
        runs.append([code, code, 1, distance])
    return runs


def body(items):
    lines, line = [], ""
    for item in items:
        if len(line) + len(item) > 94:
            lines.append(line.rstrip())
            line = ""
        line += item + " "
    return "\n".join("    " + text for text in [*lines, line.rstrip()])


assert [c for c in CODES if len(LOWER.normalize_str(chr(c))) > 1] == [0x130]  # make_lowercase() knows it
print("""// Made by tools/goldens/unicode_classes.py with tokenizers 0.23.3; do not edit.
#include "unicode/classes.h"

namespace wick {
namespace {
""")
for name, codes in CLASSES.items():
    print(f"constexpr CharRange {name}[] = {{\n{body('{0x%X, 0x%X},' % tuple(r) for r in ranges(codes))}\n}};\n")
print(f"constexpr LowerRange kLower[] = {{\n{body('{0x%X, 0x%X, %d, %d},' % tuple(r) for r in lower_ranges())}\n}};\n")
print("}  // namespace\n")
for name in CLASSES:
    function = "".join("_" + c.lower() if c.isupper() else c for c in name[1:]).lstrip("_")
    print(f"std::span<const CharRange> {function}() noexcept {{\n  return {name};\n}}\n")
print("std::span<const LowerRange> lower_ranges() noexcept {\n  return kLower;\n}\n\n}  // namespace wick")
