#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The formulas of examples/variants beside PyTorch's eager composition of the same (tools/golden_variants.py), one thread.
Each figure is the least of the rounds, in which both take turns."""
import datetime
import inspect
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import command_line  # noqa: E402
from progress import Progress  # noqa: E402


def arguments():
    parser = command_line.Parser("tools/bench variants", __doc__)
    parser.add_argument("program", help=command_line.HIDDEN)
    parser.add_argument("--write", action="store_true", help="into docs/variants.md")
    parser.add_argument("--rounds", type=command_line.positive, default=5, metavar="N")
    return parser.parse()


OPTIONS = arguments() if __name__ == "__main__" else None  # before what may not be there: --help needs none

import torch  # noqa: E402

import golden_variants  # noqa: E402

PAGE = ROOT / "docs/variants.md"
BEGIN, END = "<!-- table: begin (tools/bench variants --write) -->", "<!-- table: end -->"
SMALL, LARGE = ("4", "64", "16"), ("8", "128", "32")  # heads, tokens, head_dim


def thread_seconds():
    return time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID)


def draw(*shape, scale=1.0):
    return (2 * torch.rand(*shape) - 1) * scale


def best_us(call, rounds=15, times=10):
    best = 1.0
    for _ in range(rounds):
        start = thread_seconds()
        for _ in range(times):
            call()
        best = min(best, (thread_seconds() - start) / times)
    return best * 1e6


def most_bytes(call):
    """The most memory that a call has at a time, besides its arguments and its result."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        result = call()
    now = most = 0
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            most = max(most, now)
    return most - result.numel() * result.element_size()


def lines_of_formulas():
    """{name: lines of its formula}"""
    text = "\n".join(file.read_text() for file in sorted((ROOT / "examples/variants").glob("[0-9]*.hpp")))
    return {found[2]: found[1].count("\n") + 1
            for found in re.finditer(r"^(inline constexpr formula (\w+) = .*?^};)", text, re.M | re.S)}


def measure(program, rounds):
    """{(name, shape): (us, percent, bytes)} of the program, {name: us} of PyTorch."""
    here, peers = {}, {}
    calls = {function.__name__: (function, arguments())
             for function, arguments in golden_variants.variants(draw, 1, 4, 64, 64, 16).items()}
    with Progress("tools/bench variants", rounds * (1 + len(calls))) as progress:
        for number in range(rounds):
            progress.step(f"round {number + 1}, Umbel")
            for line in subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
                name, *shape, us, percent, size = line.split("\t")
                before = here.get((name, tuple(shape)), (1e9, 0, 0))
                here[name, tuple(shape)] = min(before[0], float(us)), max(before[1], float(percent)), int(size)
            for name, (function, arguments) in calls.items():
                progress.step(f"round {number + 1}, PyTorch, {name}")
                peers[name] = min(peers.get(name, 1e9), best_us(lambda: function(*arguments)))  # noqa: B023
    return here, peers, {name: most_bytes(lambda: function(*arguments)) for name, (function, arguments) in calls.items()}


def table(here, peers, peer_bytes):
    lines = lines_of_formulas()
    yield ("| | lines | PyTorch | us | PyTorch | times as fast | bytes | PyTorch | % of peak | of attention's |")
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    plain = here["attention", LARGE][1]
    for name in peers:
        us, _, size = here[name, SMALL]
        percent = here[name, LARGE][1]
        there = len(inspect.getsource(getattr(golden_variants, name)).rstrip().splitlines())
        yield (f"| `{name}` | {lines.get(name, 4)} | {there} | {us:.1f} | {peers[name]:.0f} | {peers[name] / us:.1f} | "
               f"{size:,} | {peer_bytes[name]:,} | {percent:.1f} | {percent / plain:.2f} |")


def main(options):
    torch.set_num_threads(1)
    torch.empty(1 << 22)  # glibc keeps freed memory up to such a size from here on: PyTorch meets no new pages
    with torch.inference_mode():
        rows = "\n".join(table(*measure(options.program, options.rounds)))
    print(rows)
    if options.write:
        head, rest = PAGE.read_text().split(BEGIN)
        note = f"Measured on {datetime.date.today()}, PyTorch {torch.__version__}."
        PAGE.write_text(f"{head}{BEGIN}\n\n{note}\n\n{rows}\n\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main(OPTIONS)
