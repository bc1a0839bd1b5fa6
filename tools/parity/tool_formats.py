#!/usr/bin/env python3
"""Renders conversations with tool calls by real chat templates and reads their answers back with wick.

    python3 tools/parity/tool_formats.py [-n 100] [--seed 1] FOLDER-OF-DRIVERS TEMPLATE…

FOLDER-OF-DRIVERS holds chat_render and toolcalls_read (tools/build release chat_render toolcalls_read). TEMPLATE is as for
templates_diff.py. Of each template n random conversations are read, whose last message has calls, and may have text and reasoning where
the template writes these. The names and arguments must come back, the text and the reasoning too, and nothing else; pieces of a random
size, single bytes and the whole answer must give the same. Templates that write no calls are named. Ends with 1 if an answer differs.
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

USER, SAID, TEXT, THOUGHT = "What-does-the-user-want?", "What-is-said.", "Let-me-look.", "Where-to-look?"
WORDS = ["Rome", "a b", "x=1; y", "né", "日本", "line\nbreak", "<b>&", "it's", 'say "no"', "C:\\dir", "42", "true", "{", "}}", "[1,", ""]
# Python's repr in single quotes, without escapes: such texts cannot come back.
PLAIN = [word for word in WORDS if not set(word) & set("'\"\\\n")]
# Tags without types: a text within an object of any members is written as the number or word that it spells.
UNTYPED = [word for word in WORDS if word not in ("42", "true")]
WORDS_OF = {"lfm2": PLAIN, "llama4": PLAIN, "minimax-m3": UNTYPED}
PROPERTIES = {"city": {"type": "string", "description": "text"}, "count": {"type": "integer", "description": "number"},
              "exact": {"type": "boolean", "description": "flag"}, "place": {"type": "object", "description": "object"},
              "tags": {"type": "array", "items": {"type": "string"}, "description": "list"}}
TOOLS = [{"type": "function", "function": {"name": name, "description": "A tool.", "parameters": {
    "type": "object", "properties": PROPERTIES, "required": ["city"], "additionalProperties": False}}}
    for name in ("get_weather", "search", "add-item")]
# Control tokens that end an answer, and those that wick does not show; those of the formats (tool_format_data.cc) it does.
ENDS = ["<|call|>", "<|calls|>", "<|eom_id|>", "<|END_OF_TURN_TOKEN|>", "<|end_of_msg|>", "<SPECIAL_12>", "<｜hy_eos:opensource｜>",
        "<｜end▁of▁sentence｜>", "<|tool_response>", "<|eot|>"]
REASONING = [("<think>", "</think>"), ("<|START_THINKING|>", "<|END_THINKING|>"), ("<mm:think>", "</mm:think>"),
             ("<|open|>think<|sep|>", "<|close|>think<|sep|>"), ("<|channel>thought", "<channel|>"), ("<seed:think>", "</seed:think>"),
             ("<think:opensource>", "</think:opensource>"), ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]")]
HIDDEN = ["<|content|>"]


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


def conversation(messages, is_open=False):
    return {"messages": [{"role": "user", "content": USER}, *messages], "tools": TOOLS, "add_generation_prompt": is_open,
            "bos_token": "<s>", "eos_token": "</s>"}


def answer(rng, n_calls, words, as_text=False, content="", thought=""):
    calls = []
    for i in range(n_calls):
        given = arguments(rng, words)
        calls.append({"id": f"abcdefgh{i}", "type": "function", "function": {
            "name": rng.choice(TOOLS)["function"]["name"], "arguments": json.dumps(given) if as_text else given}})
    more = {"reasoning_content": thought} if thought else {}
    return {"role": "assistant", "content": content, "tool_calls": calls, **more}


def calls_of(message):
    out = []
    for call in message["tool_calls"]:
        given = call["function"]["arguments"]
        out.append((call["function"]["name"], json.loads(given) if isinstance(given, str) else given))
    return out


def seen_calls(seen):
    try:
        return [(call["name"], json.loads(call["arguments"])) for call in seen["calls"]]
    except ValueError:
        return None


class Template:
    """What a template writes behind the user's message."""

    def __init__(self, source, render):
        self.source, self.render = source, render
        self.open = self.rendered([], True) or ""
        said = self.rendered([{"role": "assistant", "content": SAID}]) or ""
        self.end = said[said.rfind(SAID) + len(SAID):] if SAID in said else ""
        probe = lambda **more: self.rendered([answer(random.Random(1), more.pop("n", 1), PLAIN, **more)]) or ""
        # Some templates take arguments as text alone.
        self.as_text = "<object>" in probe() or not any(tool["function"]["name"] in probe() for tool in TOOLS)
        self.writes_calls = any(tool["function"]["name"] in probe(as_text=self.as_text) for tool in TOOLS)
        self.is_harmony = "<|channel|>analysis" in source
        def writes(word, **more):
            message = answer(random.Random(1), 1, PLAIN, self.as_text, **more)
            text = self.answered(message)[0]
            return word in text and message["tool_calls"][0]["function"]["name"] in text
        self.has_content, self.has_thought = writes(TEXT, content=TEXT), writes(THOUGHT, thought=THOUGHT)
        several = answer(random.Random(1), 3, PLAIN, self.as_text)
        text = self.rendered([several]) or ""
        self.most = 3 if text.count("get_weather") + text.count("search") + text.count("add-item") >= 3 else 1

    def rendered(self, messages, is_open=False):
        text = self.render.ask(template=self.source, context=conversation(messages, is_open), now=NOW).get("text", "")
        return text[text.rfind(USER) + len(USER):] if USER in text else None

    def answered(self, message):
        """What a model writes, and whether the prompt opened its reasoning."""
        text = self.rendered([message])
        if text is None:
            return "", False
        shared = next((i for i, (a, b) in enumerate(zip(text, self.open)) if a != b), min(len(text), len(self.open)))
        if shared < len(self.open):  # the prompt goes on otherwise: back to the end of a token
            shared = max(self.open.rfind(sign, 0, shared) + 1 for sign in ">\n]")
        if self.open.endswith(">>>"):  # the prompt begins a call
            shared -= 3
        opened, text = text[:shared], text[shared:].removesuffix(self.end)
        for end in ENDS:
            text = text.split(end)[0]
        for token in HIDDEN:
            text = text.replace(token, "")
        is_inside = any(opened.rstrip().endswith(open_) or self.open.rstrip().endswith(open_) and close in text
                        for open_, close in REASONING)
        return text, is_inside


def check(name, source, n, seed, render, read):
    """Format, how many answers came back, and the first that did not."""
    rng = random.Random(f"{seed} {name}")
    template = Template(source, render)
    if not template.writes_calls:
        return None, 0, 0, None, template
    found, good, bad, shown, words = None, 0, 0, None, PLAIN
    for i in range(n + 1):
        message = answer(rng, rng.randrange(1, template.most + 1), words, template.as_text,
                         TEXT if template.has_content and rng.random() < 0.3 else "",
                         THOUGHT if template.has_thought and rng.random() < 0.3 else "")
        text, is_inside = template.answered(message)
        seen = read.ask(template=source, text=text, piece=rng.randrange(1, 20), inside=is_inside,
                        tools=[tool["function"] for tool in TOOLS])
        found = seen["format"]
        if found is None:
            return None, 0, 0, None, template
        if i == 0:  # the format is known from here on
            words = WORDS_OF.get(found, WORDS)
            continue
        said = [message["content"], message.get("reasoning_content", "")]
        if template.is_harmony:  # what is said beside a call is written as analysis
            said.reverse()
        wanted = {"calls": calls_of(message), "text": said[0], "reasoning": said[1], "split": True}
        got = {"calls": seen_calls(seen), "text": seen["text"].strip(), "reasoning": seen["reasoning"].strip(), "split": seen["split"]}
        if got == wanted:
            good += 1
        else:
            bad += 1
            shown = shown or (wanted, text[-700:], got)
    return found, good, bad, shown, template


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
        found, good, bad, shown, template = check(name, source, args.n, args.seed, render, read)
        if found is None:
            print(f"{name:52} {'no format' if template.writes_calls else 'writes no calls'}", flush=True)
            continue
        what = ["one call", "calls"][template.most > 1] + " text" * template.has_content + " reasoning" * template.has_thought
        print(f"{name:52} {found:16} {good:5} came back, {bad} differ: {what}", flush=True)
        if shown:
            has_failed = True
            print(f"    wanted {shown[0]}\n    text   {shown[1]!r}\n    seen   {shown[2]}")
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
