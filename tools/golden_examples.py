# SPDX-License-Identifier: BSL-1.0
"""What examples/05_d2l and 06_haiku print, from the arithmetic of the book and of Haiku (golden.py).

The functions are written out here in torch, as they are published: masked scores become -1e6 in the
book and -1e30 in Haiku; they are not excluded.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from golden_calls import Call, kept_by_dropout
from golden_support import Lcg


def line(what: str, values: Tensor) -> str:
    """8 elements, from the first to the last."""
    flat = values.flatten()
    return what + ":" + "".join(f" {flat[i * (len(flat) - 1) // 7]:.6f}" for i in range(8)) + "\n"


# ---- "Dive into Deep Learning", attention-scoring-functions and multihead-attention -----------


def masked_softmax(scores: Tensor, valid_lens: Tensor) -> Tensor:
    shape = scores.shape
    lens = (valid_lens.repeat_interleave(shape[1]) if valid_lens.dim() == 1
            else valid_lens.reshape(-1))
    rows = scores.reshape(-1, shape[-1])
    past = torch.arange(shape[-1])[None, :] >= lens[:, None]
    return torch.softmax(rows.masked_fill(past, -1e6).reshape(shape), dim=-1)


def transpose_qkv(x: Tensor, heads: int) -> Tensor:
    x = x.reshape(x.shape[0], x.shape[1], heads, -1).permute(0, 2, 1, 3)
    return x.reshape(-1, x.shape[2], x.shape[3])


def transpose_output(x: Tensor, heads: int) -> Tensor:
    x = x.reshape(-1, heads, x.shape[1], x.shape[2]).permute(0, 2, 1, 3)
    return x.reshape(x.shape[0], x.shape[1], -1)


def d2l() -> str:
    lcg, heads = Lcg(1), 5
    w = [lcg.draw(100, 100, scale=1 / 8) for _ in range(4)]
    x, y, scores = lcg.draw(2, 4, 100), lcg.draw(2, 6, 100), lcg.draw(2, 2, 4)

    kept = kept_by_dropout(Call("", batch=2, heads=heads, queries=4, keys=6), 0.5, 1).flatten(0, 1)

    def attention(lens: list, training: bool = False) -> Tensor:
        q, k, v = (transpose_qkv(t @ w[i], heads) for i, t in enumerate((x, y, y)))
        weights = masked_softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]),
                                 torch.tensor(lens).repeat_interleave(heads, dim=0))
        if training:
            weights = weights * kept / 0.5
        return transpose_output(weights @ v, heads) @ w[3]

    same = torch.equal(transpose_output(transpose_qkv(x, heads), heads), x)
    return (line("masked_softmax", masked_softmax(scores, torch.tensor([2, 3])))
            + line("masked_softmax by query", masked_softmax(scores, torch.tensor([[1, 3], [2, 4]])))
            + line("attention", attention([3, 2]))
            + line("attention by query", attention([[1, 2, 3, 4], [6, 5, 0, 3]]))
            + line("attention without keys", attention([0, 2]))
            + line("attention in training", attention([3, 2], training=True))
            + f"heads split and merged in place: {'yes' if same else 'no'}\n")


# ---- Haiku, MultiHeadAttention; its tutorials also return the weights -------------------------


def haiku() -> str:
    lcg, heads = Lcg(2), 8
    parameters = [(lcg.draw(64, 64, scale=1 / 4), lcg.draw(64, scale=1 / 8)) for _ in range(4)]
    x = lcg.draw(2, 12, 64)
    token = torch.arange(12)
    mask = torch.stack([token < 9, token % 4 != 3])[:, None, :]  # (batch, 1, token)

    def linear(t: Tensor, i: int) -> Tensor:
        return t @ parameters[i][0] + parameters[i][1]

    q, k, v = (linear(x, i).reshape(2, 12, heads, -1) for i in range(3))
    logits = torch.einsum("bthd,bThd->bhtT", q, k) / math.sqrt(q.shape[-1])
    weights = torch.softmax(torch.where(mask[:, None], logits, torch.tensor(-1e30)), dim=-1)
    output = linear(torch.einsum("bhtT,bThd->bthd", weights, v).reshape(2, 12, -1), 3)
    return line("output", output) + line("weights", weights)


def texts() -> dict[str, str]:
    return {"05_d2l.txt": d2l(), "06_haiku.txt": haiku()}
