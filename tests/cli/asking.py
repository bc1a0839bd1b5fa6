"""What tests of `wick ask` share: a home whose model says given lines, and a terminal with job control."""
import fcntl
import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import termios
import time

SECONDS = 30


def cmd(text):
    return json.dumps({"cmd": text})


class Home:
    """`program` is wick_scripted_program. The working directory is `work`; the home is `home`."""

    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), pathlib.Path(folder)
        self.home, self.work = self.folder / "home", self.folder / "work"
        self.config = self.home / ".config/wick"
        for one in (self.home, self.work, self.config):
            one.mkdir(parents=True)
        keep = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS") if name in os.environ}
        self.environment = {**keep, "HOME": str(self.home), "WICK_HOME": str(self.folder / "store"), "SHELL": "/bin/bash", "TERM": "xterm",
                            "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "WICK_LOCAL_MODEL_PATH": f"lines:{self.lines}"}
        self.says(cmd("ls"))

    @property
    def lines(self):
        return self.folder / "lines"

    def says(self, *texts):
        """What the model answers next, in turn; None never ends."""
        self.lines.write_text("".join(("hang" if text is None else json.dumps(text)) + "\n" for text in texts))
        self.asked_file.unlink(missing_ok=True)

    def loads(self):
        """The model never ends loading."""
        self.lines.write_text("load\n")
        self.asked_file.unlink(missing_ok=True)

    @property
    def asked_file(self):
        return pathlib.Path(f"{self.lines}.asked")

    def asked(self):
        return [json.loads(line) for line in self.asked_file.read_text().splitlines()] if self.asked_file.exists() else []

    def wick(self, *arguments, stdin=b"", environment=(), **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60, "cwd": self.work, **options}
        return subprocess.run([self.program, *map(str, arguments)], input=stdin, env={**self.environment, **dict(environment)}, **options)

    def ask(self, *arguments, **options):
        return self.wick("ask", "--shell", "bash", *arguments, **options)

    def terminal(self, *arguments, **options):
        return Terminal(self, "ask", "--shell", "bash", *arguments, **options)

    def is_running(self):
        """Whether a program of this home runs."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(process / "exe") == self.program and os.fsencode(self.home) in (process / "environ").read_bytes():
                    return True
            except OSError:
                pass  # it has ended, or is another user's
        return False

    def history(self):
        path = self.home / ".local/state/wick/history.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class Terminal:
    """A program on a controlling terminal of its own; what it writes is gathered, without carriage returns."""

    def __init__(self, home, *arguments, program=None, environment=(), stdout=None):
        self.end, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, b"\x28\x00\x8c\x00\x00\x00\x00\x00")  # 40 lines of 140

        def lead():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.run = subprocess.Popen([program or home.program, *map(str, arguments)], stdin=other, stdout=stdout or other, stderr=other,
                                    cwd=home.work, env={**home.environment, **dict(environment)}, preexec_fn=lead)
        os.close(other)
        os.set_blocking(self.end, False)
        self.raw = b""

    @property
    def seen(self):
        return self.raw.decode(errors="replace").replace("\r", "")

    def until(self, text, seconds=SECONDS, times=1):
        end = time.monotonic() + seconds
        while self.seen.count(text) < times:
            if not select.select([self.end], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"{text!r} did not come: {self.seen}")
            try:
                part = os.read(self.end, 65536)
            except OSError:
                part = b""
            if not part:
                raise AssertionError(f"{text!r} did not come before the end: {self.seen}")
            self.raw += part
        return self

    def type(self, keys):
        """Reads while it writes: a program that waits until its output is read takes no more keys."""
        rest = keys.encode()
        while rest:
            readable, writable, _ = select.select([self.end], [self.end], [], SECONDS)
            if readable:
                self.raw += os.read(self.end, 65536)
            elif writable:
                try:
                    rest = rest[os.write(self.end, rest):]
                except BlockingIOError:
                    pass  # looked at again
            else:
                raise AssertionError(f"the terminal takes no more keys: {self.seen}")
        return self

    def say(self, text):
        return self.type(text + "\n")

    def finish(self, seconds=SECONDS):
        end = time.monotonic() + seconds
        try:
            while select.select([self.end], [], [], max(0, end - time.monotonic()))[0] and (part := os.read(self.end, 65536)):
                self.raw += part
        except OSError:
            pass  # the other end is closed
        os.close(self.end)
        return self.run.wait(timeout=SECONDS)

    def interrupt(self):
        """Ctrl-C. Returns the time until the program is gone."""
        begin = time.monotonic()
        self.type("\x03")
        self.run.wait(timeout=SECONDS)
        return time.monotonic() - begin

    def kill(self):
        self.run.send_signal(signal.SIGKILL)
        self.finish()
