#!/usr/bin/env python3
"""Renders real chat templates by Python's jinja2 and by wick and prints how often they differ.

    python3 tools/parity/templates_diff.py [--generated 100] [--seed 1] build/release/chat_render TEMPLATE…

TEMPLATE is a .jinja file, a tokenizer_config.json or a .gguf file; a folder means all of these in it; templates of the same text
count once. Needs jinja2 (and the package gguf for .gguf). Each template gets the 99 chosen conversations of conversations.py and
as many random ones. Where Python raises, wick must fail, too; what raise_exception says must be the same. Ends with 1 if anything
differs.
"""
import argparse
import collections
import copy
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "goldens"))
from chat_environment import NOW, environment  # noqa: E402
from conversations import chosen, generated  # noqa: E402
from jinja2.exceptions import TemplateError, TemplateRuntimeError  # noqa: E402


def templates(paths):
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            yield from templates(sorted(p for p in path.rglob("*") if p.suffix in (".jinja", ".gguf") or p.name == "tokenizer_config.json"))
        elif path.suffix == ".jinja":
            yield path.name, path.read_text()
        elif path.suffix == ".gguf":
            import gguf
            field = gguf.GGUFReader(path).get_field("tokenizer.chat_template")
            if field:
                yield path.name, field.contents()
        else:
            found = json.loads(path.read_text()).get("chat_template")
            for one in found if isinstance(found, list) else [{"name": "default", "template": found}] if found else []:
                yield f"{path.parent.parent.name}/{path.parent.name}:{one['name']}", one["template"]


def python(compiled, context):
    """The text, or None and what was raised; `says` is the message where the template raised it itself."""
    try:
        return compiled.render(**copy.deepcopy(context)), None, None
    except Exception as error:  # whatever a template does wrong
        is_own = type(error) is TemplateError and not isinstance(error, TemplateRuntimeError)
        return None, f"{type(error).__name__}: {error}", str(error) if is_own else None


def verdict(wanted, says, seen):
    if wanted is not None or "text" in seen:
        return "same" if wanted == seen.get("text") else "DIFFERS"
    if (says is not None) != (seen["error"] == "template_raised"):
        return "DIFFERS"
    return "raises" if says is None else "says the same" if says == seen["message"] else "DIFFERS"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generated", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("driver")
    parser.add_argument("templates", nargs="+")
    args = parser.parse_args()
    wick = subprocess.Popen([args.driver], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    env, total, seen_texts = environment(), collections.Counter(), set()
    for name, source in templates(args.templates):
        if source in seen_texts:
            continue
        seen_texts.add(source)
        counts, shown = collections.Counter(), None
        try:
            compiled = env.from_string(source)
        except Exception as error:
            compiled, parse_error = None, f"parse: {error}"
        rng = random.Random(f"{args.seed} {name}")
        for context in [*chosen(), *(generated(rng) for _ in range(args.generated))]:
            wick.stdin.write(json.dumps({"template": source, "context": context, "now": NOW}) + "\n")
            wick.stdin.flush()
            seen = json.loads(wick.stdout.readline())
            wanted, why, says = python(compiled, context) if compiled else (None, parse_error, None)
            kind = verdict(wanted, says, seen)
            counts[kind] += 1
            if kind == "DIFFERS" and shown is None:
                shown = f"    context {json.dumps(context)}\n    python {why or wanted!r}\n    wick   {seen}"
        total += counts
        print(f"{name}: {dict(counts)}" + (f"\n{shown}" if shown else ""))
    print(f"{len(seen_texts)} templates, seed {args.seed}: {dict(total)}")
    return 1 if total["DIFFERS"] else 0


if __name__ == "__main__":
    sys.exit(main())
