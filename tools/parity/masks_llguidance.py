#!/usr/bin/env python3
"""Allowed tokens of wick and llguidance at each place of valid documents, on one vocabulary: equal, or different in a way that has a name.

    PYTHON tools/parity/masks_llguidance.py --tokenizer FOLDER --set FILE [--set FILE]… [--bench build/release/bench_mask_replay]

PYTHON has llguidance 1.9.1, tokenizers and transformers; FILE is made by bench/schema_sets.js. Both write compact JSON with members in the
declared order. Schemas that one of them refuses, and documents that one of them rejects, are counted and left out. Special tokens are left out.
"""
import argparse, collections, json, pathlib, re, subprocess, sys, tempfile

import numpy, tokenizers, transformers
import llguidance, llguidance.hf, llguidance.numpy

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench"))
from masks_rivals import Order

END = 2**64 - 1
MOST_TOKENS = 500  # of a mask, which are named
NUMBER = re.compile(rb"(?:^|[\[:,])-?[0-9.eE+-]*$")


def loaded(paths, most_bytes):
    for path in paths:
        for line in pathlib.Path(path).read_text().splitlines():
            entry = json.loads(line)
            try:
                schema = json.loads(pathlib.Path(entry["file"]).read_text(encoding="utf-8-sig"))
            except ValueError:
                continue
            order = Order(schema)
            texts = [json.dumps(order.write(value, [schema]), ensure_ascii=False, separators=(",", ":")) for value in entry["texts"]]
            texts = [text for text in texts if len(text) <= most_bytes]
            if texts and isinstance(schema, dict):
                yield {"name": entry["name"], "file": entry["file"], "schema": schema, "texts": texts}


def place(text):
    """Where a JSON text's prefix ends: "name" or "text" within a string, else ""."""
    open_, is_string, is_name, is_escaped = [], False, False, False
    for c in text.decode(errors="replace"):
        if is_escaped:
            is_escaped = False
        elif is_string:
            is_escaped, is_string = c == "\\", c != '"'
        elif c == '"':
            is_string = True
        elif c in "{[":
            open_.append(c)
            is_name = c == "{"
        elif c in "]}" and open_:
            open_.pop()
        elif c in ",:":
            is_name = c == "," and open_[-1:] == ["{"]
    return ("name" if is_name else "text") if is_string else ""


def wants_undeclared(schema):
    """Whether an object of it requires a name that it does not declare."""
    if isinstance(schema, list):
        return any(map(wants_undeclared, schema))
    if not isinstance(schema, dict):
        return False
    required, declared = schema.get("required"), schema.get("properties", {})
    return isinstance(required, list) and not set(map(str, required)) <= set(declared) or any(map(wants_undeclared, schema.values()))


def is_beside_reference(schema):
    """Whether something stands beside a $ref of a draft before 2019-09, where it does not count."""
    def has(value):
        if isinstance(value, dict):
            return "$ref" in value and bool({"type", "properties", "required"} & set(value)) or any(map(has, value.values()))
        return isinstance(value, list) and any(map(has, value))

    return "/draft-0" in str(schema.get("$schema")) and has(schema)


def kind(before, token, is_wicks, forced, schema):
    """The name of a difference, or None. `before`: the document up to here; `token`: bytes that only one of them allows; `forced`: the one
    token that llguidance allows."""
    if is_wicks and forced and (forced.startswith(token) or token.startswith(forced)):
        return "another token of the text that llguidance forces"
    if not is_wicks and re.search(rb'"[^"]*\d\d:\d\d:$', before) and token.startswith(b"6"):
        return "a second 60 where no leap second can be"
    if not is_wicks and b"\xef\xbb\xbf" in token:
        return "U+FEFF, white space for ECMA-262's \\s"
    try:
        (before + token).decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return "no UTF-8"
    for end in range(len(token) + 1):
        where, byte = place(before + token[:end]), token[end:end + 1]
        if where and byte == b"\\" or (before + token[:end]).endswith(b"\\") and where:
            return f"an escape in a {where}"
        if where and byte == b"\x7f":
            return "DEL in a string"
        if not where and byte and byte in b"0123456789.-+eE" and (NUMBER.search(before + token[:end]) or before + token[:end] == b""):
            return "a number's spelling"
    if is_wicks and "name" in (place(before), place(before + token)) and wants_undeclared(schema):
        return "a name before a required one that is not declared"
    if is_wicks and is_beside_reference(schema):
        return "what stands beside a $ref, which drafts before 2019-09 ignore"
    return None


class Rival:
    def __init__(self, folder, eos):
        file = str(folder / "tokenizer.json")
        self.tokenizer = tokenizers.Tokenizer.from_file(file)
        self.its = llguidance.hf.from_tokenizer(transformers.PreTrainedTokenizerFast(tokenizer_file=file, eos_token=eos))
        self.room = llguidance.numpy.allocate_token_bitmask(1, self.its.vocab_size)
        special = set(self.tokenizer.get_added_tokens_decoder())
        self.is_plain = numpy.array([i not in special and i < self.tokenizer.get_vocab_size() for i in range(self.its.vocab_size)])

    def matcher(self, schema):
        options = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}
        grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps({**schema, "x-guidance": options}))
        matcher = llguidance.LLMatcher(self.its, grammar)
        return matcher, matcher.get_error() if matcher.is_error() else ""

    def allowed(self, matcher):
        llguidance.numpy.fill_next_token_bitmask(matcher, self.room, 0)
        bits = numpy.unpackbits(self.room.view(numpy.uint8).reshape(-1), bitorder="little")[:self.its.vocab_size]
        return bits.astype(bool) & self.is_plain


def compare(entry, rows, rival, matcher, found):
    """Walks the documents of one schema. `rows`: the masks of wick, and its next token."""
    start, before = matcher.deep_copy(), b""
    for row in rows:
        bits = numpy.unpackbits(row[:-1].view(numpy.uint8), bitorder="little")
        mine = numpy.zeros(rival.its.vocab_size, bool)
        n = min(len(bits), len(mine))
        mine[:n] = bits[:n]
        mine &= rival.is_plain
        its = rival.allowed(matcher)
        found["masks"] += 1
        difference = numpy.flatnonzero(mine != its)
        found["equal masks"] += not len(difference)
        found["tokens allowed by both"] += int((mine & its).sum())
        forced = bytes(rival.its.decode_bytes([int(its.argmax())])) if its.sum() == 1 else b""
        step = len(difference) // MOST_TOKENS + 1
        found["tokens that differ"] += len(difference)
        for token in difference[::step]:
            text = bytes(rival.its.decode_bytes([int(token)]))
            whose = "only wick: " if mine[token] else "only llguidance: "
            name = whose + (kind(before, text, bool(mine[token]), forced, entry["schema"]) or "else")
            found[name] += 1
            found.examples[name].setdefault(entry["name"], (before[-80:], text))
        if int(row[-1]) == END:
            matcher, before = start.deep_copy(), b""
            continue
        if not matcher.consume_token(int(row[-1])):
            found["documents that llguidance rejects"] += 1
            return
        before += bytes(rival.its.decode_bytes([int(row[-1])]))


class Found(collections.Counter):
    def __init__(self):
        super().__init__()
        self.examples = collections.defaultdict(dict)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokenizer", required=True, type=pathlib.Path)
    parser.add_argument("--eos", default="<|endoftext|>")
    parser.add_argument("--set", action="append", required=True)
    parser.add_argument("--bench", default="build/release/bench_mask_replay")
    parser.add_argument("--most-bytes", type=int, default=600, help="of a document")
    parser.add_argument("--schemas", type=int, default=10**6)
    options = parser.parse_args()
    rival, found = Rival(options.tokenizer, options.eos), Found()
    with tempfile.TemporaryDirectory() as folder:
        rows_file = pathlib.Path(folder) / "rows"
        wick = subprocess.Popen([options.bench, str(options.tokenizer), "--space", "none", "--allowed", str(rows_file)], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)
        for entry in list(loaded(options.set, options.most_bytes))[:options.schemas]:
            matcher, error = rival.matcher(entry["schema"])
            if error:
                found["schemas that llguidance refuses"] += 1
                continue
            for text in entry["texts"][:2]:
                print(json.dumps({"name": entry["name"], "file": entry["file"], "texts": [text]}), file=wick.stdin, flush=True)
                answer = json.loads(wick.stdout.readline())
                if "error" in answer:
                    found["schemas that wick refuses: " + answer["error"]] += 1
                    break
                if answer["texts"] != [-1]:
                    found["documents that wick rejects"] += 1
                    continue
                rows = numpy.fromfile(rows_file, numpy.uint64).reshape(-1, (rival.tokenizer.get_vocab_size() + 63) // 64 + 1)
                compare(entry, rows, rival, matcher.deep_copy(), found)
                found["documents"] += 1
        wick.stdin.close()
        wick.wait()
    for name, number in sorted(found.items()):
        print(f"{number:12,} {name}")
        for schema, (before, text) in list(found.examples[name].items())[:6]:
            print(f"               {schema[-50:]}: {before!r} {text!r}")


if __name__ == "__main__":
    main()
