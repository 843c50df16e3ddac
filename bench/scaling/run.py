#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the curves (curves.cpp) and writes docs/scaling.svg and docs/scaling.md."""
import datetime
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench" / "compile")]
import command_line  # noqa: E402
from compiler import Compiler  # noqa: E402
from progress import Progress  # noqa: E402

DOCS = ROOT / "docs"
POINTS = sum(found.count(",") + 1 for found in
             re.findall(r"sizes<([\d, ]+)>\{\}", pathlib.Path(__file__).with_name("curves.cpp").read_text()))
CURVES = {
    "tokens": "Attention, 4 heads of 32, against the length of the sequence",
    "batch": "Attention, 4 heads of 32, 64 tokens, against the batch",
    "heads": "Attention, heads of 32, 64 tokens, against the heads",
    "head_dim": "Attention, 4 heads, 128 tokens, against the width of a head",
    "layer": "The whole layer, hidden 256, 8 heads, against the length of the sequence",
}
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


def draw(curves, path):
    import matplotlib  # after the command line: --help needs none
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"svg.hashsalt": "umbel", "svg.fonttype": "none", "font.size": 9})
    figure, places = plt.subplots(2, 3, figsize=(12, 7), constrained_layout=True)
    for place, (curve, points) in zip(places.flat, curves.items()):
        size, us, model, _, _ = zip(*points)
        place.plot(size, us, "o-", label="measured")
        place.plot(size, model, "--", label="model")
        label(place, curve if curve != "layer" else "tokens", "us",
              CURVES[curve].rsplit(", against", 1)[0])
    memory = places.flat[-1]
    for curve, name in (("tokens", "scratch of attention"), ("layer", "workspace of the layer")):
        size, _, _, scratch, scores = zip(*curves[curve])
        memory.plot(size, scratch, "o-", label=name)
    memory.plot(size, scores, ":", label="all scores of the layer, never held")
    label(memory, "tokens", "bytes", "Memory")
    figure.savefig(path, metadata={"Date": None})
    path.write_text(re.sub(r"[ \t]+$", "", path.read_text(), flags=re.M))


def label(place, across, up, title):
    place.set(xscale="log", yscale="log", xlabel=across, ylabel=up, title=title)
    place.set_xscale("log", base=2)
    place.grid(alpha=0.3)
    place.legend()


def tables(curves):
    for curve, points in curves.items():
        unit = "tokens" if curve == "layer" else curve
        yield from ("", f"## {CURVES[curve]}", "",
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
    draw(curves, DOCS / "scaling.svg")
    (DOCS / "scaling.md").write_text("\n".join([HEADING, "", conditions, *lines, ""]))
    print("\n".join(lines))
    print("\nwritten: docs/scaling.md, docs/scaling.svg")


if __name__ == "__main__":
    main()
