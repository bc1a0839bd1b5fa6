#!/usr/bin/env python3
"""`cmake --install` into a fresh prefix; projects outside the tree find it there, build and run."""
# labels: cli model
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

from common import MODEL, ROOT, run

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
TOKYO = "The capital of Japan is Tokyo.\n"
MAX_PROGRAM_BYTES = 12_000_000


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix, "--strip")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_a_cmake_project_in_cpp_and_c_finds_builds_and_runs(self):
        source = self.folder / "consumer"
        shutil.copytree(ROOT / "tests/library/consumer", source)
        run("cmake", "-S", source, "-B", source / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", source / "build", "-j", "1")
        for name in ("in_cpp", "in_cpp_static", "in_c"):
            with self.subTest(name):
                self.assertEqual(run(source / "build" / name, MODEL), TOKYO)

    def test_pkg_config_is_enough_for_a_compiler(self):
        env = {**os.environ, "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", "wick", env=env).split()
        self.assertEqual(run("pkg-config", "--modversion", "wick", env=env).strip(), "0.1.0")
        program = self.folder / "in_c"
        run("cc", "-std=c99", ROOT / "tests/library/consumer/in_c.c", "-o", program, *flags)
        self.assertEqual(run(program, MODEL, env={**os.environ, "LD_LIBRARY_PATH": str(self.prefix / "lib")}), TOKYO)

    def test_the_installed_program_runs_and_is_small(self):
        wick = self.prefix / "bin/wick"
        self.assertLessEqual(wick.stat().st_size, MAX_PROGRAM_BYTES)
        answer = run(wick, "chat", MODEL, "-p", "What is the capital of Japan?", "--temp", "0", env={
            **os.environ, "WICK_HOME": str(self.folder / "store")})
        self.assertEqual(answer, TOKYO)

    def test_the_shared_library_exports_our_names_only(self):
        lines = run("nm", "-D", "--defined-only", "-C", self.prefix / "lib/libwick.so").splitlines()
        strong = [line.split(maxsplit=2)[2] for line in lines if line.split()[1] in "TDB"]
        foreign = [name for name in strong if not name.startswith(("wick::", "wick_"))]
        self.assertEqual(foreign, [])
        inner = [name for name in strong if name.startswith(("wick::Engine", "wick::Decoder", "wick::LocalModel"))]
        self.assertEqual(inner, [])

    def test_public_headers_stand_alone(self):
        for header in sorted((self.prefix / "include/wick").iterdir()):
            with self.subTest(header.name):
                language = ["-x", "c++", "-std=c++20"]
                run("g++", *language, "-fsyntax-only", "-Wall", "-Wextra", f"-I{self.prefix}/include", header)


if __name__ == "__main__":
    unittest.main()
