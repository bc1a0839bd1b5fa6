#!/usr/bin/env python3
"""A small HTTP server for tests of downloads: Range and If-Range, and every way to break them on request.

It listens on 127.0.0.1, prints its port and serves until its standard input ends. What lies at a path is set by
GET /control?JSON (percent-encoded), an object with "path" and any of

  size, seed     deterministic bytes (see `content`)        body, file    this text, or that file's bytes instead
  status         answer so, with no file                    redirect      answer 302 to this URL
  etag           default: of the content; "" sends none     ignore_range  always 200 and the whole file
  ignore_if_range  serve the range although the ETag is another
  cut_after      close the connection after so many bytes of each body; cut_times: only so often
  wrong_at       the byte at this offset is inverted        no_length     no Content-Length, ended by closing
  claims         Content-Length says so many bytes
  shift_range    Content-Range claims another start         header_bytes  an extra header so long
  delay_s        wait before the answer                     chunk_pause_s wait after each 64 KiB
  content_encoding  the header of that name; the body stays as it is

and its requests are told by GET /stats?PATH as a JSON array of {range, if_range, authorization, status, from, to, sent}.
"""
import hashlib, http.server, json, random, struct, sys, threading, time, urllib.parse

BLOCK = 65536
CONTENT, SETTINGS, STATS = {}, {}, {}
LOCK = threading.Lock()


def content(seed, size):
    """Bytes that differ at every block, so that a piece at a wrong place has a wrong hash."""
    if (seed, size) not in CONTENT:
        base = random.Random(seed).randbytes(BLOCK)
        blocks = (size + BLOCK - 1) // BLOCK
        CONTENT[seed, size] = b"".join(struct.pack(">Q", i) + base[8:] for i in range(blocks))[:size]
    return CONTENT[seed, size]


def body(setting):
    if "file" in setting:
        with open(setting["file"], "rb") as file:
            return file.read()
    return setting["body"].encode() if "body" in setting else content(setting.get("seed", 0), setting["size"])


def parse_range(text, size):
    """First and last byte, or None for a range that is none or cannot be served."""
    if not text.startswith("bytes=") or "," in text:
        return None
    first, _, last = text[6:].partition("-")
    if not first.isdigit() or (last and not last.isdigit()) or int(first) >= size:
        return None
    return int(first), min(int(last or size - 1), size - 1)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        """200 where the body is what the query says."""
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.reply(200 if sent == self.path.partition("?")[2] else 400, sent.encode())

    def reply(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        query = urllib.parse.unquote(query)
        with LOCK:
            if path == "/control":
                setting = json.loads(query)
                SETTINGS[setting["path"]] = setting
                STATS.setdefault(setting["path"], [])
                return self.reply(200, b"ok")
            if path == "/stats":
                return self.reply(200, json.dumps(STATS.get(query, [])).encode())
            setting = SETTINGS.get(urllib.parse.unquote(self.path)) or SETTINGS.get(urllib.parse.unquote(path))
            entry = {"range": self.headers.get("Range"), "if_range": self.headers.get("If-Range"),
                     "authorization": self.headers.get("Authorization"), "status": 0, "from": 0, "to": 0, "sent": 0}
            if setting:
                STATS[setting["path"]].append(entry)
        try:
            self.serve(setting, entry)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def serve(self, setting, entry):
        if not setting:
            return self.reply(404, b"nothing here")
        time.sleep(setting.get("delay_s", 0))
        if "redirect" in setting:
            entry["status"] = 302
            return self.reply(302, b"elsewhere", Location=setting["redirect"])
        if "status" in setting:
            entry["status"] = setting["status"]
            return self.reply(setting["status"], b"no")
        data = body(setting)
        self.serve_file(setting, entry, data)

    def serve_file(self, setting, entry, data):
        etag = setting.get("etag", '"%s"' % hashlib.md5(b"%d" % len(data) + data[:100]).hexdigest())
        wanted, span = entry["range"], (0, len(data) - 1)
        is_partial = wanted is not None and not setting.get("ignore_range")
        if_range = None if setting.get("ignore_if_range") else entry["if_range"]
        if is_partial and if_range is not None and if_range != etag:
            is_partial = False
        if is_partial:
            span = parse_range(wanted, len(data))
            if span is None:
                entry["status"] = 416
                return self.reply(416, b"", Content_Range=f"bytes */{len(data)}")
        entry.update({"status": 206 if is_partial else 200, "from": span[0], "to": span[1]})
        self.send_response(entry["status"])
        if etag:
            self.send_header("ETag", etag)
        if is_partial:
            first = span[0] + setting.get("shift_range", 0)
            self.send_header("Content-Range", f"bytes {first}-{span[1]}/{len(data)}")
        if "content_encoding" in setting:
            self.send_header("Content-Encoding", setting["content_encoding"])
        if "header_bytes" in setting:
            for i in range(setting["header_bytes"] // 1000):
                self.send_header(f"X-Long-{i}", "x" * 1000)
        if setting.get("no_length"):
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(setting.get("claims", span[1] + 1 - span[0])))
        self.end_headers()
        self.send_body(setting, entry, data, span)

    def send_body(self, setting, entry, data, span):
        end, wrong_at = span[1] + 1, setting.get("wrong_at", -1)
        if "cut_after" in setting and setting.get("cut_times", 1 << 30) > 0:
            setting["cut_times"] = setting.get("cut_times", 1 << 30) - 1
            end = min(end, span[0] + setting["cut_after"])
            self.close_connection = True
        pause = setting.get("chunk_pause_s", 0)
        step = BLOCK if pause else 1 << 20
        view = memoryview(data)
        for at in range(span[0], end, step):
            part = view[at:min(at + step, end)]
            if at <= wrong_at < at + len(part):
                part = bytearray(part)
                part[wrong_at - at] ^= 0xFF
            self.wfile.write(part)
            entry["sent"] += len(part)
            time.sleep(pause)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients under test are killed all the time


def main():
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
