#!/usr/bin/env python3
"""Starts `wick serve` and runs the tests of Node clients against it, in a folder that has the clients (.ci/long installs them):

  node_clients.py build/release/wick MODEL.gguf FOLDER [node_clients | continue_client | random_requests]
"""
import pathlib, shutil, subprocess, sys

wick, model, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
parts = sys.argv[4:] or ("node_clients", "continue_client", "random_requests")
here = pathlib.Path(__file__).resolve().parent
for file in (*here.glob("*.mjs"), here / "openai_types.ts", here.parent / "data/openai/components.json"):
    shutil.copy(file, folder)
(folder / "tsconfig.json").write_text('{"compilerOptions": {"module": "nodenext", "moduleResolution": "nodenext", "strict": true, '
                                      '"target": "es2022", "skipLibCheck": true, "types": []}, "files": ["openai_types.ts"]}')
subprocess.run(["node", "node_modules/.bin/ts-json-schema-generator", "--path", "openai_types.ts", "--tsconfig", "tsconfig.json",
                "--no-type-check", "--type", "Answers", "--additional-properties", "-o", "schema.json"], cwd=folder, check=True)
server = subprocess.Popen([wick, "serve", "-m", model, "--port", "0", "--no-access-log"], stdout=subprocess.PIPE, text=True)
try:
    url = server.stdout.readline().split()[-1]
    for part in parts:
        subprocess.run(["node", f"{part}.mjs", url, model.stem], cwd=folder, check=True, timeout=1200)
finally:
    server.terminate()
    server.wait()
