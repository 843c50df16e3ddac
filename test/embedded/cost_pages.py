#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""costs.txt as tables in README.md, docs/targets.md, docs/code-size.md and docs/learning.md. (Numbers in prose: tools/figures.py.)

    cost_pages.py            writes them: `tools/test embedded --update` and `tools/bench size --write` call it
    cost_pages.py --check    are they what costs.txt says?
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tools")]
import costs  # noqa: E402
import figures  # noqa: E402

BEGIN, END = "<!-- costs: begin (tools/test embedded --update) -->", "<!-- costs: end -->"
PROGRAMS = {"clothing": "the demo's model", "d2l_layer": "the d2l layer", "decode_step": "a cached decode step"}
BUILDS = ("-O2", "-Os", "small")
README_ROWS = {"cortex-m0": "Cortex-M0, no FPU", "cortex-m4f": "Cortex-M4 with FPU", "cortex-m55": "Cortex-M55 (Helium)",
               "riscv32": "32-bit RISC-V with FPU", "aarch64": "64-bit Arm (NEON)"}


def words(target):
    """What the target's cross file says it is, in its first line."""
    first = (ROOT / "cross" / f"{target}.ini").read_text().splitlines()[0]
    return re.match(r"# (.*?)([.:]|, which|$)", first)[1]


def number(value):
    return "-" if value is None else f"{value:,}"


def each(row):
    """Instructions a multiply-accumulate."""
    count = row and row.get("instructions")
    return f"{count / row['multiply-accumulates']:.2f}" if count else "-"


def table(head, rows):
    """Words on the left, numbers on the right."""
    return ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1),
            *("| " + " | ".join(row) + " |" for row in rows)]


def readme(targets):
    """Five targets, in round numbers."""
    def cells(row):
        return [figures.number(value, unit) + mark
                for value, unit, mark in [(row["ram"], "kB", " kB"), (row["text"] + row["rodata"], "kB", " kB"), (row["instructions"], "million", " M")]]

    return table(["", "float RAM", "flash", "instructions", "int8 RAM", "flash", "instructions"],
                 [[name, *(cell for program in ("clothing", "integer_clothing") for cell in cells(targets[target][1][program, "-O2"]))]
                  for target, name in README_ROWS.items()])


def picture(targets):
    def cells(target, rows):
        fast, small, integers = (rows.get(row, {}) for row in [("clothing", "-O2"), ("clothing", "small"), ("integer_clothing", "-O2")])
        return [words(target), number(fast.get("text")), number(small.get("text")), number(fast.get("rodata")),
                number(fast.get("ram")), number(fast.get("stack")), number(fast.get("instructions")), each(fast),
                *(number(integers[column]) for column in ("text", "rodata", "ram", "stack", "instructions"))]

    return table(["", "code", "small code", "constants", "RAM", "stack", "instructions", "instructions/MAC",
                  "int8: code", "constants", "RAM", "stack", "instructions"],
                 [cells(target, rows) for target, (_, rows) in targets.items()])


def with_floats(targets):
    """(target, rows); of the others the first table of docs/targets.md has all there is."""
    return [(target, rows) for target, (_, rows) in targets.items() if ("clothing", "-O2") in rows]


def instructions(targets):
    head = ["", *(f"{words}, {build}" for words in PROGRAMS.values() for build in BUILDS)]

    def cells(target, rows):
        for program in PROGRAMS:
            for build in BUILDS:
                row = rows.get((program, build))
                yield f"{number(row['instructions'])} ({each(row)})" if row and row["instructions"] else "-"

    return table(head, [[words(target), *cells(target, rows)] for target, rows in with_floats(targets)])


def sizes(targets):
    lines = []
    for program, what in PROGRAMS.items():
        lines += ["", f"{what[0].upper()}{what[1:]}:", ""]
        head = [f"{column}, {build}" for column in ("text", "stack") for build in BUILDS] + ["rodata", "RAM"]

        def cells(rows):
            of = [rows.get((program, build), {}) for build in BUILDS]
            return [*(number(row.get("text")) for row in of), *(number(row.get("stack")) for row in of),
                    number(of[0].get("rodata")), number(of[0].get("ram"))]

        lines += table(["bytes", *head], [[words(target), *cells(rows)] for target, rows in with_floats(targets)])
    return lines[1:]


def learning(targets):
    """Of a step."""
    columns = ("text", "rodata", "ram", "stack", "instructions")
    return table(["", "code", "constants", "RAM", "stack", "instructions"],
                 [[words(target), *(number(rows["learn_on_device", "-O2"][column]) for column in columns)]
                  for target, (_, rows) in targets.items() if ("learn_on_device", "-O2") in rows])


# The tables of a page, in the order of its marks.
PAGES = {"README.md": [readme], "docs/targets.md": [picture, instructions], "docs/code-size.md": [sizes], "docs/learning.md": [learning]}


def main():
    targets = costs.read()
    stale = []
    for name, tables in PAGES.items():
        page = ROOT / name
        text = page.read_text()
        first, *rest = text.split(BEGIN)
        if len(rest) != len(tables):
            sys.exit(f"{name} has {len(rest)} tables of costs, not {len(tables)}")
        new = first + "".join(f"{BEGIN}\n\n" + "\n".join(lines(targets)) + f"\n\n{END}{after.split(END)[1]}"
                              for lines, after in zip(tables, rest))
        if new != text:
            stale.append(name)
            if sys.argv[1:] != ["--check"]:
                page.write_text(new)
    if sys.argv[1:] != ["--check"]:
        return subprocess.run([sys.executable, str(ROOT / "tools/figures.py")]).returncode
    if sys.argv[1:] == ["--check"] and stale:
        print(f"not what costs.txt says: {', '.join(stale)}; run test/embedded/cost_pages.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
