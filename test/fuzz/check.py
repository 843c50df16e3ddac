#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The readers of files, and load, under libFuzzer, with the address and undefined-behaviour sanitizers: first the corpus, then
what it makes of it, for UMBEL_FUZZ_SECONDS (10, if nothing is said).

    check.py THIS_DIR INCLUDE_DIR -- COMPILER...                  TAP; skipped where there is no clang with libFuzzer
    check.py THIS_DIR INCLUDE_DIR --long SECONDS -- COMPILER...   and makes corpus/ anew: of the old and the new inputs the fewest and
                                                                  shortest that reach all that all of them reach
    check.py THIS_DIR INCLUDE_DIR --worst -- COMPILER...          TAP: what the most expensive files of 10 MB cost

An input that fails is printed in base64: `base64 -d > input`, then run the harness on it (a recipe with UMBEL_FUZZ_RECIPES=1).
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
STEPS = ["-fsanitize-coverage=trace-pc", "-Wl,--wrap=__sanitizer_cov_trace_pc,--wrap=memcmp"]  # steps.hpp
LONGEST = 2048  # bytes of an input
LARGEST = 2_000_000  # bytes of the corpus, which is in the repository
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


def fuzz(program, seconds, inputs, here, found, longest, **environment):
    """The run, and the inputs that failed in it."""
    found.mkdir()
    run = subprocess.run([program, f"-max_total_time={seconds}", f"-max_len={longest}", "-timeout=10",
                          f"-dict={here / 'files.dict'}", f"-artifact_prefix={found}/", inputs],
                         capture_output=True, text=True, errors="replace", env={**os.environ, **environment})
    return run, sorted(found.iterdir())


def check_run(tap, name, run, found):
    inputs = "".join(f"{path.name}: {base64.b64encode(path.read_bytes()).decode()}\n" for path in found)
    runs = re.search(r"Done (\d+) runs in (\d+)", run.stderr)
    tap.check(f"{name}: {runs[1]} runs in {runs[2]} s" if runs else f"{name}: not all runs", run.returncode == 0 and runs and not found,
              run.stderr[-4000:] + inputs)


def worst(here, include_dir, command):
    with tempfile.TemporaryDirectory() as name:
        program = pathlib.Path(name) / "worst"
        subprocess.run([*command, "-std=c++20", "-O2", *STEPS, "-I", include_dir, here / "worst.cpp", "-o", program], check=True)
        return subprocess.run([program], check=False).returncode


def minimise(program, corpus, inputs, folder):
    """The files of corpus become the seeds that have a name, and the shortest of the inputs that reach what all others of them reach."""
    kept = folder / "kept"
    kept.mkdir()
    for path in corpus.glob("seed_*"):
        shutil.copy(path, kept)
    subprocess.run([program, "-merge=1", f"-max_len={LONGEST}", kept, inputs], capture_output=True, check=True)
    shutil.rmtree(corpus)
    shutil.copytree(kept, corpus)


def main():
    arguments, command = split_command(sys.argv[1:])
    here, include_dir = map(pathlib.Path, arguments[:2])
    if "--worst" in arguments:
        return worst(here, include_dir, command)
    seconds = arguments[3] if "--long" in arguments else os.environ.get("UMBEL_FUZZ_SECONDS", "10")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compiler = compiler_with_fuzzer(command, folder)
        if compiler is None:
            print("TAP version 13\n1..0 # SKIP fuzz/files: no clang with libFuzzer (libclang-rt-dev)")
            return 0
        tap = Tap()
        program = folder / "files"
        made = subprocess.run([*compiler, *FLAGS, *STEPS, "-I", include_dir, here / "files.cpp", "-o", program],
                              capture_output=True, text=True)
        tap.check("the harness compiles", made.returncode == 0, made.stderr)
        if made.returncode != 0:
            return tap.finish()
        shutil.copytree(here / "corpus", folder / "corpus")
        check_run(tap, "files", *fuzz(program, seconds, folder / "corpus", here, folder / "found", LONGEST))
        (folder / "recipes").mkdir()
        check_run(tap, "recipes of long files", *fuzz(program, max(2, int(seconds) // 4), folder / "recipes", here, folder / "slow", 32,
                                                      UMBEL_FUZZ_RECIPES="1"))
        if "--long" in arguments:
            minimise(program, here / "corpus", folder / "corpus", folder)
        size = sum(path.stat().st_size for path in (here / "corpus").iterdir())
        tap.check(f"the corpus has {size} bytes, at most {LARGEST}", size <= LARGEST)
        return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
