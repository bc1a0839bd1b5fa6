#!/usr/bin/env python3
"""Settings as a user meets them: files, environment, flags, who set what, and the docs made from the table.

labels: cli
"""
# labels: cli
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest

WICK = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]


TABLES = ("provider", "route", "alias", "budget", "limits", "response_cache", "remote", "fallback", "performance")
KEY_COMMANDS = ("create", "list", "update", "block", "unblock", "revoke")
TYPES = {"string": str, "array": list, "object": dict, "boolean": bool, "integer": int, "number": (int, float)}


def faults(schema, value, path="$"):
    """What is wrong with `value`, by the words of JSON Schema that the schema has; an unknown one is an error."""
    known = {"$schema", "title", "description", "default", "type", "enum", "anyOf", "minimum", "maximum", "exclusiveMinimum", "pattern", "items",
             "properties", "required", "additionalProperties"}
    assert set(schema) <= known, set(schema) - known
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool)) for kind in kinds):
        return [f"{path}: {value!r} is no {kinds}"]
    out = []
    if "enum" in schema and value not in schema["enum"]:
        out.append(f"{path}: {value!r} is none of {schema['enum']}")
    if "anyOf" in schema and all(faults(one, value, path) for one in schema["anyOf"]):
        out.append(f"{path}: {value!r} is none of those allowed")
    if isinstance(value, (int, float)) and not (schema.get("minimum", value) <= value <= schema.get("maximum", value)
                                                and schema.get("exclusiveMinimum", value - 1) < value):
        out.append(f"{path}: {value} is out of range")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        out.append(f"{path}: {value!r} is not {schema['pattern']}")
    if isinstance(value, list):
        for i, item in enumerate(value):
            out += faults(schema.get("items", {}), item, f"{path}[{i}]")
    if isinstance(value, dict):
        out += [f"{path}: {name} is missing" for name in schema.get("required", []) if name not in value]
        for name, item in value.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties", True))
            out += [f"{path}: {name} is not known"] if inner is False else [] if inner is True else faults(inner, item, f"{path}.{name}")
    return out


def named_keys(schema):
    """The names of all properties in a schema."""
    for name, inner in schema.get("properties", {}).items():
        yield name
        yield from named_keys(inner)
    for inner in [schema.get("items"), schema.get("additionalProperties"), *schema.get("anyOf", [])]:
        if inner:
            yield from named_keys(inner)


class Config(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "wick" / "config.toml"
        self.file.parent.mkdir()

    def wick(self, *args, **env):
        keep = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS") if name in os.environ}
        return subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=60, input="",
                              env={**keep, "HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder), **env})

    def shown(self, *args, **env):
        done = self.wick("config", "show", "--origin", "--json", *args, **env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_each_value_says_who_set_it(self):
        self.file.write_text("[local]\nthreads = 3\ncontext = 4096\n\n[generation]\nstop = ['a', 'b']\n")
        show = self.shown("--temp", "0.5", "--no-kv-reuse", OLLAMA_CONTEXT_LENGTH="2048")
        self.assertEqual(show["local.threads"], {"value": 3, "origin": f"{self.file}:2"})
        self.assertEqual(show["local.context"], {"value": 2048, "origin": "environment OLLAMA_CONTEXT_LENGTH"})
        self.assertEqual(show["generation.temperature"], {"value": 0.5, "origin": "flag --temp"})
        self.assertEqual(show["cache.kv_reuse"], {"value": False, "origin": "flag --kv-reuse"})
        self.assertEqual(show["generation.stop"], {"value": ["a", "b"], "origin": f"{self.file}:6"})
        self.assertEqual(show["generation.seed"], {"value": None, "origin": "default"})
        self.assertEqual(show["generation.top_p"], {"value": 0.95, "origin": "default"})
        lines = self.wick("config", "show", "--origin").stdout.splitlines()
        self.assertIn(f"local.threads = 3                       # {self.file}:2", lines)

    def test_a_flag_can_switch_off_what_the_file_switches_on(self):
        self.file.write_text("hub.offline = true\n")
        self.assertTrue(self.shown()["hub.offline"]["value"])
        self.assertFalse(self.shown("--offline=false")["hub.offline"]["value"])

    def test_what_is_shown_is_a_file_that_says_the_same(self):
        self.file.write_text('generation.stop = ["\\"\\n"]\ncache.kv_limit = "2GiB"\nlocal.model_path = "ä"\n')
        text = self.wick("config", "show").stdout
        self.assertEqual(tomllib.loads(text)["cache"]["kv_limit"], 2 << 30)
        before = json.loads(self.wick("config", "show", "--json").stdout)
        self.file.write_text(text)
        self.assertEqual(json.loads(self.wick("config", "show", "--json").stdout), before)

    def test_bad_settings_end_every_command_that_reads_them(self):
        self.file.write_text("[local]\nthread = 3\n")
        for command in (["run", "-p", "x"], ["chat", "-p", "x"], ["tokenize", "x"], ["bench"], ["config", "show"],
                        ["model", "info"], ["logits", "--ids", "1", "-o", self.folder / "o"]):
            done = self.wick(*command)
            self.assertEqual(done.returncode, 2, command)
            self.assertIn(f"{self.file}:2:1: there is no setting 'local.thread'", done.stderr)
            self.assertIn("hint: the nearest are: local.threads", done.stderr)
        self.file.unlink()
        for args, env, words in (
                (["--threads", "2000"], {}, "flag --threads: local.threads is 2000, allowed are whole numbers from 0 to 1024"),
                ([], {"LLAMA_ARG_THREADS": "-1"}, "environment LLAMA_ARG_THREADS: local.threads is -1, allowed are"),
                (["--kv-type", "q9"], {}, "flag --kv-type: cache.kv_type is 'q9', allowed are f32, bf16"),
                (["--spec", "psychic"], {}, "allowed are none, ngram, draft"),
                (["--config", "/no/such"], {}, "/no/such: is no file that can be read")):
            done = self.wick("run", "-p", "x", *args, **env)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)

    def test_a_link_to_nothing_is_no_missing_file(self):
        for target in ("gone.toml", "config.toml", "/dev/null/config.toml", self.folder):
            self.file.symlink_to(target)
            for command in (["config", "show"], ["run", "-p", "x"], ["route", "explain", "x"], ["usage"]):
                done = self.wick(*command)
                self.assertEqual(done.returncode, 2, (command, target))
                self.assertIn(f"{self.file}: is no file that can be read", done.stderr)
            self.file.unlink()
        # Where no file can be, there is none: HOME of some services is /dev/null.
        self.assertEqual(self.shown(HOME="/dev/null", XDG_CONFIG_HOME="")["local.threads"]["origin"], "default")
        self.file.parent.rmdir()
        self.file.parent.touch()
        self.assertEqual(self.shown()["local.threads"]["origin"], "default")

    def test_a_file_in_the_current_folder_is_not_read(self):
        for name in ("config.toml", "wick.toml", ".wick.toml"):
            (self.folder / name).write_text("local.threads = 5\n")
        done = subprocess.run([WICK, "config", "show"], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "XDG_CONFIG_HOME": str(self.folder), "WICK_CONFIG": "", "WICK_LOCAL_THREADS": ""})
        self.assertIn("local.threads = 0\n", done.stdout)

    def test_path_names_the_files_the_weakest_first(self):
        files = json.loads(self.wick("config", "path", "--json").stdout)["files"]
        self.assertEqual([f["path"] for f in files], ["/etc/wick/config.toml", str(self.file)])
        self.assertFalse(files[1]["is_there"])
        self.file.write_text("")
        self.assertIn(str(self.file) + "\n", self.wick("config", "path").stdout)
        self.assertEqual(self.wick("config", "path", WICK_CONFIG="/x.toml").stdout, "/x.toml\t(not there)\n")
        self.assertEqual(self.wick("config", "path", "--config", "/y.toml", WICK_CONFIG="/x.toml").stdout, "/y.toml\t(not there)\n")

    def test_every_command_that_reads_settings_takes_a_file(self):
        for command in (["run"], ["chat"], ["serve"], ["ask"], ["config", "show"], ["config", "path"], ["route", "explain"], ["route", "test"], ["usage"], ["doctor"],
                        ["tokenize"], ["bench"], ["embed"], ["logits"], ["model", "info"], ["ps"], ["stop"], *(["key", name] for name in KEY_COMMANDS)):
            self.assertIn("--config", self.wick(*command, "--help-all").stdout, command)

    def schema(self):
        return json.loads(self.wick("config", "schema").stdout)

    def test_the_schema_has_the_keys_of_the_settings(self):
        tables = {name: inner["properties"] for name, inner in self.schema()["properties"].items() if "properties" in inner}
        keys = {f"{table}.{name}" for table, inner in tables.items() if table not in TABLES for name in inner}
        self.assertEqual(keys - set(self.shown()), {"local.gpu_memory_limit", "local.max_concurrent_requests", "local.gpu_enabled"})
        self.assertLess(set(self.shown()), keys)
        self.assertEqual(tables["local"]["threads"], {"type": "integer", "minimum": 0, "maximum": 1024, "default": 0,
                                                      "description": "CPU threads; 0 = as many as this process may use"})

    def test_the_examples_of_the_pages_are_valid_for_the_schema(self):
        schema, seen = self.schema(), 0
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            for text in re.findall(r"^```toml\n(.*?)^```$", page.read_text(), re.M | re.S):
                if not text.startswith("[[deny]]"):  # rules of wick ask have a file of their own
                    self.assertEqual(faults(schema, tomllib.loads(text)), [], f"{page.name}:\n{text}")
                    seen += 1
        self.assertGreaterEqual(seen, 6)

    def test_the_schema_refuses_what_the_reader_refuses(self):
        schema = self.schema()
        good = '[[provider]]\nname = "openai"\n'
        for more in ('weight = 0', 'kind = "x"', 'parallel = -1', 'nme = "x"', 'models = [{ context = 5 }]', 'models = [{ name = "m", max_tokens = 0 }]',
                     'models = [{ name = "m", input = "1 EUR/M" }]',
                     'key_env = 5', 'total_s = 90000', '[[route]]\nto = 5', '[[route]]\nto = "*"\nstrategy = "fast"', '[route]\nto = "*"',
                     '[[route]]\nto = "*"\nwhen = { token_over = 5 }', '[alias]\nx = 5', '[budget]\nweekly = "5 USD"', '[budget]\ndaily = "5 EUR"',
                     '[limits]', '[response_cache]\nsimilarity = 0.5', '[remote]\nmodels = []', '[fallback]\nmonthly_budget = "5"',
                     '[performance]\ncache_ttl = "1 day"', '[local]\nthread = 5', '[local]\nthreads = 5000'):
            text = good + more + "\n"
            self.file.write_text(text)
            done = self.wick("config", "show")
            self.assertEqual((done.returncode, done.stdout), (2, ""), text)
            self.assertRegex(done.stderr, rf"^wick: {re.escape(str(self.file))}:\d+:\d+: ", text)
            self.assertNotEqual(faults(schema, tomllib.loads(text)), [], text)
        self.file.write_text(good)
        self.assertEqual(self.wick("config", "show").returncode, 0)

    def test_the_page_of_providers_has_every_key_of_the_tables(self):
        page = (ROOT / "docs/providers.md").read_text().partition("\n## Configuration\n")[2].partition("\n## Rules\n")[0]
        for name in TABLES:
            table = self.schema()["properties"][name]
            self.assertIn(f"[{name}]", page)
            for key in named_keys(table):
                self.assertRegex(page, rf"\b{key}\b", f"[{name}] {key}")

    def test_the_tables_of_providers_are_shown_without_passwords(self):
        self.file.write_text('[[provider]]\nname = "openai"\nkey_env = "MY_KEY"\nmodels = ["a", { name = "b", input = "0.15 USD/M", output = "1 USD/M" }]\n'
                             '[[route]]\nto = ["openai/a"]\nwhen = { tag = "x" }\n[alias]\n"gpt-4.1" = "openai/b"\n'
                             '[budget]\ndaily = "1 USD"\nledger = "postgresql://wick:geheim@db/wick?password=geheim&a=b"\n'
                             '[limits]\nstore = "redis://:geheim/?#x@127.0.0.1:1/0"\n[performance]\ncache_enabled = true\n')
        done = self.wick("config", "show", "--origin", MY_KEY="sk-geheim")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("geheim", done.stdout)
        self.assertIn(f'key_env = "MY_KEY"                      # {self.file}:3\n', done.stdout)
        shown = {name: table for name, table in tomllib.loads(done.stdout).items() if name in TABLES}
        written = tomllib.loads(self.file.read_text().replace("geheim/?#x", "***").replace("geheim", "***"))
        self.assertEqual(shown, written)
        as_json = self.shown(MY_KEY="sk-geheim")
        self.assertEqual({name: as_json[name]["value"] for name in written}, written)
        self.assertEqual(as_json["budget"]["origin"], f"{self.file}:10")
        self.assertNotIn("geheim", json.dumps(as_json))

    def test_help_takes_ranges_and_defaults_from_the_table(self):
        done = self.wick("run", "--help-all")
        text = " ".join(done.stdout.split())
        self.assertIn("(0 to 1024; default 0)", text)
        self.assertIn("(0 to 1; default 0.95)", text)
        text += " ".join(part for command in ("serve", "ask") for part in self.wick(command, "--help-all").stdout.split())
        schema = json.loads(self.wick("config", "schema").stdout)
        for key in self.shown():
            table, _, name = key.partition(".")
            for row in [schema["properties"][table]["properties"][name]]:
                self.assertIn(" ".join(row["description"].split()), text)

    def test_the_table_in_the_docs_is_the_programs(self):
        table = self.wick("config", "table").stdout
        self.assertGreater(table.count("\n"), 40)
        self.assertIn(table, (ROOT / "docs" / "config.md").read_text(),
                      "docs/config.md is stale: put the output of `wick config table` into it")


if __name__ == "__main__":
    unittest.main(verbosity=0)
