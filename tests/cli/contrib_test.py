#!/usr/bin/env python3
"""contrib/: the dashboard asks for metrics that the server has, and the units of systemd start what can be started."""
# labels: cli
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tiny
from serving import TALK, Server, close_at_end

WICK = sys.argv.pop(1)
CONTRIB = pathlib.Path(__file__).resolve().parents[2] / "contrib"


class Contrib(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = tiny.Home(WICK, folder.name)

    def test_the_dashboard_asks_for_metrics_that_there_are(self):
        server = close_at_end(self, Server(self.home))
        server.json("/v1/chat/completions", {"messages": TALK, "max_tokens": 2})
        there = set(re.findall(r"^(wick_\w+)", server.ask("/metrics")[1], re.M))
        board = json.loads((CONTRIB / "grafana.json").read_text())
        asked = {name for panel in board["panels"] for target in panel["targets"] for name in re.findall(r"\bwick_\w+", target["expr"])}
        self.assertGreater(len(asked), 20)
        self.assertEqual(asked - there, set())
        variables = {one["name"] for one in board["templating"]["list"]}
        used = set(re.findall(r"\$\{?(\w+)", json.dumps(board))) - {"__rate_interval"}
        self.assertEqual(used, variables)
        places = [panel["gridPos"] for panel in board["panels"]]
        for n, a in enumerate(places):
            self.assertLessEqual(a["x"] + a["w"], 24)
            for b in places[:n]:
                apart = a["x"] >= b["x"] + b["w"] or b["x"] >= a["x"] + a["w"] or a["y"] >= b["y"] + b["h"] or b["y"] >= a["y"] + a["h"]
                self.assertTrue(apart, "two panels lie over each other")

    def test_the_units_are_sound(self):
        unit = (CONTRIB / "wick.service").read_text()
        words = re.search(r"^ExecStart=/usr/local/bin/wick (.*)$", unit, re.M)[1].split()
        done = self.home.wick(*words, "--help")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ExecReload=/bin/kill -HUP $MAINPID", unit)
        self.assertIn("Accept=no", (CONTRIB / "wick.socket").read_text())
        if shutil.which("systemd-analyze"):
            unit = unit.replace("/usr/local/bin/wick", str(self.home.program))
            (self.home.folder / "wick.service").write_text(unit)
            shutil.copy(CONTRIB / "wick.socket", self.home.folder)
            for name in ("wick.service", "wick.socket"):
                done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(self.home.folder / name)], capture_output=True, text=True,
                                      check=False)
                self.assertEqual([line for line in done.stderr.splitlines() if "wick" in line], [])


if __name__ == "__main__":
    unittest.main(verbosity=0)
