#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Forward, loss and gradients (bench/layer/learning.cpp) beside PyTorch and the loops of llm.c, one thread. Each figure is
the least of the rounds, in which all take turns. Then what compiling them costs, and their code."""
import argparse
import contextlib
import datetime
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "bench/learning"
sys.path[:0] = [str(ROOT / "bench/compile"), str(ROOT / "tools")]
import command_line  # noqa: E402
from progress import Progress  # noqa: E402


def arguments():
    parser = command_line.Parser("tools/bench learning", __doc__)
    parser.add_argument("program", help=command_line.HIDDEN)
    parser.add_argument("--write", action="store_true", help="into docs/learning.md")
    parser.add_argument("--rounds", type=command_line.positive, default=5, metavar="N")
    return parser.parse()


OPTIONS = arguments() if __name__ == "__main__" else None  # before what may not be there: --help needs none

import torch  # noqa: E402
from torch.nn import functional  # noqa: E402

import sources  # noqa: E402
import train_fashion  # noqa: E402
from compiler import Compiler, text_bytes  # noqa: E402

PAGE = ROOT / "docs/learning.md"
BEGIN, END = "<!-- table: begin (tools/bench learning --write) -->", "<!-- table: end -->"
SHAPES = ["1,16,32,2", "1,49,32,4", "1,64,64,4", "1,128,256,8", "8,128,256,8"]
BATCH, BATCHES = 128, 10


def thread_seconds():
    return time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID)


def us_of(call, batches=7, least=0.02):
    """The median time of a call."""
    call()
    times, each = 1, []
    while len(each) < batches:
        start = thread_seconds()
        for _ in range(times):
            call()
        taken = thread_seconds() - start
        if taken < least:
            times *= 2
        else:
            each.append(taken / times * 1e6)
    return sorted(each)[batches // 2]


def fused(q, k, v):
    return functional.scaled_dot_product_attention(q, k, v)


def by_bmm(q, k, v):
    batch, heads, tokens, width = q.shape
    q, k, v = (x.reshape(batch * heads, tokens, width) for x in (q, k, v))
    weights = torch.softmax(torch.bmm(q * width**-0.5, k.transpose(1, 2)), -1)
    return torch.bmm(weights, v).view(batch, heads, tokens, width)


def ways(shape):
    """{name: function that gives y}, x and the parameters, dy. All ways give the same y."""
    batch, tokens, hidden, heads = map(int, shape.split(","))
    layer = torch.nn.MultiheadAttention(hidden, heads, batch_first=True)
    x = (2 * torch.rand(batch, tokens, hidden) - 1).requires_grad_()
    dy = 2 * torch.rand(batch, tokens, hidden) - 1

    def composed(attend):
        q, k, v = (part.view(batch, tokens, heads, -1).transpose(1, 2)
                   for part in functional.linear(x, layer.in_proj_weight, layer.in_proj_bias).chunk(3, -1))
        context = attend(q, k, v).transpose(1, 2).reshape(batch, tokens, hidden)
        return functional.linear(context, layer.out_proj.weight, layer.out_proj.bias)

    found = {"nn.MultiheadAttention": lambda: layer(x, x, x, need_weights=False)[0],
             "composed, bmm": lambda: composed(by_bmm)}
    if hasattr(functional, "scaled_dot_product_attention"):
        found["composed, scaled_dot_product_attention"] = lambda: composed(fused)
    right = found["composed, bmm"]()
    for name, way in found.items():
        assert torch.allclose(way(), right, atol=1e-4), name
    return found, [x, *layer.parameters()], dy


def torch_rows(shape):
    """us of forward and backward of its fastest way, and of that backward alone. Gradients are new
    tensors: nothing is added to what is there."""
    found, of, dy = ways(shape)
    step, way = min(((us_of(lambda: torch.autograd.grad(way(), of, dy)), way) for way in found.values()),
                    key=lambda one: one[0])
    y = way()
    return step, us_of(lambda: torch.autograd.grad(y, of, dy, retain_graph=True))


def torch_training():
    """us a picture of tools/train_fashion.py, which trained the demo's weights."""
    options = argparse.Namespace(batch=BATCH, epochs=1, rate=6e-3, warm_up=0.05, decay=0.02, smoothing=0.05,
                                 average=0.998, shift=1)
    count = BATCH * BATCHES
    pictures = torch.randint(256, (count, 28, 28), dtype=torch.uint8)
    labels = torch.randint(10, (count,))
    with contextlib.redirect_stdout(io.StringIO()):
        start = thread_seconds()
        train_fashion.train(pictures, labels, (pictures[:0], labels[:0]), options)
        return (thread_seconds() - start) / count * 1e6


def rows_of(program, name):
    """{row: (us, percent of the peak)}"""
    text = subprocess.run([program, f"--benchmark_filter={name}"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line[:36].strip(): (float(line[36:49]), float(line[60:69])) for line in text.splitlines()
            if line.startswith("learn/")}


def least(all_rows):
    made = {}
    for rows in all_rows:
        for name, row in rows.items():
            made[name] = min(made.get(name, row), row)
    return made


def times(a, b):
    return f"{a / b:.1f}"


def micro(us):
    return f"{us:,.2f}" if us < 10 else f"{us:,.1f}" if us < 1000 else f"{us:,.0f}"


def measure(program, rounds):
    ours, theirs = [], {}
    with Progress("tools/bench learning", rounds * (2 + len(SHAPES))) as progress:
        for number in range(rounds):
            progress.step(f"round {number + 1}, Umbel and llm.c's loops")
            ours.append(rows_of(program, "learn/"))
            for shape in SHAPES:
                progress.step(f"round {number + 1}, PyTorch, {shape}")
                step, backward = torch_rows(shape)
                before = theirs.get(shape, (step, backward))
                theirs[shape] = min(before[0], step), min(before[1], backward)
            progress.step(f"round {number + 1}, PyTorch, training")
            theirs["training"] = min(theirs.get("training", 1e9), torch_training())
    return least(ours), theirs


def table(ours, theirs):
    yield ("| batch, tokens, hidden, heads | forward, us | with gradients, us | % of peak | / forward | PyTorch, us | times as fast | "
           "backward alone | llm.c's loops, us | times as fast |")
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for shape in SHAPES:
        forward, (us, percent) = ours[f"learn/forward,{shape}"][0], ours[f"learn/attention,{shape}"]
        step, backward = theirs[shape]
        loops = ours[f"learn/llm.c,{shape}"][0]
        yield (f"| {shape.replace(',', ', ')} | {micro(forward)} | {micro(us)} | {percent:.0f} | {times(us, forward)} | {micro(step)} | "
               f"{times(step, us)} | {times(backward, us - forward)} | {micro(loops)} | {times(loops, us)} |")
    forward, (us, percent) = ours["learn/clothing forward"][0], ours["learn/clothing"]
    yield f"| the demo's classifier | {micro(forward)} | {micro(us)} | {percent:.0f} | {times(us, forward)} | | | | | |"
    us = ours["learn/clothing, 128 pictures"][0] / BATCH
    step = theirs["training"]
    yield (f"| the same, a picture of a step of {BATCH} | | {micro(us)} | | | {micro(step)} | {times(step, us)} | | | |")


def cost_table():
    """What gradients of a layer cost beside the layer alone: fast code for this machine, small for any of its kind."""
    compiler = Compiler(os.environ.get("CXX", "g++"), (f"-I{HERE}",))
    fast, small = ("-O3", "-march=native"), ("-Os", "-DUMBEL_SMALL_CODE=1")
    yield (f"| {compiler.name}: batch, tokens, hidden, heads | forward: seconds | with gradients | fast: bytes of code | for gradients | "
           "small: bytes of code | for gradients |")
    yield "|---|--:|--:|--:|--:|--:|--:|"
    with tempfile.TemporaryDirectory() as folder, Progress("tools/bench learning: compiling", 4 * len(SHAPES)) as progress:
        source, target = pathlib.Path(folder, "layer.cpp"), pathlib.Path(folder, "layer.o")
        for shape in SHAPES:
            taken, size = {}, {}
            for what in ("gradients", "forward"):
                source.write_text(sources.instances("gradient.hpp", what, [shape.split(",")]))
                for flags in (fast, small):
                    progress.step(f"{what} of {shape}")
                    taken[what, flags] = compiler.cost(source, target, flags)[0]
                    size[what, flags] = text_bytes(target)
            more = {flags: size["gradients", flags] - size["forward", flags] for flags in (fast, small)}
            yield (f"| {shape.replace(',', ', ')} | {taken['forward', fast]:.1f} | {taken['gradients', fast]:.1f} | "
                   + " | ".join(f"{size['forward', flags]:,} | {more[flags]:,}" for flags in (fast, small)) + " |")


def processor():
    found = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return found[1].strip() if found else "a processor without a name"


def main(options):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    train_fashion.keep_memory()
    rows = "\n".join([*table(*measure(options.program, options.rounds)), "", *cost_table()])
    print(rows)
    if options.write:
        head, rest = PAGE.read_text().split(BEGIN)
        flags = set(re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[1].split())
        vectors = "AVX-512" if "avx512f" in flags else "AVX2"
        note = (f"Measured on {datetime.date.today()}, {processor()} ({vectors}), PyTorch {torch.__version__} with "
                f"{train_fashion.blas_name()}.")
        PAGE.write_text(f"{head}{BEGIN}\n\n{note}\n\n{rows}\n\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main(OPTIONS)
