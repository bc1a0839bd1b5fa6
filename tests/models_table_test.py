#!/usr/bin/env python3
"""README.md's table of architectures is what the registry and the parity results say."""
# labels: unit
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.exit(subprocess.run([sys.executable, ROOT / "tools/models_table.py", "--check"]).returncode)
