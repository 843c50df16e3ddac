#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every legal plan of many shapes, timed (sweep.cpp), and how far the planner's is from the best.

The shapes of the benchmarks, and random ones from a fixed seed. A shape that seems to be further than 3 % from its
best is timed again, up to twice: each plan keeps its least time."""
import datetime
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import command_line  # noqa: E402
from progress import Progress  # noqa: E402

PAGE = ROOT / "docs" / "plans.md"
LINEAR = [(16, 32, 32), (4, 100, 100), (32, 64, 64), (64, 64, 64), (32, 128, 128), (128, 256, 256), (128, 384, 384),
          (197, 192, 192), (1, 64, 64), (1, 256, 256), (1, 384, 384), (1, 1024, 1024)]
ATTEND = [(4, 16, 16, 8), (8, 32, 32, 8), (4, 64, 64, 16), (8, 128, 128, 32), (12, 128, 128, 32), (3, 197, 197, 64),
          (8, 512, 512, 64)]
BOUND = 0.03
HEADING = """# How good plans are

    tools/bench plan            # compiles and times every legal plan of each shape, ten minutes
    tools/bench plan --write    # the same, into this page

The planner (`include/umbel/plan/plan.hpp`) chooses by rule. This benchmark compiles each shape with
every plan that fits the registers and times them all side by side. The table shows how much slower
the chosen plan is than the fastest. The fastest of so many is partly luck, so one or two percent
mean nothing. The estimates come from `include/umbel/plan/cost.hpp`, at the clock of the run. Shapes
are rows x inputs x outputs for `linear`, and heads, queries, keys, head_dim for `attend`.

All plans of a shape use the same block of memory, because the place of the weights in the caches
changes a one-row call by up to a fifth. "tiles 2" means that a tile covers two vectors of a panel.
The rules were fitted on an EPYC of Zen 5; on another core another plan may be best."""
EXAMPLE = """#include <umbel/inspect/describe.hpp>
#include <umbel/umbel.hpp>
#include <cstdio>
using namespace umbel;
using namespace umbel::axes;
using attention = multi_head_attention<float, hidden<64>, heads<4>, bias<true>>;
using encoder = encoder_layer<float, hidden<64>, heads<4>, intermediate<256>, norm_first<true>, activation<gelu_exact>, bias<true>>;
int main(int count, char**) { std::fputs(count == 1 ? describe<attention, token<64>>() : describe<encoder, token<64>>(), stdout); }
"""


def described():
    """The pages of a layer and of a block, as a person gets them."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "page"
        subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-march=native", "-w", "-I", ROOT / "include", "-x", "c++",
                        "-", "-o", program], input=EXAMPLE, text=True, check=True)
        of_layer, of_block = (
            [f"    {line}".rstrip() for line in subprocess.run([program, *words], stdout=subprocess.PIPE, text=True,
                                                               check=True).stdout.splitlines()]
            for words in ([], ["block"]))
    return ["", "## A plan to read", "", "`describe<attention, token<64>>()` for `multi_head_attention<float, hidden<64>, heads<4>, bias<true>>`",
            "(`umbel/inspect/describe.hpp`):", "", *of_layer, "",
            "For a block, the page lists each part and norm by name, in the order of computation. This is",
            "`describe<encoder, token<64>>()` for `encoder_layer<float, hidden<64>, heads<4>, intermediate<256>,",
            "norm_first<true>, activation<gelu_exact>, bias<true>>`. A decoder layer also needs the positions of",
            "its memory: `describe<decoder, token<64>, key<48>>()`. A `layer_stack` has the page of one of its",
            "layers. The estimate leaves out norms, activations and sums.", "", *of_block]


def shapes(count):
    """The benchmarks' and `count` random ones, three quarters of them linear."""
    numbers = random.Random(5)

    def size(low, high):
        return round(low * (high / low) ** numbers.random())

    linear = list(LINEAR)
    attend = list(ATTEND)
    for i in range(count):
        if i % 4 == 3:
            attend.append((4, size(2, 600), size(2, 600), size(4, 96)))
        else:
            linear.append((size(1, 200), size(8, 512), size(8, 512)))
    return [("linear", s) for s in linear] + [("attend", s) for s in attend]


def compiled(kind, sizes, folder):
    program = pathlib.Path(folder) / "sweep"
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O3", "-march=native", "-w", "-I", ROOT / "include",
                    f"-DUMBEL_{kind.upper()}={','.join(map(str, sizes))}", ROOT / "bench" / "plan" / "sweep.cpp",
                    "-o", program], check=True)
    return program


def timed(program):
    """{plan: (us, us by the estimate, chosen)}"""
    rows = (line.split("\t") for line in
            subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())
    return {name: (float(us), float(estimate), chosen == "1") for us, estimate, chosen, name in rows}


def sweep(kind, sizes):
    """The chosen plan and the best, (us, estimate, name) each, and how many there were."""
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(kind, sizes, folder)
        least = {}
        for _ in range(3):
            for name, row in timed(program).items():
                least[name] = min(row, least.get(name, row))
            (chosen,) = [(us, estimate, name) for name, (us, estimate, mine) in least.items() if mine]
            best = min((us, estimate, name) for name, (us, estimate, _) in least.items())
            if chosen[0] <= best[0] * (1 + BOUND):
                break
        return chosen, best, len(least)


def arguments():
    parser = command_line.Parser("tools/bench plan", __doc__)
    parser.add_argument("--only", choices=("linear", "attend"), default="")
    parser.add_argument("--random", type=int, default=50, metavar="N", help="how many random shapes")
    parser.add_argument("--machine", default="AVX-512, g++", metavar="NAME", help="what the page calls this machine")
    parser.add_argument("--write", action="store_true", help="into docs/plans.md")
    return parser.parse(lambda options: "--random is 0 or more" if options.random < 0 else None,
                        lambda options: "--write wants all shapes" if options.write and options.only else None)


def main():
    options = arguments()
    table = ["| shape | plans | chosen | us | estimate | fastest | us | slower by |",
             "|---|--:|---|--:|--:|---|--:|--:|"]
    print(*table, sep="\n", flush=True)
    slower = []
    all_shapes = [(kind, sizes) for kind, sizes in shapes(options.random) if kind.startswith(options.only)]
    with Progress("tools/bench plan", len(all_shapes)) as progress:
        for kind, sizes in all_shapes:
            text = f"{kind} " + ("x" if kind == "linear" else ",").join(map(str, sizes))
            progress.step(text)
            chosen, best, count = sweep(kind, sizes)
            slower.append(chosen[0] / best[0] - 1)
            fastest = "the same" if best[2] == chosen[2] else best[2]
            table.append(f"| {text} | {count} | {chosen[2]} | {chosen[0]:.3g} | {chosen[1]:.3g} | {fastest} | {best[0]:.3g} "
                         f"| {100 * slower[-1]:.1f} % |")
            progress.say(table[-1])
    beyond = sum(x > BOUND for x in slower)
    summary = (f"{len(slower)} shapes: {100 * sum(slower) / len(slower):.1f} % slower than the fastest on average, "
               f"{100 * max(slower):.1f} % at worst, {beyond} beyond {100 * BOUND:.0f} %.")
    print("\n" + summary)
    if options.write:
        day = datetime.date.today().isoformat()
        PAGE.write_text("\n".join([HEADING, "", textwrap.fill(f"{day}, {options.machine}. {summary}", 100, break_on_hyphens=False), "", *table, *described()]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
