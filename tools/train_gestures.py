# SPDX-License-Identifier: BSL-1.0
"""Trains a small classifier of drawn gestures, the second model that is tried in integers (test/golden/gestures.cpp).

    /usr/bin/python3 tools/train_gestures.py    trains, then writes test/golden/data/gestures.safetensors
    tools/export test/golden/data/gestures.safetensors --header examples/learn_on_device/weights.hpp \\
        --license BSL-1.0 --namespace learn_on_device::trained --types --heads 4 \\
        --options "norm_first<true>, norm_epsilon<1, 100'000>, activation<silu>"

It needs torch and numpy; three minutes on one core. Another BLAS or processor rounds differently, so a training elsewhere gives
other weights, about as good.

The gestures are drawn (gestures.py). The model is an encoder of other parts than the demo's:

    x = embed(sample)                                                 12 -> 24
    2 times:  x += attention(rms_norm(x))                             4 heads of 6, 2 of keys and values, rope, causal
              x += down(silu(gate(y)) * up(y)), y = rms_norm(x)       24 -> 48 -> 24
    logits = head(mean over the tokens of rms_norm(x))                24 -> 10
"""

from __future__ import annotations

import math
import os
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when it is loaded; torch's own setting does not reach it

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

import command_line
from export_write import safetensors_bytes
from gestures import CLASSES, FEATURES, FIRST_TEST, TOKENS, gestures
from progress import Progress

OUT = Path(__file__).resolve().parent.parent / "test" / "golden" / "data" / "gestures.safetensors"
HIDDEN, HEADS, KV_HEADS, WIDTH, WIDE, LAYERS = 24, 4, 2, 6, 48, 2
EPSILON = 1e-5
TRAIN, TEST = 20_000, 2_000


# ---- the model --------------------------------------------------------------------------------


def new_weights() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(1)

    def linear(out: int, into: int) -> Tensor:
        return (torch.randn(out, into, generator=generator) / math.sqrt(into)).requires_grad_()

    w = {"embed.weight": linear(HIDDEN, FEATURES), "embed.bias": torch.zeros(HIDDEN, requires_grad=True)}
    for i in range(LAYERS):
        at = f"layers.{i}."
        w |= {at + "input_layernorm.weight": torch.ones(HIDDEN, requires_grad=True),
              at + "self_attn.q_proj.weight": linear(HEADS * WIDTH, HIDDEN),
              at + "self_attn.k_proj.weight": linear(KV_HEADS * WIDTH, HIDDEN),
              at + "self_attn.v_proj.weight": linear(KV_HEADS * WIDTH, HIDDEN),
              at + "self_attn.o_proj.weight": linear(HIDDEN, HEADS * WIDTH),
              at + "post_attention_layernorm.weight": torch.ones(HIDDEN, requires_grad=True),
              at + "mlp.gate_proj.weight": linear(WIDE, HIDDEN), at + "mlp.up_proj.weight": linear(WIDE, HIDDEN),
              at + "mlp.down_proj.weight": linear(HIDDEN, WIDE)}
    return w | {"norm.weight": torch.ones(HIDDEN, requires_grad=True), "head.weight": linear(CLASSES, HIDDEN),
                "head.bias": torch.zeros(CLASSES, requires_grad=True)}


def rms_norm(x: Tensor, gamma: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * gamma


def rotate(x: Tensor) -> Tensor:
    """(batch, heads, tokens, width): feature i with feature i + width / 2."""
    angle = torch.arange(TOKENS)[:, None] * 10000.0 ** (-2 * torch.arange(WIDTH // 2) / WIDTH)
    a, b = x.chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


def logits_of(w: dict[str, Tensor], x: Tensor) -> Tensor:
    x = x @ w["embed.weight"].T + w["embed.bias"]
    hidden_keys = torch.triu(torch.ones(TOKENS, TOKENS, dtype=torch.bool), 1)
    for i in range(LAYERS):
        at = f"layers.{i}."
        y = rms_norm(x, w[at + "input_layernorm.weight"])

        def heads(name: str, count: int) -> Tensor:
            return (y @ w[f"{at}self_attn.{name}_proj.weight"].T).view(*y.shape[:2], count, WIDTH).transpose(1, 2)

        q, k, v = rotate(heads("q", HEADS)), rotate(heads("k", KV_HEADS)), heads("v", KV_HEADS)
        k, v = (t.repeat_interleave(HEADS // KV_HEADS, 1) for t in (k, v))
        scores = (q @ k.transpose(-1, -2) / math.sqrt(WIDTH)).masked_fill(hidden_keys, -math.inf)
        x = x + (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ w[at + "self_attn.o_proj.weight"].T
        y = rms_norm(x, w[at + "post_attention_layernorm.weight"])
        wide = functional.silu(y @ w[at + "mlp.gate_proj.weight"].T) * (y @ w[at + "mlp.up_proj.weight"].T)
        x = x + wide @ w[at + "mlp.down_proj.weight"].T
    return rms_norm(x, w["norm.weight"]).mean(1) @ w["head.weight"].T + w["head.bias"]


def accuracy(w: dict[str, Tensor], x: np.ndarray, label: np.ndarray) -> float:
    with torch.no_grad():
        return (logits_of(w, torch.from_numpy(x)).argmax(1).numpy() == label).mean()


def train(steps: int) -> dict[str, Tensor]:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    w = new_weights()
    x, label = gestures(0, TRAIN)
    inputs, targets = torch.from_numpy(x), torch.from_numpy(label)
    optimizer = torch.optim.AdamW(w.values(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, steps)
    with Progress("tools/train_gestures.py", steps) as progress:
        for step in range(steps):
            chosen = torch.randint(0, TRAIN, (128,))
            loss = functional.cross_entropy(logits_of(w, inputs[chosen]), targets[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            progress.update(done=step + 1)
            if step % 500 == 499:
                progress.say(f"step {step + 1}: loss {loss.item():.3f}")
    return {name: value.detach() for name, value in w.items()}


def main() -> None:
    parser = command_line.Parser("tools/train_gestures.py", __doc__)
    parser.add_argument("--steps", type=command_line.positive, default=3000)
    options = parser.parse(interrupted="stopped; the same command begins anew")
    test, label = gestures(FIRST_TEST, TEST)
    w = train(options.steps)
    print(f"right: {100 * accuracy(w, test, label):.2f} % of {TEST}")
    OUT.write_bytes(safetensors_bytes({name: value.numpy() for name, value in w.items()}, {}, "float")[0])


if __name__ == "__main__":
    main()
