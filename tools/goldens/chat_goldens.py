#!/usr/bin/env python3
"""Writes tests/data/chat/*.json: expressions and templates of our own with what Python's jinja2 makes of them.

    python3 tools/goldens/chat_goldens.py tests/data/chat

Each case is [template, text], or [template] where Python raises. All of a file share one context.
The lists of cases lie beside this script: chat_expressions.txt holds one expression a line, which is
rendered as {{ expression }}; chat_templates.py holds whole templates.
"""
import json
import pathlib
import sys

from chat_environment import environment
from chat_templates import TEMPLATES

CONTEXT = {
    "s": "Hello, World", "t": "  padded\t\n", "u": "Größe ß ﬁ Σίσυφος 日本 😀", "e": "", "q": "it's \"so\" \\ \n",
    "n": 7, "m": -3, "z": 0, "f": 2.5, "big": 9007199254740993, "tiny": 1e-7, "huge": 1e22, "yes": True, "no": False, "nil": None,
    "l": [3, 1, 2], "names": ["bob", "Alice", "carl", "alice"], "mixed": [1, "a", None, True, 2.0, [1], {"k": "v"}],
    "d": {"b": 2, "a": 1, "items": "shadow", "C": 3}, "deep": {"x": {"y": [{"z": "found"}]}}, "empty": {}, "none_list": [],
    "users": [{"name": "Ann", "age": 30, "city": "Rome", "ok": True}, {"name": "bob", "age": 25, "city": "rome"},
              {"name": "Cid", "age": 30, "city": "Oslo", "ok": False, "p": {"q": 1}}],
    "html": "<a href=\"x\">T & 'q'</a>", "lines": "one\ntwo\n\nthree\r\nfour", "num": "42", "real": "4.5e1",
}


def main():
    out = pathlib.Path(sys.argv[1])
    env = environment()
    here = pathlib.Path(__file__).resolve().parent
    lines = [x for x in (here / "chat_expressions.txt").read_text().splitlines() if x and not x.startswith("##")]
    for name, sources in {"expressions": ["{{ " + x + " }}" for x in lines], "templates": TEMPLATES}.items():
        cases = []
        for source in sources:
            try:
                text = env.from_string(source).render(**json.loads(json.dumps(CONTEXT)))
                if " at 0x" in text:  # an address: no two runs agree
                    print("left out:", source)
                    continue
                text.encode()  # half a surrogate pair is no text
                cases.append([source, text])
            except Exception as error:
                print(f"raises {source!r}: {type(error).__name__} {error}"[:160])
                cases.append([source])
        rows = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
        context = json.dumps(CONTEXT, ensure_ascii=False)
        (out / f"{name}.json").write_text(f'{{"context": {context},\n"cases": [\n{rows}\n]}}\n')
        print(name, len(cases), "cases,", sum(len(c) == 1 for c in cases), "raise")


if __name__ == "__main__":
    main()
