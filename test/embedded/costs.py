#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What a forward pass costs on each target, against costs.txt: instructions, code, constants, RAM, stack.

    costs.py PROGRAM BUILD COMPILER PLUGIN ALONE EXECUTABLE      a test (meson.build); TAP

EXECUTABLE runs in the target's emulator, which counts the instructions of every call of its function `forward`, all
that it calls included (count.c). ALONE is what the linker keeps for `forward` and nothing else: no test, no start-up, no
semihosting; with what it takes of libgcc (soft float), without memcpy and memset, which are the firmware's own. Counts
and sizes are the same in every run.

1 % more than costs.txt fails: a mistake, or on purpose, and then `tools/test embedded --update TARGET` accepts it and
the commit says why. 1 % less fails too: it is a gain to keep, and the pages would be wrong. Another compiler than that of
costs.txt has other counts; there it is skipped.
"""
import fcntl
import os
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
from tap import Tap  # noqa: E402

TABLE = HERE / "costs.txt"
ALLOWED = 0.01
# The instructions of a call are the same for all inputs, but where the larger of two integers, or of two floats on s390x, is
# chosen by a branch, as there is no instruction of it; without an FPU arithmetic is libgcc's branches, of which nothing is asked.
BRANCHES_OF_FLOATS = {"s390x"}
BRANCHES_OF_INTEGERS = {"armv7-vfpv3", "cortex-m0", "riscv32", "riscv32-imc", "riscv64", "riscv64-clang", "riscv64-v128", "riscv64-v256", "s390x"}
LOOKS_UP = {"learn_on_device"}  # an element that a label names: a few instructions more for one label than for another
SOFT_FLOAT = {"cortex-m0", "cortex-m3", "riscv32-imc"}
BRANCHES = 0.005
COLUMNS = ("instructions", "multiply-accumulates", "text", "rodata", "ram", "stack")
HEADING = """\
# What a call of `forward` costs: costs.py says how each is measured, and fails when one changes by more than 1 %.
# `tools/test embedded --update [TARGET]...` writes this file and the pages that show it.
#
# instructions          of one call, libgcc's soft float included; -: no emulator that counts
# multiply-accumulates  that the call needs
# text, rodata          bytes of code and of constants, weights first of all; without the test, start-up, memcpy and memset
# ram                   bytes that can be written: workspace, cache, and inputs and results where they are static
# stack                 bytes, of the whole program, painted; -: measured on bare metal only
"""


# ---- costs.txt -----------------------------------------------------------------------------------
def read():
    """{target: (compiler, {(program, build): {column: number or None}})}"""
    targets = {}
    for line in TABLE.read_text().splitlines() if TABLE.exists() else []:
        if re.match(r"[#\s]*$|#", line):
            continue
        if not line.startswith(" "):
            target, compiler = line.split(": ")
            rows = {}
            targets[target] = compiler, rows
        elif not line.startswith("  program"):
            program, build, *numbers = line.split()
            rows[program, build] = {c: None if n == "-" else int(n) for c, n in zip(COLUMNS, numbers)}
    return targets


def write(targets):
    def text(program, build, cells):
        return f"  {program:11} {build:7}" + "".join(f"{cell:>{max(len(c), 9) + 2}}" for c, cell in zip(COLUMNS, cells))

    lines = [HEADING.rstrip()]
    for target, (compiler, rows) in sorted(targets.items()):
        lines += ["", f"{target}: {compiler}", text("program", "build", COLUMNS)]
        for (program, build), costs in sorted(rows.items()):
            lines.append(text(program, build, ["-" if costs[c] is None else str(costs[c]) for c in COLUMNS]))
    TABLE.write_text("\n".join(lines) + "\n")


def update(target, compiler, program, build, costs):
    with open(HERE / "meson.build") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run side by side
        targets = read()
        was, rows = targets.get(target, (compiler, {}))
        rows = rows if was == compiler else {}
        rows[program, build] = costs
        targets[target] = compiler, rows
        write(targets)


# ---- measuring -----------------------------------------------------------------------------------
def run(plugin, executable):
    """(exit code, what the program said, instructions of each call)"""
    emulator = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
    log = pathlib.Path(f"{executable}.count")
    log.unlink(missing_ok=True)
    if emulator and pathlib.Path(emulator[0]).name.startswith("qemu-"):
        emulator[1:1] = ["-plugin", f"{plugin},function=forward", "-d", "plugin", "-D", str(log)]
    run = subprocess.run([*emulator, executable], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    sys.stderr.write(run.stderr)
    calls = [int(n) for n in re.findall(r" (\d+)", log.read_text())] if log.exists() else []
    return run.returncode, run.stdout, calls


def elf_sizes(file):
    """Of an ELF file of any processor."""
    kinds = {"text": (".text",), "rodata": (".rodata", ".srodata"), "ram": (".data", ".sdata", ".bss", ".sbss")}
    listing = subprocess.run(["size", "-A", file], capture_output=True, text=True, check=True).stdout
    sizes = dict(re.findall(r"^(\S+)\s+(\d+)\s+\d+$", listing, re.M))
    return {kind: sum(int(sizes.get(name, 0)) for name in names) for kind, names in kinds.items()}


def wasm_sizes(file):
    """Of a WebAssembly module, whose zeros in RAM are not in the file."""
    module, at, sizes = file.read_bytes(), 8, {}

    def number():  # LEB128
        nonlocal at
        value = shift = 0
        while True:
            byte = module[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(module):
        kind = module[at]
        at += 1
        sizes[kind] = number()
        at += sizes[kind]
    return {"text": sizes.get(10, 0), "rodata": sizes.get(11, 0), "ram": None}


def measured(target, calls, output, alone):
    """Costs by COLUMNS."""
    def said(what):
        found = re.search(rf"^# {what} (\d+)$", output, re.M)
        return int(found[1]) if found else None

    sizes = wasm_sizes(alone) if target.startswith("wasm") else elf_sizes(alone)
    return {"instructions": calls[0] if calls else None, "multiply-accumulates": said("multiply-accumulates"),
            **sizes, "stack": said("stack")}


def differences(was, now):
    """(column, what is wrong with it) of all that changed by more than is allowed."""
    for column in COLUMNS:
        old, new = was[column], now[column]
        if old == new:
            continue
        if old is None or new is None or abs(new - old) > ALLOWED * old:
            change = f" ({100 * (new - old) / old:+.1f} %)" if old and new is not None else ""
            yield f"{column}: {old} in costs.txt, now {new}{change}"


def test(program, build, compiler, plugin, alone, executable):
    tap = Tap()
    target = pathlib.Path(executable).resolve().parents[2].name.removeprefix("embedded-")
    status, output, calls = run(plugin, executable)
    for result, name in re.findall(r"^(ok|not ok) \d+ - (.*)$", output, re.M):
        tap.check(name, result == "ok", output)
    ended = re.search(r"^1\.\.(\d+)$", output, re.M)
    tap.check(f"{program} {build}: to its end", status == 0 and ended and int(ended[1]) == tap.count,
              f"exit code {status}\n{output}")
    of_integers = program.startswith("integer_")
    if calls and (of_integers or target not in SOFT_FLOAT):
        exact = target not in (BRANCHES_OF_INTEGERS if of_integers else BRANCHES_OF_FLOATS) and program not in LOOKS_UP
        tap.check(f"{program} {build}: as many instructions whatever the inputs are",
                  len(calls) > 1 and max(calls) - min(calls) <= (0 if exact else BRANCHES * calls[0]),
                  f"calls of forward: {calls}")
    now = measured(target, calls, output, pathlib.Path(alone))
    name = f"{program} {build}: at most 1 % from costs.txt"
    if status == 0 and os.environ.get("UMBEL_UPDATE_COSTS"):
        update(target, compiler, program, build, now)
    made_by, rows = read().get(target, (None, {}))
    was = rows.get((program, build))
    cure = f"On purpose, or a gain to keep? tools/test embedded --update {target}, and the commit says why."
    if made_by is not None and made_by != compiler:
        tap.skip(name, f"costs.txt has {made_by}, this is {compiler}")
    elif was is None:
        tap.check(name, False, f"costs.txt has no such row: {now}\n{cure}")
    else:
        wrong = list(differences(was, now))
        tap.check(name, not wrong, "\n".join([*wrong, cure]))
    print(*re.findall(r"^# .*$", output, re.M), sep="\n")
    return tap.finish()


def main():
    if len(sys.argv) == 7:
        return test(*sys.argv[1:])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
