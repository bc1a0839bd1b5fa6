#!/usr/bin/env python3
"""Renders real chat templates by Python's jinja2 and by wick and prints how often they differ.

    python3 tools/parity/templates_diff.py build/release/chat_render TEMPLATE…

TEMPLATE is a .jinja file, a tokenizer_config.json or a .gguf file; a folder means all of these in
it. Needs jinja2 (and the package gguf for .gguf). Each template gets the same conversations: with
and without system message, tools, tool calls, reasoning, parts, odd characters. Where Python raises,
wick must fail, too. Ends with 1 if anything differs.
"""
import collections
import copy
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "goldens"))
from chat_environment import NOW, environment  # noqa: E402

TOOLS = [
    {"type": "function", "function": {
        "name": "get_weather", "description": "Weather at a place.\nCelsius – \"feels like\" too.",
        "parameters": {"type": "object", "properties": {
            "city": {"type": "string", "description": "Name, e.g. München <b>"},
            "days": {"type": "integer", "minimum": 1, "default": 3},
            "unit": {"type": "string", "enum": ["c", "f"]}}, "required": ["city"]}}},
    {"type": "function", "function": {
        "name": "sum", "description": "Adds.", "parameters": {"type": "object", "properties": {
            "xs": {"type": "array", "items": {"type": "number"}},
            "opts": {"type": ["object", "null"], "properties": {"round": {"type": "boolean"}}}}},
        "return": {"type": "number", "description": "The sum"}}},
]


def call(name, arguments, id="call00001"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def conversations():
    user, system = {"role": "user", "content": "Hi there"}, {"role": "system", "content": "Be brief.  "}
    odd = {"role": "user", "content": " \n<|im_end|> {{ x }} é 日本 \U0001F600 'q' \"d\" \\ \t&<>\n\n"}
    answer = {"role": "assistant", "content": "Hello!"}
    thought = {"role": "assistant", "content": "<think>\nHm, 1+1.\n</think>\n\nTwo."}
    split = {"role": "assistant", "content": "Two.", "reasoning_content": "Hm.", "thinking": "Hm."}
    ask = {"role": "assistant", "content": "", "tool_calls": [call("get_weather", {"city": "Köln", "days": 2, "f": 1.0, "n": None, "t": True})]}
    ask_none = {"role": "assistant", "content": None, "tool_calls": [call("sum", {"xs": [1, 2.5, 1e20]}, "call00002"), call("get_weather", {}, "call00003")]}
    ask_text = {"role": "assistant", "content": "One moment.", "tool_calls": [call("sum", '{"xs": [1]}')]}
    ask_plain = {"role": "assistant", "tool_calls": [{"function": {"name": "sum", "arguments": {"xs": []}}}]}
    result = {"role": "tool", "name": "get_weather", "tool_call_id": "call00001", "content": "{\"t\": 7}"}
    parts = {"role": "user", "content": [{"type": "text", "text": "Look: "}, {"type": "image"}, {"type": "text", "text": "what?"}]}
    image = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "?"}]}
    system_parts = {"role": "system", "content": [{"type": "text", "text": "Brief."}]}
    developer = {"role": "developer", "content": "Dev says."}
    base = [
        ([user], {}), ([system, user], {}), ([odd], {}), ([system, user, answer, odd], {}),
        ([user, answer], {}), ([user, thought, user], {}), ([system, user, split, user], {}),
        ([user, split], {}), ([parts], {}), ([system_parts, image, answer, user], {}), ([developer, user], {}),
        ([user], {"tools": TOOLS}), ([system, user], {"tools": TOOLS}), ([user, ask, result], {"tools": TOOLS}),
        ([system, user, ask, result, answer, user], {"tools": TOOLS}),
        ([user, ask_none, result, dict(result, tool_call_id="call00002", name="sum", content="3.5")], {"tools": TOOLS}),
        ([user, ask_text, result, split, user], {"tools": TOOLS}), ([user, ask_plain, result], {"tools": TOOLS[:1]}),
        ([user, ask, result], {}), ([], {}), ([answer], {}), ([user, user], {}), ([system], {}),
        ([{"role": "alien", "content": "x"}], {}), ([{"role": "user"}], {}),
        ([user], {"enable_thinking": False}), ([user], {"enable_thinking": True}), ([user], {"thinking": True}),
        ([system, user, thought, user], {"enable_thinking": False, "preserve_thinking": True}),
        ([user], {"reasoning_effort": "high", "builtin_tools": ["browser", "python"]}),
        ([user], {"date_string": "01 Jan 2025", "tools_in_user_message": False, "tools": TOOLS}),
        ([user], {"documents": [{"title": "A", "text": "aa"}, {"title": "B", "text": "bb"}], "citation_mode": "fast"}),
        ([user, answer, user, answer, user, ask, result, answer], {"tools": TOOLS, "add_default_system_prompt": False}),
    ]
    for messages, extra in base:
        for prompt in (True, False):
            yield {"messages": copy.deepcopy(messages), "add_generation_prompt": prompt,
                   "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", **copy.deepcopy(extra)}
        yield {"messages": copy.deepcopy(messages), "tools": None, "documents": None, "add_generation_prompt": True,
               "bos_token": "<|begin|>", "eos_token": "<|end|>", **copy.deepcopy(extra)}


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


def python(env, compiled, context):
    try:
        return compiled.render(**copy.deepcopy(context)), None
    except Exception as error:  # whatever a template does wrong
        return None, f"{type(error).__name__}: {error}"


def main():
    driver, paths = sys.argv[1], sys.argv[2:]
    wick = subprocess.Popen([driver], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    env = environment()
    env.globals["raise_exception"]  # a template without the environment would not load
    total = collections.Counter()
    for name, source in templates(paths):
        counts, shown = collections.Counter(), None
        try:
            compiled = env.from_string(source)
        except Exception as error:
            compiled, parse_error = None, error
        for context in conversations():
            wick.stdin.write(json.dumps({"template": source, "context": context, "now": NOW}) + "\n")
            wick.stdin.flush()
            seen = json.loads(wick.stdout.readline())
            wanted, why = python(env, compiled, context) if compiled else (None, f"parse: {parse_error}")
            kind = "raises" if wanted is None and "text" not in seen else "same" if wanted == seen.get("text") else "DIFFERS"
            counts[kind] += 1
            if kind == "DIFFERS" and shown is None:
                shown = f"    python {why or wanted!r}\n    wick   {seen}"
        total += counts
        print(f"{name}: {dict(counts)}" + (f"\n{shown}" if shown else ""))
    print(f"all: {dict(total)}")
    return 1 if total["DIFFERS"] else 0


if __name__ == "__main__":
    sys.exit(main())
