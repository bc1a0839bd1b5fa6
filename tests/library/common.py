"""What the tests of the library share: where things lie, programs that must succeed, the README's fragments."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def default_model():
    path = os.environ.get("WICK_TEST_MODEL", str(pathlib.Path.home() / ".cache/wick-test/SmolLM2-135M-Instruct.Q4_1.gguf"))
    if not os.path.exists(path):
        sys.exit(f"this test needs {path}, which is not there: run tools/fetch_test_data")
    return path


MODEL = default_model()


def run(*command, timeout=300, **options):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=timeout, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}\n{done.stdout}")
    return done.stdout


def fragment(language):
    section = re.search(r"^## As a library\n(.*?)^## ", (ROOT / "README.md").read_text(), re.S | re.M)[1]
    return re.search(rf"^```{language}\n(.*?)^```", section, re.S | re.M)[1]
