#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""examples/microbit: what it prints, and what it takes, as its README.md has it.

    microbit.py OUT         builds it in the folder OUT and runs it in QEMU's micro:bit; in TAP
    microbit.py --write     writes README.md

The instructions of a picture are those of costs.txt. Numbers may differ by 1 %; RAM, stack and weights by nothing. By another
compiler than README.md names nothing is compared.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "test")]
import costs  # noqa: E402
from tap import Tap  # noqa: E402

EXAMPLE = ROOT / "examples" / "microbit"
README = EXAMPLE / "README.md"
ROW = re.compile(r"^\| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", re.M)
COLUMNS = ("flash", "weights", "RAM", "stack", "instructions")
MAY_DIFFER = {"flash": 0.01, "instructions": 0.01}
INSTRUCTIONS_A_TICK = 62.5  # of QEMU's -icount shift=0, at 16 MHz


def make(out, target):
    done = subprocess.run(["make", "-s", "-C", str(EXAMPLE), f"OUT={out}", target],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def measured(out):
    """{column: number} of the program that was built."""
    failed, output = make(out, "run")
    said = re.search(r"weights and tables: (\d+) bytes\nRAM: (\d+) bytes, and of stack (\d+)\nticks: (\d+)", output)
    if failed or said is None:
        sys.exit(f"make run: {output}")
    weights, ram, stack, ticks = map(int, said.groups())
    sizes = subprocess.run(["arm-none-eabi-size", "-A", out / "cortex-m0.elf"], capture_output=True, text=True, check=True).stdout
    flash = int(re.search(r"^\.text\s+(\d+)", sizes, re.M)[1])
    return dict(zip(COLUMNS, (flash, weights, ram, stack, round(ticks * INSTRUCTIONS_A_TICK))))


def differing(now, was):
    return [c for c in was if abs(now[c] - was[c]) > MAY_DIFFER.get(c, 0) * was[c]]


def write():
    with tempfile.TemporaryDirectory() as out:
        now = measured(pathlib.Path(out))
    README.write_text(ROW.sub(f"| {' | '.join(f'{n:,}' for n in now.values())} |", README.read_text()))


def main():
    if sys.argv[1:] == ["--write"]:
        return write()
    out, tap = pathlib.Path(sys.argv[1]), Tap()
    failed, output = make(out, "check")
    tap.check("it prints what expected.txt says", not failed, output)
    version = subprocess.run(["arm-none-eabi-g++", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    if f"arm-none-eabi-g++ {version.rsplit('.', 1)[0]}" not in README.read_text():
        tap.skip("what it takes is what README.md says", f"this is arm-none-eabi-g++ {version}")
        return tap.finish()
    now = measured(out)
    was = dict(zip(COLUMNS, (int(n.replace(",", "")) for n in ROW.search(README.read_text()).groups())))
    tap.check("what it takes is what README.md says", not differing(now, was),
              f"{', '.join(differing(now, was))}: {now}, README.md: {was}; microbit.py --write accepts them")
    if os.environ.get("UMBEL_UPDATE_COSTS"):  # which another test may not have written yet
        tap.skip("a picture takes what costs.txt says", "costs.txt is being written")
        return tap.finish()
    row = costs.read()["cortex-m0"][1]["integer_clothing", "-O2"]
    of_table = {"RAM": row["ram"], "instructions": row["instructions"]}
    tap.check("a picture takes what costs.txt says", not differing(now, of_table), f"{now}, costs.txt: {of_table}")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
