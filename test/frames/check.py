#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""How many functions lie between the user's call and the first multiply-add of a score: at most so many as CALLS says.

    check.py THIS_DIR INCLUDE_DIR GDB -- COMPILER ARGUMENTS...

A debugger stops at the line; inlined functions count. docs/architecture.md follows the same way: the functions of its table
are those that the debugger names, in the same order.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/architecture.md"
# The user's function and the multiply-add itself included.
CALLS = {1: ("a layer of attention", 16), 2: ("a block", 18), 3: ("a formula", 18)}
SCORE = "sum[j][i] = simd::fma(key, query[i], sum[j][i])"


def line_of_score(include_dir):
    text = (pathlib.Path(include_dir) / "umbel/kernel/float/attend_block.hpp").read_text().splitlines()
    return next((number for number, line in enumerate(text, 1) if SCORE in line), None)


def frames(program, gdb, line):
    """Names, innermost first, or None where the debugger cannot start a program."""
    commands = ["set pagination off", "set width 0", "set print frame-arguments none",
                f"break float/attend_block.hpp:{line}", "run", "bt"]
    arguments = [a for c in commands for a in ("-ex", c)]
    run = subprocess.run([gdb, "-nx", "-batch", *arguments, program], capture_output=True, text=True,
                         stdin=subprocess.DEVNULL)
    if not re.search(r"^Breakpoint 1[.0-9]*, ", run.stdout, re.M):
        return None
    names = []
    for found in re.findall(r"^#\d+ .*$", run.stdout, re.M):
        name = re.sub(r"^#\d+ +(0x[0-9a-f]+ in )?", "", found)
        while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
            name = shorter
        names.append(name.split("(")[0].strip().split("::")[-1])
    return names


def in_the_table():
    """The functions that the page has, outermost first; lambdas have no name."""
    rows = re.findall(r"^\| \d+ \| (.*?) \|", PAGE.read_text(), re.M)
    return [row.strip("`").split("::")[-1].removesuffix("()") for row in rows if row.startswith("`")]


def follow(tap, number, here, include_dir, gdb, command):
    name, most = CALLS[number]
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/call"
        built = subprocess.run([*command, "-O0", "-g", f"-DCALL={number}", f"{here}/call.cpp", "-o", program],
                               capture_output=True, text=True)
        tap.check(f"{name}: the program compiles", built.returncode == 0, built.stderr)
        names = frames(program, gdb, line_of_score(include_dir)) if built.returncode == 0 else []
    if names is None:
        print("# the debugger cannot run a program here: nothing was counted")
    elif names:
        count = len(names) + 1  # the multiply-add
        listing = "\n".join(reversed(names))
        tap.check(f"{name}: {count} frames, at most {most}", names[-1] == "main" and count <= most, listing)
        if number == 1:
            outermost_first = iter(reversed(names))
            missing = [name for name in in_the_table() if name not in outermost_first]
            tap.check("they are those of docs/architecture.md", in_the_table() and not missing,
                      f"missing there or in another order: {missing}\n{listing}")


def main():
    (here, include_dir, gdb), command = split_command(sys.argv[1:])
    tap = Tap()
    for number in CALLS:
        follow(tap, number, here, include_dir, gdb, command)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
