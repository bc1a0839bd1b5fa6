#!/usr/bin/env python3
"""Runs the examples under "Clients" of docs/server.md, each as it stands there but for the port, against `wick serve` and the default
model, and looks for the same answer in each:

  doc_clients.py build/release/wick MODEL.gguf FOLDER     FOLDER: where the npm clients are
"""
import json, pathlib, re, subprocess, sys, urllib.request

wick, model, folder = sys.argv[1:]
page = (pathlib.Path(__file__).resolve().parents[2] / "docs/server.md").read_text()
section = page.split("## Clients\n")[1].split("\n## ")[0]
examples = re.findall(r"^```(console|python|js)\n(.*?)^```$", section, re.M | re.S)
assert [language for language, _ in examples] == ["console", "python", "js", "python"], examples
server = subprocess.Popen([wick, "serve", "-m", model, "--port", "0", "--no-access-log"], stdout=subprocess.PIPE, text=True)
try:
    url = server.stdout.readline().split()[-1]
    body = {"messages": [{"role": "user", "content": "Name a river in France."}], "temperature": 0, "max_tokens": 12}
    request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    wanted = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
    assert wanted
    for language, text in examples:
        text = text.replace("http://127.0.0.1:8080", url)
        command = {"console": ["bash", "-c", text.removeprefix("$ ")], "python": [sys.executable, "-c", text],
                   "js": ["node", "--input-type=module", "-e", text]}[language]
        out = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
        assert out.returncode == 0, f"{text}\n{out.stderr}"
        assert wanted in out.stdout, f"{text}\nsays {out.stdout!r}, wanted {wanted!r}"
    print(f"{len(examples)} examples of docs/server.md say {wanted!r}")
finally:
    server.terminate()
    server.wait(60)
