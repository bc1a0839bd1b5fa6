#!/usr/bin/env python3
"""Open WebUI in front of `wick serve`, started by the line of docs/server.md: it lists the model, and its chats have the answer that wick gives,
whole and streamed. ENVIRONMENT: a virtual environment with open-webui.

  open_webui.py build/release/wick MODEL.gguf ENVIRONMENT
"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
ASK = {"messages": [{"role": "user", "content": "Name a river in France."}], "temperature": 0, "max_tokens": 12}
# No account, and nothing from the network: it would download a model for embeddings at the start.
QUIET = {"WEBUI_AUTH": "False", "WEBUI_SECRET_KEY": "x", "HF_HUB_OFFLINE": "1", "OFFLINE_MODE": "True", "RAG_EMBEDDING_ENGINE": "openai",
         "ANONYMIZED_TELEMETRY": "False", "DO_NOT_TRACK": "1", "SCARF_NO_ANALYTICS": "true"}


def ask(url, body=None, token=None):
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    request = urllib.request.Request(url, json.dumps(body).encode() if body is not None else None, headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read().decode()


def wait_for(url, run, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert run.poll() is None, "it ended"
        try:
            return ask(url)
        except OSError:
            time.sleep(0.5)
    raise SystemExit(f"{url} does not answer")


def main(wick, model, environment):
    section = (ROOT / "docs/server.md").read_text().split("## Clients\n")[1].split("\n## ")[0]
    line = re.search(r"^(OPENAI_API_BASE_URL=.* open-webui serve)$", section, re.M)[1]
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        server = subprocess.Popen([wick, "serve", "-m", model, "--port", "0", "--no-access-log"], stdout=subprocess.PIPE, text=True)
        url = server.stdout.readline().split()[-1]
        line = f"exec env {line.replace('http://127.0.0.1:8080', url)} --host 127.0.0.1 --port {port}"
        page = subprocess.Popen(["bash", "-c", line], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, cwd=folder,
                                env={**os.environ, **QUIET, "HOME": folder, "DATA_DIR": folder,
                                     "PATH": f"{pathlib.Path(environment).resolve()}/bin:{os.environ['PATH']}"})
        try:
            here = f"http://127.0.0.1:{port}"
            wait_for(here + "/health", page, 300)
            token = json.loads(ask(here + "/api/v1/auths/signin", {"email": "", "password": ""}))["token"]
            names = [one["id"] for one in json.loads(ask(here + "/api/models", token=token))["data"]]
            assert names == [pathlib.Path(model).stem], names
            wanted = json.loads(ask(url + "/v1/chat/completions", ASK))["choices"][0]["message"]["content"]
            whole = json.loads(ask(here + "/api/chat/completions", {**ASK, "model": names[0]}, token))
            streamed = ask(here + "/api/chat/completions", {**ASK, "model": names[0], "stream": True}, token)
            chunks = [json.loads(row[6:]) for row in streamed.splitlines() if row.startswith("data: {")]
            said = "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])
            assert whole["choices"][0]["message"]["content"] == said == wanted != "", (whole, said, wanted)
            print(f"Open WebUI lists {names[0]} and says {said!r}, whole and in {len(chunks)} chunks")
        finally:
            page.send_signal(signal.SIGTERM)
            page.wait(60)
            server.terminate()
            server.wait(60)


if __name__ == "__main__":
    main(*sys.argv[1:])
