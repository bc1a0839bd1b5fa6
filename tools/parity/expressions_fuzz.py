#!/usr/bin/env python3
"""Random expressions and templates out of a grammar, rendered by Python's jinja2 and by wick: prints every difference, shrunk by
its parts, and how many there were.

    python3 tools/parity/expressions_fuzz.py [-n 300000] [--seed 1] build/release/chat_render

Two of three cases are one expression, the rest are templates of statements. Where Python raises, wick must fail. What wick does
not take on purpose is left out of the grammar (docs/templates.md); integers that leave 64 bits and texts above its limit are
counted apart. Every thousand cases have a seed of their own, which is printed with a difference: --seed S -n 1000 repeats them.
"""
import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "goldens"))
from chat_environment import NOW, environment  # noqa: E402
from chat_goldens import CONTEXT  # noqa: E402

warnings.simplefilter("ignore")  # Python's, about "is" with a literal and the like
BATCH = 1000
NAMES = [name for name in CONTEXT if name not in ("big", "huge")] + ["nope"]
STRINGS = ["'a'", '"b c"', "''", "'Hello'", "'x,y,,z'", "'  pad '", "'%s-%d'", "'{}'", "'{0!r:>5}'", "'é日😀'", "'a\\nb'", "'\\'q\\''", "'ABC'", "'12'", "'1.5'",
           "'name'", "'age'", "'k'", "'aXbX'", "'ß'", "'{{'"]
NUMBERS = ["0", "1", "2", "3", "-1", "7", "10", "1.5", "0.0", "-2.5", "1e3", "100"]
BINARY = ["+", "-", "*", "/", "//", "%", "~", "and", "or", "==", "!=", "<", ">", "<=", ">=", "in", "not in"]
METHODS = [("upper", 0), ("lower", 0), ("strip", 1), ("lstrip", 1), ("rstrip", 1), ("split", 2), ("rsplit", 2), ("replace", 2), ("startswith", 1), ("endswith", 1),
           ("find", 1), ("rfind", 1), ("count", 1), ("index", 1), ("join", 1), ("title", 0), ("capitalize", 0), ("swapcase", 0), ("casefold", 0), ("isdigit", 0),
           ("isalpha", 0), ("isupper", 0), ("isspace", 0), ("islower", 0), ("isalnum", 0), ("istitle", 0), ("isnumeric", 0), ("isidentifier", 0), ("zfill", 1),
           ("center", 2), ("ljust", 2), ("rjust", 2), ("partition", 1), ("rpartition", 1), ("splitlines", 1), ("removeprefix", 1), ("removesuffix", 1),
           ("expandtabs", 1), ("format", 2), ("items", 0), ("keys", 0), ("values", 0), ("get", 2), ("copy", 0), ("append", 1), ("pop", 1), ("update", 1)]
FILTERS = [("abs", 0), ("attr", 1), ("batch", 2), ("capitalize", 0), ("center", 1), ("count", 0), ("d", 1), ("default", 2), ("dictsort", 2), ("e", 0), ("escape", 0),
           ("filesizeformat", 1), ("first", 0), ("float", 1), ("forceescape", 0), ("format", 2), ("groupby", 1), ("indent", 3), ("int", 2), ("items", 0),
           ("join", 2), ("last", 0), ("length", 0), ("list", 0), ("lower", 0), ("map", 2), ("max", 1), ("min", 1), ("reject", 2), ("rejectattr", 3), ("replace", 3),
           ("reverse", 0), ("round", 2), ("safe", 0), ("select", 2), ("selectattr", 3), ("slice", 2), ("sort", 3), ("string", 0), ("striptags", 0), ("sum", 2),
           ("title", 0), ("tojson", 2), ("trim", 1), ("truncate", 3), ("unique", 2), ("upper", 0), ("urlencode", 0), ("wordcount", 0)]
KEYWORDS = {"dictsort": ("by", "case_sensitive", "reverse"), "sort": ("reverse", "attribute", "case_sensitive"), "join": ("attribute", "d"), "map": ("attribute", "default"),
            "tojson": ("indent", "ensure_ascii", "sort_keys"), "indent": ("first", "blank", "width"), "truncate": ("length", "killwords", "end", "leeway"),
            "round": ("precision", "method"), "sum": ("attribute", "start"), "unique": ("attribute", "case_sensitive"), "default": ("default_value", "boolean"),
            "max": ("attribute", "case_sensitive"), "min": ("attribute", "case_sensitive"), "groupby": ("attribute", "default"), "int": ("default", "base"),
            "batch": ("linecount", "fill_with"), "slice": ("slices", "fill_with"), "replace": ("count",), "trim": ("chars",), "float": ("default",)}
TESTS = [("boolean", 0), ("callable", 0), ("defined", 0), ("undefined", 0), ("divisibleby", 1), ("eq", 1), ("equalto", 1), ("even", 0), ("odd", 0), ("false", 0), ("true", 0),
         ("float", 0), ("integer", 0), ("number", 0), ("ge", 1), ("gt", 1), ("le", 1), ("lt", 1), ("ne", 1), ("in", 1), ("iterable", 0), ("lower", 0), ("upper", 0),
         ("mapping", 0), ("none", 0), ("sameas", 1), ("sequence", 0), ("string", 0), ("escaped", 0), ("filter", 0), ("test", 0)]
ATTRIBUTES = ["name", "age", "city", "ok", "p.q", "items", "x", "b", "a", "nope", "0", "y.0.z"]


GENERATORS = ("map", "select", "reject", "selectattr", "rejectattr", "unique", "batch", "slice", "items", "reverse")


class Grammar:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.names = list(NAMES)

    def one(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p):
        return self.rng.random() < p

    def literal(self, depth):
        kind = self.rng.randrange(12)
        if kind < 4:
            return self.rng.choice(STRINGS)
        if kind < 8:
            return self.rng.choice(NUMBERS)
        if kind < 9 or depth <= 0:
            return self.one("true", "false", "none", "True", "None")
        items = [self.expression(depth - 1) for _ in range(self.rng.randint(0, 3))]
        if kind == 9:
            return f"[{', '.join(items)}]"
        if kind == 10:
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        return "{" + ", ".join(f"{self.rng.choice(STRINGS + ['1', 'true', 'none', '2.0'])}: {x}" for x in items) + "}"

    def arguments(self, count, depth, name=""):
        out = [self.expression(min(depth - 1, 1)) for _ in range(self.rng.randint(0 if self.chance(0.5) else count, count))]
        if name in KEYWORDS and self.chance(0.4):
            word = self.rng.choice(KEYWORDS[name])
            given = f"'{self.rng.choice(ATTRIBUTES)}'" if word == "attribute" else self.one("'value'", "'key'", "2", "true", "false", "'ceil'", self.literal(0))
            out = out[:1 if self.chance(0.3) else 0] + [f"{word}={given}"]
        return out

    def filtered(self, depth):
        name, count = self.rng.choice(FILTERS)
        arguments = self.arguments(count, depth, name)
        if name in ("map", "select", "reject") and self.chance(0.7):
            other = self.rng.choice(TESTS if name != "map" else FILTERS)
            arguments = [f"'{other[0]}'"] + self.arguments(other[1], depth)
            if name == "map" and self.chance(0.4):
                arguments = [f"attribute='{self.rng.choice(ATTRIBUTES)}'"]
        elif name in ("selectattr", "rejectattr", "groupby") and self.chance(0.8):
            test = self.rng.choice(TESTS)
            arguments = [f"'{self.rng.choice(ATTRIBUTES)}'"] + ([f"'{test[0]}'"] + self.arguments(test[1], depth) if self.chance(0.5) and name != "groupby" else [])
        call = f"({', '.join(arguments)})" if arguments or self.chance(0.1) else ""
        if name in GENERATORS:  # whose own text is an address
            return f"{self.operand(depth)} | {name}{call}{self.one(' | list', ' | list', ' | first', ' | join', '.y', ' | list | length')}"
        return f"{self.operand(depth)} | {name}{call}" + self.one("", "", "", " | list", " | tojson", " | length")

    def operand(self, depth):
        text = self.expression(depth - 1)
        return text if text.isidentifier() or text[0] in "'\"[{" and " " not in text else f"({text})"

    def subscript(self, depth):
        base = self.operand(depth)
        kind = self.rng.randrange(4)
        if kind == 0:
            return f"{base}.{self.one('name', 'x', 'items', 'b', 'y', 'nope', 'k', 'age')}"
        if kind == 1:
            return f"{base}[{self.expression(0)}]"
        parts = [self.one("", "", "0", "1", "-1", "2", "-2", "n", "9") for _ in range(self.rng.randint(2, 3))]
        return f"{base}[{':'.join(parts)}]"

    def expression(self, depth):
        if depth <= 0:
            return self.rng.choice(self.names) if self.chance(0.5) else self.literal(0)
        kind = self.rng.random()
        if kind < 0.10:
            return self.literal(depth)
        if kind < 0.20:
            return self.rng.choice(self.names)
        if kind < 0.36:
            return f"{self.operand(depth)} {self.rng.choice(BINARY)} {self.operand(depth)}"
        if kind < 0.38:
            return f"{self.operand(depth)} {self.rng.choice(BINARY[9:15])} {self.operand(depth)} {self.rng.choice(BINARY[9:15])} {self.operand(depth)}"
        if kind < 0.40:
            return f"{self.operand(depth)} ** {self.one('2', '0', '-1', '0.5', '3')}"
        if kind < 0.44:
            return f"{self.one('not', '-', '+')} {self.operand(depth)}"
        if kind < 0.65:
            return self.filtered(depth)
        if kind < 0.73:
            name, count = self.rng.choice(TESTS)
            arguments = [self.expression(0) for _ in range(count)]
            return f"{self.operand(depth)} is {self.one('', '', 'not ')}{name}" + (f"({', '.join(arguments)})" if arguments else "")
        if kind < 0.82:
            name, count = self.rng.choice(METHODS)
            return f"{self.operand(depth)}.{name}({', '.join(self.arguments(count, depth))})"
        if kind < 0.91:
            return self.subscript(depth)
        if kind < 0.95:
            return f"{self.operand(depth)} if {self.operand(depth)}" + (f" else {self.operand(depth)}" if self.chance(0.7) else "")
        return self.one(f"range({self.one('3', 'n', '1, 4', '5, 0, -2', '0')})" + self.one("", " | list"), f"dict(a={self.expression(0)}, b=1)", f"dict({self.expression(0)})",
                        f"namespace(a={self.expression(0)}).a", f"cycler({self.expression(0)}, 1).next()", "joiner(';')()")

    def tag(self, text):
        return "{%" + self.one("", "", "", "-", "+") + f" {text} " + self.one("", "", "", "-") + "%}"

    def body(self, depth):
        return "".join(self.statement(depth - 1) for _ in range(self.rng.randint(1, 3)))

    def scoped(self, names, depth):
        before, self.names = self.names, self.names + names * 4
        text = self.body(depth)
        self.names = before
        return text

    def statement(self, depth):
        if depth <= 0 or self.chance(0.35):
            if self.chance(0.3):
                return self.one("text", "\n", "  \n", " a\n  ", "{# c #}", "{#- c -#}\n", "}", "{", "\t", "{% raw %}{{ r }}{% endraw %}")
            return "{{" + self.one("", "", "-") + f" {self.expression(2)} " + self.one("", "", "-") + "}}"
        tag, kind = self.tag, self.rng.randrange(13)
        if kind < 2:
            more = tag(f"elif {self.expression(1)}") + self.body(depth) if self.chance(0.2) else ""
            return tag(f"if {self.expression(2)}") + self.body(depth) + more + (tag("else") + self.body(depth) if self.chance(0.4) else "") + tag("endif")
        if kind < 5:
            target, source = self.one(("x", "l"), ("x", "names"), ("u", "users"), ("k, v", "d.items()"), ("x", "range(3)"), ("x", "s"), ("x", self.expression(2)), ("k, v", self.expression(1)))
            rest = self.one("", "", "", f" if {self.expression(1)}", " recursive")
            inside = self.scoped([*target.split(", "), "loop.index", "loop.last", "loop.first", "loop.previtem", "loop.length", "loop.cycle('a', 'b')"], depth)
            if self.chance(0.15):
                inside += tag(f"if {self.expression(1)}") + tag(self.one("break", "continue")) + tag("endif") + self.body(1)
            return tag(f"for {target} in {source}{rest}") + inside + (tag("else") + self.body(depth) if self.chance(0.2) else "") + tag("endfor")
        if kind < 8:
            name = self.one("v", "w", "s", "n")
            if self.chance(0.2):
                return tag(f"set {name}" + self.one("", " | upper", " | trim")) + self.body(depth) + tag("endset") + "{{ " + name + " }}"
            text = tag(f"set {name} = {self.expression(2)}")
            self.names = [*self.names, name, name]
            return text
        if kind < 9:
            text = tag(f"macro m({self.one('', 'a', 'a, b=1', 'a, b=a')})") + self.scoped(["a", "b", "varargs", "kwargs"], depth) + tag("endmacro")
            self.names = [*self.names, f"m({self.literal(0)})", f"m(b={self.literal(0)}, a=2)", "m()", "m(1, 2, 3)", "m.name", "m.arguments"]
            return text
        if kind < 10:
            return tag(f"with p = {self.expression(1)}, q = {self.expression(0)}") + self.scoped(["p", "q"], depth) + tag("endwith")
        if kind < 11:
            return tag(f"filter {self.one('upper', 'trim', 'indent(2)', 'replace(1, 2)', 'length', 'title | lower')}") + self.body(depth) + tag("endfilter")
        if kind < 12:
            return tag(f"set ns = namespace(c=0, t={self.expression(0)})") + tag("for i in l") + tag(f"set ns.{self.one('c', 't', 'z')} = {self.one('ns.c + i', 'i', self.expression(1))}") + \
                tag("endfor") + "{{ ns.c }}{{ ns.t }}"
        return tag("macro w(t)") + "<{{ caller(" + self.one("", "t", "1, 2") + ") }}>" + tag("endmacro") + tag(self.one("call w(1)", "call(c) w(n)", "call w()")) + self.body(depth) + tag("endcall")

    def case(self):
        self.names = list(NAMES)
        return "{{ " + self.expression(self.rng.randint(1, 3)) + " }}" if self.chance(2 / 3) else self.body(4)


def python(env, source):
    try:
        text = env.from_string(source).render(**json.loads(json.dumps(CONTEXT)))
        text.encode()
        return text
    except Exception:  # whatever the case does wrong
        return None


def is_left_out(case, text, answer):
    """What docs/templates.md says that wick does not do."""
    if "sameas" in case and text is not None and "text" in answer:
        return "whether equal values are one object"
    lower = (text or "").lower()
    if any(part in lower for part in (" at 0x", "<built-in method", "<bound method", "<class", "<function", "<generator")):
        return "names objects of Python"
    if text is not None and "text" in answer and re.search(rf"map\('({'|'.join(GENERATORS)})'", case):
        return "measures the address of a generator"
    message = answer.get("message", "")
    if "64 bits" in message or answer.get("error") == "template_limit":
        return "beyond wick's limits"
    if "raised to a fraction" in message:
        return "complex numbers"
    if "difference of dict views" in message:
        return "a set, whose order is random in Python"
    if "cannot be sliced like this" in message:
        return "a slice of constants that have no places"
    return None


def batch(env, driver, seed, count):
    grammar = Grammar(seed)
    cases = [grammar.case() for _ in range(count)]
    lines = "".join(json.dumps({"template": case, "context": CONTEXT, "now": NOW}) + "\n" for case in cases)
    run = subprocess.run([driver], input=lines, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in run.stdout.split("\n")[:-1]]
    counts = collections.Counter()
    for case, answer in zip(cases, answers, strict=True):
        wanted = python(env, case)
        if wanted == answer.get("text"):
            counts["same" if wanted is not None else "raise"] += 1
        elif (why := is_left_out(case, wanted, answer)) is not None:
            counts[why] += 1
        else:
            counts["DIFFER"] += 1
            print(f"seed {seed}: {case!r}\n  python {wanted!r}\n  wick   {answer.get('text', answer.get('message'))!r}", flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("driver")
    parser.add_argument("-n", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    env, total = environment(), collections.Counter()
    env.cache = None  # no template comes twice
    for i in range(0, args.n, BATCH):
        total += batch(env, args.driver, args.seed + i // BATCH, min(BATCH, args.n - i))
        if (i // BATCH) % 10 == 9:
            print(f"... {sum(total.values())}: {dict(total)}", flush=True)
    print(f"{sum(total.values())} cases, seeds {args.seed} to {args.seed + (args.n - 1) // BATCH}: {dict(total)}")
    sys.exit(bool(total["DIFFER"]))


if __name__ == "__main__":
    main()
