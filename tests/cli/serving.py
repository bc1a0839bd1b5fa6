"""What tests of `wick serve` share: the running process, whole answers, streams as the client sees them, what the process holds."""
import asyncio
import http.client
import json
import pathlib
import re
import select
import signal
import subprocess

SECONDS = 30
JSON = {"Content-Type": "application/json"}
TALK = [{"role": "user", "content": "a"}]


def is_instrumented(program):
    """Built with AddressSanitizer, which keeps freed memory for a while: sizes say nothing then."""
    return b"__asan_init" in pathlib.Path(program).read_bytes()


class Server:
    """A running `wick serve`, on a free port unless `port` says which. `model`: False for none, else the home's own."""

    def __init__(self, home, *arguments, model=True, port=0, **options):
        words = ["serve", *(["-m", home.model] if model else []), "--port", port, *arguments]
        self.run = subprocess.Popen([home.program, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=home.folder,
                                    env=home.environment, bufsize=0, **options)
        self.first = self.line(self.run.stdout)
        found = re.search(r":(\d+)$", self.first)
        self.port = int(found[1]) if found else None

    @staticmethod
    def line(stream):
        if not select.select([stream], [], [], SECONDS)[0]:
            raise AssertionError("no line came")
        return stream.readline().decode().rstrip("\n")

    def log_until(self, text):
        while text not in (line := self.line(self.run.stderr)):
            if not line:
                raise AssertionError(f"the log ended without {text!r}")
        return line

    def ask(self, path, body=None, headers=(), method=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        method = method or ("GET" if body is None else "POST")
        connection.request(method, path, None if body is None else json.dumps(body), {**JSON, **dict(headers)})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def json(self, path, body=None, headers=(), status=200):
        seen, text = self.ask(path, body, headers)
        if seen != status:
            raise AssertionError(f"{path} says {seen}, wanted {status}: {text}")
        return json.loads(text)

    def stream(self, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        connection.request("POST", "/v1/chat/completions", json.dumps(body), JSON)
        return connection.getresponse()

    def metric(self, name):
        """The sum of a family's samples in /metrics."""
        rows = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", self.ask("/metrics")[1], re.M)
        return sum(float(row) for row in rows)

    def threads(self):
        return self.kernel_number("status", "Threads")

    def kernel_number(self, file, name):
        """Of /proc/PID/FILE, "Threads: 9" or "RssAnon: 8 kB"."""
        text = pathlib.Path(f"/proc/{self.run.pid}/{file}").read_text()
        return int(re.search(rf"^{name}:\s+(\d+)", text, re.M)[1])

    def mapped(self, name):
        """Lines of the process's map of memory that have `name`."""
        return [row for row in pathlib.Path(f"/proc/{self.run.pid}/maps").read_text().splitlines() if name in row]

    def end(self, *signals):
        for number in signals or (signal.SIGTERM,):
            self.run.send_signal(number)
        out, log = self.run.communicate(timeout=SECONDS)
        return self.run.returncode, out.decode(), log.decode()


def close_at_end(test, server):
    """For a unittest: the process goes with the test."""
    for step in (server.run.stdout.close, server.run.stderr.close, server.run.wait, server.run.kill):
        test.addCleanup(step)
    return server


async def post(port, body, path="/v1/chat/completions", headers=(), address=None):
    """Sends a request on a connection of its own; its ends, behind the answer's head, and the status. `body`: bytes are sent as they are.
    `address`: of the client, in 127.0.0.0/8."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20, local_addr=address and (address, 0))
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    more = "".join(f"{name}: {value}\r\n" for name, value in {**JSON, **dict(headers)}.items())
    writer.write(f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{more}Content-Length: {len(text)}\r\n\r\n".encode() + text)
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    return reader, writer, int(head.split()[1]), head


async def stream_text(port, body, started=None):
    """The text of a whole stream, which must come to its end; `started` is told of each piece."""
    reader, writer, status, head = await post(port, {**body, "stream": True})
    if status != 200:
        raise AssertionError(f"{status}: {head}")
    text, ended = [], False
    while line := await reader.readline():
        if not line.startswith(b"data: "):
            continue
        if line == b"data: [DONE]\n":
            ended = True
            break
        chunk = json.loads(line[6:])
        if "error" in chunk:
            raise AssertionError(f"the stream failed: {chunk}")
        piece = chunk["choices"][0]["delta"].get("content") if chunk["choices"] else None
        if piece:
            text.append(piece)
            if started:
                started()
    writer.close()
    if not ended:
        raise AssertionError("the stream was cut")
    return "".join(text)
