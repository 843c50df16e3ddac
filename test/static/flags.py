#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What the headers say of flags that they cannot work with: C++17 is one error, -ffast-math is one warning.

    flags.py INCLUDE_DIR -- COMPILER
"""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402

# Each error after the first would be one of these.
PROGRAM = """#include <umbel/bare.hpp>
using namespace umbel;
tensor<float, axes::token<4>> x;
auto y = x | softmax<axes::token>;
"""
CXX_20 = "umbel: needs C++20, so compile with -std=c++20"
FAST_MATH = "umbel: -ffast-math loses NaN and equal bits; UMBEL_ALLOW_FAST_MATH silences this"


def compile_with(compiler, include_dir, flags):
    """(does it compile?, the lines that are errors or warnings)."""
    done = subprocess.run([*compiler, *flags, "-I", include_dir, "-fsyntax-only", "-x", "c++", "-"], input=PROGRAM,
                          capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if re.search(r"\b(error|warning): ", line)]
    return done.returncode == 0, lines


def main():
    (include_dir,), compiler = split_command(sys.argv[1:])
    tap = Tap()
    cases = [("-std=c++17", False, CXX_20), ("-std=c++14", False, CXX_20),
             ("-std=c++20 -ffast-math", True, FAST_MATH), ("-std=c++20 -Ofast", True, FAST_MATH),
             ("-std=c++20 -ffinite-math-only", True, FAST_MATH),
             ("-std=c++20 -ffast-math -DUMBEL_ALLOW_FAST_MATH", True, None), ("-std=c++20 -O3", True, None)]
    for flags, compiles, sentence in cases:
        done, lines = compile_with(compiler, include_dir, flags.split())
        said = len(lines) == 1 and sentence in lines[0] if sentence else not lines
        tap.check(f"{flags}: {sentence or 'nothing said'}", done == compiles and said, "\n".join(lines) or "nothing said")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
