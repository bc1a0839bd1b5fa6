#!/usr/bin/env python3
"""Starts `wick serve` and runs the tests of Node clients against it, in a folder that has the clients (.ci/long installs them):

  node_clients.py build/release/wick MODEL.gguf FOLDER [node_clients | continue_client | random_requests]
"""
import json, pathlib, re, shutil, subprocess, sys

wick, model, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
parts = sys.argv[4:] or ("node_clients", "continue_client", "random_requests")
here = pathlib.Path(__file__).resolve().parent
for file in (*here.glob("*.mjs"), here / "openai_types.ts", here.parent / "data/openai/components.json"):
    shutil.copy(file, folder)
(folder / "tsconfig.json").write_text('{"compilerOptions": {"module": "nodenext", "moduleResolution": "nodenext", "strict": true, '
                                      '"target": "es2022", "skipLibCheck": true, "types": []}, "files": ["openai_types.ts"]}')
subprocess.run(["node", "node_modules/.bin/ts-json-schema-generator", "--path", "openai_types.ts", "--tsconfig", "tsconfig.json",
                "--no-type-check", "--type", "Answers", "--additional-properties", "-o", "schema.json"], cwd=folder, check=True)
# The README's example as it stands there, but for the address and the model's name.
def readme_example(url):
    page = (here.parents[1] / "README.md").read_text()
    text = re.search(r"^## Structured output.*?^```js\n(.*?)^```$", page, re.S | re.M)[1]
    (folder / "readme.mjs").write_text(text.replace("http://127.0.0.1:8080", url).replace('model: "model"', f"model: {json.dumps(model.stem)}"))
    shown = subprocess.run(["node", "readme.mjs"], cwd=folder, check=True, timeout=120, capture_output=True, text=True).stdout
    document, call = shown.splitlines()
    assert set(json.loads(document)) == {"name", "length_km"}, document
    name, _, arguments = call.partition(" ")
    assert set(json.loads(arguments)) == {"weather": {"city"}, "distance": {"start", "end"}, "clock": set()}[name], call


server = subprocess.Popen([wick, "serve", "-m", model, "--port", "0", "--no-access-log"], stdout=subprocess.PIPE, text=True)
try:
    url = server.stdout.readline().split()[-1]
    if "node_clients" in parts:
        readme_example(url)
    for part in parts:
        subprocess.run(["node", f"{part}.mjs", url, model.stem], cwd=folder, check=True, timeout=1200)
finally:
    server.terminate()
    server.wait()
