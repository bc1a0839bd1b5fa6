#!/usr/bin/env python3
"""nginx, HAProxy and Caddy in front of `wick serve`, as docs/server.md sets them up ("Behind a proxy"), with TLS. Through each: a stream
whose chunks come one by one, a WebSocket, many streams, a large body, one that is too large, a foreign Host, and a client that leaves:

  proxies.py build/release/wick
"""
import asyncio
import base64
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/cli"))
import serving
import tiny

HOST = "chat.example"
TALK = {"messages": [{"role": "user", "content": "a"}], "ignore_eos": True, "temperature": 0, "max_tokens": 12000}
SMALL = {**TALK, "max_tokens": 20}
SHORT = {**TALK, "max_tokens": 300}
MANY = 800  # streams


def example(language):
    """The example of docs/server.md."""
    section = (ROOT / "docs/server.md").read_text().split("## Behind a proxy\n")[1].split("\n## ")[0]
    return re.search(rf"^```{language}\n(.*?)^```$", section, re.M | re.S)[1]


def replaced(text, *pairs):
    for old, new in pairs:
        assert old in text, f"the example has no {old!r}"
        text = text.replace(old, new)
    return text


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def nginx(folder, port, wick):
    sites = replaced(example("nginx"), ("/run/wick.sock", str(folder / "wick.sock")),
                     ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;"))
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(f"{user} daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; events {{}}\n"
                                       f"http {{ access_log off; client_body_temp_path {folder}/bodies; proxy_temp_path {folder}/proxied;\n{sites} }}\n")
    return ["nginx", "-p", folder, "-c", folder / "nginx.conf"]


def haproxy(folder, port, wick):
    backend = replaced(example("haproxy"), ("127.0.0.1:8080", f"127.0.0.1:{wick}"))
    (folder / "both.pem").write_text((folder / "cert.pem").read_text() + (folder / "key.pem").read_text())
    (folder / "haproxy.cfg").write_text("defaults\n  mode http\n  timeout connect 5s\n  timeout client 600s\n  timeout server 600s\n"
                                        f"frontend web\n  bind 127.0.0.1:{port} ssl crt {folder}/both.pem\n  default_backend wick\n{backend}")
    return ["haproxy", "-db", "-f", folder / "haproxy.cfg"]


def caddy(folder, port, wick):
    site = replaced(example("caddy"), ("/run/wick.sock", str(folder / "wick.sock")),
                    (f"{HOST} {{", f"https://{HOST}:{port} {{\n  tls {folder}/cert.pem {folder}/key.pem\n  bind 127.0.0.1"))
    (folder / "Caddyfile").write_text("{\n  admin off\n  auto_https disable_redirects\n}\n" + site)
    return ["caddy", "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"]


async def lines(reader):
    """Those of a chunked body, however the proxy cut it."""
    rest = b""
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        *whole, rest = (rest + (await reader.readexactly(size + 2))[:-2]).split(b"\n")
        for line in whole:
            yield line


class Client:
    """Speaks HTTP/1.1 over TLS to the proxy on `port`."""

    def __init__(self, port, certificate):
        self.port, self.context = port, ssl.create_default_context(cafile=certificate)
        self.context.set_alpn_protocols(["http/1.1"])

    async def open(self):
        return await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20, ssl=self.context, server_hostname=HOST)

    async def post(self, body, host=HOST, path="/v1/chat/completions"):
        reader, writer = await self.open()
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        writer.write(f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n".encode())
        writer.write(text)
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        return reader, writer, int(head.split()[1]), head

    async def whole(self, body, **options):
        reader, writer, status, head = await self.post(body, **options)
        length = re.search(r"(?i)content-length: (\d+)", head)
        text = await reader.readexactly(int(length[1])) if length else await reader.read(1 << 16)
        writer.close()
        return status, text

    async def stream(self, body=TALK):
        """The text, and when each piece came since the request, in seconds."""
        begin = time.monotonic()
        reader, writer, status, head = await self.post({**body, "stream": True})
        assert status == 200, head
        text, times = "", []
        async for line in lines(reader):
            if not line.startswith(b"data: {"):
                continue
            piece = json.loads(line[6:])["choices"][0]["delta"].get("content")
            if piece:
                text, times = text + piece, [*times, time.monotonic() - begin]
        writer.close()
        return text, times

    async def leave(self):
        """A client that goes in the middle of a stream."""
        reader, writer, status, head = await self.post({**TALK, "max_tokens": 60000, "stream": True})
        assert status == 200, head
        for _ in range(50):
            await reader.readline()
        writer.transport.abort()

    async def talk_over_a_socket(self):
        reader, writer = await self.open()
        nonce = base64.b64encode(os.urandom(16)).decode()
        writer.write(f"GET /v1/ws HTTP/1.1\r\nHost: {HOST}\r\nOrigin: https://{HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                     f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {nonce}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        assert " 101 " in head, head
        text = json.dumps({"id": "a", "request": SMALL}).encode()
        mask = os.urandom(4)
        writer.write(struct.pack(">BBH", 0x81, 0x80 | 126, len(text)) + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(text)))
        said = ""
        while True:
            _, size = await reader.readexactly(2)
            if size == 126:
                size = struct.unpack(">H", await reader.readexactly(2))[0]
            message = json.loads(await reader.readexactly(size))
            assert "error" not in message, message
            if message.get("done"):
                writer.close()
                return said
            for choice in message["chunk"]["choices"]:
                said += choice["delta"].get("content") or ""


def until(condition, seconds=10):
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() < begin + seconds, "it does not come"
        time.sleep(0.002)
    return 1000 * (time.monotonic() - begin)


async def check(server, client, wanted):
    """What came through the proxy that `client` asks; `wanted`: the whole answers to TALK, SMALL and SHORT."""
    text, times = await client.stream()
    assert text == wanted[0], "the stream is another text"
    moments = len({round(at, 3) for at in times})
    assert times[0] < times[-1] / 4 and moments > 50, f"the stream was held back: {times[0]:.3f} of {times[-1]:.3f} s, at {moments} moments"
    assert await client.talk_over_a_socket() == wanted[1]
    for _ in range(MANY // 4):  # Caddy cuts some without buffer_requests
        for said, _ in await asyncio.gather(*[client.stream(SHORT) for _ in range(4)]):
            assert said == wanted[2], f"a stream was cut behind {len(said)} bytes"
    status, answer = await client.whole({**SMALL, "messages": [{"role": "user", "content": "x" * (12 << 20)}]})
    assert (status, json.loads(answer)["error"]["code"]) == (400, "context_length_exceeded"), (status, answer[:300])
    assert str(12 << 20)[:3] in answer.decode(), "all of the body came"
    large, _ = await client.whole(b" " * (33 << 20))
    assert large == 413, large
    foreign, _ = await client.whole(SMALL, host="evil.example")
    # Caddy answers no host but that of its site, HAProxy and nginx leave it to wick.
    assert foreign == 403 or not _.strip(), (foreign, _)
    before = server.metric("wick_http_requests_cancelled_total")
    await client.leave()
    late = await asyncio.to_thread(until, lambda: server.metric("wick_http_requests_cancelled_total") > before)
    await asyncio.to_thread(until, lambda: server.metric("wick_requests_running") == 0)
    return (f"stream of {len(times)} pieces at {moments} moments in {times[-1]:.2f} s, the first after {1000 * times[0]:.0f} ms; WebSocket; body of 12 MB; "
            f"33 MB: {large}; foreign Host: {foreign}; cancelled {late:.0f} ms after its client left")


def main(program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={HOST}",
                        "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)
        home = tiny.Home(program, folder, context=1 << 17)
        server = serving.Server(home, "--unix", folder / "wick.sock", "--host", "127.0.0.1", "--allow-host", HOST, "--allow-origin", f"https://{HOST}",
                                "--no-access-log")
        try:
            wanted = [server.json("/v1/chat/completions", body)["choices"][0]["message"]["content"] for body in (TALK, SMALL, SHORT)]
            for make in (nginx, haproxy, caddy):
                proxy = shutil.which(make.__name__, path=os.environ["PATH"] + ":/usr/sbin")
                assert proxy, f"{make.__name__} is missing: tools/setup proxies"
                port = free_port()
                words = make(folder, port, server.port)
                run = subprocess.Popen([proxy, *map(str, words[1:])], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "HOME": name})
                try:
                    client = Client(port, folder / "cert.pem")
                    for _ in range(300):
                        assert run.poll() is None, run.stderr.read().decode()[-2000:]
                        with socket.socket() as s:
                            if s.connect_ex(("127.0.0.1", port)) == 0:
                                break
                        time.sleep(0.02)
                    print(f"{make.__name__}: {asyncio.run(check(server, client, wanted))}", flush=True)
                finally:
                    run.terminate()
                    run.wait(20)
                    run.stderr.close()
            assert server.end()[0] == 0
        finally:
            server.run.kill()
            server.run.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
