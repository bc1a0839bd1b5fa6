#!/usr/bin/env python3
r"""Prints tests/data/regex/search.tsv: random patterns in the syntax that ECMA-262 and Python share, random texts, and whether
Python's re finds the pattern in each text. A line has
the pattern, "0110…", and the texts, with tabs between them; \n in a text is a line feed.

    python3 tools/goldens/regex_search.py > tests/data/regex/search.tsv

Made with Python 3.11. Differences between the two languages are kept out: $ is \\Z for Python (there it also matches before a last
line feed), \\d \\w \\s \\b are ASCII (re.ASCII), and texts hold no other spaces; Python's \B does not hold in the
empty text, ECMA-262's does.
"""
import random
import re

random.seed(19)
LETTERS = "aab_1 -"


def atom(depth):
    kind = random.randrange(12 if depth else 8)
    if kind < 4:
        return random.choice("aab1_é日")
    if kind == 4:
        return random.choice([".", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S"])
    if kind == 5:
        return random.choice(["[ab]", "[^a]", r"[\w-]", "[a-c1]", r"[^\d_]", "[é-日]", r"[\s\-]"])
    if kind == 6:
        return random.choice([r"\-", r"\x61", r"\u0062", r"\.", r"\/"])
    if kind == 7:
        return random.choice(["a", "b", "ab", "1"])
    return random.choice(["(?:%s)", "(%s)"]) % alternatives(depth - 1)


def quantified(depth):
    one = atom(depth)
    if len(one) == 2 and one.isalnum():
        one = "(?:%s)" % one
    quantifier = random.choice(["", "", "", "", "?", "*", "+", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?", "{1,2}?"])
    return one + quantifier


def assertion():
    return random.choice([r"\b", r"\B", "^", "$", "(?=%s)", "(?!%s)", "(?=.*%s)", "(?!.*%s$)"]).replace("%s", quantified(1))


def sequence(depth, with_assertions=False):
    parts = []
    for _ in range(random.randrange(1, 4)):
        if with_assertions and random.randrange(4) == 0:
            parts.append(assertion())
        parts.append(quantified(depth))
    return "".join(parts)


def alternatives(depth):
    return "|".join(sequence(depth) for _ in range(random.choice([1, 1, 2, 3])))


def pattern():
    whole = "|".join(sequence(2, True) for _ in range(random.choice([1, 1, 1, 2])))
    start = random.choice(["", "", "^", "^", "(?<!a)", "(?<=b)", r"(?<![\w-])"])
    end = random.choice(["", "$", "$", "(?<!a)$", "(?<=[b1])$", r"\b"])
    if "|" in whole and (start or end):
        whole = "(?:%s)" % whole
    return start + whole + end


def text():
    return "".join(random.choice("aaabbb11__ -.cé日\n") for _ in range(random.randrange(0, 9)))


# Python's form of a pattern: \Z for $, and \/ is an error of Python's only in some versions.
def for_python(source):
    return re.sub(r"(?<!\\)\$", r"\\Z", source)


n = 0
while n < 1000:
    source = pattern()
    compiled = re.compile(for_python(source), re.ASCII)
    texts = sorted({text() for _ in range(16)} - ({""} if r"\B" in source else set()))
    found = "".join("01"[compiled.search(t) is not None] for t in texts)
    if "0" not in found and random.random() < 0.9:
        continue  # most patterns of this kind find everything
    print(source, found, *(t.replace("\n", "\\n") for t in texts), sep="\t")
    n += 1
