#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Inline assembly compiles wherever it is inlined, also where no register is left.

    pressure.py SOURCE INCLUDE -- COMPILER

Compiles SOURCE, whose cases are inlined into functions that use every register for something else, optimised in several
ways, with and without a register for the frame; on x86-64 for several instruction sets, too. And SOURCE must name each
function and macro of the library that has an operand of inline assembly.
"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402

WAYS = [[level, frame] for level in ("-O2", "-Os") for frame in ("-fomit-frame-pointer", "-fno-omit-frame-pointer")]
# rounded_twice() has an operand only without a fused multiply-add of g++'s; UMBEL_KEEP only where sums may be reordered.
OF_X86 = [["-O2", *flags] for flags in (["-march=x86-64"], ["-march=x86-64-v3"], ["-march=x86-64-v4"],
                                        ["-march=x86-64-v3", "-mavx512f", "-mno-fma"],
                                        ["-ffast-math", "-DUMBEL_ALLOW_FAST_MATH"])]
STATEMENT = re.compile(r'\b__asm__\s*(?:volatile\s*)?\(')
OWNER = re.compile(r"^\s*#\s*define (\w+)\(|\bUMBEL_(?:INLINE|ONE_COPY)\b[^(]*?\b(operator\s*[^\s(]+|\w+)\(", re.M)
# Not operands: the name of a register for a variable, and a macro of by_column's.
REGISTER = re.compile(r'\b__asm__\("\w+"\)')
LOCAL = {"UMBEL_WORDS": "by_column"}


def owners(header):
    """Functions and macros with a statement of inline assembly."""
    text = re.sub(r"//.*", "", REGISTER.sub("", header.read_text()))
    for statement in STATEMENT.finditer(text):
        name = [a or b for a, b in OWNER.findall(text[:statement.start()])][-1]
        yield LOCAL.get(name, name)


def main():
    (source, include), compiler = split_command(sys.argv[1:])
    tap = Tap()
    text = pathlib.Path(source).read_text()
    named = {name: header for header in sorted(pathlib.Path(include).rglob("*.hpp")) for name in owners(header)}
    for name, header in named.items():
        is_there = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
        tap.check(f"{name} is a case", is_there, f"{header} has inline assembly, and {source} no case of it")
    machine = subprocess.run([*compiler, "-dumpmachine"], capture_output=True, text=True).stdout
    for way in WAYS + (OF_X86 if machine.startswith("x86_64") else []):
        done = subprocess.run([*compiler, *way, "-I", include, "-c", source, "-o", "/dev/null"],
                              capture_output=True, text=True)
        tap.check(" ".join(way), done.returncode == 0, "\n".join(done.stderr.splitlines()[:20]))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
