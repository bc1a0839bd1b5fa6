"""The hot path, for tools/tidy.py: what runs for every token neither allocates, locks nor throws.

`// Hot:` in a header, behind its first declarations, marks the functions declared below it, up to the end of their class, the next access
specifier or `// Cold:`. In the comment that opens a file it marks the whole file, and for a header the .cc of its name, too. A function
that a marked one calls in its file or class is hot as well. A line that does not run there, or stays within what was reserved, says
`// cold: why`."""
import re

import cpp

MARK = re.compile(r"\s*// Hot:")
END = re.compile(r"\s*(?:public|private|protected):|\s*// Cold:|};|}  // namespace|}$")
BANNED = re.compile(r"\b(?:new|malloc|make_unique|make_shared|push_back|emplace_back|std::mutex|std::function|lock_guard|unique_lock|"
                    r"scoped_lock|to_string|cat|throw)\b|\bstd::string\(")
NAME = re.compile(r"\b(?!(?:alignas|decltype|noexcept|requires|static_assert)\b)(\w+)\s*\(")
CALL = re.compile(r"(?<![.>:\w])(\w+)\s*\(")


def is_whole(text):
    """Whether the comment that opens a file says so."""
    opening = re.match(r"(?://[^\n]*\n)*", text)[0]
    return any(MARK.match(line) for line in opening.splitlines())


def declarations(text):
    """(line, type, name, whether noexcept) of each function declared under `// Hot:`."""
    lines, blank = text.splitlines(), cpp.blank(text).splitlines()
    for first, line in enumerate(lines):
        if not MARK.match(line):
            continue
        last = next((i for i in range(first, len(lines)) if END.match(lines[i])), len(lines))
        kind = ""
        for before in reversed(lines[:first]):
            if found := re.match(r"(?:struct|class) (?:alignas\(\d+\) )?(\w+)[^;]*\{", before):
                kind = found[1]
            if found or before.startswith("};"):
                break
        depth, flat = 0, ""  # the region without what stands in braces
        for sign in "\n".join(blank[first:last]):
            depth -= sign == "}"
            flat += ";" if sign == "}" and depth == 0 else sign if depth == 0 or sign == "\n" else ""
            depth += sign == "{"
        at = first + 1
        for part in flat.split(";"):
            found = NAME.search(part)
            if found and found[1] != kind and "=" not in part[: found.start()] and not re.match(r"\s*(?:using|friend|static_assert)\b", part):
                yield at + part[: found.start()].count("\n"), kind, found[1], "noexcept" in part
            at += part.count("\n")


def check(module, files, fail):
    """`files` of one module: {name: (text, functions)}. Calls fail(where, what) for each violation."""
    marked, whole = set(), set()
    for name, (text, _) in files.items():
        if is_whole(text):
            whole |= {name, re.sub(r"\.h$", ".cc", name)}
            continue
        for line, kind, function, is_noexcept in declarations(text) if name.endswith(".h") else ():
            marked.add((kind, function))
            if not is_noexcept:
                fail(f"{name}:{line}", f"{function} is under '// Hot:' and not noexcept")
    every = [(name, function) for name, (_, functions) in files.items() for function in functions]
    hot = [(name, f) for name, f in every if (f.scope, f.name) in marked]
    seen = {id(f) for _, f in hot}
    for name, f in hot:
        called = set(CALL.findall(f.body))
        for other, callee in every:
            if id(callee) not in seen and callee.name in called and (other == name if not callee.scope else callee.scope == f.scope):
                seen.add(id(callee))
                hot.append((other, callee))
    places = {(name, f.body_line + i): line for name, f in hot for i, line in enumerate(f.body.splitlines())}
    for name in whole & files.keys():
        places |= {(name, i): line for i, line in enumerate(cpp.blank(files[name][0]).splitlines(), 1)}
    sources = {name: text.splitlines() for name, (text, _) in files.items()}
    for (name, number), line in sorted(places.items()):
        if (found := BANNED.search(line)) and "// cold:" not in sources[name][number - 1]:
            fail(f"{name}:{number}", f"'{found[0]}' on the hot path; mark '// cold: why' if it does not run there")
    return len(hot)
