#!/usr/bin/env python3
"""Writes README.md's table of architectures, from the registry and the results of tools/parity/models.py.

  tools/models_table.py            writes it          tools/models_table.py --check     says whether it is current

A row: an architecture's name (src/model/arch/registry.cc), the models that the first line of its file names, how many tiny
random configurations were compared with transformers (tests/data/model/parity.json), and the largest difference of logits.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- tools/models_table.py -->", "<!-- end -->"
# Families whose GGUF has another name.
ARCHITECTURE_OF = {"mistral": "llama", "mixtral": "llama", "olmo3": "olmo2", "qwen3-embedding": "qwen3"}


def registered():
    """{name in GGUF: the models that its file names}, in the registry's order."""
    rows = {}
    registry = (ROOT / "src/model/arch/registry.cc").read_text()
    for function in re.findall(r"(\w+)_arch\(\)", registry[:registry.index("return rows")]):
        text = (ROOT / f"src/model/arch/{function}.cc").read_text()
        comment = " ".join(re.findall(r"^// (.*)$", text[:text.index("#include")], re.M))
        rows[re.search(r'\.gguf_name = "([^"]+)"', text)[1]] = re.split(r"[:.] ", comment + " ")[0]
    return rows


def cell(numbers):
    return f"{len(numbers)}, {max(numbers):.0e}".replace("e-0", "e-") if numbers else "none"


def table():
    results = json.loads((ROOT / "tests/data/model/parity.json").read_text())
    of = {}
    for family, variants in results.items():
        for name, row in variants.items():
            for source, value in row.items():
                if isinstance(value, float):
                    of.setdefault(ARCHITECTURE_OF.get(family, family), {}).setdefault(source.split()[0], []).append(value)
    lines = ["| architecture | models | safetensors | GGUF |", "|---|---|---|---|"]
    for name, models in registered().items():
        if name in of:
            lines.append(f"| `{name}` | {models} | {cell(of[name].get('safetensors'))} | {cell(of[name].get('gguf'))} |")
    return "\n".join(lines)


def main():
    path = ROOT / "README.md"
    text = path.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN) + 1, text.index(END)
    want = text[:begin] + table() + "\n" + text[end:]
    if "--check" in sys.argv:
        if text != want:
            print("README.md's table of architectures is not current: run tools/models_table.py")
        return text != want
    path.write_text(want)
    return 0


if __name__ == "__main__":
    sys.exit(main())
