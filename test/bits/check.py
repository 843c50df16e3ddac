#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Are the bits those that docs/numerics.md promises, whatever the compiler, the flags and the vectors?

    check.py SOURCE INCLUDE_DIR [--all] -- COMPILER

Builds SOURCE in many ways, with COMPILER and with the other of g++ and clang++ where it is installed, and runs what this
processor can run. Of cases.cpp all builds that fuse multiplication and addition must print the same hashes, all that
do not the same too, and those two sets must differ; no hash is written down here: what the numbers are is tested
elsewhere (unit/kernel_bits, golden). Of gradients.cpp too. Of integers.cpp there is one set. Flushing subnormals to zero must not change
them, and no build may raise a floating-point exception over ordinary numbers. A build that this processor cannot run
is compiled only. Without --all: each -O, each compiler and each way to multiply once.
"""
import concurrent.futures
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402

# clang 19 warns of what its own -march=native chooses; other compilers don't know that warning, and ignore it.
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Wno-unknown-warning-option",
         "-Wno-invalid-feature-combination"]
# What is built of a source, by g++ and by clang. SOME has each -O, each compiler, each length of vectors, with fma and without,
# once; MORE has the other pairs of them. g++ contracts by itself, most at -O3.
SOME_GCC = ["-O2 -march=native", "-O0 -march=x86-64", "-O3 -march=x86-64-v3", "-O1 -mavx"]
SOME_CLANG = ["-O2 -march=native", "-O0 -march=native"]
# Vectors of 64 bytes without fma, where nothing can be contracted (to clang, AVX-512 without FMA is no AVX-512).
MORE_GCC = ["-O0 -march=native", "-O2 -march=x86-64", "-O1 -mavx512f -mno-fma"]
MORE_CLANG = ["-O2 -march=x86-64"]
BUILDS = {
    ("cases", "some"): (SOME_GCC, SOME_CLANG),
    ("cases", "all"): (SOME_GCC + MORE_GCC, SOME_CLANG + MORE_CLANG),
    # Their kernels take the compilers longest.
    ("gradients", "some"): (["-O3 -march=x86-64-v3", "-O0 -march=x86-64"], ["-O1 -march=native"]),
    ("gradients", "all"): (["-O3 -march=x86-64-v3", "-O0 -march=x86-64", "-O1 -march=native"], ["-O1 -march=native", "-O0 -march=native"]),
    # Their products have instructions of their own; the builtin for those of AVX-VNNI has a name of each compiler's.
    ("integers", "some"): (["-O2 -march=native", "-O3 -march=x86-64-v3"], ["-O0 -march=native", "-O1 -march=x86-64-v3 -mavxvnni"]),
    ("integers", "all"): (["-O2 -march=native", "-O0 -march=native", "-O2 -march=x86-64", "-O1 -march=x86-64-v3 -mavxvnni", "-O3 -march=x86-64-v3"],
                          ["-O2 -march=native", "-O0 -march=native", "-O2 -march=x86-64", "-O1 -march=x86-64-v3 -mavxvnni"]),
}
ELSEWHERE = (["-O2 -march=native", "-O0 -march=native"],) * 2  # than on x86


def compilers(first):
    """The given one, and the other if it is there: [(command, is it clang?)]."""
    is_clang = "clang" in subprocess.run([*first, "--version"], capture_output=True, text=True).stdout
    others = ["g++"] if is_clang else ["clang++", "clang++-14"]
    other = next((name for name in others if shutil.which(name)), None)
    return [(first, is_clang)] + ([([other], not is_clang)] if other else [])


def builds(first, name, which):
    of_gcc, of_clang = BUILDS[name, which] if platform.machine() in ("x86_64", "AMD64") else ELSEWHERE
    for command, is_clang in compilers(first):
        for flags in of_clang if is_clang else of_gcc:
            yield command, flags.split()


def build_and_run(source, include_dir, build, folder):
    """(what failed or None, its hashes or None if this processor cannot run it)."""
    command, flags = build
    program = pathlib.Path(folder) / "_".join([pathlib.Path(command[-1]).name, *flags]).replace("/", "_")
    made = subprocess.run([*command, *FLAGS, *flags, "-I", include_dir, source, "-o", program],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if made.returncode != 0 or made.stderr:
        return made.stdout + made.stderr or "no message", None
    run = subprocess.run([program], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if run.returncode == -signal.SIGILL and "-march=native" not in flags:
        return None, None
    if run.returncode != 0:
        return f"exit code {run.returncode}\n{run.stdout}{run.stderr}", None
    for mode, wanted in ("flushing", run.stdout), ("exceptions", ""):
        again = subprocess.run([program, mode], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if again.returncode != 0 or again.stdout != wanted:
            return f"cases {mode}: exit code {again.returncode}\n{again.stdout}{again.stderr}", None
    return None, dict(line.rsplit(": ", 1) for line in run.stdout.splitlines())


def difference(one, other):
    return "\n".join(f"{case}: {one.get(case)}, {other.get(case)}"
                     for case in {**one, **other} if one.get(case) != other.get(case))


def main():
    (source, include_dir, *options), compiler = split_command(sys.argv[1:])
    tap = Tap()
    sets = {}  # fused? -> (the first build of it, its hashes)
    todo = list(builds(compiler, pathlib.Path(source).stem, "all" if "--all" in options else "some"))
    if os.environ.get("CI"):
        tap.check("both compilers are there", len(compilers(compiler)) == 2, "install the other of g++ and clang++")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda build: build_and_run(source, include_dir, build, folder), todo)
        for (command, flags), (failure, hashes) in zip(todo, results):
            name = " ".join([*command, *flags])
            if failure is not None:
                tap.check(name, False, failure)
            elif hashes is None:
                tap.check(f"{name}: compiled, not run, this processor cannot", True)
            else:
                first, wanted = sets.setdefault(hashes["fused"], (name, hashes))
                tap.check(f"{name}: fused {hashes['fused']}, the bits of {first}", hashes == wanted,
                          f"case: {first}, {name}\n{difference(wanted, hashes)}")
    # A comparison that cannot fail proves nothing.
    if len(sets) == 2:
        (_, one), (_, other) = sets.values()
        same = [case for case in one if one[case] == other[case]]
        tap.check("without fma most cases have other bits", len(same) < len(one) / 4, "\n".join(same))
    for name, hashes in sets.values():
        blind = [case for case in hashes if case.endswith(", wild") and hashes[case] == hashes.get(case[:-len(", wild")])]
        tap.check(f"{name}: wild numbers have other bits", len(hashes) > 40 and not blind, "\n".join(blind))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
