#!/usr/bin/env python3
"""A rule `private` sends nothing: wick in a network namespace whose only way out leads to a recording sink.

  privacy.py WICK        as root; needs iproute2

The same request three times: with the rule (0 packets arrive at the sink), without it (more than 0), and with the rule in a namespace without
any route (it is answered all the same).
"""
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import tiny  # noqa: E402

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
SPACE, LINK, PEER, SINK = "wick-privacy", "wick-out", "wick-in", "10.77.13.1"
RULES = """[[provider]]
name = "cloud"
kind = "openai-compatible"
endpoint = "http://{sink}:4242/v1"
models = ["m"]
{private}[[route]]
to = ["cloud/m", "local/{model}"]
"""
PRIVATE = '[[route]]\nprivate = true\nwhen = {{ contains = ["password"] }}\nto = ["local/{model}"]\n'


def ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, capture_output=True, text=True)


class Sink:
    """Counts the IP packets that leave the namespace."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.bind((PEER, 0))
        self.socket.settimeout(0.3)
        self.count()

    def count(self):
        n = 0
        while True:
            try:
                kind = self.socket.recv(65536)[12:14]
            except TimeoutError:
                return n
            n += kind == b"\x08\x00"  # IPv4; ARP and IPv6's own discovery are not wick's


def ask(home, folder, private, model):
    config = pathlib.Path(folder) / "wick/config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(RULES.format(sink=SINK, model=model, private=PRIVATE.format(model=model) if private else ""))
    began = time.monotonic()
    done = subprocess.run(["ip", "netns", "exec", SPACE, PROGRAM, "run", "auto", "my password is x, say hello", "-n", "4", "--temp", "0"], env=home.environment,
                          capture_output=True, text=True, timeout=120)
    print(f"  exit {done.returncode} after {time.monotonic() - began:.1f} s, {len(done.stdout)} bytes {done.stderr.strip()[:120]}")
    return done


def main():
    ip("netns", "del", SPACE, check=False)
    ip("link", "del", PEER, check=False)
    ip("netns", "add", SPACE)
    try:
        ip("link", "add", PEER, "type", "veth", "peer", "name", LINK, "netns", SPACE)
        ip("addr", "add", f"{SINK}/24", "dev", PEER)
        ip("link", "set", PEER, "up")
        inside = ("-n", SPACE)
        ip(*inside, "addr", "add", "10.77.13.2/24", "dev", LINK)
        ip(*inside, "link", "set", LINK, "up")
        ip(*inside, "link", "set", "lo", "up")
        ip(*inside, "route", "add", "default", "via", SINK)
        with tempfile.TemporaryDirectory() as folder:
            home = tiny.Home(PROGRAM, folder, context=512)
            home.environment.update(XDG_STATE_HOME=folder)
            sink = Sink()
            print("with the rule")
            kept = ask(home, folder, True, home.model)
            n_kept = sink.count()
            print("without it")
            ask(home, folder, False, home.model)
            n_sent = sink.count()
            ip(*inside, "link", "del", LINK)
            print("with the rule, without a route")
            alone = ask(home, folder, True, home.model)
            print(f"packets: {n_kept} with the rule, {n_sent} without it")
            assert kept.returncode == 0 and alone.returncode == 0 and alone.stdout == kept.stdout
            assert n_kept == 0 and n_sent > 0
    finally:
        ip("netns", "del", SPACE, check=False)
        ip("link", "del", PEER, check=False)


main()
