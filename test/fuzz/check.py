#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The readers of files under libFuzzer, with the address and undefined-behaviour sanitizers: first the corpus, then
what it makes of it, for UMBEL_FUZZ_SECONDS (10, if nothing is said).

    check.py THIS_DIR INCLUDE_DIR -- COMPILER...                  TAP; skipped where there is no clang with libFuzzer
    check.py THIS_DIR INCLUDE_DIR --long SECONDS -- COMPILER...   and adds the inputs that reach something new to corpus/

An input that fails is printed in base64: `base64 -d > input`, then run the harness on it.
"""
import base64
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402

FLAGS = ["-std=c++20", "-O1", "-g", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined"]
LONGEST = 2048  # bytes of an input
EMPTY = 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n'


def compiler_with_fuzzer(given, folder):
    """The compiler of this build, or a clang, whichever links libFuzzer first; or None."""
    (folder / "empty.cpp").write_text(EMPTY)
    for command in (given, ["clang++"], ["clang++-14"]):
        if shutil.which(command[0]):
            made = subprocess.run([*command, *FLAGS, folder / "empty.cpp", "-o", folder / "empty"], capture_output=True)
            if made.returncode == 0:
                return command
    return None


def fuzz(program, seconds, inputs, here, folder):
    """The run, and the inputs that failed in it."""
    found = folder / "found"
    found.mkdir()
    run = subprocess.run([program, f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=10",
                          f"-dict={here / 'files.dict'}", f"-artifact_prefix={found}/", inputs],
                         capture_output=True, text=True, errors="replace")
    return run, sorted(found.iterdir())


def main():
    arguments, command = split_command(sys.argv[1:])
    here, include_dir = map(pathlib.Path, arguments[:2])
    seconds = arguments[3] if "--long" in arguments else os.environ.get("UMBEL_FUZZ_SECONDS", "10")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compiler = compiler_with_fuzzer(command, folder)
        if compiler is None:
            print("TAP version 13\n1..0 # SKIP fuzz/files: no clang with libFuzzer (libclang-rt-dev)")
            return 0
        tap = Tap()
        program = folder / "files"
        made = subprocess.run([*compiler, *FLAGS, "-I", include_dir, here / "files.cpp", "-o", program],
                              capture_output=True, text=True)
        tap.check("the harness compiles", made.returncode == 0, made.stderr)
        if made.returncode != 0:
            return tap.finish()
        shutil.copytree(here / "corpus", folder / "corpus")
        run, found = fuzz(program, seconds, folder / "corpus", here, folder)
        inputs = "".join(f"{path.name}: {base64.b64encode(path.read_bytes()).decode()}\n" for path in found)
        runs = re.search(r"Done (\d+) runs", run.stderr)
        tap.check(f"{runs[1] if runs else 'not all'} runs in {seconds} s", run.returncode == 0 and runs and not found,
                  run.stderr[-4000:] + inputs)
        if "--long" in arguments:
            subprocess.run([program, "-merge=1", here / "corpus", folder / "corpus"], capture_output=True, check=True)
        return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
