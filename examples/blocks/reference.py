# SPDX-License-Identifier: BSL-1.0
"""The five blocks of this folder in PyTorch: functions of their weights, by path, and of x (token, hidden).

w["attention.q.weight"] is (in, out), as Umbel stores it. tools/golden_residual_blocks.py makes the numbers of
blocks.cpp and of the tests of these.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

HEADS = 4
Weights = dict  # of path to tensor


def linear(w: Weights, name: str, x: Tensor) -> Tensor:
    y = x @ w[name + ".weight"]
    return y + w[name + ".bias"] if name + ".bias" in w else y


def layer_norm(w: Weights, name: str, x: Tensor) -> Tensor:
    return functional.layer_norm(x, x.shape[-1:], w[name + ".gamma"], w[name + ".beta"], 1e-5)


def rms_norm(w: Weights, name: str, x: Tensor) -> Tensor:
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w[name + ".gamma"]


def rotate(x: Tensor, adjacent: bool) -> Tensor:
    """Rotary positions of (head, token, head_dim), theta 10,000."""
    width = x.shape[-1]
    angle = (torch.arange(x.shape[1], dtype=torch.float64)[:, None]
             * 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width))
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    if adjacent:
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)
    a, b = x[..., :width // 2], x[..., width // 2:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def attention(w: Weights, name: str, x: Tensor, rope: str | None = None) -> Tensor:
    """Causal; as many heads of keys and values as their weights are wide."""
    width = x.shape[-1] // HEADS

    def split(letter: str) -> Tensor:
        y = linear(w, f"{name}.{letter}", x)
        return y.reshape(len(x), -1, width).transpose(0, 1)

    q, k, v = split("q"), split("k"), split("v")
    if rope:
        q, k = rotate(q, rope == "adjacent"), rotate(k, rope == "adjacent")
    k, v = (t.repeat_interleave(HEADS // len(t), 0) for t in (k, v))
    scores = q @ k.transpose(1, 2) / math.sqrt(width)
    hidden = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
    context = torch.softmax(scores.masked_fill(hidden, -math.inf), -1) @ v
    return linear(w, name + ".o", context.transpose(0, 1).reshape(len(x), -1))


def network(w: Weights, name: str, x: Tensor, activation) -> Tensor:
    up = linear(w, name + ".up", x)
    gate = name + ".gate.weight" in w
    wide = activation(linear(w, name + ".gate", x)) * up if gate else activation(up)
    return linear(w, name + ".down", wide)


def gelu_tanh(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def silu(x: Tensor) -> Tensor:
    return x * torch.sigmoid(x)


def parallel(w: Weights, x: Tensor) -> Tensor:
    n = layer_norm(w, "norm", x)
    return x + attention(w, "attention", n, rope="adjacent") + network(w, "feed_forward", n, gelu_tanh)


def sandwich(w: Weights, x: Tensor) -> Tensor:
    a = attention(w, "attention", rms_norm(w, "norm1", x), rope="halves")
    x = x + rms_norm(w, "norm2", a)
    return x + rms_norm(w, "norm4", network(w, "feed_forward", rms_norm(w, "norm3", x), gelu_tanh))


def scaled(w: Weights, x: Tensor) -> Tensor:
    x = x + 0.22 * attention(w, "attention", rms_norm(w, "norm1", x), rope="halves")
    return x + 0.22 * network(w, "feed_forward", rms_norm(w, "norm2", x), silu)


def conformer(w: Weights, x: Tensor) -> Tensor:
    x = x + 0.5 * network(w, "feed_forward1", layer_norm(w, "norm1", x), silu)
    x = x + attention(w, "attention", layer_norm(w, "norm2", x))
    x = x + linear(w, "linear", layer_norm(w, "norm3", x))
    x = x + 0.5 * network(w, "feed_forward2", layer_norm(w, "norm4", x), silu)
    return layer_norm(w, "final_norm", x)


def star_relu(w: Weights, x: Tensor) -> Tensor:
    def norm(name: str, x: Tensor) -> Tensor:
        return functional.layer_norm(x, x.shape[-1:], w[name + ".gamma"], None, 1e-5)

    x = x + attention(w, "attention", norm("norm1", x))
    up = torch.relu(linear(w, "feed_forward.up", norm("norm2", x)))
    return x + linear(w, "feed_forward.down", w["feed_forward.scale"] * up * up + w["feed_forward.shift"])
