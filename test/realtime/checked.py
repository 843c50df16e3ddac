#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Programs under a checker: scratch.cpp under valgrind, threads.cpp with the thread sanitizer.

    checked.py valgrind|threads SOURCE INCLUDE_DIR -- COMPILER

Each must run in silence, and with an argument, where it does what is wrong, the checker must say so; threads.cpp by both
compilers. Skipped where there is no valgrind, or where a compiler has no thread sanitizer.
"""
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402

MISTAKES = {"valgrind": ["floats", "integers"], "threads": ["race"]}  # what the programs do wrong with an argument


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def flags_of(checker):
    if checker == "threads":
        return ["-O1", "-g1", "-pthread", "-fsanitize=thread"]
    # Vectors as wide as valgrind knows: no AVX-512.
    cpu = pathlib.Path("/proc/cpuinfo")
    avx2 = platform.machine() == "x86_64" and cpu.exists() and " avx2 " in cpu.read_text()
    return ["-O1", "-gdwarf-4", *(["-march=x86-64-v3"] if avx2 else [])]


def compilers(checker, first):
    """The given one; for the thread sanitizer, of which each has its own, the other, too."""
    yield first
    if checker == "threads":
        is_clang = "clang" in run(*first, "--version")[1]
        yield from ([name] for name in (["g++"] if is_clang else ["clang++"]) if shutil.which(name))


# setarch -R: a kernel that spreads addresses wider than the thread sanitizer knows kills its programs.
def starts(checker):
    return [["valgrind", "-q", "--error-exitcode=9"]] if checker == "valgrind" else [[], ["setarch", "-R"]]


def start_of(checker, compiler, folder):
    """What to put before a program so that it runs under the checker; None where nothing does."""
    program, empty = pathlib.Path(folder) / "empty", pathlib.Path(folder) / "empty.cpp"
    empty.write_text("int main() {}\n")
    if run(*compiler, *flags_of(checker), empty, "-o", program)[0] != 0:
        return None
    return next((start for start in starts(checker) if not start or shutil.which(start[0])
                 if run(*start, program)[0] == 0), None)


def check(tap, checker, compiler, source, include_dir):
    name = pathlib.Path(compiler[-1]).name
    with tempfile.TemporaryDirectory() as folder:
        start = start_of(checker, compiler, folder)
        if start is None:
            tap.skip(f"{name}: {checker}", f"no {'valgrind' if checker == 'valgrind' else 'thread sanitizer'} here")
            return
        program = pathlib.Path(folder) / "program"
        failed, said = run(*compiler, "-std=c++20", "-Wno-psabi", *flags_of(checker), "-I", include_dir, source, "-o",
                           program)
        tap.check(f"{name}: it compiles", failed == 0, said)
        if failed == 0:
            code, said = run(*start, program)
            tap.check(f"{name}: nothing is reported", code == 0 and not said, f"exit code {code}\n{said}")
            for mistake in MISTAKES[checker]:
                code, said = run(*start, program, mistake)
                tap.check(f"{name}: what is wrong is reported: {mistake}", code != 0 and bool(said),
                          f"exit code {code}\n{said}")


def main():
    (checker, source, include_dir), compiler = split_command(sys.argv[1:])
    tap = Tap()
    for each in compilers(checker, compiler):
        check(tap, checker, each, source, include_dir)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
