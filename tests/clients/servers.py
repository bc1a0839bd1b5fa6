"""What the tests of Python clients share: a server that is busy at first, and the count of clients that left."""
import http.server, re, threading, time, urllib.request


def check_same(said, wanted):
    assert said == wanted, f"said {said!r}, wanted {wanted!r}"


def refused(kind, code, ask):
    try:
        ask()
    except kind as error:
        return check_same(error.code, code)
    raise AssertionError(f"nothing was refused, wanted {code}")


class FirstBusy(http.server.ThreadingHTTPServer):
    """A server in front of `target` that answers the first request with 503 and passes on the others; `asked` counts them."""

    def __init__(self, target):
        super().__init__(("127.0.0.1", 0), Handler)
        self.target, self.asked = target, 0
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.asked += 1
        if self.server.asked == 1:
            self.send_response(503)
            self.send_header("retry-after", "1")
            text = b'{"error":{"message":"overloaded","type":"server_error","param":null,"code":"overloaded"}}'
        else:
            request = urllib.request.Request(self.server.target + self.path, body, {"content-type": "application/json"})
            text = urllib.request.urlopen(request).read()
            self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def cancelled(url):
    text = urllib.request.urlopen(url + "/metrics").read().decode()
    return int(re.search(r"^wick_http_requests_cancelled_total (\d+)", text, re.M)[1])


def until_left(url, wanted):
    deadline = time.monotonic() + 5
    while cancelled(url) < wanted:
        assert time.monotonic() < deadline, "the server does not notice that clients leave"
        time.sleep(0.02)
