# SPDX-License-Identifier: BSL-1.0
"""Trains the language model of examples/tiny_language_model and writes trained/ there.

    /usr/bin/python3 tools/train_text.py              trains, then writes all the files
    /usr/bin/python3 tools/train_text.py --evaluate   reads weights.safetensors back and measures it
    /usr/bin/python3 tools/train_text.py --steps 100 --dry-run    for choosing settings

It needs torch, numpy and the text (bible_text.py); on Debian and Ubuntu:

    apt-get install python3-torch python3-numpy bible-kjv

Another BLAS or processor rounds differently, so a training elsewhere gives other weights, about as good. (examples/learn_text trains the
model in C++, by the same settings: tools/demo learn text.)

The model, which examples/tiny_language_model repeats in C++, is a LLaMA of characters:

    x = embedding[characters]                                 64 characters, hidden 64
    5 times:  x += attention(rms_norm(x))                     8 heads of 8, 4 of keys and values, rope, causal
              x += down(silu(gate(y)) * up(y)), y = rms_norm(x)    64 -> 172 -> 64
    logits = rms_norm(x) * embedding                          one table for both

The weights are rounded to bfloat16 at the end: what is measured, and compared with, is the model of the rounded weights.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import textwrap
import time
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when it is loaded; torch's own setting does not reach it

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

import command_line
import export_read
from bible_text import read_text
from export_write import rounded, safetensors_bytes
from progress import Progress

TRAINED = Path(__file__).resolve().parent.parent / "examples" / "tiny_language_model" / "trained"
ALPHABET = "\n !'(),-.:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

HIDDEN, HEADS, KV_HEADS, FEED_FORWARD, LAYERS, CONTEXT = 64, 8, 4, 172, 5, 256
HEAD_DIM, GROUP, VOCABULARY = HIDDEN // HEADS, HEADS // KV_HEADS, len(ALPHABET)
EPSILON, ROPE_BASE = 1e-5, 10000.0
HELD_OUT = 200_000  # characters: the end of the text
PROMPT = "In the beginning "

Weights = dict[str, Tensor]


# ---- the text ---------------------------------------------------------------------------------


def tokens_of(text: str) -> Tensor:
    place = np.full(128, 255, np.uint8)
    place[[ord(c) for c in ALPHABET]] = np.arange(len(ALPHABET))
    return torch.from_numpy(place[np.frombuffer(text.encode(), np.uint8)].astype(np.int64))


# ---- the model --------------------------------------------------------------------------------


def weight_shapes() -> dict[str, tuple[int, ...]]:
    """Named as Hugging Face names a LlamaForCausalLM; a matrix is (out, in)."""
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (VOCABULARY, HIDDEN)}
    narrow = KV_HEADS * HEAD_DIM
    for layer in (f"model.layers.{i}." for i in range(LAYERS)):
        shapes |= {layer + "input_layernorm.weight": (HIDDEN,),
                   layer + "self_attn.q_proj.weight": (HIDDEN, HIDDEN),
                   layer + "self_attn.k_proj.weight": (narrow, HIDDEN),
                   layer + "self_attn.v_proj.weight": (narrow, HIDDEN),
                   layer + "self_attn.o_proj.weight": (HIDDEN, HIDDEN),
                   layer + "post_attention_layernorm.weight": (HIDDEN,),
                   layer + "mlp.gate_proj.weight": (FEED_FORWARD, HIDDEN),
                   layer + "mlp.up_proj.weight": (FEED_FORWARD, HIDDEN),
                   layer + "mlp.down_proj.weight": (HIDDEN, FEED_FORWARD)}
    return shapes | {"model.norm.weight": (HIDDEN,)}


def first_weights() -> Tensor:
    """Random weights before training, as one flat vector: one tensor trains faster than many."""
    parts = []
    for name, shape in weight_shapes().items():
        if len(shape) == 1:
            parts.append(torch.ones(shape))
            continue
        deviation = 1 / math.sqrt(shape[1])
        if "o_proj" in name or "down_proj" in name:
            deviation /= math.sqrt(2 * LAYERS)
        parts.append((torch.randn(shape) * deviation).flatten())
    return torch.cat(parts)


def named(flat: Tensor) -> Weights:
    shapes = weight_shapes()
    parts = flat.split([math.prod(shape) for shape in shapes.values()])
    return {name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts)}


class Places:
    """What depends on positions only: the turns of rope and the mask of a length."""

    def __init__(self, length: int, dtype: torch.dtype) -> None:
        place = torch.arange(length)
        slower = ROPE_BASE ** (-torch.arange(0, HEAD_DIM, 2, dtype=torch.float64) / HEAD_DIM)
        angle = place[:, None] * slower
        self.cos = torch.cat([angle.cos()] * 2, -1).to(dtype)  # split halves, as Hugging Face pairs features
        self.sin = torch.cat([-angle.sin(), angle.sin()], -1).to(dtype)
        mask = torch.full((length, length), -math.inf, dtype=dtype).triu(1)
        self.mask = mask.repeat(GROUP, 1)  # the queries of heads that share keys lie one after another

    def turn(self, x: Tensor) -> Tensor:
        """x: (batch, token, heads, head_dim)."""
        return x * self.cos[:, None] + x.roll(HEAD_DIM // 2, -1) * self.sin[:, None]


def norm(x: Tensor, gamma: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * gamma


def attention(x: Tensor, w: Weights, layer: str, places: Places) -> Tensor:
    batch, length, _ = x.shape

    def heads(name: str, count: int) -> Tensor:
        return functional.linear(x, w[f"{layer}self_attn.{name}_proj.weight"]).view(batch, length, count, HEAD_DIM)

    q = (places.turn(heads("q", HEADS)) * HEAD_DIM**-0.5).transpose(1, 2).reshape(-1, GROUP * length, HEAD_DIM)
    k = places.turn(heads("k", KV_HEADS)).permute(0, 2, 3, 1).reshape(-1, HEAD_DIM, length)
    v = heads("v", KV_HEADS).transpose(1, 2).reshape(-1, length, HEAD_DIM)
    seen = torch.softmax(torch.baddbmm(places.mask, q, k), -1)
    out = torch.bmm(seen, v).view(batch, HEADS, length, HEAD_DIM).transpose(1, 2)
    return functional.linear(out.reshape(batch, length, HIDDEN), w[layer + "self_attn.o_proj.weight"])


def feed_forward(x: Tensor, w: Weights, layer: str) -> Tensor:
    gate = functional.silu(functional.linear(x, w[layer + "mlp.gate_proj.weight"]))
    up = functional.linear(x, w[layer + "mlp.up_proj.weight"])
    return functional.linear(gate * up, w[layer + "mlp.down_proj.weight"])


def forward(tokens: Tensor, w: Weights, places: Places) -> Tensor:
    """Tokens (batch, token) to logits (batch, token, vocabulary)."""
    table = w["model.embed_tokens.weight"]
    x = functional.embedding(tokens, table)
    for layer in (f"model.layers.{i}." for i in range(LAYERS)):
        x = x + attention(norm(x, w[layer + "input_layernorm.weight"]), w, layer, places)
        x = x + feed_forward(norm(x, w[layer + "post_attention_layernorm.weight"]), w, layer)
    return functional.linear(norm(x, w["model.norm.weight"]), table)


# ---- training ---------------------------------------------------------------------------------


def rate_at(step: int, options: argparse.Namespace) -> float:
    """Linear warm-up, then half a cosine down to a twentieth."""
    warm = min(options.warm_up, options.steps / 10)
    if step < warm:
        return options.rate * (step + 1) / warm
    return options.rate * (0.05 + 0.475 * (1 + math.cos(math.pi * (step - warm) / (options.steps - warm))))


@torch.no_grad()
def loss_of(tokens: Tensor, w: Weights, length: int) -> float:
    """Mean loss of a character, in nats, in pieces of that length."""
    places, dtype = Places(length, w["model.norm.weight"].dtype), torch.float64
    pieces = tokens[:(len(tokens) - 1) // length * length + 1]
    x, y = pieces[:-1].view(-1, length), pieces[1:].view(-1, length)
    total = sum(functional.cross_entropy(forward(a, w, places).flatten(0, 1).to(dtype), b.flatten(), reduction="sum")
                for a, b in zip(x.split(8), y.split(8)))
    return total.item() / y.numel()


def train(tokens: Tensor, options: argparse.Namespace) -> Weights:
    """Most of it on pieces of half the context, which cost half as much a character."""
    flat = first_weights().requires_grad_()
    optimizer = torch.optim.AdamW([flat], betas=(0.9, 0.99), weight_decay=options.decay)
    began, mean, length = time.process_time(), math.log(VOCABULARY), 0
    with Progress("tools/train_text.py", options.steps) as progress:
        for step in range(options.steps):
            wanted = CONTEXT if step >= 0.8 * options.steps else CONTEXT // 2
            if wanted != length:
                length, places = wanted, Places(wanted, torch.float32)
            optimizer.param_groups[0]["lr"] = rate_at(step, options)
            first = torch.randint(len(tokens) - length, (options.characters // length, 1))
            piece = tokens[first + torch.arange(length + 1)]
            logits = forward(piece[:, :-1], named(flat), places)
            loss = functional.cross_entropy(logits.flatten(0, 1), piece[:, 1:].flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_([flat], 1.0)
            optimizer.step()
            mean += (loss.item() - mean) * max(0.02, 1 / (step + 1))
            progress.update(done=step + 1)
            if (step + 1) % 50 == 0 or step + 1 == options.steps:
                progress.say(f"step {step + 1}/{options.steps}  loss {mean:.4f}  {time.process_time() - began:.0f} s")
    return named(flat.detach())


# ---- measuring and writing --------------------------------------------------------------------


@torch.no_grad()
def greedy_text(w: Weights) -> tuple[Tensor, float]:
    """PROMPT continued by the most likely character each time, to the end of the context, each from a whole pass over the
    text so far; and the smallest gap between the best and the second logit."""
    text, least = tokens_of(PROMPT), math.inf
    while len(text) < CONTEXT:
        logits = forward(text[None], w, Places(len(text), w["model.norm.weight"].dtype))[0, -1]
        best = logits.topk(2)
        least = min(least, (best.values[0] - best.values[1]).item())
        text = torch.cat([text, best.indices[:1]])
    return text, least


def letters(text: Tensor) -> str:
    return "".join(ALPHABET[i] for i in text.tolist())


def rounded_weights(w: Weights) -> Weights:
    return {name: torch.from_numpy(rounded(value.numpy(), "bfloat16")) for name, value in w.items()}


def in_double(w: Weights) -> Weights:
    return {name: value.double() for name, value in w.items()}


@torch.no_grad()
def file_bytes(w: Weights) -> bytes:
    """The weights in bfloat16; the first verse and its logits, which load tries; the greedy text, which a test repeats."""
    probe = tokens_of(read_text()[:24])
    known = {"probe.input": probe.int().numpy(),
             "probe.output": forward(probe[None], w, Places(len(probe), torch.float32))[0].numpy(),
             "probe.greedy": greedy_text(w)[0].int().numpy()}
    return safetensors_bytes({name: value.numpy() for name, value in w.items()}, known, "bfloat16")[0]


def read_weights() -> tuple[Weights, Tensor]:
    """And the greedy text that was written with them."""
    tensors = export_read.read_safetensors((TRAINED / "weights.safetensors").read_bytes()).tensors
    return ({name: torch.tensor(tensors[name]) for name in weight_shapes()},
            torch.tensor(tensors["probe.greedy"]).long())


def report(w: Weights) -> str:
    held = tokens_of(read_text())[-HELD_OUT:]
    loss = loss_of(held, w, CONTEXT)
    text, gap = greedy_text(in_double(w))
    same = torch.equal(text, greedy_text(w)[0])
    return "\n".join([
        f"- loss on the {HELD_OUT:,} characters that it was not trained on: {loss:.3f} nats, "
        f"{loss / math.log(2):.2f} bits a character",
        f"- the greedy text in float64: {'the same' if same else 'another'}; its smallest gap between the best and the "
        f"second logit: {gap:.2g}"])


def readme_text(w: Weights, measured: str, seconds: float, options: argparse.Namespace) -> str:
    settings = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in sorted(vars(options).items())
                         if not isinstance(value, bool))
    count = sum(math.prod(shape) for shape in weight_shapes().values())
    return f"""<!-- SPDX-License-Identifier: BSL-1.0 -->
# Trained weights of the tiny language model

Generated by `tools/train_text.py`: do not edit. The model is written out at the top of the script:
a LLaMA of {VOCABULARY}
characters, width {HIDDEN}, {HEADS} heads, {KV_HEADS} key-value heads, feed-forward {FEED_FORWARD}, {LAYERS} blocks, context {CONTEXT}:
{count:,} parameters.

`weights.safetensors` has them in bfloat16, with the names of Hugging Face's files, a checksum and
these tensors:

| tensor | contents |
|---|---|
| `probe.input`, `probe.output` | the first 24 characters of the text, and PyTorch's logits after each, in float32 |
| `probe.greedy` | the greedy text: the prompt {PROMPT!r}, continued by PyTorch to {CONTEXT} characters |

`ranges.hpp` has the ranges of the tensors for integers, written by
`examples/tiny_language_model/calibrate.cpp`.

## Training

    /usr/bin/python3 tools/train_text.py

{seconds:.0f} s of processor time, one thread, with torch {torch.__version__} and numpy {np.__version__}.
Settings: {settings}.

Another BLAS library or processor results in different weights of about the same quality.
`tools/demo learn text` trains the same model in C++, to the same bits with every compiler
(docs/learning.md).

## Results

{measured}

`tools/train_text.py --evaluate` reads `weights.safetensors` back and measures it again. This is the
greedy text:

{textwrap.indent(letters(greedy_text(w)[0]), "    ")}

## The text

The text is the King James Version of the Bible, from Debian's packages `bible-kjv` and
`bible-kjv-text`. Their copyright file states: "The copyright for the King James Version text of the
Bible is expired since the translation was done in 1611 under King James the first of Great
Britain." (In the United Kingdom its printing is reserved to the Crown.) The data of the package are
"provided for unrestricted use" with this legend: "Chip Chapin, September 4, 1989".
"""


def write_all(w: Weights, seconds: float, options: argparse.Namespace) -> None:
    TRAINED.mkdir(parents=True, exist_ok=True)
    w = rounded_weights(w)
    (TRAINED / "weights.safetensors").write_bytes(file_bytes(w))
    back, _ = read_weights()
    assert all(torch.equal(w[name], back[name]) for name in weight_shapes()), "not an exact trip"
    measured = report(back)
    (TRAINED / "README.md").write_text(readme_text(back, measured, seconds, options))
    print(measured)


def evaluate() -> None:
    w, greedy = read_weights()
    print(report(w))
    print(f"- the greedy text in the file: {'the same' if torch.equal(greedy, greedy_text(w)[0]) else 'another'}")


def main() -> int:
    parser = command_line.Parser("tools/train_text.py", "Trains the tiny language model.")
    parser.add_argument("--evaluate", action="store_true", help="measure the written weights only")
    parser.add_argument("--dry-run", action="store_true", help="train, write nothing")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--characters", type=int, default=4096, help="of a step, in pieces of the text")
    parser.add_argument("--rate", type=float, default=6e-3, help="highest learning rate")
    parser.add_argument("--warm-up", type=int, default=100, help="steps")
    parser.add_argument("--decay", type=float, default=0.02, help="weight decay")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse(interrupted="stopped; the same command begins anew (tools/demo learn text trains in C++, from checkpoints)")

    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    if options.evaluate:
        evaluate()
        return 0
    torch.manual_seed(options.seed)
    tokens = tokens_of(read_text())
    began = time.process_time()
    w = train(tokens[:-HELD_OUT], options)
    if not options.dry_run:
        write_all(w, time.process_time() - began, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
