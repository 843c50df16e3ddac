#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Newer standards. bits.cpp compiles without warnings with each compiler and each -std= from C++20 on that it has, and prints
the same bits; a wrong split is an error with its message in each.

    standards.py BITS INCLUDE    in TAP
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap

COMPILERS = ("g++", "g++-13", "g++-14", "clang++", "clang++-19")
STANDARDS = (("c++20",), ("c++23", "c++2b"), ("c++26",))  # c++2b: C++23 for older compilers
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
WRONG = """#include <umbel/umbel.hpp>
using namespace umbel::axes;
auto parts(const umbel::tensor<float, token<4>, hidden<100>>& x) { return umbel::split<hidden, heads<7>, head_dim>(x); }
"""


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True)


def main():
    bits, include = sys.argv[1:]
    tap = Tap(seconds=200)
    expected = None
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "bits"
        for compiler in filter(shutil.which, COMPILERS):
            for names in STANDARDS:
                had = [name for name in names if run(compiler, f"-std={name}", "-fsyntax-only", "-x", "c++", "-", text="").returncode == 0]
                name, flag = f"{compiler} -std={(had or names)[0]}", f"-std={(had or names)[0]}"
                if not had:
                    tap.skip(name, "the compiler does not have it")
                    continue
                made = run(compiler, flag, "-O1", *WARNINGS, "-I", include, bits, "-o", program)
                printed = made.stderr if made.returncode else run(program).stdout
                expected = expected or printed
                tap.check(name, made.returncode == 0 and printed == expected, printed)
                wrong = run(compiler, flag, "-fsyntax-only", "-I", include, "-x", "c++", "-", text=WRONG)
                errors = [line for line in wrong.stderr.splitlines() if " error: " in line]
                tap.check(f"{name}: one error, with its message in its line", len(errors) == 1 and "split" in errors[0] and "100" in errors[0],
                          wrong.stderr)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
