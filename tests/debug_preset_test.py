#!/usr/bin/env python3
# labels: unit
"""The debug preset compiles the AVX-512 kernels. With -fsanitize=undefined g++ 12 refuses constant expressions that it accepts
without. This test compiles each *_avx512.cc with the preset's flags, but for AddressSanitizer and the optimizer, which do not
change what the front end accepts and take 100 s.

  debug_preset_test.py BUILD_DIRECTORY
"""
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def debug_flags():
    with open(os.path.join(ROOT, "CMakePresets.json"), encoding="utf-8") as file:
        presets = {preset["name"]: preset for preset in json.load(file)["configurePresets"]}
    values = presets["debug"]["cacheVariables"]
    return shlex.split(values["CMAKE_CXX_FLAGS_DEBUG"] + " " + values["CMAKE_CXX_FLAGS"])


def command_of(entry):
    """The entry's command without ccache, with the debug preset's flags, output to /dev/null."""
    words = shlex.split(entry["command"])
    start = next(i for i, word in enumerate(words) if re.search(r"(\+\+|clang|gcc)[-.0-9]*$", word))
    words = words[start:]
    at = words.index("-o")
    del words[at:at + 2]
    words = [word for word in words if word != "-DNDEBUG"]
    return words + debug_flags() + ["-O0", "-fno-sanitize=address", "-o", os.devnull]


def main():
    with open(os.path.join(sys.argv[1], "compile_commands.json"), encoding="utf-8") as file:
        entries = [entry for entry in json.load(file) if entry["file"].endswith("_avx512.cc")]
    if not entries:
        sys.exit("no file *_avx512.cc in compile_commands.json: does cmake/modules.cmake still add them?")
    for entry in entries:
        done = subprocess.run(command_of(entry), cwd=entry["directory"], stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{entry['file']} does not compile with the debug preset's flags:\n{done.stderr[:4000]}")
    print(f"{len(entries)} files compile with the debug preset's flags")


if __name__ == "__main__":
    main()
