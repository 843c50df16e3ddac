#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the curves (curves.cpp) and writes docs/scaling.md, which pages.py draws as docs/scaling.svg."""
import datetime
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench" / "compile")]
import command_line  # noqa: E402
import pages  # noqa: E402
from compiler import Compiler  # noqa: E402
from progress import Progress  # noqa: E402

POINTS = sum(found.count(",") + 1 for found in
             re.findall(r"sizes<([\d, ]+)>\{\}", pathlib.Path(__file__).with_name("curves.cpp").read_text()))
HEADING = """# How cost grows

    tools/bench scaling    # measures on one core, draws, writes this page

![Time and memory against tokens, batch, heads and head_dim](scaling.svg)

The model in these tables is the best time that a core could reach: two vectors of multiply-adds a
cycle with queries padded to whole vectors, 3.2 cycles for a vector of exponentials, 0.75 for a
vector of scores that is loaded, stored and compared, and 90 cycles to transpose 32 x 32
(`bench/scaling/curves.cpp`). It doesn't count waiting for memory.

Umbel never stores the whole score matrix: keys come in blocks, and earlier sums are rescaled when a
block has a greater maximum. So scratch doesn't grow with the square of the sequence. A layer's
workspace holds queries, keys, values and context, and grows in proportion to the sequence. Both
sizes are constants of the type, so every byte count in these tables is `constexpr`."""


def measure(program):
    """{curve: [(size, us, model, scratch, scores)]}"""
    curves = {}
    with Progress("tools/bench scaling", POINTS) as progress, subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            curve, size, us, model, scratch, scores = line.split("\t")
            curves.setdefault(curve, []).append((int(size), float(us), float(model), int(scratch), int(scores)))
            progress.update(done=progress.done + 1, now=f"{curve} {size}")
    if child.returncode:
        sys.exit(f"tools/bench scaling: the program ended with {child.returncode}")
    return curves


def tables(curves):
    for curve, points in curves.items():
        unit = "tokens" if curve == "layer" else curve
        yield from ("", f"## {pages.CURVES[curve]}", "",
                    f"| {unit} | us | model us | measured / model | bytes of scratch | bytes of all scores |",
                    "|--:|--:|--:|--:|--:|--:|")
        for size, us, model, scratch, scores in points:
            yield f"| {size} | {us:.4g} | {model:.4g} | {us / model:.2f} | {scratch:,} | {scores:,} |"


def machine_name():
    found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return found[1].strip() if found else "an unnamed machine"


def main():
    parser = command_line.Parser("tools/bench scaling", __doc__)
    parser.add_argument("program", help=command_line.HIDDEN)
    parser.add_argument("--machine", default=machine_name(), metavar="NAME", help="what the page calls this machine")
    options = parser.parse()
    curves = measure(options.program)
    conditions = f"{datetime.date.today()}, {options.machine}, one core, {Compiler(os.environ.get('CXX', 'g++')).full_name} -O3 -march=native, medians."
    lines = list(tables(curves))
    pages.PAGE.write_text("\n".join([HEADING, "", conditions, *lines, ""]))
    pages.write()
    print("\n".join(lines))
    print("\nwritten: docs/scaling.md, docs/scaling.svg")


if __name__ == "__main__":
    main()
