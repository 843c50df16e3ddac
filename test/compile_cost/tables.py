#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""No program holds the graph of a formula: what the compiler asks of it is constants. The address of a number in it would
keep it all, 140 kB of the gradient of one layer.

    tables.py -- COMPILER...
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "bench" / "compile")]
import sources  # noqa: E402
from compiler import Compiler, Refused, text_bytes  # noqa: E402
from tap import Tap, split_command  # noqa: E402

LEARNING = HERE.parent.parent / "bench" / "learning"
MOST = 200  # bytes of an object


def largest_object(target):
    """(bytes, name) of the largest one of constants or variables."""
    symbols = subprocess.run(["nm", "-S", str(target)], capture_output=True, text=True, check=True).stdout
    fields = (line.split() for line in symbols.splitlines())
    return max(((int(each[1], 16), each[3]) for each in fields if len(each) == 4 and each[2] in "bBdDrRvV"), default=(0, ""))


def main():
    _, command = split_command(sys.argv[1:])
    compiler = Compiler(command, (f"-I{LEARNING}",))
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "layer.cpp"), pathlib.Path(folder, "layer.o")
        source.write_text(sources.instances("gradient.hpp", "gradients", [(2, 9, 8, 2)]))
        compiler.cost(source, target, ["-O2"])
        size, name = largest_object(target)
        tap.check(f"gradient: {text_bytes(target)} bytes of code, its largest object is of {size}", size <= MOST, name)
    return tap.finish()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refusal:
        sys.exit(str(refusal))
