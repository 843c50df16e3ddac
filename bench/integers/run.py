#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Layers in 8-bit integers beside Umbel's in floats and those of other libraries, one after another on one core, several
times over: the least of each row's medians counts, since what disturbs a measurement only adds to it. Prints a table;
with --write also into docs/integers.md.
"""
import datetime
import os
import pathlib
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "peers"))
import run as peers  # noqa: E402
from run import Compiler, Progress, command_line  # noqa: E402

BEGIN, END = "<!-- integers: begin (tools/bench integers --write) -->", "<!-- integers: end -->"
OURS, FLOATS = "integers", "floats"
PROGRAMS = {OURS: ["integers_umbel"], FLOATS: ["integers_umbel", "floats"], "oneDNN": ["integers_onednn"],
            "ONNX Runtime": ["integers_onnxruntime"]}
PACKAGES = {"oneDNN": "libdnnl-dev"}


def run(build, command, found):
    """{row: (us, percent)} of what a program prints; us is None where every way was wrong. Each row is given to `found` as it
    comes."""
    rows = {}
    with subprocess.Popen([str(build / command[0]), *command[1:]], env=peers.environment(), stdout=subprocess.PIPE,
                          text=True) as child:
        for line in child.stdout:
            row, us, percent, way = line.rstrip("\n").split("\t")
            rows[row] = (None if way == "WRONG" else float(us), float(percent))
            found(row)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return rows


def race(build, rounds):
    """{program: its rows}, of those that were built."""
    found = {}
    there = {name: command for name, command in PROGRAMS.items() if (build / command[0]).exists()}
    with Progress("tools/bench integers", rounds * len(there)) as progress:
        for number in range(rounds):
            for name, command in there.items():
                progress.step(f"round {number + 1}, {name}")
                best = found.setdefault(name, {})
                for row, new in run(build, command, lambda row: progress.detail(row)).items():
                    old = best.get(row)
                    best[row] = new if old is None or old[0] is None or (new[0] is not None and new[0] < old[0]) else old
    return found


def cell(one, ours):
    if one is None:
        return "-"
    if one[0] is None:
        return "wrong"
    ratio = f"{peers.figure(one[0])} ({one[0] / ours:.2f}x)"
    return f"**{ratio}**" if one[0] < ours else ratio


def table(found):
    others = [name for name in found if name != OURS]
    yield f"| | us | % of peak | {', '.join(others).replace(', ', ' | ')} |"
    yield "|---|--:|--:|" + "--:|" * len(others)
    for row, (us, percent) in found[OURS].items():
        cells = " | ".join(cell(found[name].get(row), us) for name in others)
        yield f"| {row} | {peers.figure(us)} | {percent:.0f} | {cells} |"


def conditions(found, build, machine):
    compiler = Compiler(os.environ.get("CXX", "g++")).full_name
    versions = [f"{name} {peers.version_of(package)}" for name, package in PACKAGES.items() if name in found]
    if "ONNX Runtime" in found:
        asked = subprocess.run([str(build / "integers_onnxruntime"), "--version"], stdout=subprocess.PIPE, text=True,
                               check=True)
        versions.append(f"ONNX Runtime {asked.stdout.strip()}")
    missing = [name for name in PROGRAMS if name not in found]
    skipped = f" Not there, and left out: {', '.join(missing)}." if missing else ""
    return textwrap.fill(f"{datetime.date.today()}, {machine}, one core, {compiler} -O3 -march=native"
                         f"{''.join(', ' + one for one in versions)}.{skipped}", 100, break_on_hyphens=False)


def write(text):
    page = ROOT / "docs" / "integers.md"
    whole = page.read_text()
    if BEGIN not in whole or END not in whole:
        sys.exit(f"{page}: no place for the table: want the lines\n{BEGIN}\n{END}")
    before, after = whole.split(BEGIN)[0], whole.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
    print(f"written: {page.relative_to(ROOT)}")


def arguments():
    parser = command_line.Parser("tools/bench integers", __doc__)
    parser.add_argument("build", type=pathlib.Path, help=command_line.HIDDEN)
    parser.add_argument("--write", action="store_true", help="into docs/integers.md")
    parser.add_argument("--rounds", type=command_line.positive, default=5, metavar="N")
    parser.add_argument("--machine", default=peers.machine_name(), metavar="NAME", help="what the page calls this machine")
    return parser.parse()


def main():
    options = arguments()
    found = race(options.build, options.rounds)
    text = "\n".join([conditions(found, options.build, options.machine), "", *table(found)])
    print(text)
    if options.write:
        write(text)


if __name__ == "__main__":
    main()
