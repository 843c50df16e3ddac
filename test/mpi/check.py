#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The programs of this folder under mpirun, with as many processes as there are ranks, whatever cores there are.

    check.py MPIRUN BLOCKS LEARNING SAME_BITS START
    check.py                            without MPI: skipped, by name
    check.py --program RANKS MPIRUN PROGRAM WORD...        a program that ends with 0 where all is well

A program prints "ok NAME" or "not ok NAME: ranks ..." for each check, and "done".
"""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap  # noqa: E402

SECONDS = 60  # a run takes one or two


class Mpirun:
    def __init__(self, path):
        version = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
        self.command = [path] + (["--allow-run-as-root", "--oversubscribe"] if "Open MPI" in version else [])
        self.environment = {**os.environ, "OMPI_MCA_btl_base_warn_component_unused": "0"}

    def run(self, ranks, *program, seconds=SECONDS):
        """(exit code, standard output, all that was said); the code is None where it did not end."""
        try:
            run = subprocess.run([*self.command, "-n", str(ranks), *program], capture_output=True, text=True,
                                 timeout=seconds, stdin=subprocess.DEVNULL, env=self.environment)
        except subprocess.TimeoutExpired as late:
            return None, "", f"not at its end after {seconds} s: {late.stdout or ''}{late.stderr or ''}"
        return run.returncode, run.stdout, run.stdout + run.stderr


def check_program(tap, mpirun, ranks, program):
    """Its checks as ours, and that it came to its end."""
    code, out, said = mpirun.run(ranks, program)
    name = pathlib.Path(program).name
    for verdict, what in re.findall(r"^(ok|not ok) (.*)$", out, re.M):
        tap.check(f"{ranks} ranks: {what}", verdict == "ok", said)
    tap.check(f"{ranks} ranks: {name} comes to its end", code == 0 and re.search("^done$", out, re.M), said)


def main():
    tap = Tap()
    if len(sys.argv) == 1:
        tap.skip("mpi", "there is no MPI")
        return tap.finish()
    if sys.argv[1] == "--program":
        ranks, path, *program = sys.argv[2:]
        code, out, said = Mpirun(path).run(ranks, *program)
        tap.check(f"{ranks} ranks: {pathlib.Path(program[0]).name}", code == 0 and out, said)
        return tap.finish()
    mpirun, blocks, learning, same_bits, start = Mpirun(sys.argv[1]), *sys.argv[2:]
    for ranks in (1, 2, 3, 4, 8):
        check_program(tap, mpirun, ranks, same_bits)
        check_program(tap, mpirun, ranks, blocks)
    for ranks in (1, 2, 4, 8):
        check_program(tap, mpirun, ranks, learning)
    check_program(tap, mpirun, 3, start)
    code, _, said = mpirun.run(3, start, "dies")
    tap.check("a rank that is killed ends the job", code not in (0, None), said)
    tap.check("and a message says so", re.search(r"signal 9|KILLED", said, re.I), said)
    code, _, said = mpirun.run(3, start, "fails")
    tap.check("a message that fails ends the job, also where errors are returned", code not in (0, None), said)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
