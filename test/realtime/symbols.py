#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What a forward pass has to be linked with: memcpy, memmove and memset, nothing else.

    symbols.py SOURCE NM -- COMPILER

No operator new, no libm, no exceptions, no guards of local statics (locks), no locks. Compiled at -O2, -O3 and -Os
without exceptions, and at -O2 with them: then a noexcept function that the compiler did not see to the bottom of
may also name what would end the program. With -DSELF_TEST the source has all of these instead of the passes, and they must be noticed.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap, split_command  # noqa: E402

ALLOWED = {"memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_"}
TERMINATES = {"__gxx_personality_v0", "__cxa_begin_catch", "_ZSt9terminatev"}
# Of the self test: operator new[](unsigned), erff, __cxa_guard_acquire, __cxa_throw.
NOTICED = {"_Zna.", "erff", "__cxa_guard_acquire", "__cxa_throw"}
FUNCTIONS = 16


def main():
    (source, nm), command = split_command(sys.argv[1:])
    tap = Tap()

    def symbols(folder, *flags):
        made = pathlib.Path(folder) / "symbols.o"
        run = subprocess.run([*command, *flags, "-c", source, "-o", made], capture_output=True, text=True)
        tap.check(f"compiles with {' '.join(flags)}", run.returncode == 0, run.stderr)
        if run.returncode:
            return set(), set()
        lines = subprocess.run([nm, made], capture_output=True, text=True, check=True).stdout.splitlines()
        parts = [line.split() for line in lines]
        return ({p[-1] for p in parts if p[-2] in "Uw"}, {p[-1] for p in parts if p[-2] == "T"})

    with tempfile.TemporaryDirectory() as folder:
        for flags in ("-O2 -fno-exceptions", "-O3 -fno-exceptions", "-Os -fno-exceptions", "-O2"):
            undefined, defined = symbols(folder, *flags.split())
            extra = sorted(undefined - ALLOWED - (set() if "-fno-exceptions" in flags else TERMINATES))
            tap.check(f"nothing to link with at {flags}", not extra, ", ".join(extra))
            passes = [name for name in defined if "forward_pass" in name]
            tap.check(f"the passes are there at {flags}", len(passes) == FUNCTIONS, ", ".join(passes))
        undefined, _ = symbols(folder, "-O2", "-DSELF_TEST")
        for pattern in sorted(NOTICED):
            tap.check(f"{pattern} would be noticed", any(re.fullmatch(pattern, name) for name in undefined - ALLOWED),
                      ", ".join(sorted(undefined)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
