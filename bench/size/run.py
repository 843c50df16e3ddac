#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Bytes of code of a layer, and what small code costs in time.

A layer is multi_head_attention with natural weights and lengths, its kernels included, as an object file: text and
constants. Fast is -O3; small is -Os with UMBEL_SMALL_CODE=1 (config.hpp). Each for the compiler's default target and
for this machine (-march=native). Times are the least of many calls, in thread CPU time. Then the table by core, which
`tools/test embedded` measures (test/embedded/costs.txt). With PROGRAMs, the bytes of each of their kernels instead.
"""
import datetime
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "compile"), str(HERE.parents[1] / "test" / "embedded"), str(HERE.parents[1] / "tools")]
import cost_pages  # noqa: E402
import command_line  # noqa: E402
import costs  # noqa: E402
import kernels  # noqa: E402
import run as compile_cost  # noqa: E402
import sources  # noqa: E402
from compiler import Compiler, Refused, text_bytes  # noqa: E402
from progress import Progress  # noqa: E402

PAGE = HERE.parents[1] / "docs" / "code-size.md"
BEGIN, END = "<!-- tables: begin (tools/bench size --write) -->", "<!-- tables: end -->"
FAST, SMALL = ("-O3",), ("-Os", "-DUMBEL_SMALL_CODE=1")
SETTINGS = [("fast", FAST), ("small", SMALL), ("fast, native", (*FAST, "-march=native")),
            ("small, native", (*SMALL, "-march=native"))]
TIMER = r"""
#include <cstdio>
#include <ctime>
using timed = compile_cost::layer<LAYER>;
static timed::attention::weights w;
static timed::queries x, out;
static timed::context y;
static umbel::tensor<int, umbel::axes::batch<timed::queries::layout::extents[0]>> lens;
static timed::attention::workspace<umbel::axes::query<QUERIES>, umbel::axes::key<KEYS>> work;
static double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
int main() {
  for (int& length : lens) length = KEYS;
  double best = 1e9;
  for (double start = seconds(); seconds() - start < 0.1;) {
    const double before = seconds();
    for (int i = 0; i < 16; ++i) {
      timed::run(w, x, y, lens, work, out);
      __asm__ volatile("" ::: "memory");
    }
    const double each = (seconds() - before) / 16;
    best = each < best ? each : best;
  }
  std::printf("%g\n", best * 1e6);
}
"""


def measured(compiler, layer, flags, folder):
    """(bytes of text, microseconds a call)"""
    source, target = folder / "layer.cpp", folder / "layer.o"
    source.write_text(sources.instances("layer.hpp", "layer", [layer]))
    compiler.cost(source, target, flags)
    timer = TIMER.replace("LAYER", ", ".join(map(str, layer))).replace("QUERIES", str(layer[1]))
    source.write_text('#include "layer.hpp"\n' + timer.replace("KEYS", str(layer[2])))
    compiler.run(*flags, str(source), "-o", str(folder / "timer"))
    run = subprocess.run([folder / "timer"], capture_output=True, text=True, check=True)
    return text_bytes(target), float(run.stdout)


def table(compiler):
    lines = [f"| {compiler.name}: batch, queries, keys, hidden, heads | "
             + " | ".join(f"{name}: bytes | us" for name, _ in SETTINGS) + " |",
             "|---|" + "--:|--:|" * len(SETTINGS)]
    with tempfile.TemporaryDirectory() as folder, \
            Progress(f"tools/bench size: {compiler.name}", len(sources.LAYERS) * len(SETTINGS)) as progress:
        for layer in sources.LAYERS:
            cells = []
            for name, flags in SETTINGS:
                progress.step(f"{', '.join(map(str, layer))}, {name}")
                size, time = measured(compiler, layer, flags, pathlib.Path(folder))
                cells += [f"{size:,}", f"{time:,.0f}" if time >= 100 else f"{time:.3g}"]
            lines.append(f"| {', '.join(map(str, layer))} | " + " | ".join(cells) + " |")
    return lines


def main():
    parser = command_line.Parser("tools/bench size", __doc__)
    parser.add_argument("--compiler", action="append", metavar="CXX", help="default: g++ and clang++, where they are")
    parser.add_argument("--write", action="store_true", help="into docs/code-size.md")
    parser.add_argument("--machine", default=compile_cost.machine_name(), metavar="NAME", help="what the page calls this machine")
    parser.add_argument("program", nargs="*", metavar="PROGRAM", help="linked for any processor, with its symbols")
    parser.add_argument("--nm", default="nm", metavar="NM", help="the nm that reads a PROGRAM (default: nm)")
    options = parser.parse()
    if options.program:
        print("\n".join(line for program in options.program for line in kernels.table(program, options.nm)))
        return
    names = options.compiler or [name for name in ("g++", "clang++") if shutil.which(name)]
    report = [f"{datetime.date.today()}, {options.machine}."]
    for name in names:
        report += ["", *table(Compiler(name))]
    print("\n".join(report))
    print("\n".join(["", *cost_pages.sizes(costs.read())]))
    if options.write:
        subprocess.run([sys.executable, cost_pages.__file__], check=True)
        before, after = PAGE.read_text().split(BEGIN)[0], PAGE.read_text().split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(report) + f"\n\n{END}{after}")


if __name__ == "__main__":
    try:
        main()
    except (Refused, kernels.Unreadable) as refusal:
        sys.exit(str(refusal))
