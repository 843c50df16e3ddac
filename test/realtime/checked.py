#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Programs under a checker: scratch.cpp under valgrind, threads.cpp with the thread sanitizer.

    checked.py valgrind|threads SOURCE INCLUDE_DIR -- COMPILER

Each must run in silence, and with an argument, where it does what is wrong, the checker must say so. Skipped where
there is no valgrind, or where the compiler has no thread sanitizer.
"""
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def flags_of(checker):
    if checker == "threads":
        return ["-O1", "-g", "-pthread", "-fsanitize=thread"]
    # Vectors as wide as valgrind knows: no AVX-512.
    cpu = pathlib.Path("/proc/cpuinfo")
    avx2 = platform.machine() == "x86_64" and cpu.exists() and " avx2 " in cpu.read_text()
    return ["-O1", "-gdwarf-4", *(["-march=x86-64-v3"] if avx2 else [])]


def skip(why):
    print(f"1..0 # SKIP {why}")
    return 0


def main():
    (checker, source, include_dir), compiler = split_command(sys.argv[1:])
    if checker == "valgrind" and not shutil.which("valgrind"):
        return skip("valgrind is not installed")
    start = ["valgrind", "-q", "--error-exitcode=9"] if checker == "valgrind" else []
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        flags = ["-std=c++20", "-Wno-psabi", *flags_of(checker)]
        if checker == "threads":
            empty = pathlib.Path(folder) / "empty.cpp"
            empty.write_text("int main() {}\n")
            if run(*compiler, *flags, empty, "-o", program)[0] != 0 or run(program)[0] != 0:
                return skip("this compiler has no thread sanitizer")
        tap = Tap()
        failed, said = run(*compiler, *flags, "-I", include_dir, source, "-o", program)
        tap.check("it compiles", failed == 0, said)
        if failed == 0:
            code, said = run(*start, program)
            tap.check("nothing is reported", code == 0 and not said, f"exit code {code}\n{said}")
            code, said = run(*start, program, "wrong")
            tap.check("what is wrong is reported", code != 0 and bool(said), f"exit code {code}\n{said}")
        return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
