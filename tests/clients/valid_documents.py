#!/usr/bin/env python3
"""Documents of 20 schemas at temperature 1.5 from `wick serve` and the default model: each is valid for python jsonschema, however few
tokens it had. .ci/long installs jsonschema and calls it:

  valid_documents.py build/release/wick MODEL.gguf [SEEDS [FIRST]]
"""
import concurrent.futures, datetime, json, re, subprocess, sys, time, urllib.error, urllib.request

import jsonschema

AT_ONCE = 16  # requests: wick's --parallel
Validator = jsonschema.Draft202012Validator
FORMATS = jsonschema.FormatChecker(["email", "uuid"])


@FORMATS.checks("date", ValueError)
def is_date(text):
    """As RFC 3339 says: Python's dates, and those of the year 0."""
    return re.fullmatch(r"\d{4}-\d\d-\d\d", text) and datetime.date.fromisoformat(re.sub("^0000", "2000", text))


TEXT, WHOLE, SWITCH = {"type": "string", "maxLength": 40}, {"type": "integer"}, {"type": "boolean"}


def struct(required=None, **members):
    return {"type": "object", "properties": members, "required": list(members) if required is None else required, "additionalProperties": False}


def several(items, least=0, most=4):
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


SCHEMAS = [
    struct(name=TEXT, age={"type": "integer", "minimum": 0, "maximum": 130}),
    struct(["a"], a=TEXT, b=WHOLE, c=SWITCH),
    several(struct(x={"type": "number"}, y={"type": "number"}), 1, 3),
    struct(kind={"enum": ["circle", "square", "line"]}, size={"type": "number", "exclusiveMinimum": 0}),
    {"oneOf": [struct(k={"const": 1}, t=TEXT, n=several(WHOLE)), struct(n=several(WHOLE), k={"const": 2}, t=TEXT)]},
    struct(day={"type": "string", "format": "date"}, mail={"type": "string", "format": "email"}),
    struct(code={"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3,5}$"}),
    {"$ref": "#/$defs/tree", "$defs": {"tree": struct(["v"], v=WHOLE, left={"$ref": "#/$defs/tree"}, right={"$ref": "#/$defs/tree"})}},
    {"type": ["integer", "null", "boolean"]},
    {"type": "string", "minLength": 3, "maxLength": 12},
    {"type": "array", "prefixItems": [TEXT, WHOLE, {"type": "null"}], "items": False, "minItems": 3},
    {"type": "object", "patternProperties": {"^[a-c]$": WHOLE}, "additionalProperties": False, "minProperties": 1},
    struct(["p"], p=struct(q=struct(r=several(SWITCH, 2, 2)))),
    {"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"required": ["b"]}, **struct(["a"], a={"enum": [1, 2]}, b=TEXT)},
    {"allOf": [{"type": "object", "required": ["u"]}, struct([], u=TEXT, v=WHOLE)]},
    struct(tags=several({"enum": ["red", "green", "blue"]}, 1, 5), note={"anyOf": [TEXT, {"type": "null"}]}),
    {"type": "integer", "minimum": -1000, "maximum": 1000, "not": {"const": 0}},
    struct(a={"type": "number", "minimum": 0, "maximum": 1}, b={"type": "string", "format": "uuid"}),
    {**struct(["a"], a=TEXT, b=WHOLE, c=WHOLE), "dependentRequired": {"b": ["c"]}},
    several(several(WHOLE, 0, 3), 0, 3),
]
assert len(SCHEMAS) == 20


def main(wick, model, seeds=500, first=0):
    seeds = range(int(first), int(first) + int(seeds))
    server = subprocess.Popen([wick, "serve", "-m", model, "--port", "0", "--no-access-log"], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().split()[-1]

    def ask(schema, seed, most):
        body = {"messages": [{"role": "user", "content": "Write an example."}], "temperature": 1.5, "seed": seed, "max_tokens": most,
                "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}}
        request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request, timeout=300))

    def least(schema):
        for most in range(1, 400):
            try:
                ask(schema, 1, most)
                return most
            except urllib.error.HTTPError as error:
                assert json.load(error)["error"]["code"] == "max_tokens_too_small"
        raise AssertionError(schema)

    def check(schema, seed, most):
        answer = ask(schema, seed, most)
        text = answer["choices"][0]["message"]["content"]
        try:
            Validator(schema, format_checker=FORMATS).validate(json.loads(text))
        except (ValueError, jsonschema.ValidationError) as error:
            raise AssertionError(f"{schema}\nseed {seed}, max_tokens {most}: {text!r}\n{error}") from error
        return answer["usage"]["completion_tokens"], answer.get("wick", {}).get("steered", False)

    try:
        tokens, steered = 0, 0
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for number, schema in enumerate(SCHEMAS, 1):
                begun, shortest = time.monotonic(), least(schema)
                made = [pool.submit(check, schema, seed, shortest + seed // 2 % 40 if seed % 2 else 250) for seed in seeds]
                answers = [each.result() for each in made]
                tokens += sum(count for count, _ in answers)
                steered += sum(was_steered for _, was_steered in answers)
                print(f"schema {number}: {len(answers)} documents of {shortest} tokens or more in {time.monotonic() - begun:.1f} s", flush=True)
        print(f"{len(SCHEMAS) * len(seeds)} documents of {tokens} tokens, each valid, {steered} closed in time")
        assert steered > 0
    finally:
        server.terminate()
        server.wait(60)


if __name__ == "__main__":
    main(*sys.argv[1:])
