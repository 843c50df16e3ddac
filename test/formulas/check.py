#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Random formulas (generate.py): each has the bits of its readable loops, and the value of float64 within tolerance.

    check.py FIRST COUNT -- COMPILER...     TAP: one line a formula, those of seeds FIRST to FIRST + COUNT - 1
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import generate  # noqa: E402
from tap import Tap, split_command  # noqa: E402


def main():
    (first, count), compiler = split_command(sys.argv[1:])
    first, count = int(first), int(count)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "formulas.cpp", pathlib.Path(folder) / "formulas"
        source.write_text(generate.source(range(first, first + count)))
        compiled = subprocess.run([*compiler, "-I", HERE, source, "-o", program], capture_output=True, text=True)
        if compiled.returncode:
            tap.check("compiling", False, compiled.stderr[:8000])
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
