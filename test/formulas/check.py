#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Random formulas: of generate.py, each has the bits of its readable loops, and the value of float64 within tolerance;
of gradients.py, each has the gradients that differences have.

    check.py generate|gradients FIRST COUNT -- COMPILER...     TAP: one line a formula, those of seeds FIRST to FIRST + COUNT - 1

FIRST is a seed, or today+N: N plus a number that changes every day. UMBEL_DAY=20784 repeats the formulas of that day.
"""
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
from tap import Tap, split_command  # noqa: E402


def seed(word):
    base, plus, offset = word.partition("+")
    if base != "today" or not plus:
        return int(word)
    day = int(os.environ.get("UMBEL_DAY") or time.time() // 86400)
    return day * 1000 + int(offset)


def main():
    (made_by, first, count), compiler = split_command(sys.argv[1:])
    first, count = seed(first), int(count)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "formulas.cpp", pathlib.Path(folder) / "formulas"
        source.write_text(importlib.import_module(made_by).source(range(first, first + count)))
        compiled = subprocess.run([*compiler, "-I", HERE, source, "-o", program], capture_output=True, text=True)
        if compiled.returncode:
            tap.check(f"compiling those of seeds from {first} on", False, compiled.stderr[:8000])
            return tap.finish()
        ran = subprocess.run([program], capture_output=True, text=True)
    lines = ran.stdout.splitlines()
    for line in lines:
        passed, name = line.split(" - ", 1)
        tap.check(name, passed == "ok", line)
    tap.check("all of them ran", ran.returncode == 0 and len(lines) == count, ran.stderr[:8000])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
