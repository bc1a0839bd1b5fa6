#!/usr/bin/env python3
"""Token masks of wick, llguidance and xgrammar: the same schemas and documents, one thread, one run.

    PYTHON bench/masks_rivals.py --tokenizer FOLDER --set FILE [--set FILE]… [--registry DIR] [--rivals llguidance,xgrammar]

PYTHON has the packages llguidance, xgrammar, tokenizers and transformers. FILE has a JSON object a line: {"name", "file": a
schema, "texts": [its documents, as values]}; bench/schema_sets.js makes it from npm packages. Each document is written with
its members in the declared order, a blank behind commas and colons, and goes through the masks token by token. A document
ends at the first token that an engine rejects; the report counts them.

Times of the rivals are those of their Python calls, which copy into a bit mask: about 1 µs of a call is Python's.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time


def quantiles(values):
    values = sorted(values)
    at = lambda q: values[min(len(values) - 1, int(q * len(values)))]
    return {"n": len(values), "avg": sum(values) / len(values), "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "p99.9": at(0.999),
            "max": values[-1]}


def shown(what, values, unit):
    if values:
        cells = [f"{k} {v:,.1f}" if isinstance(v, float) else f"{k} {v:,}" for k, v in quantiles([float(v) for v in values]).items()]
        print(f"  {what:9} {unit:3} " + "  ".join(cells))


class Order:
    """Writes members in the order in which their schemas declare them."""

    def __init__(self, schema):
        self.root = schema

    def nodes(self, value, schemas):
        """The schemas of a value with those that they refer to and consist of, in the order of the text."""
        out, seen, todo = [], set(), list(reversed(schemas))
        while todo:
            schema = todo.pop()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            out.append(schema)
            parts = []
            for key, its in schema.items():
                if key == "$ref" and isinstance(its, str) and its.startswith("#"):
                    parts.append(self.target(its))
                elif key == "allOf" and isinstance(its, list):
                    parts += its
                elif key in ("anyOf", "oneOf") and isinstance(its, list):
                    parts += [choice for choice in its if self.may_fit(value, choice)]
                elif key in ("if", "then", "else"):
                    parts.append(its)
            todo += reversed(parts)
        return out

    def may_fit(self, value, schema, depth=4):
        """False where a choice is plainly not that of the value, whose order is then not the value's."""
        if not isinstance(schema, dict) or depth == 0:
            return True
        if isinstance(schema.get("$ref"), str) and schema["$ref"].startswith("#"):
            return self.may_fit(value, self.target(schema["$ref"]), depth - 1)
        if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
            return False
        if not isinstance(value, dict):
            return True
        members = schema.get("properties") or {}
        if schema.get("additionalProperties") is False and not schema.get("patternProperties") and set(value) - set(members):
            return False
        return set(schema.get("required") or []) <= set(value) and all(
            self.may_fit(value[name], its, depth - 1) for name, its in members.items() if name in value)

    def target(self, reference):
        at = self.root
        for part in reference[1:].split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            at = at.get(part) if isinstance(at, dict) else None
        return at

    def write(self, value, schemas):
        nodes = self.nodes(value, schemas)
        if isinstance(value, list):
            def of(i):
                out = []
                for node in nodes:
                    items = node.get("items")
                    out += [items[i]] if isinstance(items, list) and i < len(items) else [items]
                return out
            return [self.write(item, of(i)) for i, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        declared = {}
        for node in nodes:
            for name, its in (node.get("properties") or {}).items():
                declared.setdefault(name, []).append(its)
        others = [node.get("additionalProperties") for node in nodes]
        others += [its for node in nodes for its in (node.get("patternProperties") or {}).values()]
        names = [name for name in declared if name in value] + [name for name in value if name not in declared]
        return {name: self.write(value[name], declared.get(name, others)) for name in names}


def load(paths):
    for path in paths:
        for line in pathlib.Path(path).read_text().splitlines():
            entry = json.loads(line)
            text = pathlib.Path(entry["file"]).read_text(encoding="utf-8-sig")
            try:
                order = Order(json.loads(text))
            except ValueError:
                yield {**entry, "schema": text, "texts": []}
                continue
            texts = [json.dumps(order.write(value, [order.root]), ensure_ascii=False) for value in entry["texts"]]
            yield {"name": entry["name"], "file": entry["file"], "schema": text, "texts": texts}


def wick(entries, options):
    lines = "".join(json.dumps({k: e[k] for k in ("name", "file", "texts")}) + "\n" for e in entries)
    command = [options.bench, options.tokenizer, "--order", options.order, "--space", options.space, "--registry", options.registry]
    run = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def replayed(entry, tokenizer, start, mask, accept):
    """Times of the masks in ns, and for each text whether all of it was accepted."""
    times, ends = [], []
    for text in entry["texts"]:
        matcher = start()
        end = -1
        for i, token in enumerate([*tokenizer.encode(text, add_special_tokens=False).ids, None]):
            began = time.perf_counter_ns()
            mask(matcher)
            times.append(time.perf_counter_ns() - began)
            if token is not None and not accept(matcher, token):
                end = i
                break
        ends.append(end)
    return times, ends


def rival(entries, options, name):
    import tokenizers
    folder = pathlib.Path(options.tokenizer)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    size = tokenizer.get_vocab_size(with_added_tokens=True)
    if name == "llguidance":
        import llguidance
        import llguidance.numpy as masks
        import llguidance.hf
        import transformers
        its = llguidance.hf.from_tokenizer(transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"),
                                                                                eos_token=options.eos))
        room = masks.allocate_token_bitmask(1, its.vocab_size)

        def compiled(schema):
            # Lenient: what it does not support, such as the format uri-template of all webhooks, is left out.
            loose = json.dumps({"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": ", "coerce_one_of": True,
                                "lenient": True})
            value = json.loads(schema)
            if isinstance(value, dict):
                value["x-guidance"] = json.loads(loose)
            grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(value))
            matcher = llguidance.LLMatcher(its, grammar)
            if matcher.is_error():
                raise ValueError(matcher.get_error())
            return lambda: matcher.deep_copy()

        def mask(matcher):
            masks.fill_next_token_bitmask(matcher, room, 0)

        def accept(matcher, token):
            return matcher.consume_token(token)
    else:
        import xgrammar
        import transformers
        info = xgrammar.TokenizerInfo.from_huggingface(
            transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), eos_token=options.eos), vocab_size=size)
        compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        room = xgrammar.allocate_token_bitmask(1, size)

        def compiled(schema):
            grammar = compiler.compile_json_schema(schema, any_whitespace=False, strict_mode=False)
            return lambda: xgrammar.GrammarMatcher(grammar)

        def mask(matcher):
            matcher.fill_next_token_bitmask(room)

        def accept(matcher, token):
            return matcher.accept_token(token)
    for entry in entries:
        out = {"name": entry["name"]}
        try:
            began = time.perf_counter_ns()
            start = compiled(entry["schema"])
            out["compile_us"] = (time.perf_counter_ns() - began) / 1000
            out["masks_ns"], out["texts"] = replayed(entry, tokenizer, start, mask, accept)
        except Exception as error:  # each engine has its own
            out["error"] = type(error).__name__
            out["message"] = str(error)[:200]
        print(json.dumps(out), flush=True)


def rival_apart(entries, options, name):
    """In a process of its own, which may be killed: some schemas take minutes to compile."""
    results, left = [], list(entries)
    while left:
        command = [sys.executable, __file__, "--tokenizer", options.tokenizer, "--eos", options.eos, "--run", name]
        run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        import threading
        feed = threading.Thread(target=lambda: (run.stdin.write("".join(json.dumps(e) + "\n" for e in left)), run.stdin.close()))
        feed.daemon = True
        feed.start()
        last = [time.monotonic() + 30]
        watch = threading.Thread(target=lambda: watchdog(run, last, options.timeout))
        watch.daemon = True
        watch.start()
        for line in run.stdout:
            results.append(json.loads(line))
            left.pop(0)
            last[0] = time.monotonic()
        run.wait()
        if left:
            results.append({"name": left.pop(0)["name"], "error": "timeout or crash", "message": str(run.returncode)})
    return results


def watchdog(run, last, timeout):
    while run.poll() is None:
        if time.monotonic() - last[0] > timeout:
            run.kill()
        time.sleep(0.2)


def report_figures(good):
    shown("compile", [r["compile_us"] for r in good], "µs")
    shown("again", [us for r in good for us in r.get("compile_again_us", [])], "µs")
    shown("mask", [ns / 1000 for r in good for ns in r["masks_ns"]], "µs")
    shown("compiled", [r["compiled_bytes"] / 1e6 for r in good if "compiled_bytes" in r], "MB")
    shown("memory", [r["bytes"] / 1e6 for r in good if "bytes" in r], "MB")


def report(name, results):
    refused = [r for r in results if "error" in r]
    good = [r for r in results if "error" not in r]
    texts = [end for r in good for end in r["texts"]]
    print(f"{name}: {len(good)} of {len(results)} schemas compile; {texts.count(-1)} of {len(texts)} documents accepted")
    report_figures(good)
    kinds = {}
    for r in refused:
        kinds.setdefault(r["error"], []).append(r)
    for kind, its in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"  refused: {len(its):4} {kind}, e.g. {its[0]['name']}: {its[0].get('message', '')[:110]}")


def report_common(answers):
    """The figures of the schemas that all engines compile."""
    by_name = {engine: {r["name"]: r for r in results if "masks_ns" in r} for engine, results in answers.items()}
    names = set.intersection(*(set(results) for results in by_name.values()))
    print(f"the {len(names)} schemas that all compile")
    for engine, results in by_name.items():
        good = [results[name] for name in sorted(names)]
        print(f"{engine}:")
        report_figures(good)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--eos", default="<|endoftext|>")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--bench", default="build/release/bench_mask_replay")
    parser.add_argument("--order", default="declared")
    parser.add_argument("--space", default="one")
    parser.add_argument("--registry", default="")
    parser.add_argument("--rivals", default="llguidance,xgrammar")
    parser.add_argument("--timeout", type=float, default=20)
    parser.add_argument("--out", help="all answers as JSON")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        rival([json.loads(line) for line in sys.stdin], options, options.run)
        return
    entries = list(load(options.set))
    answers = {"wick": wick(entries, options)}
    report("wick", answers["wick"])
    for name in filter(None, options.rivals.split(",")):
        answers[name] = rival_apart(entries, options, name)
        report(name, answers[name])
    if len(answers) > 1:
        report_common(answers)
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(answers))


if __name__ == "__main__":
    main()
