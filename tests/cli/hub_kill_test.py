#!/usr/bin/env python3
"""kill -9 during `wick model pull URL`, at 60 random moments: the store never shows a bad file, and no good byte is fetched twice."""
# labels: slow cli
#
# The file is two and a half pieces of 64 MiB and some bytes. A pull is killed at a random moment and started again until it ends,
# then the model is removed and all begins anew, until 60 kills are done (200 in .ci/long). After each kill: every blob holds the file's bytes, every
# record names such a blob. In each request of the next pull: no byte of a piece that was recorded as good before.
import hashlib, json, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, time, urllib.parse, urllib.request

KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 60
PIECE = 64 << 20
SIZE = 2 * PIECE + PIECE // 2 + 12345
HERE = pathlib.Path(__file__).resolve().parent
WICK = pathlib.Path(sys.argv[1]).resolve()


class Server:
    """tests/support/range_server.py, serving SIZE bytes at /model.gguf."""

    def __init__(self):
        script = HERE.parent / "support" / "range_server.py"
        self.process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.base = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        self.url = self.base + "/model.gguf"
        self.seen = 0
        self.open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        self.get("/control?" + urllib.parse.quote(json.dumps({"path": "/model.gguf", "size": SIZE})))
        self.sha256 = hashlib.sha256(self.open(self.url).read()).hexdigest()
        self.new_requests()

    def get(self, path):
        return self.open(self.base + path).read()

    def new_requests(self):
        requests = json.loads(self.get("/stats?/model.gguf"))
        fresh, self.seen = requests[self.seen:], len(requests)
        return fresh

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Home:
    """A WICK_HOME, looked at from outside."""

    def __init__(self, folder, server):
        self.folder, self.server, self.hashed = pathlib.Path(folder), server, set()
        self.environment = {**os.environ, "WICK_HOME": folder, "no_proxy": "127.0.0.1"}

    def wick(self, *arguments):
        return subprocess.run([WICK, "model", *arguments], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def good_pieces(self):
        """First and last byte of each piece that the record of the download under way names as good."""
        pieces = []
        for path in (self.folder / "blobs").glob("*.json"):
            record = json.loads(path.read_text())  # written by rename: always whole
            step = record["piece_bytes"]
            assert step == PIECE, f"pieces of {step} bytes, this test expects {PIECE}"
            pieces += [(i * step, min((i + 1) * step, SIZE) - 1) for i, sha256 in enumerate(record["pieces"]) if sha256]
        return pieces

    def has_blob(self):
        return (self.folder / "blobs" / f"sha256-{self.server.sha256}").exists()

    def check(self):
        """Nothing in the store is other than it says; hashes each blob once for each time that it appears."""
        for path in (self.folder / "blobs").glob("sha256-*"):
            if path.suffix in (".part", ".json", ".tmp"):
                continue
            info = path.stat()
            key = (path.name, info.st_ino, info.st_mtime_ns, info.st_size)
            if key not in self.hashed:
                with path.open("rb") as file:
                    seen = hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else hashlib.sha256(file.read()).hexdigest()
                assert path.name == "sha256-" + seen == "sha256-" + self.server.sha256, f"a bad blob: {path.name} holds {seen}"
                self.hashed.add(key)
        for path in (self.folder / "models").glob("*.json"):
            files = json.loads(path.read_text())["files"]
            assert [file["sha256"] for file in files] == [self.server.sha256], f"a bad record: {path.name}"
            assert self.has_blob(), f"{path.name} names a blob that is not there"


def pull(home, server, kill_after):
    """One pull, killed after so many seconds. True when it was killed, False when it ended by itself."""
    good, is_complete = home.good_pieces(), home.has_blob()
    process = subprocess.Popen([WICK, "model", "pull", server.url], env=home.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        process.wait(kill_after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    output = process.communicate()[0].decode(errors="replace")
    assert process.returncode in (0, -signal.SIGKILL), f"wick ended with {process.returncode}: {output}"
    for request in server.new_requests():
        if request["status"] == 0:  # the kill came before the answer: what was asked for is in the header alone
            first, last = (request["range"] or f"bytes=0-{SIZE - 1}").removeprefix("bytes=").split("-")
            request.update({"status": 206 if request["range"] else 200, "from": int(first), "to": int(last)})
        assert not is_complete, f"the file was there already, yet it was asked for: {request}"
        assert not good or request["status"] == 206, f"pieces were good, yet all was asked for: {request}"
        for first, last in good:
            assert request["to"] < first or request["from"] > last, f"bytes {first}-{last} were good, yet fetched again: {request}"
    return process.returncode != 0


def timed_pull(home, server):
    """Seconds of a pull from nothing to the end; the store is empty again afterwards."""
    start = time.monotonic()
    assert not pull(home, server, None), "a pull without a kill was killed"
    seconds = time.monotonic() - start
    assert home.has_blob(), "a pull to the end brought no blob"
    removed = home.wick("rm", "model")
    assert removed.returncode == 0, removed.stdout
    return seconds


def main():
    server, rng = Server(), random.Random(3)
    folder = tempfile.mkdtemp(prefix="wick-kill-")
    home = Home(folder, server)
    try:
        whole = min(timed_pull(home, server) for _ in range(3))
        start, kills, rounds, resumed, most = time.monotonic(), 0, 0, 0, 0
        while kills < KILLS:
            is_killed = True
            while is_killed:
                had = len(home.good_pieces())
                missing = 1 - min(had * PIECE / SIZE, 1)  # the moments lie where there is work, and a little behind it
                is_killed = pull(home, server, rng.uniform(0, (missing + 0.3) * whole) if kills < KILLS else None)
                home.check()
                kills += is_killed
                resumed += had > 0
                most = max(most, had)
            for verb in ("verify", "rm"):
                done = home.wick(verb, "model")
                assert done.returncode == 0, done.stdout
            rounds += 1
        assert resumed > KILLS // 20 and most >= 2, f"only {resumed} pulls had pieces to resume from: the test shows nothing"
        leftovers = [path.name for path in (home.folder / "blobs").iterdir()]
        assert not leftovers, f"left over: {leftovers}"
        print(f"{kills} kills in {time.monotonic() - start:.0f} s, {rounds} downloads of {SIZE >> 20} MiB completed, {resumed} pulls "
              f"resumed from good pieces, no good piece asked for again, no bad blob; an undisturbed pull takes {whole:.2f} s")
    finally:
        server.close()
        shutil.rmtree(folder)


main()
