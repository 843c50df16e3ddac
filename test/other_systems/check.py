#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Windows and macOS. clang 19 compiles use.cpp for each, with the C++ headers of Debian's g++ and its cross compiler and
without a C library: the headers compile without warnings in those ABIs (32-bit long, MSVC's empty members). If MinGW-w64 and
Wine are installed, bits.cpp and files.cpp run as Windows programs and print the bits, numbers and errors of Linux.

    check.py USE BITS FILES INCLUDE CLANG    in TAP
"""
import glob
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap

HEADERS = {"x86_64": ["/usr/include/x86_64-linux-gnu/c++/*", "/usr/include/x86_64-linux-gnu"],
           "aarch64": ["/usr/aarch64-linux-gnu/include/c++/*/aarch64-linux-gnu", "/usr/aarch64-linux-gnu/include"]}
TARGETS = {"x86_64-apple-macos": "x86_64", "arm64-apple-macos": "aarch64",
           "x86_64-pc-windows-msvc": "x86_64", "aarch64-pc-windows-msvc": "aarch64"}


def newest(pattern):
    return max(glob.glob(pattern), default="")


def printed(compiler, source, include, folder, run):
    """Of the program, whose argument is an empty folder."""
    program = folder / "program.exe"
    (folder / compiler[0]).mkdir()
    subprocess.run([*compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-I", include, source, "-o", program],
                   check=True, capture_output=True, text=True)
    return subprocess.run([*run, program, folder / compiler[0]], capture_output=True, text=True, check=True,
                          env=os.environ | {"WINEPREFIX": str(folder / "wine"), "WINEDEBUG": "-all"}).stdout.split("\n")


def check_mingw(tap, name, source, include, lines):
    """Wine's 64-bit loader is in no PATH by that name on Debian."""
    compiler = shutil.which("x86_64-w64-mingw32-g++-posix")
    wine = shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine")
    if not compiler or not wine:
        tap.skip(name, "needs g++-mingw-w64-x86-64-posix and wine64")
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            here = printed(["g++"], source, include, pathlib.Path(folder), [])
            there = printed([pathlib.Path(compiler).name, "-static", "-D__USE_MINGW_ANSI_STDIO=1"], source, include, pathlib.Path(folder), [wine])
            there = [line.rstrip("\r") for line in there]
            tap.check(name, here == there and len(here) == lines + 1, f"{here}\n{there}")
        except subprocess.CalledProcessError as error:
            tap.check(name, False, f"{error}\n{error.stderr}")


def main():
    use, bits, files, include, clang = sys.argv[1:]
    tap = Tap(seconds=200)
    for target, processor in TARGETS.items():
        of_compiler, of_system = (newest(pattern) for pattern in HEADERS[processor])
        standard = newest("/usr/include/c++/*")
        if not of_compiler:
            tap.skip(target, f"no C++ headers of g++ for {processor}")
            continue
        with tempfile.TemporaryDirectory() as name:
            made = pathlib.Path(name) / "use.o"
            done = subprocess.run([clang, f"--target={target}", "-std=c++20", "-ffreestanding", "-O1", "-Wall", "-Wextra", "-Wconversion",
                                   "-Werror", "-Wno-#warnings", "-nostdinc++", "-isystem", standard, "-isystem", of_compiler, "-idirafter", of_system,
                                   "-idirafter", "/usr/include", "-I", include, "-c", use, "-o", made], capture_output=True, text=True)
            tap.check(target, done.returncode == 0, done.stderr)
    check_mingw(tap, "MinGW-w64 under Wine has the bits of Linux", bits, include, 3)
    check_mingw(tap, "MinGW-w64 under Wine maps, locks and replaces files", files, include, 5)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
