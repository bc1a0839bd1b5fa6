#!/usr/bin/env python3
"""Writes src/grammar/schema/meta_schemas_data.cc from PyPI's jsonschema-specifications (2025.9.1)."""
import json
import pathlib

import jsonschema_specifications

SCHEMAS = pathlib.Path(jsonschema_specifications.__file__).parent / "schemas"
OUT = pathlib.Path(__file__).parents[2] / "src/grammar/schema/meta_schemas_data.cc"
LEFT_OUT = ("title", "description", "$comment", "default")
NAMED = ("properties", "$defs", "definitions", "patternProperties")
HEAD = """// The meta-schemas of drafts 4 to 2020-12 (json-schema.org, BSD license) without titles, comments
// and defaults. Made by tools/schema_suite/meta_schemas.py.
#include "grammar/schema/sources.h"

namespace wick::grammar {
namespace {

struct Entry {
  std::string_view address, text;
};

constexpr Entry kEntries[] = {
"""
TAIL = """};

}  // namespace

std::optional<std::string_view> meta_schema(std::string_view address) {
  for (const Entry& entry : kEntries) {
    if (entry.address == address) return entry.text;
  }
  return std::nullopt;
}

}  // namespace wick::grammar
"""


def stripped(value, is_named=False):
    if isinstance(value, dict):
        return {k: stripped(v, k in NAMED and not is_named) for k, v in value.items() if is_named or k not in LEFT_OUT}
    return [stripped(item) for item in value] if isinstance(value, list) else value


def main():
    files = [SCHEMAS / draft / "metaschema.json" for draft in ("draft4", "draft6", "draft7")]
    for draft in ("draft201909", "draft202012"):
        files += [SCHEMAS / draft / "metaschema.json", *sorted((SCHEMAS / draft / "vocabularies").iterdir())]
    text = HEAD
    for file in files:
        schema = stripped(json.loads(file.read_text()))
        address = (schema.get("$id") or schema["id"]).rstrip("#")
        body = json.dumps(schema, separators=(",", ":"))
        text += f'    {{"{address}",\n'
        text += "".join(f'     R"~({body[at:at + 80]})~"\n' for at in range(0, len(body), 80)) + "    },\n"
    OUT.write_text(text + TAIL)


if __name__ == "__main__":
    main()
