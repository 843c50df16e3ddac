#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Does tools/embedded skip a target whose tools cannot be had, by its name, and say what is missing? And are the targets that it
has by default, and with --all, those of docs/targets.md?

    skipped.py ROOT       TAP

It runs tools/embedded with a PATH of the programs that it needs itself: no compiler for other targets, no emulator, and
nothing to install them with.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap  # noqa: E402

PROGRAMS = ["bash", "basename", "dirname", "cat", "grep", "mktemp", "nproc", "rm", "sed", "tail", "g++", "meson", "ninja", "pkg-config",
            "python3"]
MISSING = {
    "cortex-m0": "make gcc-arm-none-eabi libstdc++-arm-none-eabi-dev libnewlib-arm-none-eabi qemu-system-arm",
    "aarch64-dotprod": "g++-aarch64-linux-gnu qemu-user",
    "wasm32": "clang-19 lld-19 wasi-libc libc++-19-dev-wasm32 libclang-rt-19-dev-wasm32 nodejs",
}


def check_targets(tap, root):
    """The list in tools/embedded, cross/ and the two tables of docs/targets.md."""
    page = (root / "docs" / "targets.md").read_text()
    every = {path.stem for path in (root / "cross").glob("*.ini")}
    by_default = re.search(r"^default_targets=\((.*)\)$", (root / "tools" / "embedded").read_text(), re.M)[1].split()

    def table(head):
        rows = re.search(rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", page, re.M)[1].splitlines()
        return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]

    tap.check("docs/targets.md has every target of cross/", sorted(table("`cross/`")) == sorted(every), f"{every ^ set(table('`cross/`'))}")
    tap.check("and those that run by default, which are in cross/",
              sorted(table("by default")) == sorted(by_default) and set(by_default) <= every, f"{by_default}, {table('by default')}")


def main():
    embedded = pathlib.Path(sys.argv[1]) / "tools" / "embedded"
    tap = Tap()
    with tempfile.TemporaryDirectory() as path:
        for program in PROGRAMS:
            if found := shutil.which(program):
                (pathlib.Path(path) / program).symlink_to(found)
        done = subprocess.run(["bash", embedded, *MISSING], env={"PATH": path}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    lines, output = done.stdout.splitlines(), done.stdout + done.stderr
    for target, missing in MISSING.items():
        tap.check(f"{target} is skipped by name", f"skipped: {target} ({missing} cannot be had)" in lines, output)
    tap.check("the last line counts them", lines[-1:] == [f"0 passed, 0 failed, {len(MISSING)} skipped"], output)
    tap.check("a run of nothing fails", done.returncode == 1, output)
    check_targets(tap, embedded.parents[1])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
