#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""An example must print what a framework computed: the same words, and numbers within 1e-5 (tools/golden.py).

    printed.py EXPECTED PROGRAM
"""
import pathlib
import re
import subprocess
import sys

NUMBER = re.compile(r"-?\d+\.\d+")
TOLERANCE = 1e-5


def main():
    expected = pathlib.Path(sys.argv[1]).read_text()
    run = subprocess.run([sys.argv[2]], stdout=subprocess.PIPE, text=True)
    same_words = NUMBER.sub("#", run.stdout) == NUMBER.sub("#", expected)
    pairs = zip(NUMBER.findall(run.stdout), NUMBER.findall(expected))
    near = all(abs(float(a) - float(b)) <= TOLERANCE for a, b in pairs)
    if run.returncode == 0 and same_words and near and expected:
        return 0
    print(f"exit code {run.returncode}; printed\n{run.stdout}\nwanted\n{expected}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
