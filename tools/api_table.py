#!/usr/bin/env python3
"""What the library's three APIs have in common: C++ (include/wick/*.h), C (wick/wick.h), Python (python/wick).

  tools/api_table.py [ROOT]            says what C++ has and C or Python lacks; exceptions stand below, each with its reason
  tools/api_table.py table [ROOT]      prints the tables of docs/library.md
"""
import ast
import pathlib
import re
import sys

# C++ struct or class: what holds its fields or functions in C (a struct, or the prefix of functions) and in Python.
STRUCTS = {
    "ModelOptions": ("wick_model_options", "ModelOptions"), "Generation": ("wick_generation", "Settings"),
    "EmbedOptions": ("wick_embed_options", "EmbedOptions"), "PoolOptions": ("wick_pool_options", "PoolOptions"),
    "ResponseFormat": ("wick_generation", "Settings"), "ModelInfo": ("wick_model_info", "ModelInfo"),
    "ModelMemory": ("wick_model_info", "ModelInfo"), "RequestEstimate": ("wick_estimate", "RequestEstimate"),
    **dict.fromkeys(("Usage", "CacheMiss", "Completion"), ("wick_completion", "Completion")),
    "TokenLogprob": ("wick_token_logprob", "TokenLogprob"), "Error": ("wick_error", "Error"), "TokenBias": ("wick_token_bias", ""),
    "TextConstraint": ("wick_text_constraint", "TextConstraint"),
    "EffectiveParameter": ("wick_effective", ""), "OpenProgress": ("wick_progress", ""), "ToolCall": ("wick_tool_call", ""),
}
CLASSES = {"Model": ("model", "Model"), "Session": ("session", "Session"), "Stream": ("stream", "Stream"),
           "StreamSet": ("stream_set", "_Wakes"), "ModelPool": ("pool", "ModelPool")}
JSON = ("messages_from_json", "messages_to_json", "tools_from_json", "variables_from_json")
SAMPLER = tuple(f"Generation.{name}" for name in ("temperature", "top_k", "top_p", "min_p", "repeat_penalty", "more"))
# What is called otherwise: in C, in Python. None: as in C++.
NAMES = {
    **dict.fromkeys(SAMPLER, ("parameters", None)),
    "Generation.stop": (None, "stop"), "Generation.wake": ("stream_set", None),
    "ResponseFormat.type": ("response_format", "response_format"), "ResponseFormat.schema": ("response_schema", "response_schema"),
    "CacheMiss.reason": ("miss", "miss"), **{f"CacheMiss.{name}": (f"miss_{name}",) * 2 for name in ("position", "wanted", "cached")},
    **{f"ModelMemory.draft_{name}_bytes": ("draft_bytes",) * 2 for name in ("weight", "cache", "scratch")},
    "Model.open": (None, "__init__"), "Model.stream": ("wick_complete_stream", None), "Model.estimate": ("wick_complete_estimate", None),
    "Model.session": ("wick_session_new", None), "Model.load_session": ("wick_session_load", None), "Stream.next": (None, "__next__"),
    "Stream.poll": (None, "_poll"), "Stream.poll_event": (None, "_poll_event"), "Stream.is_over": (None, "_is_over"),
    "Stream.begin": ("wick_stream_next", "__iter__"), "StreamSet.create": ("wick_stream_set_new", "__init__"),
    "ModelPool.list": ("wick_pool_describe", None), "version": (None, "__version__"),
}
# What one API lacks, and why.
EXCEPTIONS = {
    "C": {
        "Completion.usage": "its fields are fields of the completion", "ModelInfo.memory": "its fields are fields of the model info",
        "Stream.end": "wick_stream_next() gives NULL", "Stream.text": "wick_completion::text, and wick_error::partial_text",
        "StreamSet.add": "wick_generation::stream_set and stream_key", "name": "enums", "to_string": "wick_error::cause",
        **dict.fromkeys(JSON, "requests take and give JSON itself"), "to_token_mask": "wick_generation::text_constraint",
    },
    "Python": {
        "Completion.usage": "its fields are fields of the completion", "ModelInfo.memory": "its fields are fields of the model info",
        "Generation.more": "one keyword per sampling setting", "Generation.wake": "`stream_async()`",
        "PoolOptions.model": "the fields of `ModelOptions`, as keywords of the pool",
        "TokenBias": "logit_bias is a dict, of ids or texts", "EffectiveParameter": "parameters is a dict of (value, origin)",
        "OpenProgress": "the callback's arguments", "ToolCall": "tool_calls is a list of dicts",
        "Stream.end": "StopIteration", "name": "words", "to_string": "str() of the exception",
        **dict.fromkeys(JSON, "messages and tools are dicts"), "to_token_mask": "Settings.token_mask takes a TextConstraint",
        "TextConstraint": "its fields are arguments",
    },
}
# Structs with no counterpart of their own in C and Python.
OTHERS = {
    "TokenPlace": "wick_token_place; in Python the callback's arguments",
    "Embedding": "an array of floats; tokenize() counts the tokens",
    **dict.fromkeys(("TextPart", "ReasoningPart", "ImagePart", "ToolResult", "Content", "Message", "Tool"), "JSON; in Python dicts"),
    **dict.fromkeys(("TextEvent", "ReasoningEvent", "ToolCallEvent", "ArgumentsEvent", "LogprobsEvent", "UsageEvent", "DoneEvent"),
                    "wick_event; in Python a tuple"),
}
# Lists of wick/fields.h: the structs of the tables in the docs.
LISTS = {"MODEL": "ModelOptions", "GENERATION": "Generation", "EMBED": "EmbedOptions", "POOL": "PoolOptions", "INFO": "ModelInfo",
         "MEMORY": "ModelMemory", "USAGE": "Usage", "ESTIMATE": "RequestEstimate"}
# What hands them over.
CODE = {"C": ("src/library/c_convert.cc", "src/library/c_constraint.cc"), "Python": ("python/convert.h", "python/callables.h", "python/module.cc", "python/records.h", "python/errors.h")}
# Keys of docs/config.md that are called otherwise than the field, and flags that are no switches.
SWITCHES = {"cache_limit_bytes": "kv_limit", "cache_type": "kv_type", "stop_token_ids": "stop_id",
            "dry_sequence_breakers": "dry_sequence_breaker"}
FLAGS = {"logprobs": "--logprobs", "top_logprobs": "--logprobs", "prompt_logprobs": "--prompt-logprobs", "thinking": "--think --no-think",
         "template_variables": "--set", "tools": "--tools", "tool_choice": "--tool-choice",
         "response_format": "--schema --grammar --regex --choice", "max_concurrent": "--parallel", "may_download": "--offline",
         "pooling": "--pooling", "normalize": "--no-normalize", "query": "--query", "budget_bytes": "--memory-limit"}


def plain(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/|^#.*?[^\\]$", " ", text, flags=re.S | re.M)


def without_blocks(text):
    """The declarations of a struct or class: function bodies and inner classes are left out, `= {}` stays."""
    text = text.replace("{}", "\0")
    while (shorter := re.sub(r"\{[^{}]*\}", ";", text)) != text:
        text = shorter
    return [" ".join(part.split()).replace("\0", "{}") for part in text.split(";")]


class ApiTable:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.fields, self.functions, self.c_fields = {}, set(), {}
        for header in sorted((self.root / "include/wick").glob("*.h")):
            if header.name not in ("wick.h", "fields.h"):
                self.read_cpp(plain(header.read_text()))
        c = plain((self.root / "include/wick/wick.h").read_text())
        self.c_functions = set(re.findall(r"WICK_API [^;(]*?(\w+)\(", c))
        for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", c, re.S):
            body = re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", body)  # function pointers
            self.c_fields[name] = {re.search(r"\w+$", one)[0] for line in body.split(";") for one in line.strip().split(",") if one.strip()}
        self.python = {"": set()}
        for name in ("_wick.pyi", "_error.py"):
            for node in ast.parse((self.root / "python/wick" / name).read_text()).body:
                if isinstance(node, ast.ClassDef):
                    self.python[node.name] = {name for item in node.body if (name := self.name_of(item))}
                elif name := self.name_of(node):
                    self.python[""].add(name)
        lists = (self.root / "include/wick/fields.h").read_text()
        self.code = {api: set(re.findall(r"\w+", lists + "".join((self.root / name).read_text() for name in names)))
                     for api, names in CODE.items()}
        self.lists = {name: re.findall(r"FIELD\((\w+)\)", body)
                      for name, body in re.findall(r"#define WICK_(\w+)_FIELDS\(FIELD\)((?:.*\\\n)*.*)", lists)}

    @staticmethod
    def name_of(node):
        return node.name if isinstance(node, ast.FunctionDef) else node.target.id if isinstance(node, ast.AnnAssign) else None

    def read_cpp(self, text):
        for name, body in re.findall(r"^struct (?:WICK_API )?(\w+)[^;{]*\{(.*?)^\};", text, re.S | re.M):
            for line in without_blocks(body):
                if found := re.match(r"([\w:]+(?:<.*>)?) (\w+(?: = .*)?)$", line):
                    for one in re.split(r", (?=\w+ = )", found[2]):
                        field, _, default = one.partition(" = ")
                        self.fields[f"{name}.{field}"] = (found[1], default)
        for name, body in re.findall(r"^class WICK_API (\w+)[^;{]*\{(.*?)^ private:", text, re.S | re.M):
            names = (re.search(r"(~?\w+)\(", line) for line in without_blocks(body) if "operator" not in line)
            self.functions |= {f"{name}.{found[1]}" for found in names if found and found[1].strip("~") != name}
        self.functions |= set(re.findall(r"^WICK_API [^;(]*?(\w+)\(", text, re.M))

    def names(self, item):
        """What it is called in C and Python."""
        own = item.rpartition(".")[2]
        c, python = NAMES.get(item, (None, None))
        if item in self.functions and c is None:
            prefix = CLASSES[item.partition(".")[0]][0] if "." in item else ""
            c = next((n for n in (f"wick_{prefix}_{own}", f"wick_{own}") if n in self.c_functions), f"wick_{prefix}_{own}")
        return c or own, python or own

    def has(self, api, item):
        of, dot, _ = item.rpartition(".")
        c, python = self.names(item)
        if api == "Python":
            return python in self.python.get((STRUCTS | CLASSES)[of][1], ()) if dot else python in self.python[""]
        return c in self.c_functions if item in self.functions else c in self.c_fields[STRUCTS[of][0]]

    def missing(self):
        """One line for each thing that an API lacks, and each exception that is none."""
        known = STRUCTS | CLASSES | OTHERS
        items = [*self.fields, *sorted(self.functions)]
        for of in sorted({item.partition(".")[0] for item in items if "." in item} - set(known)):
            yield f"{of} is in no list of tools/api_table.py"
        for name, fields in self.lists.items():
            if name not in LISTS:
                yield f"WICK_{name}_FIELDS is in no list of tools/api_table.py"
                continue
            yield from (f"WICK_{name}_FIELDS: {LISTS[name]} has no {f}" for f in fields if f"{LISTS[name]}.{f}" not in self.fields)
        for api, exceptions in EXCEPTIONS.items():
            for item in items:
                of = item.partition(".")[0]
                if of in OTHERS or "." in item and of not in known:
                    continue
                is_there, is_exception = self.has(api, item), item in exceptions or "." in item and of in exceptions
                if not is_there and not is_exception:
                    yield f"{api} lacks {item}: give it one, or tools/api_table.py a reason"
                words = {item.rpartition(".")[2], *self.names(item)}
                if is_there and item in self.fields and item not in SAMPLER and not self.code[api] & words:
                    yield f"{api} has {item}, which {CODE[api][0]} does not hand over"
                if is_there and is_exception:
                    yield f"{api} has {item}, which tools/api_table.py calls an exception"
            for item in set(exceptions) - set(items) - set(known):
                yield f"C++ lacks {item}, an exception of {api}"

    def switch(self, field):
        """The default and the flags of docs/config.md."""
        rows = re.findall(r"^\| `\w+\.(\w+)` \| (.*?) \|[^|]*\| (.*?) \|", (self.root / "docs/config.md").read_text(), re.M)
        # Of two sections with the same key the first is meant: [local] before [ask].
        found = {key: (default.strip("`"), flags.strip("`")) for key, default, flags in reversed(rows)}
        return found.get(SWITCHES.get(field, field), ("", FLAGS.get(field, "")))

    def table(self):
        rows = []
        for of in LISTS.values():
            is_input = of.endswith("Options") or of == "Generation"
            c, python = STRUCTS[of]
            rows.append(f"\n### {of}\n`{c}` in C, `{python}` in Python.\n\n| field | type | default | C | Python |"
                        + (" flag |\n|---|---|---|---|---|---|" if is_input else "\n|---|---|---|---|---|"))
            for item, (kind, default) in self.fields.items():
                if item.partition(".")[0] != of:
                    continue
                names = [f"`{name}`" if self.has(api, item) else EXCEPTIONS[api].get(item, EXCEPTIONS[api].get(of, ""))
                         for api, name in zip(EXCEPTIONS, self.names(item))]
                field = item.partition(".")[2]
                usual, flag = self.switch(field) if is_input else ("", "")
                default = default if default != "{}" else usual
                cells = [f"`{cell}`" if cell else "" for cell in (field, kind, default)] + names + [f"`{flag}`" if flag else ""] * is_input
                rows.append(f"| {' | '.join(cells)} |")
        return "\n".join(rows) + "\n"


if __name__ == "__main__":
    words = sys.argv[1:]
    is_table = words[:1] == ["table"]
    table = ApiTable(*words[is_table:] or ["."])
    said = [table.table()] if is_table else [*table.missing()]
    print("\n".join(said) or "the APIs agree", end="" if is_table else "\n")
    sys.exit(bool(said) and not is_table)
