#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A mistake after each header that users include: where does the message come when that header is their first?

    included_first.py INCLUDE_DIR -- COMPILER     TAP, one line a header

Each level of inclusion is a line before the message, which has to be in the first three (layering.py --lists).
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import layering  # noqa: E402
from tap import Tap, split_command  # noqa: E402

MISTAKES = """
#include <umbel/umbel.hpp>
using namespace umbel;
using namespace umbel::axes;
inline const tensor<float, token<9>, hidden<100>> x{};
constexpr formula sum_of = [](auto a, auto b) { return a + b; };
auto in_view = split<hidden, heads<7>, head_dim>(x);
auto computed = softmax<key>(x);
auto contracted = contract<hidden>(x, tensor<float, hidden<80>>{});
auto added = x + tensor<float, hidden<80>>{};
auto traced = sum_of(x, tensor<float, hidden<80>>{});
"""
SENTENCE = re.compile(r"error:.*shape_error<|umbel: (?!shapes do not fit)")
INCLUDED = re.compile(r"In file included from| +from ")


def levels(lines):
    """The most lines about inclusion in a row."""
    most = now = 0
    for line in lines:
        now = now + 1 if INCLUDED.match(line) else 0
        most = max(most, now)
    return most


def main():
    arguments, command = split_command(sys.argv[1:])
    root = pathlib.Path(arguments[0]).resolve()
    tap = Tap(seconds=120)
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "mistakes.cpp"
        for header in layering.public_headers(root):
            if header == "umbel/mpi.hpp":  # whose users have MPI, which this test doesn't need
                continue
            source.write_text(f"#include <{header}>\n{MISTAKES}")
            run = subprocess.run([*command, "-I", str(root), "-fsyntax-only", str(source)], capture_output=True, text=True,
                                 stdin=subprocess.DEVNULL)
            lines = run.stderr.splitlines()
            first = next((n for n, line in enumerate(lines, 1) if SENTENCE.search(line)), None)
            tap.check(f"{header}: {run.stderr.count(' error: ')} messages", first is not None and first <= 3 and levels(lines) <= 2,
                      "\n".join(lines[:12]))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
