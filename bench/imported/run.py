#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Seven models of test/import as tools/import writes them, beside the same by hand (bench/imported/by_hand.hpp). CXX is the
compiler (g++)."""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tools"), str(ROOT / "test" / "import")]
import command_line  # noqa: E402
from progress import Progress  # noqa: E402

MODELS = "Encoder VisionTransformer KeywordTransformer Bert Whisper Llama Conformer".split()
SIZES = "128 4 64"  # hidden, heads, tokens


def ran(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"tools/bench imported: {command[0]} {command[1]}: {(done.stderr or done.stdout)[-2000:]}")
    return done.stdout


def main():
    command_line.Parser("tools/bench imported", __doc__).parse()
    os.environ["UMBEL_MODEL_SIZES"] = SIZES
    import models
    with tempfile.TemporaryDirectory() as path, Progress("tools/bench imported", len(MODELS) + 2) as progress:
        folder = pathlib.Path(path)
        for i, name in enumerate(MODELS):
            progress.update(done=i, now=name)
            models.export(models.made(getattr(models, name)), folder / f"{name}.onnx")
            ran(sys.executable, ROOT / "tools" / "import", folder / f"{name}.onnx", "--out", folder)
        progress.update(done=len(MODELS), now="compiling")
        program = folder / "ratio"
        ran(os.environ.get("CXX", "g++"), "-std=c++20", "-O3", "-march=native", "-I", ROOT / "include", "-I", folder, ROOT / "bench/imported/ratio.cpp", "-o", program)
        progress.update(done=len(MODELS) + 1, now="measuring")
        lines = ran(program).splitlines()
    print(f"{'':20}{'imported':>12}{'by hand':>12}{'ratio':>8}{'largest difference':>20}")
    for line in lines:
        name, imported, by_hand, ratio, apart = line.split("\t")
        print(f"{name:20}{imported:>9} us{by_hand:>9} us{ratio:>8}{apart:>20}")


if __name__ == "__main__":
    main()
