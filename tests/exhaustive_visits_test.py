#!/usr/bin/env python3
# labels: unit
"""A layer holds one of several mechanisms (std::variant). A file that looks into one must stop compiling when a mechanism is
added (docs/model.md). This test adds one: it compiles each of those files against a header with another alternative, and
fails for each that the compiler accepts. Files that are not in the table may not look into these variants but by std::visit.

  exhaustive_visits_test.py BUILD_DIRECTORY
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Header, variant in it, and the files that visit it.
VARIANTS = [
    ("model/spec.h", "std::variant<GqaSpec, MlaSpec, DeltaSpec>",
     ["model/pass.cc", "model/decoder_load.cc", "model/memory_shape.cc", "model/arch/common.cc", "cli/model_info.cc"]),
    ("model/spec.h", "std::variant<DenseSpec, MoeSpec, DenseMoeSpec>",
     ["model/pass.cc", "model/decoder_load.cc", "model/arch/common.cc", "model/arch/described.cc"]),
    ("model/decoder_state.h", "std::variant<GqaMixer, MlaMixer, DeltaMixer>", ["model/decoder.cc", "model/decoder_load.cc"]),
    ("model/decoder_state.h", "std::variant<DenseFfn, MoeFfn, DenseMoeFfn>", ["model/decoder.cc"]),
]
UNSAFE = re.compile(r"(std::get|get_if|holds_alternative)<(const )?(GqaSpec|MlaSpec|DeltaSpec|DenseSpec|MoeSpec|DenseMoeSpec|GqaMixer|MlaMixer|DeltaMixer|DenseFfn|MoeFfn|DenseMoeFfn)>")


def compiles(entry, folder):
    """Whether the source of `entry` compiles with the headers in `folder` before ours."""
    words = shlex.split(entry["command"])
    start = next(i for i, word in enumerate(words) if re.search(r"(\+\+|clang|gcc)[-.0-9]*$", word))
    words = words[start:]  # without ccache
    at = words.index("-o")
    del words[at:at + 2]
    words[1:1] = ["-I" + folder, "-fsyntax-only", "-w"]
    return subprocess.run(words, cwd=entry["directory"], stderr=subprocess.DEVNULL).returncode == 0


def entry_of(entries, source):
    """The command that compiles `source`; of a file that is compiled with others, theirs with its name."""
    if source in entries:
        return entries[source]
    module = source.split("/")[1]
    united = next(entry for path, entry in entries.items() if f"/wick_{module}.dir/Unity/" in "/" + path)
    command = united["command"].replace(united["file"], os.path.join(ROOT, source))
    return {"directory": united["directory"], "command": command}


def accepted(entries):
    """(source, header, variant) that compile although the variant has an alternative they do not know."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "model"))
        for header, variant, sources in VARIANTS:
            with open(os.path.join(ROOT, "src", header)) as file:
                text = file.read()
            assert text.count(variant) == 1, f"src/{header} should name {variant} once"
            text = text.replace("namespace wick {", "namespace wick {\nstruct NewMechanism {};\n", 1)
            path = os.path.join(folder, header)
            for source in sources:
                entry = entry_of(entries, "src/" + source)
                with open(path, "w") as file:
                    file.write(text)
                assert compiles(entry, folder), f"src/{source} should compile while the variant is as it was"
                with open(path, "w") as file:
                    file.write(text.replace(variant, variant[:-1] + ", NewMechanism>"))
                if compiles(entry, folder):
                    yield source, header, variant
            os.remove(path)


def unsafe_lines():
    for folder, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, errors="replace") as file:
                for number, line in enumerate(file, 1):
                    if UNSAFE.search(line):
                        yield f"{os.path.relpath(path, ROOT)}:{number}: {line.strip()}"


def main():
    with open(os.path.join(sys.argv[1], "compile_commands.json")) as file:
        entries = {os.path.relpath(entry["file"], ROOT): entry for entry in json.load(file)}
    failures = [f"src/{source} compiles although {variant} of {header} has a new alternative"
                for source, header, variant in accepted(entries)]
    failures += [f"{line}: use std::visit" for line in unsafe_lines()]
    for failure in failures:
        print(failure)
    print(f"{sum(len(sources) for _, _, sources in VARIANTS)} visits, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
