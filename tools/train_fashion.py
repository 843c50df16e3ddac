# SPDX-License-Identifier: BSL-1.0
"""Trains the demo's clothing classifier on Fashion-MNIST and writes examples/fashion/trained/.

    /usr/bin/python3 tools/train_fashion.py              trains, then writes all the files
    /usr/bin/python3 tools/train_fashion.py --evaluate   reads weights.npz back and measures it
    /usr/bin/python3 tools/train_fashion.py --hold-out 5000 --dry-run    for choosing settings
    /usr/bin/python3 tools/train_fashion.py --small      its smaller sibling, examples/fashion/small/

It needs torch, numpy and the pictures; on Debian and Ubuntu:

    apt-get install python3-torch python3-numpy dataset-fashion-mnist libopenblas0-serial

OpenBLAS is optional, but Debian's torch multiplies matrices with whatever libblas.so.3 is there,
and with the reference BLAS an epoch takes several times as long. Another BLAS or processor rounds
differently, so a training elsewhere gives other weights of about the same accuracy.

The model, which examples/fashion repeats in C++ (19,594 parameters):

    pixels / 255, 28 x 28, cut into 4 x 4 patches: 49 tokens of 16, both row-major
    x = patches * embed + positions                          (49, 32)
    twice:  x += attention(layer_norm(x))                    4 heads, biases
            x += down(gelu(up(layer_norm(x))))               32 -> 64 -> 32, exact gelu
    logits = mean over tokens(layer_norm(x)) * head          (10)

The sibling, for boards with 16 kB of RAM, has 16 patches of 7 x 7, width 24, 3 heads and a
feed-forward of 48: 11,626 parameters.

The weights are saved with the names and orders of torch's modules, nn.Linear, nn.LayerNorm and
nn.TransformerEncoderLayer, as weights.npz, of which tools/export writes weights.hpp.

Training sees pixels normalised to mean 0 and deviation 1; that is folded into embed at the end. The
test pictures are used once, after the last step; the weights are the moving average at the end.
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import math
import re
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

import command_line
from export_read import read_model
from export_write import array_text, float_text, wrap
from progress import Progress

DATASET = Path("/usr/share/datasets/fashion-mnist")
TOOLS = Path(__file__).resolve().parent
CLASSES = ("T-shirt", "trouser", "pullover", "dress", "coat",
           "sandal", "shirt", "sneaker", "bag", "ankle boot")
COLUMNS = 100  # of export_write, too

SMALL = "--small" in sys.argv[1:]
NAME = "small" if SMALL else "trained"  # of the folder and of the C++ namespace
MODELS = TOOLS.parent / "examples" / "fashion"
TRAINED = MODELS / NAME
COMMAND = "tools/train_fashion.py" + " --small" * SMALL
SIDE, LAYERS = 28, 2
PATCH, HIDDEN, HEADS, FEED_FORWARD = (7, 24, 3, 48) if SMALL else (4, 32, 4, 64)
GRID = SIDE // PATCH
TOKENS, PIXELS, HEAD_DIM = GRID * GRID, PATCH * PATCH, HIDDEN // HEADS
EPSILON = 1e-5

Weights = dict[str, Tensor]


# ---- pictures ---------------------------------------------------------------------------------


def read_idx(name: str) -> np.ndarray:
    """An IDX file of bytes: 2 zero bytes, type 8, rank, big-endian extents, data."""
    path = DATASET / name
    if not path.exists():
        sys.exit(f"train_fashion.py: {path} is missing: apt-get install dataset-fashion-mnist")
    data = gzip.decompress(path.read_bytes())
    rank = data[3]
    shape = np.frombuffer(data, ">u4", rank, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def read_pictures(which: str) -> tuple[Tensor, Tensor]:
    """Pixels (n, 28, 28) as bytes and labels (n) of 'train' or 't10k'."""
    return (torch.tensor(read_idx(f"{which}-images-idx3-ubyte.gz")),
            torch.tensor(read_idx(f"{which}-labels-idx1-ubyte.gz")).long())


def patches(pictures: Tensor) -> Tensor:
    """(n, 28, 28) to (n, 49, 16): tokens row-major, each patch row-major."""
    cut = pictures.reshape(-1, GRID, PATCH, GRID, PATCH).permute(0, 1, 3, 2, 4)
    return cut.reshape(-1, TOKENS, PIXELS)


class Augmenter:
    """Draws a batch: each picture shifted by up to `shift` pixels and flipped half the time."""

    def __init__(self, pictures: Tensor, shift: int) -> None:
        self.shift = shift
        self.padded = functional.pad(pictures, (shift,) * 4)

    def batch(self, chosen: Tensor) -> Tensor:
        n, steps = len(chosen), torch.arange(SIDE)
        top = torch.randint(2 * self.shift + 1, (n, 1))
        left = torch.randint(2 * self.shift + 1, (n, 1))
        flip = torch.randint(2, (n, 1)).bool()
        rows = top + steps
        columns = left + torch.where(flip, SIDE - 1 - steps, steps)
        return self.padded[chosen[:, None, None], rows[:, :, None], columns[:, None, :]]


# ---- the model --------------------------------------------------------------------------------


def weight_shapes() -> dict[str, tuple[int, ...]]:
    """Every array of the model; a weight is (in, out)."""
    shapes: dict[str, tuple[int, ...]] = {
        "embed_weight": (PIXELS, HIDDEN), "embed_bias": (HIDDEN,), "positions": (TOKENS, HIDDEN)}
    for layer in (f"layer{i}_" for i in range(LAYERS)):
        shapes |= {layer + "norm1_gamma": (HIDDEN,), layer + "norm1_beta": (HIDDEN,)}
        for name in ("query", "key", "value", "output"):
            shapes |= {f"{layer}{name}_weight": (HIDDEN, HIDDEN), f"{layer}{name}_bias": (HIDDEN,)}
        shapes |= {layer + "norm2_gamma": (HIDDEN,), layer + "norm2_beta": (HIDDEN,),
                   layer + "up_weight": (HIDDEN, FEED_FORWARD), layer + "up_bias": (FEED_FORWARD,),
                   layer + "down_weight": (FEED_FORWARD, HIDDEN), layer + "down_bias": (HIDDEN,)}
    return shapes | {"norm_gamma": (HIDDEN,), "norm_beta": (HIDDEN,),
                     "head_weight": (HIDDEN, len(CLASSES)), "head_bias": (len(CLASSES),)}


def first_weights() -> Tensor:
    """Random weights before training, as one flat vector: one tensor trains faster than 38."""
    parts = []
    for name, shape in weight_shapes().items():
        if name.endswith("_weight"):
            deviation = 1 / math.sqrt(shape[0])
            if "output" in name or "down" in name:
                deviation /= math.sqrt(2 * LAYERS)
            parts.append(torch.randn(shape) * deviation)
        elif name == "positions":
            parts.append(torch.randn(shape) * 0.1)
        else:
            parts.append(torch.ones(shape) if name.endswith("gamma") else torch.zeros(shape))
    return torch.cat([part.flatten() for part in parts])


def named(flat: Tensor) -> Weights:
    shapes = weight_shapes()
    parts = flat.split([math.prod(shape) for shape in shapes.values()])
    return {name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts)}


def norm(x: Tensor, w: Weights, name: str) -> Tensor:
    return functional.layer_norm(x, (HIDDEN,), w[name + "_gamma"], w[name + "_beta"], EPSILON)


def linear(x: Tensor, w: Weights, name: str) -> Tensor:
    rows = x.reshape(-1, x.shape[-1])
    y = torch.addmm(w[name + "_bias"], rows, w[name + "_weight"])
    return y.view(*x.shape[:-1], y.shape[-1])


def attention(x: Tensor, w: Weights, layer: str) -> Tensor:
    def heads(name: str) -> Tensor:
        y = linear(x, w, layer + name).view(-1, TOKENS, HEADS, HEAD_DIM)
        return y.transpose(1, 2).reshape(-1, TOKENS, HEAD_DIM)

    scores = torch.bmm(heads("query") * HEAD_DIM**-0.5, heads("key").transpose(1, 2))
    out = torch.bmm(torch.softmax(scores, -1), heads("value"))
    out = out.view(-1, HEADS, TOKENS, HEAD_DIM).transpose(1, 2).reshape(-1, TOKENS, HIDDEN)
    return linear(out, w, layer + "output")


def forward(x: Tensor, w: Weights) -> Tensor:
    """Patches (n, 49, 16) to logits (n, 10)."""
    x = linear(x, w, "embed") + w["positions"]
    for layer in (f"layer{i}_" for i in range(LAYERS)):
        x = x + attention(norm(x, w, layer + "norm1"), w, layer)
        up = functional.gelu(linear(norm(x, w, layer + "norm2"), w, layer + "up"))
        x = x + linear(up, w, layer + "down")
    return linear(norm(x, w, "norm").mean(1), w, "head")


@torch.no_grad()
def logits_of(pictures: Tensor, w: Weights, dtype: torch.dtype, batch: int = 500) -> Tensor:
    """What the C++ must repeat: pixels / 255 in, logits out."""
    w = {name: value.to(dtype) for name, value in w.items()}
    return torch.cat([forward(patches(part.to(dtype) / 255), w)
                      for part in pictures.split(batch)])


def accuracy(logits: Tensor, labels: Tensor) -> float:
    return (logits.argmax(1) == labels).double().mean().item()


# ---- training ---------------------------------------------------------------------------------


def keep_memory() -> None:
    """Asks glibc to keep freed memory: fresh pages for every large tensor cost much time."""
    try:
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(-3, 1 << 30)  # M_MMAP_THRESHOLD
        libc.mallopt(-1, (1 << 31) - 1)  # M_TRIM_THRESHOLD
    except OSError:
        pass


def rate_at(step: int, steps: int, options: argparse.Namespace) -> float:
    """Linear warm-up, then half a cosine down to zero."""
    warm = options.warm_up * steps
    if step < warm:
        return options.rate * (step + 1) / warm
    return options.rate * 0.5 * (1 + math.cos(math.pi * (step - warm) / (steps - warm)))


def fold_normalisation(w: Weights, mean: float, deviation: float) -> Weights:
    """((p - mean) / deviation) W + b = p (W / deviation) + (b - mean / deviation * sum W)."""
    weight = w["embed_weight"].double() / deviation
    bias = w["embed_bias"].double() - mean * weight.sum(0)
    return w | {"embed_weight": weight.float(), "embed_bias": bias.float()}


def train(pictures: Tensor, labels: Tensor, held: tuple[Tensor, Tensor],
          options: argparse.Namespace) -> Weights:
    pixels = pictures.double() / 255
    mean, deviation = pixels.mean().item(), pixels.std().item()
    del pixels
    augmenter = Augmenter(pictures, options.shift)
    flat = first_weights().requires_grad_()
    average = flat.detach().clone()
    optimizer = torch.optim.AdamW([flat], betas=(0.9, 0.99), weight_decay=options.decay)
    per_epoch = len(labels) // options.batch
    steps, step, began = per_epoch * options.epochs, 0, time.process_time()

    with Progress("tools/train_fashion.py", steps) as progress:
        for epoch in range(options.epochs):
            total, right = 0.0, 0
            for chosen in torch.randperm(len(labels))[:per_epoch * options.batch].split(options.batch):
                optimizer.param_groups[0]["lr"] = rate_at(step, steps, options)
                x = (patches(augmenter.batch(chosen)).float() / 255 - mean) / deviation
                logits = forward(x, named(flat))
                loss = functional.cross_entropy(logits, labels[chosen],
                                                label_smoothing=options.smoothing)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_([flat], 1.0)
                optimizer.step()
                step += 1
                progress.update(done=step, now=f"epoch {epoch + 1} of {options.epochs}")
                average.lerp_(flat.detach(), 1 - min(options.average, step / (step + 10)))
                total += loss.item()
                right += (logits.argmax(1) == labels[chosen]).sum().item()
            line = (f"epoch {epoch + 1}/{options.epochs}  loss {total / per_epoch:.4f}  "
                    f"train {100 * right / (per_epoch * options.batch):.2f} %  ")
            if len(held[1]):
                w = fold_normalisation(named(average), mean, deviation)
                part = accuracy(logits_of(held[0], w, torch.float32), held[1])
                line += f"held out {100 * part:.2f} %  "
            progress.say(line + f"{time.process_time() - began:.0f} s")
    return fold_normalisation(named(average), mean, deviation)


# ---- files ------------------------------------------------------------------------------------


def torch_names() -> dict[str, list[str]]:
    """What torch's modules call a tensor, and which of our arrays it holds, one after another."""
    names = {"embed.weight": ["embed_weight"], "embed.bias": ["embed_bias"],
             "positions": ["positions"]}
    for ours, theirs in ((f"layer{i}_", f"encoder.layers.{i}.") for i in range(LAYERS)):
        for kind in ("weight", "bias"):
            names |= {f"{theirs}self_attn.in_proj_{kind}":
                      [f"{ours}{name}_{kind}" for name in ("query", "key", "value")],
                      f"{theirs}self_attn.out_proj.{kind}": [f"{ours}output_{kind}"],
                      f"{theirs}linear1.{kind}": [f"{ours}up_{kind}"],
                      f"{theirs}linear2.{kind}": [f"{ours}down_{kind}"]}
        for norm in ("norm1", "norm2"):
            names |= {f"{theirs}{norm}.weight": [f"{ours}{norm}_gamma"],
                      f"{theirs}{norm}.bias": [f"{ours}{norm}_beta"]}
    return names | {"norm.weight": ["norm_gamma"], "norm.bias": ["norm_beta"],
                    "head.weight": ["head_weight"], "head.bias": ["head_bias"]}


def turned(name: str, x: Tensor) -> Tensor:
    """From our (in, out) to torch's (out, in), or back."""
    return (x.T if name.endswith("_weight") else x).contiguous()


def save_weights(w: Weights, path: Path) -> None:
    np.savez(path, **{name: torch.cat([turned(one, w[one]) for one in ours]).numpy()
                      for name, ours in torch_names().items()})


def read_weights(path: Path) -> Weights:
    tensors = read_model(path).tensors
    parts = {name: torch.from_numpy(tensors[name]).chunk(len(ours))
             for name, ours in torch_names().items()}
    return {one: turned(one, part) for name, ours in torch_names().items()
            for one, part in zip(ours, parts[name])}


def export_header(weights: Path, header: Path) -> None:
    subprocess.run([sys.executable, TOOLS / "export", weights, "--header", header, "--namespace",
                    f"fashion::{NAME}", "--license", "BSL-1.0", "--types", "--heads", str(HEADS), "--options",
                    "norm_first<true>, activation<gelu_exact>"], check=True)


# ---- C++ text ---------------------------------------------------------------------------------


def table_text(name: str, rows: list[list[str]], kind: str) -> str:
    """A C array of arrays, one braced row after another."""
    body = ",\n".join("    {\n" + wrap([word + "," for word in row[:-1]] + [row[-1]], " " * 8) + "}"
                      for row in rows)
    return f"inline constexpr {kind} {name}[{len(rows)}][{len(rows[0])}] = {{\n{body}}};\n"


def header_text(what: str, includes: str, body: str) -> str:
    return ("// SPDX-License-Identifier: BSL-1.0\n"
            f"// Generated by {COMMAND} with torch {torch.__version__}: do not edit.\n"
            f"{what}\n#pragma once\n\n{includes}namespace fashion::{NAME} {{\n\n{body}\n"
            f"}}  // namespace fashion::{NAME}\n")


def choose_samples(predicted: Tensor, labels: Tensor) -> list[int]:
    """Of each class the first picture that the model gets right, then the first of those left."""
    chosen = []
    for label in range(len(CLASSES)):
        mine = (labels == label).nonzero().flatten().tolist()
        right = next((i for i in mine if predicted[i] == label), mine[0])
        chosen += [right, next(i for i in mine if i != right)]
    return chosen


def samples_text(pictures: Tensor, labels: Tensor, logits: Tensor, chosen: list[int]) -> str:
    count = len(chosen)
    right = sum(int(logits[i].argmax() == labels[i]) for i in chosen)
    pixels = [[str(v) for v in pictures[i].flatten().tolist()] for i in chosen]
    scores = [[float_text(v) for v in logits[i].numpy()] for i in chosen]
    names = ", ".join(f'"{name}"' for name in CLASSES)
    return header_text(
        f"// {count} test pictures of Fashion-MNIST (Zalando, MIT licence, see README.md), two of\n"
        "// each class: the first that the model gets right and the first of the others.\n"
        f"// {right} of {count} are classified right. `index` is the place in the test set;\n"
        "// `logits` are PyTorch's, float32, in batches of 500, the same numbers as in logits.f32.",
        "#include <cstdint>\n\n",
        "\n".join([
            f"inline constexpr const char* class_names[{len(CLASSES)}] = {{\n"
            + wrap(names.replace(", ", ",|").split("|")) + "};\n",
            array_text("labels", f"[{count}]", [str(labels[i].item()) for i in chosen],
                       "std::uint8_t"),
            array_text("index", f"[{count}]", [str(i) for i in chosen], "std::uint16_t"),
            table_text("logits", scores, "float"),
            table_text("pixels", pixels, "std::uint8_t")]))


def small_samples_text(logits: Tensor, labels: Tensor) -> str:
    """Of the pictures that the larger model's samples.hpp has, in its order."""
    larger = torch.from_numpy(np.fromfile(MODELS / "trained" / "logits.f32", "<f4"))
    chosen = choose_samples(larger.view(-1, len(CLASSES)).argmax(1), labels)
    right = sum(int(logits[i].argmax() == labels[i]) for i in chosen)
    scores = [[float_text(v) for v in logits[i].numpy()] for i in chosen]
    return header_text(
        f"// PyTorch's logits of the {len(chosen)} pictures of ../trained/samples.hpp, of which\n"
        f"// {right} are classified right; float32, in batches of 500.",
        "", table_text("logits", scores, "float"))


# ---- measuring and writing --------------------------------------------------------------------


@dataclass
class Measured:
    logits: Tensor  # float32, as logits.f32 holds them
    accuracy: float
    accuracy_double: float
    closest: list[tuple[int, float]]  # pictures with the least gap from best to second logit
    double_difference: float  # worst |float32 - float64|
    largest: float  # |logit|
    batch_difference: float  # one picture at a time against batches of 500, first 200 pictures
    by_class: list[float]


def measure(w: Weights, pictures: Tensor, labels: Tensor) -> Measured:
    single = logits_of(pictures, w, torch.float32)
    double = logits_of(pictures, w, torch.float64)
    alone = logits_of(pictures[:200], w, torch.float32, batch=1)
    best = double.topk(2, 1).values
    gaps = (best[:, 0] - best[:, 1]).sort()
    closest = list(zip(gaps.indices[:3].tolist(), gaps.values[:3].tolist()))
    by_class = [accuracy(single[labels == c], labels[labels == c]) for c in range(len(CLASSES))]
    return Measured(single, accuracy(single, labels), accuracy(double, labels),
                    closest, (single.double() - double).abs().max().item(),
                    double.abs().max().item(),
                    (alone - single[:200]).abs().max().item(), by_class)


def blas_name() -> str:
    """The matrix library that torch has loaded, by its file name."""
    maps = Path("/proc/self/maps")
    text = maps.read_text() if maps.exists() else ""
    mapped = re.findall(r"/(lib[a-z]+blas[^/\s]*|libblas[^/\s]*)$", text, re.M)
    return mapped[0] if mapped else "an unknown BLAS"


def report(m: Measured, labels: Tensor) -> str:
    classes = [f"{name} {100 * part:.1f}" for name, part in zip(CLASSES, m.by_class)]
    return "\n".join([
        f"- test accuracy: {100 * m.accuracy:.2f} % of {len(labels)} pictures "
        f"({100 * m.accuracy_double:.2f} % in float64)",
        f"- by class, in per cent: {', '.join(classes[:5])},",
        f"  {', '.join(classes[5:])}",
        "- smallest gaps between the best and the second logit, in float64:\n  "
        + ", ".join(f"{gap:.2g} (picture {i})" for i, gap in m.closest),
        f"- largest |logit|: {m.largest:.4g}",
        f"- float32 against float64 logits, worst difference: {m.double_difference:.3g}",
        f"- one picture at a time against batches of 500, worst difference: "
        f"{m.batch_difference:.3g}"])


LARGER_FILES = """\
| `samples.hpp` | 20 test pictures, two of each class, with labels and PyTorch's logits |
| `logits.f32` | PyTorch's logits of all test pictures: (10000, 10), little-endian float32 |
| `ranges.hpp` | the ranges of the tensors for integers, written by `examples/fashion/calibrate.cpp` |"""
SMALL_FILES = "| `samples.hpp` | PyTorch's logits of the 20 pictures of `../trained/samples.hpp` |"
CHOICE = "The settings\nare those of the larger model." if SMALL else """Settings were chosen
by short trainings on 55,000 (`--hold-out 5000 --dry-run`), measured on the other 5,000."""
LICENCE = """
## The pictures

[Fashion-MNIST](https://github.com/zalandoresearch/fashion-mnist), Copyright (c) 2017 Zalando SE,
MIT licence; read from Debian's package `dataset-fashion-mnist`. `samples.hpp` holds 20 of its test
pictures under that licence:

> Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
> associated documentation files (the "Software"), to deal in the Software without restriction,
> including without limitation the rights to use, copy, modify, merge, publish, distribute,
> sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
> furnished to do so, subject to the following conditions:
>
> The above copyright notice and this permission notice shall be included in all copies or
> substantial portions of the Software.
>
> The Software is provided "as is", without warranty of any kind, express or implied, including but
> not limited to the warranties of merchantability, fitness for a particular purpose and
> noninfringement. In no event shall the authors or copyright holders be liable for any claim,
> damages or other liability, whether in an action of contract, tort or otherwise, arising from, out
> of or in connection with the Software or the use or other dealings in the Software.
"""


def readme_text(m: Measured, labels: Tensor, seconds: float, options: argparse.Namespace) -> str:
    settings = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in
                         sorted(vars(options).items()) if not isinstance(value, bool))
    settings = textwrap.fill(f"Settings: {settings}.", COLUMNS)
    parameters = sum(math.prod(shape) for shape in weight_shapes().values())
    return f"""<!-- SPDX-License-Identifier: BSL-1.0 -->
# Trained weights of the {"smaller " * SMALL}clothing classifier

Generated by `{COMMAND}`: do not edit. The model is written out at the top of the
script: {PATCH} x {PATCH} patches ({TOKENS} tokens), width {HIDDEN}, {HEADS} heads, feed-forward
{FEED_FORWARD}, {LAYERS} pre-norm layers, learned positions, mean pool, {len(CLASSES)} classes:
{parameters:,} parameters.

| file | contents |
|---|---|
| `weights.npz` | the weights, with the names and layouts of torch's modules; the input is pixels / 255 |
| `weights.hpp` | the same as constants, with their layers, written by `tools/export` |
{SMALL_FILES if SMALL else LARGER_FILES}

## Training

    /usr/bin/python3 {COMMAND}

{seconds:.0f} s of processor time, one thread, with torch {torch.__version__},
numpy {np.__version__} and {blas_name()}.
{settings}

Training used all 60,000 training pictures, shifted and flipped at random. The weights are the
moving average after the last step. The test pictures were used once, after training.
{CHOICE} Another
BLAS library or processor results in different weights with about the same accuracy.

## Results

{report(m, labels)}

`{COMMAND} --evaluate` reads `weights.npz` back and measures it again.
"""


def write_all(w: Weights, seconds: float, options: argparse.Namespace) -> None:
    TRAINED.mkdir(parents=True, exist_ok=True)
    save_weights(w, TRAINED / "weights.npz")
    back = read_weights(TRAINED / "weights.npz")
    assert all(torch.equal(w[name], back[name]) for name in weight_shapes()), "not an exact trip"
    export_header(TRAINED / "weights.npz", TRAINED / "weights.hpp")
    pictures, labels = read_pictures("t10k")
    m = measure(back, pictures, labels)
    readme = readme_text(m, labels, seconds, options)
    if SMALL:
        samples = small_samples_text(m.logits, labels)
    else:
        readme += LICENCE
        m.logits.numpy().astype("<f4").tofile(TRAINED / "logits.f32")
        chosen = choose_samples(m.logits.argmax(1), labels)
        samples = samples_text(pictures, labels, m.logits, chosen)
    (TRAINED / "samples.hpp").write_text(samples)
    (TRAINED / "README.md").write_text(readme)
    print(report(m, labels))


def evaluate() -> None:
    pictures, labels = read_pictures("t10k")
    m = measure(read_weights(TRAINED / "weights.npz"), pictures, labels)
    print(report(m, labels))
    if SMALL:
        return
    stored = torch.from_numpy(np.fromfile(TRAINED / "logits.f32", "<f4").astype(np.float32))
    print(f"- against logits.f32, worst difference: "
          f"{(m.logits.flatten() - stored).abs().max().item():.3g}")


def main() -> int:
    parser = command_line.Parser("tools/train_fashion.py", "Trains the clothing classifier of the demo.")
    parser.add_argument("--small", action="store_true", help="the sibling for 16 kB of RAM")
    parser.add_argument("--evaluate", action="store_true", help="measure the written weights only")
    parser.add_argument("--dry-run", action="store_true", help="train, write nothing")
    parser.add_argument("--hold-out", type=int, default=0, help="pictures kept from training")
    parser.add_argument("--epochs", type=int, default=32)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rate", type=float, default=6e-3, help="highest learning rate")
    parser.add_argument("--warm-up", type=float, default=0.05, help="part of the steps")
    parser.add_argument("--decay", type=float, default=0.02, help="weight decay")
    parser.add_argument("--smoothing", type=float, default=0.05, help="label smoothing")
    parser.add_argument("--average", type=float, default=0.998, help="moving average of weights")
    parser.add_argument("--shift", type=int, default=1, help="augmentation: pixels each way")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse(interrupted="stopped; the same command begins anew (tools/demo learn trains in C++, from checkpoints)")

    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    keep_memory()
    if options.evaluate:
        evaluate()
        return 0
    torch.manual_seed(options.seed)
    pictures, labels = read_pictures("train")
    kept = len(labels) - options.hold_out
    began = time.process_time()
    w = train(pictures[:kept], labels[:kept], (pictures[kept:], labels[kept:]), options)
    if not options.dry_run:
        write_all(w, time.process_time() - began, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
