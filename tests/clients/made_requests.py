#!/usr/bin/env python3
"""Random requests made by the OpenAPI document that `wick serve` gives of itself: fields of each route with sound and hostile values,
schemas, regular expressions and grammars among them, and one in eleven texts damaged. Each is answered within a second, by JSON that says
what is wrong or by an answer; no 5xx but 503 and a time limit's 504; afterwards nothing is under way and no memory is held:

  made_requests.py build/release/wick [REQUESTS] [SEED]
"""
import asyncio
import collections
import json
import pathlib
import random
import re
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import serving
import tiny

CLIENTS = 8
TICK = 0.05
STRINGS = ("", "a", "tiny", "auto", "user", "\0", "\ud800", "é東😀", "x" * 300, "../../etc/passwd", "<|im_end|>", "{{ 7 * 7 }}", "\x1b[2J",
           "high", "none", "json", "required", "data:image/png;base64,AAAA", "%s%n", "1", "-1", "5m", "NaN")
NUMBERS = (0, 1, 2, 3, -1, 0.5, 0.7, 1.5, 16, 17, 255, 4096, 2**31 - 1, 2**31, -2**31, 2**53 + 1, 2**63, 2**64, -1e-320, 1e308, 1e-9)
ADMIN = ("/api/copy", "/api/pull", "/v1/models/load", "/v1/models/unload", "/v1/keys", "/key/generate",
         "/key/delete")  # refused with 403 before the body is read
RAW = ("1e999", "-0", "1E400", "[" * 70 + "]" * 70, '{"a":' * 70 + "1" + "}" * 70, "[" * 5000, '"\\ud83d"', '"\\u0000"', "01", "NaN", "nul",
       '{"a":1,"a":2}', "0." + "1" * 500, '"' + "y" * 70000 + '"', "[" + "1," * 3000 + "1]")


class Raw(str):
    """JSON, or what is not quite JSON, to be written as it is."""


def text_of(value):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{text_of(part)}" for key, part in value.items()) + "}"
    return "[" + ",".join(map(text_of, value)) + "]" if isinstance(value, list) else json.dumps(value)


class Maker:
    def __init__(self, document, seed):
        self.draw = random.Random(seed)
        self.schemas = document["components"]["schemas"]
        self.routes, self.is_sound = [], True
        for path, methods in document["paths"].items():
            content = methods.get("post", {}).get("requestBody", {}).get("content", {})
            for media in content.values():
                self.routes.append((path, self.schemas[media["schema"]["$ref"].rsplit("/", 1)[1]]["properties"]))

    def one(self, *choices):
        return self.draw.choice(choices)()

    def string(self):
        return self.draw.choice(STRINGS)

    def any(self, depth=0):
        kind = self.draw.random()
        if kind < 0.06:
            return Raw(self.draw.choice(RAW))
        if kind < 0.4 or depth > 4:
            return self.draw.choice((self.string(), self.draw.choice(NUMBERS), True, False, None))
        if kind < 0.7:
            return [self.any(depth + 1) for _ in range(self.draw.randrange(4))]
        return {self.string(): self.any(depth + 1) for _ in range(self.draw.randrange(4))}

    def schema(self, depth=0):
        """A JSON schema, often of keywords that do not fit together."""
        draw = self.draw
        if depth > 4:
            return draw.choice((True, False, {}, {"type": "string"}, {"const": 1}))
        sub = lambda: self.schema(depth + 1)
        keywords = {"type": lambda: draw.choice(("object", "array", "string", "integer", "number", "null", "boolean", ["string", "null"], "thing", 3)),
                    "properties": lambda: {draw.choice("abc"): sub() for _ in range(draw.randrange(3))}, "required": lambda: [draw.choice("abcd")],
                    "items": sub, "prefixItems": lambda: [sub(), sub()], "anyOf": lambda: [sub(), sub()], "allOf": lambda: [sub(), sub()],
                    "oneOf": lambda: [sub(), sub()], "not": sub, "if": sub, "then": sub, "enum": lambda: [self.any(3), "a"], "const": lambda: self.any(3),
                    "pattern": self.regex, "minLength": lambda: draw.choice((0, 3, 10**6, -1)), "maxLength": lambda: draw.choice((0, 5, 10**9)),
                    "minimum": lambda: draw.choice(NUMBERS), "maximum": lambda: draw.choice(NUMBERS), "multipleOf": lambda: draw.choice((1, 0, 3, 0.1)),
                    "minItems": lambda: draw.choice((0, 2, 10**5)), "maxItems": lambda: draw.choice((0, 3)), "uniqueItems": lambda: True,
                    "additionalProperties": lambda: draw.choice((False, True, sub())), "patternProperties": lambda: {self.regex(): sub()},
                    "$ref": lambda: draw.choice(("#", "#/properties/a", "#/$defs/x", "http://127.0.0.1/x", "#/~1", "")),
                    "$defs": lambda: {"x": sub()}, "format": lambda: draw.choice(("date", "uuid", "email", "nothing"))}
        return {name: keywords[name]() for name in draw.sample(list(keywords), draw.randrange(1, 4))}

    def regex(self):
        parts = ("a", "[a-z]", "[^x]", "(", ")", "(?:ab)", "*", "+", "?", "{2,5}", "{1000}", "|", "\\d", "\\", "^", "$", ".", "(a*)*", "(?=a)", "é")
        return "".join(self.draw.choice(parts) for _ in range(self.draw.randrange(8)))

    def grammar(self):
        parts = ('root ::= "a"', 'root ::= root "a" | ""', "root ::= [a-z]+ x", 'x ::= "b"*', "root ::= (", 'root ::= "a"{1,100000}', "y ::= y", "# c", "::=")
        return "\n".join(self.draw.choice(parts) for _ in range(self.draw.randrange(1, 4)))

    def format(self):
        return self.one(lambda: {"type": "json_schema", "json_schema": {"name": "n", "schema": self.schema(), "strict": True}},
                        lambda: {"type": "json_object"}, lambda: {"type": "text"}, lambda: {"type": self.string()}, self.any)

    def tool(self):
        function = {"name": self.draw.choice(("f", "g", "a b", "")), "description": self.string(), "parameters": self.schema()}
        return self.one(lambda: {"type": "function", "function": function}, lambda: {"type": "function", **function}, self.any)

    def part(self):
        return self.one(lambda: {"type": "text", "text": self.string()}, lambda: {"type": "image_url", "image_url": {"url": self.string()}}, self.any)

    def message(self):
        if self.is_sound:
            return {"role": self.draw.choice(("user", "system", "assistant")), "content": self.one(self.string, lambda: [{"type": "text", "text": "é"}])}
        role = self.draw.choice(("user", "user", "system", "assistant", "tool", "developer", self.string()))
        content = self.one(self.string, lambda: [self.part() for _ in range(self.draw.randrange(3))], self.any)
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": self.draw.choice(('{"a":1}', "{", ""))}}
        return {"role": role, "content": content, **self.draw.choice(({}, {}, {"tool_calls": [call]}, {"tool_call_id": "c"}, {"name": self.string()}))}

    def value(self, name, field):
        """Of the field `name`: mostly what fits, sometimes anything."""
        draw = self.draw
        if not self.is_sound and draw.random() < 0.2:
            return self.any()
        shaped = {"messages": lambda: [self.message() for _ in range(draw.randrange(1, 4))], "tools": lambda: [self.tool() for _ in range(draw.randrange(3))],
                  "response_format": self.format, "json_schema": self.schema, "guided_json": self.schema, "guided_regex": self.regex,
                  "guided_grammar": self.grammar, "grammar": self.grammar, "format": lambda: draw.choice(("json", self.schema())),
                  "stop": lambda: draw.choice(("a", ["a", "b"], ["x"] * 9, [""])), "logit_bias": lambda: {draw.choice(("1", "97", "a", "-1", "999999")): 3},
                  "model": lambda: draw.choice(("tiny", "tiny", "tiny", "nobody", "../tiny")), "prompt": lambda: draw.choice(("a", ["a", "b"], [1, 2], [[1], [300]])),
                  "input": lambda: draw.choice(("a", ["a", "b"], [1, 2], [self.message()])), "content": self.string, "tokens": lambda: [97, 98, draw.choice((99, 300))],
                  "tool_choice": lambda: draw.choice(("auto", "none", "required", {"type": "function", "function": {"name": "f"}})),
                  "max_tokens": lambda: draw.choice((1, 2, 8, 20)), "n": lambda: draw.choice((1, 2, 3)), "best_of": lambda: draw.choice((1, 2))}
        if name in shaped:
            return shaped[name]()
        kinds = [kind for kind in field.get("type", []) if kind != "null"] if isinstance(field.get("type"), list) else [field.get("type")]
        kind = kinds[0] if kinds else None
        if kind in ("number", "integer"):
            low, high = field.get("minimum", -10), field.get("maximum", 10)
            sound = draw.choice((low, high, 0, 1, draw.uniform(low, min(high, 2 + low))))
            return int(sound) if kind == "integer" and abs(sound) < 1e15 else sound
        made = {"boolean": lambda: draw.random() < 0.5, "string": self.string, "array": lambda: [self.any(3) for _ in range(draw.randrange(3))],
                "object": lambda: {self.string(): self.any(3)}}
        return made.get(kind, self.any)()

    def request(self):
        path, fields = self.draw.choice(self.routes)
        if path in ADMIN and self.draw.random() < 0.9:
            return self.request()
        self.is_sound = self.draw.random() < 0.7
        names = self.draw.sample(list(fields), min(len(fields), self.draw.randrange(3 if self.is_sound else 7)))
        usual = [name for name in ("messages", "prompt", "input", "content", "max_tokens") if name in fields and self.draw.random() < 0.9]
        body = {name: self.value(name, fields[name]) for name in dict.fromkeys((*usual, *names))}
        text = text_of(body).encode("utf-8", "surrogatepass")
        if not self.is_sound and self.draw.random() < 0.3:
            at = self.draw.randrange(len(text))
            text = text[:at] + self.draw.choice((b"", b"\xff", b'"', b"}", b",", b"\\", b"\0")) + text[at + self.draw.randrange(3):]
        return path, text


class Clock:
    """Seconds of this process: a moment in which it did not run, stopped or crowded out as the server is, counts one tick at most."""

    def __init__(self):
        self.seconds = 0.0

    async def run(self):
        last = time.monotonic()
        while True:
            await asyncio.sleep(TICK)
            now = time.monotonic()
            self.seconds += min(now - last, 2 * TICK)
            last = now


async def answer(reader):
    """(status, head, body) of one answer on a connection that stays."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    status, body = int(head.split()[1]), []
    if length := re.search(r"(?i)^content-length: (\d+)", head, re.M):
        return status, head, await reader.readexactly(int(length[1]))
    while size := int(await reader.readline(), 16):
        body.append((await reader.readexactly(size + 2))[:-2])
    await reader.readexactly(2)
    return status, head, b"".join(body)


def check(status, head, body):
    assert status < 500 or status == 503 or (status == 504 and b"the time limit of" in body), (status, body[:500])
    assert status != 503 or "retry-after" in head.lower(), (status, body[:500])
    if "text/event-stream" in head:
        rows = [row[6:] for row in body.split(b"\n") if row.startswith(b"data: ") and row != b"data: [DONE]"]
    else:
        rows = [row for row in body.split(b"\n") if row] if "ndjson" in head else [body]
    values = [json.loads(row) for row in rows]
    if status >= 400:
        error = values[0]["error"]
        assert error if isinstance(error, str) else error["message"], body[:500]


async def client(port, maker, clock, left, seen):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    while left and left.pop():
        path, text = maker.request()
        begin = clock.seconds
        writer.write(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text)
        try:
            status, head, body = await asyncio.wait_for(answer(reader), 60)
            check(status, head, body)
        except Exception as error:
            raise AssertionError(f"{path} {text[:3000]!r}: {error!r}") from error
        took = clock.seconds - begin
        seen["by"][f"{status}"] += 1
        seen["by path"][path, status == 200] += 1
        if took > seen["longest"][0]:
            seen["longest"] = (took, path, text[:600])
        if "connection: close" in head.lower():
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    writer.close()


async def run(server, requests, seed):
    maker, clock, left = Maker(server.json("/openapi.json"), seed), Clock(), [True] * requests
    seen = {"by": collections.Counter(), "by path": collections.Counter(), "longest": (0, "", b"")}
    ticks = asyncio.ensure_future(clock.run())
    await asyncio.gather(*[client(server.port, maker, clock, left, seen) for _ in range(CLIENTS)])
    ticks.cancel()
    return seen


def main(program, requests=100_000, seed=1):
    with tempfile.TemporaryDirectory() as folder:
        server = serving.Server(tiny.Home(program, folder, context=512), "--parallel", 8, "--no-access-log")
        seen = asyncio.run(run(server, int(requests), int(seed)))
        for _ in range(500):
            busy = server.metric("wick_requests_running") + server.metric("wick_requests_waiting") + server.metric("wick_answers_under_way")
            if not busy:
                break
            time.sleep(0.02)
        assert not busy, "something is under way that nobody waits for"
        assert server.metric("wick_cache_free_blocks") == server.metric("wick_cache_blocks"), "blocks of the cache are held by nobody"
        anonymous = server.kernel_number("status", "RssAnon")
        code, _, log = server.end()
        assert code == 0, log[-2000:]
        took, path, text = seen["longest"]
        routes = len({path for path, _ in seen["by path"]})
        print(f"{requests} requests to {routes} routes, answered {dict(sorted(seen['by'].items()))}; {anonymous >> 10} MB; "
              f"the longest {took:.2f} s, {path} {text[:200]!r}")
        for path in sorted({path for path, _ in seen["by path"]}):
            print(f"  {path:28} {seen['by path'][path, True]:6} answers, {seen['by path'][path, False]:6} refusals")
        assert took < 1, "an answer took a second"


if __name__ == "__main__":
    main(*sys.argv[1:])
