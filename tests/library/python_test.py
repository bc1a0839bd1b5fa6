#!/usr/bin/env python3
"""`pip install .` into a fresh environment, from a clean copy of what is tracked: the module's own tests pass there, its type hints
hold, and the README's fragment prints the answer."""
# labels: cli model slow
import functools
import json
import os
import pathlib
import shutil
import sys
import unittest

import common
from common import MODEL, ROOT

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
VENV = BUILD / "python-venv"
run = functools.partial(common.run, timeout=3000)


class Python(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(VENV, ignore_errors=True)
        run(sys.executable, "-m", "venv", VENV)
        # c++, because ccache tells compilers apart by name: what the release has built is taken from there.
        run(VENV / "bin/pip", "install", "--quiet", f"{ROOT}[test]",
            env={**os.environ, "CXX": "c++", "CMAKE_BUILD_PARALLEL_LEVEL": "2"})

    def test_its_own_tests_pass(self):
        run(VENV / "bin/python", "-m", "pytest", "-q", ROOT / "python/tests", cwd=BUILD,
            env={**os.environ, "WICK_TEST_MODEL": MODEL})

    # The objects that pip has built, linked once more with the provider that tests script.
    def test_a_remote_provider_through_the_module(self):
        folder, objects, support = BUILD / "python-scripted", ROOT / "build/python", ROOT / "tests/support"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ROOT / "python/wick", folder / "wick")
        run("c++", "-std=c++20", "-O1", "-fPIC", "-shared", f"-I{ROOT}/src", f"-I{ROOT}/include", f"-I{ROOT}/tests",
            objects / "CMakeFiles/wick_python.dir/python/module.cc.o", support / "scripted_provider.cc", support / "scripted_opener.cc",
            objects / "libwick.a", *(f"-l{name}" for name in ("crypto", "zip", "utf8proc")),
            "-o", folder / "wick/_wick.so")
        run(VENV / "bin/python", "-m", "pytest", "-q", ROOT / "tests/library/scripted", cwd=BUILD,
            env={**os.environ, "PYTHONPATH": str(folder)})

    def test_the_same_answers_as_in_cpp_and_c(self):
        folder = BUILD / "python-same-answers"
        folder.mkdir(exist_ok=True)
        env = {**os.environ, "WICK_SAME_ANSWERS": str(folder)}
        run(BUILD / "library_test", "--gtest_filter=LibrarySameAnswers.*", env=env)
        run(VENV / "bin/python", "-m", "pytest", "-q", ROOT / "tests/library/same_answers", cwd=BUILD, env=env)

    def test_type_hints_name_what_there_is(self):
        run(VENV / "bin/python", "-m", "mypy.stubtest", "wick", "--ignore-unused-allowlist", "--allowlist",
            ROOT / "python/tests/stubtest_allowlist", cwd=BUILD)

    def test_the_readmes_fragment_prints_the_answer(self):
        folder = BUILD / "python-readme"
        folder.mkdir(exist_ok=True)
        (folder / "model.gguf").unlink(missing_ok=True)
        (folder / "model.gguf").symlink_to(MODEL)
        self.assertEqual(run(VENV / "bin/python", "-c", common.fragment("python"), cwd=folder), "The capital of Japan is Tokyo.")

    def test_it_is_built_with_the_flags_of_the_release(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
        release = next(p for p in presets if p["name"] == "release")["cacheVariables"]
        text = (ROOT / "pyproject.toml").read_text()
        for name, value in release.items():
            self.assertIn(f'{name} = "{value}"', text)


if __name__ == "__main__":
    unittest.main()
