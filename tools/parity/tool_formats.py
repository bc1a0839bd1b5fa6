#!/usr/bin/env python3
"""Renders conversations with tool calls by real chat templates and reads the calls back with wick.

    python3 tools/parity/tool_formats.py [-n 100] [--seed 1] FOLDER-OF-DRIVERS TEMPLATE…

FOLDER-OF-DRIVERS holds chat_render and toolcalls_read (tools/build release chat_render toolcalls_read). TEMPLATE is as for
templates_diff.py. Each template gets n random conversations, whose last message has calls; the text that the template writes for it is
cut into pieces of a random size. The names and arguments must come back. Templates that write no calls are named. Ends with 1 if
a call differs.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "goldens"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from chat_environment import NOW  # noqa: E402
from templates_diff import templates  # noqa: E402

USER = "What-does-the-user-want?"
WORDS = ["Rome", "a b", "x=1; y", "né", "日本", "line\nbreak", "<b>&", "it's", 'say "no"', "C:\\dir", "42", "true", "{", "}}", "[1,", ""]
# Python's repr in single quotes, without escapes: such texts cannot come back.
PLAIN = [word for word in WORDS if not set(word) & set("'\"\\\n")]
# Tags without types: a text within an object of any members is written as the number or word that it spells.
UNTYPED = [word for word in WORDS if word not in ("42", "true")]
PROPERTIES = {"city": {"type": "string", "description": "text"}, "count": {"type": "integer", "description": "number"},
              "exact": {"type": "boolean", "description": "flag"}, "place": {"type": "object", "description": "object"},
              "tags": {"type": "array", "items": {"type": "string"}, "description": "list"}}
TOOLS = [{"type": "function", "function": {"name": name, "description": "A tool.", "parameters": {
    "type": "object", "properties": PROPERTIES, "required": ["city"], "additionalProperties": False}}}
    for name in ("get_weather", "search", "add-item")]


class Driver:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def arguments(rng, words):
    value = {"city": lambda: rng.choice(words), "count": lambda: rng.randrange(-99, 999), "exact": lambda: rng.random() < 0.5,
             "place": lambda: {"name": rng.choice(words) or "x", "at": [rng.randrange(9), rng.random() < 0.5]},
             "tags": lambda: [rng.choice(words) or "x" for _ in range(rng.randrange(3))]}
    keys = [key for key in PROPERTIES if rng.random() < 0.6]
    return {key: value[key]() for key in keys}


def conversation(rng, n_calls, words, as_text):
    calls = []
    for i in range(n_calls):
        given = arguments(rng, words)
        calls.append({"id": f"abcdefgh{i}", "type": "function", "function": {
            "name": rng.choice(TOOLS)["function"]["name"], "arguments": json.dumps(given) if as_text else given}})
    answer = {"role": "assistant", "content": "", "tool_calls": calls}
    return {"messages": [{"role": "user", "content": USER}, answer], "tools": TOOLS, "add_generation_prompt": False,
            "bos_token": "<s>", "eos_token": "</s>"}


def read_calls(context):
    out = []
    for call in context["messages"][1]["tool_calls"]:
        given = call["function"]["arguments"]
        out.append((call["function"]["name"], json.loads(given) if isinstance(given, str) else given))
    return out


def same(wanted, seen):
    try:
        return wanted == [(call["name"], json.loads(call["arguments"])) for call in seen["calls"]]
    except ValueError:
        return False


def check(name, source, n, seed, render, read):
    """Format, and how many conversations came back, differ, and are refused by the template."""
    rng = random.Random(f"{seed} {name}")
    counts, shown, found = {"same": 0, "differ": 0, "refused": 0}, None, None
    words, most, as_text = WORDS, 3, False
    for i in range(n):
        context = conversation(rng, rng.randrange(1, most + 1), words, as_text)
        made = render.ask(template=source, context=context, now=NOW)
        at = made.get("text", "").rfind(USER)
        names = [call["function"]["name"] for call in context["messages"][1]["tool_calls"]]
        if i == 0 and (at < 0 or names[0] not in made["text"][at:]):
            as_text = True  # some templates take arguments as text
            continue
        if at >= 0 and names[-1] not in made["text"][at:]:
            most = 1
            counts["refused"] += 1  # it leaves calls out
            continue
        if "text" not in made or at < 0:
            most = 1  # some take one call
            counts["refused"] += 1
            continue
        text = made["text"][at + len(USER):].removesuffix("<|call|>")
        if source.find('{"name": function name, "parameters": ') >= 0:
            text = text[text.find("{"):]  # such calls are the whole answer
        seen = read.ask(template=source, text=text, piece=rng.randrange(1, 20),
                        tools=[tool["function"] for tool in TOOLS])
        found = seen["format"]
        if found in ("lfm2", "llama4"):
            words = PLAIN
        if found == "minimax-m3":
            words = UNTYPED
        wanted = read_calls(context)
        if same(wanted, seen):
            counts["same"] += 1
        elif i < 2 and words is not WORDS:
            continue
        else:
            counts["differ"] += 1
            shown = shown or (wanted, text[-700:], seen)
    return found, counts, shown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("drivers", type=pathlib.Path)
    parser.add_argument("templates", nargs="+")
    args = parser.parse_args()
    render, read = Driver(args.drivers / "chat_render"), Driver(args.drivers / "toolcalls_read")
    has_failed = False
    for name, source in templates(args.templates):
        found, counts, shown = check(name, source, args.n, args.seed, render, read)
        print(f"{name:56} {found or 'no format':16} {counts['same']:5} came back, {counts['differ']} differ, "
              f"{counts['refused']} refused by the template", flush=True)
        if found and shown:
            has_failed = True
            print(f"    wanted {shown[0]}\n    text   {shown[1]!r}\n    seen   {shown[2]}")
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
