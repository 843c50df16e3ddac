#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Vectors as long as the core likes: do programs for one length stop on a core of another, before main and with a sentence?

    vector_lengths.py BUILD_DIRECTORY       of a cross build whose emulator is told a length; a line "ok" or "not ok" a check

Runs d2l_layer, which checks the length before main, and vector_check, which asks for it, with vectors of 128 to 1024 bits.
"""
import ast
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LENGTHS = (128, 256, 512, 1024)


def emulator(wrapper, bits):
    """The command of a core with vectors of so many bits. (QEMU starts programs with SVE of 512 bits at most, unless told.)"""
    told = re.sub(r"vlen=\d+", f"vlen={bits}", wrapper[-1])
    told = re.sub(r"sve-max-vq=\d+", f"sve-max-vq={bits // 128},sve-default-vector-length={bits // 8}", told)
    return [*wrapper[:-1], told]


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    cross = (ROOT / "cross" / f"{folder.name.removeprefix('embedded-')}.ini").read_text()
    wrapper = ast.literal_eval(re.search(r"^exe_wrapper = (.*)$", cross, re.M)[1])
    asks, checks = folder / "test" / "embedded" / "vector_check", folder / "test" / "embedded" / "d2l_layer"
    compiled = int(re.search(r"compiled for (\d+)", subprocess.run([*wrapper, asks], capture_output=True, text=True).stdout)[1])
    longer_is_right = "vlen" in wrapper[-1]
    for core in LENGTHS:
        fits = core == compiled or longer_is_right and core > compiled
        run = subprocess.run([*emulator(wrapper, core), asks], capture_output=True, text=True)
        said = f"# compiled for {compiled}, the core has {core}\n" in run.stdout and (run.returncode == 0) == fits
        print(f"{'ok' if said else 'not ok'} - {core} bits: vector_check says whether they fit\n{'' if said else run.stdout}", end="")
        run = subprocess.run([*emulator(wrapper, core), checks], capture_output=True, text=True)
        sentence = f"umbel: compiled for {compiled}-bit vectors, but this core's have {core}\n"
        right = (run.returncode == 0 and "\nok 1 " in run.stdout if fits
                 else run.returncode != 0 and run.stderr.startswith(sentence) and not run.stdout)
        print(f"{'ok' if right else 'not ok'} - {core} bits: " + ("the bits of all targets" if fits else "stopped before main"))
        if not right:
            print(run.stdout + run.stderr)


if __name__ == "__main__":
    sys.exit(main())
