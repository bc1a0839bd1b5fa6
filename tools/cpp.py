"""Reads C++ just far enough for tools/tidy.py: where functions begin and end, how they are called, and what they take.

No parser: text without comments and literals is cut at braces, and a brace is a function's if everything around it is a namespace, a
type or `extern "C"`, and what stands before it has a parameter list. Code in macros is not seen."""
import bisect
import dataclasses
import re

LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|\[\[|\]\]|[^\s\w]|\d[\w.']*")
TYPE_WORDS = {"struct", "class", "union", "enum"}


@dataclasses.dataclass
class Function:
    name: str  # the last part: `pull` of Stream::pull
    scope: str  # what stands before it, or the type around it: `Stream`, or nothing
    first: int  # the line on which its declaration begins, its body ends on `last`
    last: int
    parameters: list  # the tokens of each
    body: str  # without comments and literals, its newlines kept
    body_line: int  # of the brace that opens it
    head: str


def blank(text):
    """Comments, literals and preprocessor lines become blanks, so that places and lines stay."""
    def white(found):
        return re.sub(r"[^\n]", " ", found[0]) if found[0][0] in "/#" or found[0].lstrip().startswith("#") else '"' + re.sub(
            r"[^\n]", " ", found[0][1:-1]) + '"'
    return DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), LITERAL.sub(white, text))


def split_list(tokens):
    """The parts of a parameter list, cut at its own commas; angle brackets count as brackets."""
    parts, depth = [[]], 0
    for token in tokens:
        depth += (token in "([{<") - (token in ")]}>") if len(token) == 1 else 0
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part and part != ["void"]]


def parameter_list(head):
    """The places of the parentheses of a declaration's parameters in its tokens, or nothing: the first pair on the outermost level that
    follows a name, besides those of alignas, decltype, noexcept, requires and attributes."""
    depth, i = 0, 0
    while i < len(head):
        token = head[i]
        if token == "operator" and depth == 0:  # operator() and the like: its signs are part of the name
            i += 1
            if head[i : i + 2] == ["(", ")"]:
                i += 2
            else:
                while i < len(head) and head[i] != "(":
                    i += 1
            return (i, matching(head, i)) if i < len(head) else None
        if token == "(" and depth == 0 and i and re.match(r"[A-Za-z_]", head[i - 1]):
            if head[i - 1] in {"alignas", "decltype", "noexcept", "requires", "__attribute__", "explicit"}:
                i = matching(head, i) + 1
                continue
            return i, matching(head, i)
        if token == "=" and depth == 0:
            return None
        if token == "<" and i and (head[i - 1] == "template" or re.match(r"[A-Za-z_]", head[i - 1])):
            close = matching_angle(head, i)
            i = close + 1 if close else i + 1
            continue
        depth += (token in "([{") - (token in ")]}") if len(token) == 1 else 0
        i += 1
    return None


def matching(tokens, at):
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i] == "(") - (tokens[i] == ")")
        if depth == 0:
            return i
    return len(tokens) - 1


def matching_angle(tokens, at):
    depth, i = 0, at
    while i < len(tokens):
        if tokens[i] == "(":
            i = matching(tokens, i)
        depth += (tokens[i] == "<") - (tokens[i] == ">")
        if depth == 0:
            return i
        i += 1
    return None


def first_type_word(words):
    i = 0
    while i < len(words):
        if words[i] == "<":
            i = matching_angle(words, i) or i
        elif words[i] in TYPE_WORDS:
            return i
        i += 1
    return None


def type_name(words):
    """`Ready` of `[[nodiscard]] alignas(64) Wake::Ready final : Base<int>`."""
    text = re.sub(r"\[\[.*?\]\]|alignas \( .*? \)|\b[A-Z]+_[A-Z]+\b", "", " ".join(words))
    found = re.match(r"\s*(?:\w+ (?:< [^{]*? > )?:: )*(\w+)", text)
    return found[1] if found else ""


def is_member_initializer(head, close):
    """Whether the brace behind `head` belongs to a member of a constructor's list: `Foo(int a) : a_{`."""
    after = head[close + 1 :]
    return ":" in after and re.match(r"[A-Za-z_>]", head[-1]) is not None and "->" not in after[: after.index(":")]


def functions(text):
    """Every function that `text` defines, also those of types inside it; lambdas belong to the function around them."""
    text = blank(text)
    tokens = [(m[0], m.start()) for m in TOKEN.finditer(text)]
    line_of = [0]
    for m in re.finditer("\n", text):
        line_of.append(m.end())

    def line(place):
        return bisect.bisect_right(line_of, place)

    found, around, head, i = [], [], [], 0

    def skip(at):  # the place of the brace that closes tokens[at]
        depth = 0
        for j in range(at, len(tokens)):
            depth += (tokens[j][0] == "{") - (tokens[j][0] == "}")
            if depth == 0:
                return j
        return len(tokens) - 1

    while i < len(tokens):
        token, place = tokens[i]
        if token == "(":  # a parameter list or an initializer: what it holds is no declaration
            depth = 0
            while i < len(tokens):
                depth += (tokens[i][0] == "(") - (tokens[i][0] == ")")
                head.append(tokens[i])
                i += 1
                if depth == 0:
                    break
            continue
        if token == ";" or (token == ":" and len(head) == 1 and head[0][0] in {"public", "private", "protected"}):
            head = []
        elif token == "}":
            if around:
                around.pop()
            head = []
        elif token == "{":
            words = [t for t, _ in head]
            where = parameter_list(words)
            if words[:1] == ["namespace"] or words[:2] == ["inline", "namespace"] or words[:1] == ["extern"] and len(words) == 3:
                around.append(None)
                head = []
            elif where and is_member_initializer(words, where[1]):
                close = skip(i)
                head.append(("}", tokens[close][1]))
                i = close
            elif where:
                close = skip(i)
                opens, shuts = where
                name = words[opens - 1]
                named = opens - 2 if words[opens - 2] == "~" else opens - 1
                scope = words[named - 2] if named >= 2 and words[named - 1] == "::" else (around[-1] if around else None)
                if "operator" in words[:opens]:
                    name, scope = "operator", around[-1] if around else None
                found.append(Function(name, scope or "", line(head[0][1]), line(tokens[close][1]), split_list(words[opens + 1 : shuts]),
                                      text[place : tokens[close][1] + 1], line(place), " ".join(words)))
                i, head = close, []
            elif "=" not in words and (kind := first_type_word(words)) is not None:
                if words[kind] == "enum":
                    i = skip(i)
                else:
                    around.append(type_name(words[kind + 1 :]))
                head = []
            else:  # an initializer
                close = skip(i)
                i = close
                head.append(("}", tokens[close][1]))
        else:
            head.append((token, place))
        i += 1
    return found
