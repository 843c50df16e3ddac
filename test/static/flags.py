#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What the headers say of flags that they cannot work with: C++17 is one error, so are flags and targets that give other bits
than the two sets of docs/numerics.md; -ffast-math is one warning, or none. And no flag crashes a compiler.

    flags.py INCLUDE_DIR -- COMPILER
"""
import pathlib
import platform
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402

# Each error after the first would be one of these.
PROGRAM = """#include <umbel/bare.hpp>
using namespace umbel;
tensor<float, axes::token<4>> x;
auto y = x | softmax<axes::token>;
"""
# For targets whose standard library need not be there.
CONFIG = "#include <umbel/config.hpp>\n"
EVERYTHING = "".join(f"#include <umbel/{name}.hpp>\n" for name in ("bare", "quantized", "training", "weights"))
CXX_20 = "umbel: needs C++20, so compile with -std=c++20"
FAST_MATH = "umbel: -ffast-math loses NaN and equal bits; UMBEL_ALLOW_FAST_MATH silences this"
X87 = "umbel: float is computed in wider registers (x87): compile with -msse2 -mfpmath=sse"
NEON = "umbel: -funsafe-math-optimizations gives other bits by NEON: compile without it"
MVE = ("umbel: clang 19 gives strided loops wrong addresses for MVE: compile with "
       "-mllvm -enable-arm-maskedgatscat=false -DUMBEL_NO_GATHER_SCATTER")
DOUBLE = "umbel: needs double of 8 bytes, which this target (AVR?) does not have"
SVE = ("umbel: g++ and clang before 17 split SVE's vectors into single elements: compile with clang 17 or newer, "
       "or without -msve-vector-bits")
FLOAT = "umbel: -fsingle-precision-constant takes the last digits of double: compile without it"
FMAF = "umbel: clang before 17 calls fmaf on this target, so compile with -fno-math-errno"


def compile_with(compiler, include_dir, flags, program=PROGRAM):
    """(does it compile?, the lines that are errors or warnings)."""
    done = subprocess.run([*compiler, *flags, "-I", include_dir, "-fsyntax-only", "-x", "c++", "-"], input=program,
                          capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if re.search(r"\b(error|warning): ", line)]
    return done.returncode == 0, lines


def of_gcc(compiler):
    """Flags that clang does not take: (flags, does it compile?, sentence) for the file PROGRAM."""
    version = subprocess.run([*compiler, "--version"], capture_output=True, text=True).stdout
    if "clang" not in version:
        yield "-std=c++20 -fsingle-precision-constant -w", False, FLOAT


def other_targets(compiler):
    """(compiler, flags, does it compile?, sentence) for the file CONFIG."""
    version = subprocess.run([*compiler, "--version"], capture_output=True, text=True).stdout
    if "clang" in version:
        m4 = "--target=arm-none-eabi -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16"
        before_17 = int(re.search(r"version (\d+)", version)[1]) < 17
        yield compiler, m4, not before_17, FMAF if before_17 else None
        yield compiler, f"{m4} -fno-math-errno", True, None
        sve = "--target=aarch64-linux-gnu -march=armv8.2-a+sve -msve-vector-bits=256"
        yield compiler, sve, not before_17, SVE if before_17 else None
        yield compiler, "--target=i686-linux-gnu", False, X87
        yield compiler, "--target=i686-linux-gnu -msse2 -mfpmath=sse", True, None
    elif platform.machine() in ("x86_64", "AMD64"):
        yield compiler, "-mfpmath=387", False, X87
        yield compiler, "-mfpmath=both", False, X87
    clang_19 = ["clang++-19"]
    if shutil.which(*clang_19):
        m55 = "--target=arm-none-eabi -mcpu=cortex-m55 -mfloat-abi=hard"
        yield clang_19, m55, False, MVE
        yield clang_19, f"{m55} -mllvm -enable-arm-maskedgatscat=false -DUMBEL_NO_GATHER_SCATTER", True, None
        yield clang_19, f"{m55.replace('m55', 'm55+nomve')}", True, None
        yield clang_19, "--target=aarch64-linux-gnu -march=armv8.2-a+sve -msve-vector-bits=512", True, None
        yield clang_19, "--target=riscv64-linux-gnu -march=rv64gcv_zvl256b", True, None
    aarch64 = ["aarch64-linux-gnu-g++"]
    if shutil.which(*aarch64):
        yield aarch64, "-march=armv8.2-a+sve -msve-vector-bits=256", False, SVE
        yield aarch64, "-march=armv8.2-a+sve -msve-vector-bits=128", True, None
    armv7 = ["arm-linux-gnueabihf-g++"]
    if shutil.which(*armv7):
        neon = "-mfpu=neon-vfpv4 -funsafe-math-optimizations"
        yield armv7, neon, False, NEON
        yield armv7, f"{neon} -DUMBEL_ALLOW_FAST_MATH", True, None
        yield armv7, "-mfpu=vfpv4 -funsafe-math-optimizations", True, FAST_MATH


def with_all_headers(compiler):
    """(compiler, flags, is nothing said?) for the file EVERYTHING: what clang 14 crashed with, and what clang 19 warned of."""
    version = subprocess.run([*compiler, "--version"], capture_output=True, text=True).stdout
    if "clang" in version:
        yield compiler, "-Wc++98-compat", False
    for its in compiler, ["clang++-19"]:
        if shutil.which(its[0]):
            yield its, "-ffast-math -DUMBEL_ALLOW_FAST_MATH", True


def main():
    (include_dir,), compiler = split_command(sys.argv[1:])
    tap = Tap()
    cases = [("-std=c++17", False, CXX_20), ("-std=c++14", False, CXX_20),
             ("-std=c++20 -ffast-math", True, FAST_MATH), ("-std=c++20 -Ofast", True, FAST_MATH),
             ("-std=c++20 -ffinite-math-only", True, FAST_MATH),
             ("-std=c++20 -ffast-math -DUMBEL_ALLOW_FAST_MATH", True, None), ("-std=c++20 -O3", True, None),
             ("-std=c++20 -Wno-builtin-macro-redefined -U__SIZEOF_DOUBLE__ -D__SIZEOF_DOUBLE__=4", False, DOUBLE)]
    runs = [(compiler, PROGRAM, *case) for case in [*cases, *of_gcc(compiler)]]
    runs += [(its, CONFIG, f"-std=c++20 {flags}", *rest) for its, flags, *rest in other_targets(compiler)]
    for its, program, flags, compiles, sentence in runs:
        done, lines = compile_with(its, include_dir, flags.split(), program)
        said = len(lines) == 1 and sentence in lines[0] if sentence else not lines
        name = flags if its == compiler else f"{its[0]} {flags}"
        tap.check(f"{name}: {sentence or 'nothing said'}", done == compiles and said, "\n".join(lines) or "nothing said")
    for its, flags, says_nothing in with_all_headers(compiler):
        done, lines = compile_with(its, include_dir, ["-std=c++20", *flags.split()], EVERYTHING)
        tap.check(f"{its[0]} {flags}: compiles", done and not (says_nothing and lines), "\n".join(lines[:5]))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
