#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Is the table of docs/uses.md what the programs of this folder say?

    table.py [--update] DOC PROGRAM... [MPIRUN PROGRAM_OF_TWO_RANKS]

TAP: one check; with --update it writes the table. MPIRUN is known by its name. Without MPI the rows about ranks are taken for
right. A program prints "# use|name of the use|name of the block|works" for each block that it tries.
"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from mpi.check import Mpirun  # noqa: E402
from tap import Tap  # noqa: E402

BEGIN, END = "<!-- uses: begin -->\n", "<!-- uses: end -->\n"


def said_by(*command):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "UMBEL_USES": "1", "UMBEL_TAP": "1"})
    return [line.split("|")[1:] for line in done.stdout.splitlines() if line.startswith("# use|")]


def rows(cells):
    uses = list(dict.fromkeys(use for use, _, _ in cells))
    blocks = list(dict.fromkeys(block for _, block, _ in cells))
    said = {(use, block): what for use, block, what in cells}
    return ["| | " + " | ".join(blocks) + " |", "|---|" + "---|" * len(blocks)] + [
        f"| {use} | " + " | ".join(said.get((use, block), "**not tried**") for block in blocks) + " |" for use in uses]


def main():
    update = sys.argv[1] == "--update"
    doc, *programs = sys.argv[1 + update:]
    page = pathlib.Path(doc)
    head, rest = page.read_text().split(BEGIN)
    old, tail = rest.split(END)
    has_mpi = len(programs) > 1 and pathlib.Path(programs[-2]).name.startswith("mpi")
    cells = [cell for program in programs[:len(programs) - 2 * has_mpi] for cell in said_by(program)]
    if has_mpi:
        cells += said_by(*Mpirun(programs[-2]).command, "-n", "2", programs[-1])
    lines = rows(cells)
    if not has_mpi:
        lines += [line for line in old.splitlines() if line.startswith("| over ranks")]
    new = "\n" + "\n".join(lines) + "\n\n"
    if update:
        page.write_text(head + BEGIN + new + END + tail)
        return 0
    tap = Tap()
    tap.check("docs/uses.md is what the tests of uses say", old == new and "fails" not in new and "not tried" not in new,
              "table.py --update writes it" if old != new else "a cell of the table fails")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
