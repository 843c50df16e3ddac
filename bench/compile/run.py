#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What compiling Umbel costs: processor seconds, memory, template instantiations and object size, against budgets.

Seconds are user + system of the compiler's processes, the median of the runs; every round compiles every program
once, so that a busy moment does not fall on one of them. They are compared as multiples of one unit that every
machine can measure: a file that includes <array>, <concepts> and <span>. Budgets are in those multiples; that of a
formula is a multiple of the function or layer that it spells out. A missed budget is exit code 1."""
import datetime
import pathlib
import re
import shutil
import statistics
import sys
import tempfile

import sources
from compiler import Compiler, Refused, text_bytes

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import command_line  # noqa: E402
from progress import Progress  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "compile-time.md"
BEGIN, END = "<!-- tables: begin (tools/bench compile --write) -->", "<!-- tables: end -->"
EIGEN_FOLDERS = ("/usr/include/eigen3", "/usr/local/include/eigen3")
SLOW = 5  # seconds: such a program is compiled in the first round only

O2, O3 = ("-O2", "-march=native"), ("-O3", "-march=native")


class Program:
    def __init__(self, key, title, text, flags=("-O2",), times=None, megabytes=None, size=False, beside=None):
        self.key, self.title, self.text, self.flags = key, title, text, flags
        self.times, self.megabytes, self.size = times, megabytes, size  # budgets; is the object of interest?
        self.beside = beside  # (key of another program, times its seconds at most)


UNIT = Program("unit", f"the unit: {sources.UNIT}", sources.UNIT_SOURCE)
OURS = [
    Program("nothing", "nothing", sources.NOTHING),
    UNIT,
    Program("include", "umbel/bare.hpp", sources.BARE, times=2),
    Program("hana", "umbel/umbel.hpp: with Hana", sources.WITH_HANA, times=3.5),
    Program("shapes-1", "1 attention shape, types only", sources.attention_shapes(1)),
    Program("shapes-10", "10 attention shapes, types only", sources.attention_shapes(10)),
    Program("shapes-50", "50 attention shapes, types only", sources.attention_shapes(50), times=15),
    Program("layers-1-O2", "1 attention with kernels, -O2", sources.layers(1), O2, size=True),
    Program("layers-1-O3", "1 attention with kernels, -O3", sources.layers(1), O3, times=8, size=True),
    Program("attention-function", "1 attention by the function, -O3", sources.ATTENTION_FUNCTION, O3, size=True),
    Program("attention-formula", "1 attention by a formula, -O3", sources.ATTENTION_FORMULA, O3, size=True,
            beside=("attention-function", 1.2)),
    Program("layer-formula", "1 multi-head attention by a formula, -O3", sources.LAYER_FORMULA, O3, times=9, size=True),
    Program("encoder-layer", "1 encoder layer, -O3", sources.ENCODER_LAYER, O3, size=True),
    Program("encoder-formula", "1 encoder layer by a formula, -O3", sources.ENCODER_FORMULA, O3, size=True,
            beside=("encoder-layer", 1.3)),
    Program("layers-10-O2", "10 attentions with kernels, -O2", sources.layers(10), O2, size=True),
    Program("layers-10-O3", "10 attentions with kernels, -O3", sources.layers(10), O3, times=60, megabytes=250,
            size=True),
    Program("ten-layers", "ten different layers, -O2", sources.TEN_LAYERS, O2, times=190, megabytes=600, size=True),
    Program("six-uses", "1 block in six uses, -O2", sources.BLOCK_IN_SIX_USES, O2, times=240, megabytes=600, size=True),
    Program("25-operations", "1 formula of 25 operations, -O2", sources.FORMULA_OF_25_OPERATIONS, O2, times=160, megabytes=600, size=True),
]
HANA = [
    Program("door", "the headers of Hana that umbel.hpp includes", sources.HANA_DOOR),
    Program("all-of-hana", "boost/hana.hpp", sources.HANA),
    Program("hana-shapes-1", "1 attention shape, by Hana's algebra", sources.hana_shapes(1)),
    Program("hana-shapes-10", "10 attention shapes, by Hana's algebra", sources.hana_shapes(10)),
]
EIGEN = [
    Program("eigen", "Eigen/Core", sources.EIGEN),
    Program("eigen-1-O3", "1 attention in Eigen's fixed-size matrices, -O3", sources.eigen_layers(1), O3, size=True),
    Program("eigen-10-O3", "10 attentions in Eigen's fixed-size matrices, -O3", sources.eigen_layers(10), O3,
            size=True),
]


class Row:
    """What one compiler says of one program."""

    def __init__(self, program):
        self.program, self.seconds, self.memory = program, [], []
        self.count = self.text = None

    @property
    def time(self):
        return statistics.median(self.seconds)

    @property
    def peak(self):
        return statistics.median(self.memory)


def measure(compiler, programs, runs, folder):
    rows = [Row(program) for program in programs]
    with Progress(f"tools/bench compile: {compiler.name}", (runs + 1) * len(rows)) as progress:
        for turn in range(runs):
            for row in rows:
                progress.step(f"round {turn + 1}, {row.program.key}")
                if turn and row.seconds[0] > SLOW:
                    continue
                source = folder / f"{row.program.key}.cpp"
                source.write_text(row.program.text)
                seconds, memory = compiler.cost(source, folder / "object.o", row.program.flags)
                row.seconds.append(seconds)
                row.memory.append(memory)
                if turn == 0:
                    row.text = text_bytes(folder / "object.o") if row.program.size else None
        # Last: a child's peak memory is never less than this process's own, and reading a trace takes much.
        for row in rows:
            progress.step(f"counting {row.program.key}")
            row.count = compiler.count(folder / f"{row.program.key}.cpp", folder)
    return rows


def table(compiler, rows):
    """Lines of Markdown, readable as they are."""
    unit = next(row for row in rows if row.program is UNIT).time
    kinds = list(rows[0].count)
    yield f"| {compiler.name} | seconds | units | MB | {' | '.join(kinds)} | object bytes |"
    yield "|---|" + "--:|" * (4 + len(kinds))
    for row in rows:
        counts = " | ".join(f"{row.count[kind]:,}" for kind in kinds)
        size = f"{row.text:,}" if row.text is not None else ""
        yield (f"| {row.program.title} | {row.time:.3f} | {row.time / unit:.1f} | {row.peak:.0f} | {counts} | {size} |")


def verdicts(compiler, rows):
    """(text, kept?) of each budget."""
    unit = next(row for row in rows if row.program is UNIT).time
    for row in rows:
        if row.program.times:
            times = row.time / unit
            yield (f"{row.program.title}: {times:.1f} of {row.program.times:g} units", times <= row.program.times)
        other = next((r for r in rows if row.program.beside and r.program.key == row.program.beside[0]), None)
        if other:
            ratio = row.time / other.time
            yield (f"{row.program.title}: {ratio:.2f} of {row.program.beside[1]:g} times {other.program.title}",
                   ratio <= row.program.beside[1])
        if row.program.megabytes:
            yield (f"{row.program.title}: {row.peak:.0f} of {row.program.megabytes} MB",
                   row.peak <= row.program.megabytes)


def machine_name():
    try:
        return re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[1].strip()
    except (OSError, TypeError):
        return "an unnamed machine"


def write_page(report):
    text = PAGE.read_text()
    if BEGIN not in text or END not in text:
        sys.exit(f"{PAGE}: no place for the tables: want the lines\n{BEGIN}\n{END}")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{report}\n{END}{after}")


def complaint(options):
    if options.write and options.only:
        return "--write wants all programs"
    keys = [program.key for program in OURS + HANA + EIGEN]
    if not any(options.only in key for key in keys):
        return f"no program has '{options.only}' in its name; there are: {', '.join(keys)}"
    return None


def arguments():
    parser = command_line.Parser("tools/bench compile", __doc__)
    parser.add_argument("--runs", type=command_line.positive, default=5, metavar="N")
    parser.add_argument("--compiler", action="append", metavar="CXX", help="default: g++ and clang++, where they are")
    parser.add_argument("--only", default="", metavar="PROGRAM", help="those whose name has this in it (and the unit)")
    parser.add_argument("--write", action="store_true", help="into docs/compile-time.md")
    parser.add_argument("--machine", default=machine_name(), metavar="NAME", help="what the page calls this machine")
    options = parser.parse(complaint)
    options.compiler = options.compiler or [name for name in ("g++", "clang++") if shutil.which(name)]
    return options


def main():
    options = arguments()
    eigen = next((folder for folder in EIGEN_FOLDERS if pathlib.Path(folder, "Eigen/Core").is_file()), None)
    programs = [p for p in OURS + HANA + (EIGEN if eigen else []) if p is UNIT or options.only in p.key]
    missed, report = 0, []
    compilers = [Compiler(name, ["-isystem", eigen] if eigen else []) for name in options.compiler]
    report += [f"{datetime.date.today()}, {options.machine}, {' and '.join(c.name for c in compilers)}, "
               f"-std=c++20, median of {options.runs}.", ""]
    for compiler in compilers:
        with tempfile.TemporaryDirectory() as folder:
            rows = measure(compiler, programs, options.runs, pathlib.Path(folder))
        report += [*table(compiler, rows), "", f"Budgets, {compiler.name}:", ""]
        for text, kept in verdicts(compiler, rows):
            missed += not kept
            report.append(f"- {'kept' if kept else '**missed**'}: {text}")
        report.append("")
    print("\n".join(report))
    if not eigen:
        print("Eigen is not installed (libeigen3-dev): left out")
    if options.write:
        write_page("\n".join(report))
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refusal:
        sys.exit(str(refusal))
