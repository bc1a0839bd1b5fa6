#!/usr/bin/env python3
"""Holds the compiler to the loops that prompts spend their time in: the tiles of the panels
(src/kernels/cpu/panel_*). Disassembles the objects and, of each whole tile, counts the innermost
loop that multiplies. It fails if there is a shuffle, or a vector goes to the stack or comes from it,
between the first and the last multiply, or if instructions, shuffles or stack accesses are more
than the table says. Seconds are noisy; these counts are not. Of the kernels by rows, which answers
spend their time in, no loop may call a function: everything is inlined.

    kernel_loops_test.py TABLE OBJECT...          objects with other names are passed over
    kernel_loops_test.py --write TABLE OBJECT...  after a change that is meant
"""

import re
import subprocess
import sys

MULTIPLIES = ("vpmaddubsw", "vpdpbusd")
INT16_MULTIPLIES = ("vpmaddwd",)  # of Int16Panel; elsewhere it multiplies by scales
SHUFFLE = re.compile(r"vp?(shuf|perm|unpck|pack|align|insert|extract|blend)|vbroadcasti")
OBJECT = re.compile(r"(panel_\w+_avx2|matmul_\w*avx2|matmul_avx512)\.cc\.o$")
ROWS = re.compile(r"(SuperBlock|Nibble|Rows8|Float)Kernel<")
ROW_MULTIPLIES = MULTIPLIES + ("vpmaddwd", "vfmadd231ps")
# run_tile<Panel32<Q4_0>, 4> by AVX2, Panel512<Q4_0>::multiply<6> by AVX-512.
KERNEL = re.compile(r"(?:run_tile<)?(\w*Panel\w*<\w+>)(?:::multiply<|, )(4|6)>")
LEAST = 16  # multiplies that make a loop worth a row


def functions(path):
    """Name and instructions (address, mnemonic, operands) of each function of an object."""
    command = ["objdump", "-dC", "--no-show-raw-insn", path]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    name, body = None, []
    for line in text.splitlines():
        head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        if head:
            yield name, body
            name, body = re.sub(r"wick::|\(anonymous namespace\)::", "", head[1]), []
            continue
        row = re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)$", line)
        if row:
            body.append((int(row[1], 16), row[2], row[3]))
    yield name, body


def inner_loops(body):
    place = {address: i for i, (address, _, _) in enumerate(body)}
    loops = []
    for i, (_, mnemonic, operands) in enumerate(body):
        target = re.match(r"[0-9a-f]+", operands)
        if mnemonic.startswith("j") and target and place.get(int(target[0], 16), i + 1) <= i:
            loops.append((place[int(target[0], 16)], i + 1))
    for begin, end in loops:
        if not any((b, e) != (begin, end) and begin <= b and e <= end for b, e in loops):
            yield body[begin:end]


def on_stack(row):
    return "mm" in row[2] and ("(%rsp" in row[2] or "(%rbp" in row[2])


def measure(paths):
    """kernel → instructions, multiplies, shuffles, vectors on the stack; and what no kernel may have."""
    counts, faults = {}, []
    for path in paths:
        if not OBJECT.search(path):
            continue
        for name, body in functions(path):
            if ROWS.search(name or ""):
                for loop in inner_loops(body):
                    calls = sum(row[1] == "call" for row in loop)
                    if calls and any(row[1] in ROW_MULTIPLIES for row in loop):
                        faults.append(f"{name[:80]}: {calls} calls in a loop that multiplies")
            kernel = KERNEL.search(name or "")
            wanted = INT16_MULTIPLIES if kernel and kernel[1].startswith("Int16") else MULTIPLIES
            for loop in inner_loops(body) if kernel else []:
                at = [i for i, row in enumerate(loop) if row[1] in wanted]
                if len(at) < LEAST:
                    continue
                label = f"{kernel[1]}x{kernel[2]}"
                shuffles = sum(bool(SHUFFLE.match(row[1])) for row in loop)
                counts[label] = (len(loop), len(at), shuffles, sum(map(on_stack, loop)))
                for row in loop[at[0] : at[-1]]:
                    if SHUFFLE.match(row[1]):
                        faults.append(f"{label}: a shuffle between multiplies: {row[1]} {row[2]}")
                    if on_stack(row):
                        faults.append(f"{label}: a spill between multiplies: {row[1]} {row[2]}")
    return counts, faults


def read_table(path):
    with open(path) as table:
        rows = [line.split() for line in table if line.strip() and not line.startswith("#")]
    return {row[0]: tuple(map(int, row[1:])) for row in rows}


def write_table(path, counts):
    with open(path, "w") as table:
        print("# Counts of one turn of the loop, by tests/kernel_loops_test.py --write (g++ 12).", file=table)
        print(f"#{'kernel':27} instructions multiplies shuffles on_stack", file=table)
        for label, (length, multiplies, shuffles, stack) in sorted(counts.items()):
            print(f"{label:28} {length:12} {multiplies:10} {shuffles:8} {stack:8}", file=table)


def main():
    arguments = sys.argv[1:]
    is_writing = arguments[0] == "--write"
    table, *objects = arguments[1:] if is_writing else arguments
    counts, faults = measure(objects)
    if is_writing:
        write_table(table, counts)
    for label, wanted in read_table(table).items():
        seen = counts.get(label)
        if seen is None:
            faults.append(f"{label}: no loop found; its function has another name or shape")
            continue
        if seen[1] != wanted[1]:
            faults.append(f"{label}: {seen[1]} multiplies in the loop, wanted {wanted[1]}")
        for what, column in (("instructions", 0), ("shuffles", 2), ("on the stack", 3)):
            if seen[column] > wanted[column]:
                faults.append(f"{label}: {seen[column]} {what}, at most {wanted[column]} wanted")
    for label in counts.keys() - read_table(table).keys():
        faults.append(f"{label}: not in the table; add it with --write")
    print("\n".join(faults) or f"{len(counts)} loops as the table has them")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
