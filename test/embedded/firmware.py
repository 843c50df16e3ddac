#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""examples/bare_metal: what it prints, what its linker script and its start-up stop, and its sizes, as the pages have them.

    firmware.py CORE OUT     builds it for a core in the folder OUT; in TAP
    firmware.py --write      measures it on every core, and writes README.md of the example and docs/microcontrollers.md

What must be stopped are cases of guards/stopped.cpp, and their words. The pages' numbers are those of one compiler, which they
name: by another nothing is compared. Flash and instructions may differ by 1 %, RAM and stack by nothing.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "test")]
import guards  # noqa: E402
from tap import Tap  # noqa: E402

EXAMPLE = ROOT / "examples" / "bare_metal"
README = EXAMPLE / "README.md"
PAGE = ROOT / "docs" / "microcontrollers.md"
CORES = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55")
BUILDS = {"small": "-Os -DUMBEL_SMALL_CODE=1", "-O2": "-O2"}
STOPPED = ("initialised_at_run_time", "weights_that_are_no_constants", "too_big_for_the_board",
           "stack_overflow", "trap")
COLUMNS = ("flash", "weights", "RAM", "stack", "instructions")
MAY_DIFFER = {"flash": 0.01, "instructions": 0.01}


def make(core, out, *words):
    done = subprocess.run(["make", "-s", "-C", str(EXAMPLE), f"CORE={core}", f"OUT={out}", *words],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def measured(core, out, build):
    """{column: number}, as `make row` prints them."""
    failed, output = make(core, out / build.strip("-"), f"OPTIMIZE={BUILDS[build]}", "row")
    cells = [cell.strip() for cell in output.strip().strip("|").split("|")]
    if failed or cells[0] != core:
        sys.exit(f"make row: {output}")
    return dict(zip(COLUMNS, map(int, cells[1:])))


def sections():
    """The two tables of README.md: [(build, text before its rows, its rows)]."""
    for build, options in BUILDS.items():
        heading = "`make sizes`, " if build == "small" else f"`make sizes OPTIMIZE={options}"
        text = README.read_text()
        at = text.index("| cortex", text.index(heading))
        yield build, at, re.match(r"(\| cortex.*\n)+", text[at:])[0]


def of_readme():
    for build, _, rows in sections():
        for row in rows.splitlines():
            core, *numbers = (cell.strip() for cell in row.strip("|").split("|"))
            yield (core, build), dict(zip(COLUMNS, map(int, numbers)))


def name(core):
    return core.replace("cortex-m", "Cortex-M")


def page_row(core, of):
    """A row of docs/microcontrollers.md: bytes of code, and thousands of instructions, of each build."""
    cells = [f"{number:,}" for build in BUILDS
             for number in (of[core, build]["flash"] - of[core, build]["weights"], of[core, build]["instructions"])]
    return f"| {name(core)} | {' | '.join(cells)} |\n"


def write():
    with tempfile.TemporaryDirectory() as out:
        of = {(core, build): measured(core, pathlib.Path(out) / core, build) for core in CORES for build in BUILDS}
    text = README.read_text()
    for build, _, rows in sections():
        new = "".join(f"| {core} | {' | '.join(str(n) for n in of[core, build].values())} |\n" for core in CORES)
        text = text.replace(rows, new)
    README.write_text(text)
    PAGE.write_text(re.sub(r"^\| Cortex-M\d+ (\| [\d,]+ ){4}\|\n", lambda row: page_row(
        row[0].split("|")[1].strip().lower(), of), PAGE.read_text(), flags=re.M))


def compare(tap, core, out):
    version = subprocess.run(["arm-none-eabi-g++", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    of = dict(of_readme())
    tap.check("README.md and docs/microcontrollers.md agree", page_row(core, of) in PAGE.read_text(), page_row(core, of))
    if f"arm-none-eabi-g++ {version.rsplit('.', 1)[0]}" not in README.read_text():
        print(f"# not compared with README.md: arm-none-eabi-g++ {version}")
        return
    for build in BUILDS:
        is_now, was = measured(core, out, build), of[core, build]
        wrong = [c for c in COLUMNS if abs(is_now[c] - was[c]) > MAY_DIFFER.get(c, 0) * was[c]]
        tap.check(f"{build}: sizes and instructions are those of README.md", not wrong,
                  f"{', '.join(wrong)}: {is_now}, README.md: {was}; firmware.py --write accepts them")


def main():
    if sys.argv[1:] == ["--write"]:
        return write()
    core, out = sys.argv[1], pathlib.Path(sys.argv[2])
    tap = Tap()
    failed, output = make(core, out / "small", "check")
    tap.check("it prints what expected.txt says", not failed, output)
    flags = re.search(r"`(-std=c\+\+20 -mthumb .*?)`", PAGE.read_text(), re.S)[1].split()
    _, commands = make(core, out / "small", "-n", "-B")
    lacks = [flag for flag in flags if flag not in commands.split()]
    tap.check("it has the flags of docs/microcontrollers.md", not lacks, f"{lacks}")
    cases = dict(guards.cases())
    for case in STOPPED:
        words = [f"MAIN={HERE / 'guards' / 'stopped.cpp'}", f"OPTIMIZE=-Os -DCASE_{case}"]
        failed, output = make(core, out / case, *words)
        if "linker" in cases[case]:
            tap.check(f"the linker stops: {case}", failed and guards.said(cases[case]["linker"], output), output)
        else:
            failed, output = make(core, out / case, *words, "run")
            tap.check(f"a fault ends with exit code 70: {case}", "Error 70" in output and "a fault" in output, output)
    compare(tap, core, out)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
