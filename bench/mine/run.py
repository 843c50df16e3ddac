#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compiles one layer or block of Umbel, or a file with `void run()`, runs it on one core, and says what it costs:
docs/bench.md explains each line.

    tools/bench mine 'multi_head_attention<float, hidden<48>, heads<6>>' 'token<20>'
    tools/bench mine 'multi_head_attention<float, hidden<48>, heads<6>>' 'query<4>' 'key<6>' --mask causal_bottom_right
    tools/bench mine 'linear<float, hidden<64>, classes<10>>' 'batch<8>'
    tools/bench mine mine.cpp --march x86-64-v3

CXX is the compiler (g++).
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import peers
import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "bench"), str(ROOT / "bench/compile"), str(ROOT / "tools")]
import bars  # noqa: E402
import command_line  # noqa: E402
from progress import Progress  # noqa: E402
from compiler import Compiler, Refused, text_bytes  # noqa: E402

LINES = 12  # of a compiler's output


def flags(march):
    return ["-O3", *([] if march == "none" else [f"-march={march}"]), "-Wno-psabi"]


def complaint(refusal, is_file):
    """What a compiler said, without the command. Of a file, as it is; of a layer, Umbel's sentence where g++ has one,
    else the first error."""
    said = str(refusal).split("\n", 1)[1]
    if is_file:
        return "\n".join(said.rstrip().splitlines()[:LINES])
    if sentence := re.search(r'\{"(umbel: (?:[^"\\]|\\.)*)"', said):
        return sentence[1]
    lines = re.sub(r"^\S*/(?=(?:mine\.hpp|call\.cpp|get\.cpp):)", "", said.rstrip(), flags=re.M).splitlines()
    errors = [at for at, line in enumerate(lines) if "error:" in line] or [0]
    return "\n".join(lines[errors[0]:(errors + [len(lines)])[1]][:LINES])


def build(folder, layer, axes, mask, compiler, arguments):
    """(the program, processor seconds that compiling the call took, its bytes of code)"""
    if layer.endswith(".cpp"):
        source = pathlib.Path(layer).resolve()
        if not source.is_file():
            raise program.Mistake(f"{layer}: there is no such file")
        if axes or mask:
            raise program.Mistake(f"{layer}: a file has its own axes and masks")
        files = {"get.cpp": program.GET_OF_FILE}
    else:
        source, files = folder / "call.cpp", program.program(layer, axes, mask)
    for name, text in files.items():
        (folder / name).write_text(text)
    seconds, _ = compiler.cost(source, folder / "call.o", arguments)
    size = text_bytes(folder / "call.o")
    here = ROOT / "bench/mine"
    parts = [folder / "get.cpp", here / "measure.cpp", folder / "call.o"]
    try:
        compiler.run(*arguments, f"-I{here}", *map(str, parts), "-o", str(folder / "mine"))
    except Refused as refusal:
        if "undefined reference to `run()'" in str(refusal):
            raise program.Mistake(f"{layer}: it has no function `void run()`, which is what would be timed") from None
        if "multiple definition of `main'" in str(refusal):
            raise program.Mistake(f"{layer}: it has a function main; `void run()` alone is wanted") from None
        raise
    return folder / "mine", seconds, size


def measure(made, once):
    """{name: value} of the lines that measure.cpp prints; 'plan' is a page."""
    run = subprocess.run([made, *(["--once"] if once else [])], stdout=subprocess.PIPE, text=True)
    if run.returncode < 0:
        raise program.Mistake(f"the program was ended by {signal.Signals(-run.returncode).name}")
    if run.returncode:
        raise program.Mistake(f"the program ended with {run.returncode}")
    lines, _, plan = run.stdout.partition("plan\t\n")
    # What is timed may print, too.
    found = dict(re.findall(r"^(layer|[a-z]+(?=\t[-+.e0-9]+$))\t(.*)$", lines, flags=re.M))
    if "warm" not in found:
        raise program.Mistake("the program ended before its time was taken: run() has to return")
    return {**{name: value if name == "layer" else float(value) for name, value in found.items()}, "plan": plan}


def figure(us):
    return f"{us:.3g} us" if us < 1000 else f"{us:,.0f} us"


def table(found, seconds, size, once):
    percent = f"{found['percent']:.0f} % of the FMA peak, {found['peak']:.0f} GFLOP/s" if "percent" in found else ""
    yield "warm", figure(found["warm"]), percent
    yield ("p99.9", figure(found["slowest"]), f"of {found['calls']:,.0f} calls, by the wall clock; the system took the "
           f"core away {found['preempted']:.0f} times")
    if "inputs" in found:
        yield "cold", figure(found["cold"]), "weights, arguments, result and scratch out of the caches"
        yield "", figure(found["read"]), f"to read the {found['inputs']:,.0f} bytes of weights and arguments once, cold"
    else:
        yield "cold", figure(found["cold"]), "everything out of the caches"
    if size is not None:
        yield "code", f"{size:,} bytes", ""
    if "workspace" in found:
        yield "workspace", f"{found['workspace']:,.0f} bytes", ""
    yield "compiled in", f"{seconds:.1f} s", "of processor time"
    if once:
        yield "", "", "--once: no figure means anything"


def draw(path, title, note, found, others):
    rows = [(name, found[name], figure(found[name]), True) for name in ("warm", "cold")]
    rows += [(name, us, f"{figure(us)}, {us / found['warm']:.2g} times", False) for name, us, _ in others]
    bars.write(path, bars.Panel(title, note, rows))


def pin():
    """The last core that this process may use: the first one serves the interrupts."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def arguments():
    parser = command_line.Parser("tools/bench mine", __doc__)
    parser.add_argument("layer", metavar="LAYER", help="or FILE.cpp")
    parser.add_argument("axes", nargs="*", metavar="AXIS")
    parser.add_argument("--mask")
    parser.add_argument("--march", metavar="X", default="native", help="none: what the compiler takes by itself")
    parser.add_argument("--svg", type=pathlib.Path, default=ROOT / "results/mine.svg", metavar="FILE", help="results/mine.svg")
    parser.add_argument("--no-peers", action="store_true", help="without the same layer by others")
    parser.add_argument("--once", action="store_true", help="one call of each, for a test")
    return parser.parse(intermixed=True)


def main(options):
    is_file = options.layer.endswith(".cpp")
    name = os.environ.get("CXX", "g++")
    try:
        compiler = Compiler(name)
    except (OSError, subprocess.CalledProcessError):
        raise program.Mistake(f"CXX={name} is not a compiler that runs here") from None
    with tempfile.TemporaryDirectory() as folder, Progress("tools/bench mine", 2) as progress:
        progress.step("compiling")
        made, seconds, size = build(pathlib.Path(folder), options.layer, options.axes, options.mask, compiler,
                                    flags(options.march))
        allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
        pin()
        progress.step("measuring")
        found = measure(made, options.once)
    name = pathlib.Path(options.layer).name if is_file else options.layer
    title = " ".join([name, *options.axes, *([options.mask] if options.mask else [])])
    note = f"{compiler.name} {' '.join(flags(options.march)[:-1])}, one core, {peers.race.machine_name()}"
    print(f"{title}\n{note}\n")
    for name, value, remark in table(found, seconds, size, options.once):
        print(f"  {name:12}{value:>14}   {remark}".rstrip())
    others = []
    if not (options.no_peers or options.once or is_file):
        if allowed:
            os.sched_setaffinity(0, allowed)
        others = list(peers.report(found, options.mask, options.march, pin))
    if found["plan"]:
        print(f"\n{found['plan'].rstrip()}")
    try:
        draw(options.svg, title, note, found, others)
    except OSError as problem:
        raise program.Mistake(f"{options.svg}: {problem.strerror}") from None
    print(f"\npicture: {os.path.relpath(options.svg)}")


if __name__ == "__main__":
    typed = arguments()
    try:
        main(typed)
    except program.Mistake as mistake:
        sys.exit(f"tools/bench mine: {mistake}")
    except Refused as refusal:
        sys.exit(complaint(refusal, typed.layer.endswith(".cpp")))
