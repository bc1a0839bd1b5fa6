#!/usr/bin/env python3
"""Ctrl-C ends a chat template that still runs, in an answer and in a prompt that is only shown; and logits."""
# labels: cli
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import tiny

WICK = sys.argv.pop(1)
# Work without an end. What it may take grows with the input: 60 MB keep it busy for more than a second.
ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
LONG = 60_000_000
SECONDS = 2.5  # generous: on a machine with nothing else to do it takes 20 ms

# Ctrl-C at the worst moment: the prompt is shown, and the call that waits for a key is not yet made.
EARLY = r"""
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
static int is_told;
static void tell(int fd) {
  struct sigaction now;
  if (fd != 0 || is_told || sigaction(SIGINT, 0, &now) != 0 || now.sa_handler == SIG_DFL) return;
  is_told = 1;
  raise(SIGINT);
}
ssize_t read(int fd, void* to, size_t n) {
  tell(fd);
  return syscall(SYS_read, fd, to, n);
}
int poll(struct pollfd* all, nfds_t n, int ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
  if (n > 0) tell(all[0].fd);
  return ppoll(all, n, ms < 0 ? 0 : &time, 0);
}
"""


def wait_for_handler(process):
    """Until the program takes SIGINT itself, which it does right before it renders."""
    status = pathlib.Path(f"/proc/{process.pid}/status")
    for _ in range(6000):
        caught = re.search(r"SigCgt:\s*(\w+)", status.read_text())
        if caught and int(caught[1], 16) >> (signal.SIGINT - 1) & 1:
            return
        time.sleep(0.005)
    raise AssertionError("the program never took SIGINT")


class Interrupt(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = tiny.Home(WICK, folder.name, template=ENDLESS)

    def interrupted(self, *arguments, stdin):
        file = self.home.folder / "input"
        file.write_text(stdin)
        with open(file, "rb") as data:
            process = subprocess.Popen([self.home.program, *map(str, arguments)], stdin=data, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, cwd=self.home.folder, env=self.home.environment)
        wait_for_handler(process)
        time.sleep(0.05)
        self.assertIsNone(process.poll(), "the render ended before the signal came")
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        print(f"{arguments[0]}: {(time.monotonic() - start) * 1000:.0f} ms", file=sys.stderr)
        self.assertLess(time.monotonic() - start, SECONDS)
        return process.returncode

    def test_one_answer(self):
        self.assertEqual(self.interrupted("chat", self.home.model, stdin="x" * LONG), 130)

    def test_logits_leave_no_half_file(self):
        before = sorted(self.home.folder.iterdir())
        arguments = ["logits", "-m", self.home.model, "--ids", ",".join(["1"] * 40000), "--chunk", "1", "-o", "o.npy"]
        self.assertEqual(self.interrupted(*arguments, stdin=""), 130)
        self.assertEqual(sorted(self.home.folder.iterdir()), sorted([*before, self.home.folder / "input"]))

    def test_a_prompt_that_is_shown(self):
        messages = json.dumps([{"role": "user", "content": "x" * LONG}])
        self.assertEqual(self.interrupted("template", "-m", self.home.model, stdin=messages), 130)

    def test_a_prompt_whose_key_is_not_yet_waited_for(self):
        source, library = self.home.folder / "early.c", self.home.folder / "early.so"
        source.write_text(EARLY)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        self.home.environment |= {"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"}
        terminal = tiny.Terminal(self.home, "chat", self.home.model)
        terminal.until(b"> ", times=2)  # the first was interrupted
        terminal.say("/quit")
        self.assertEqual(terminal.finish(), 0)


if __name__ == "__main__":
    unittest.main()
