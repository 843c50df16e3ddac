# SPDX-License-Identifier: BSL-1.0
"""The published variants of attention of examples/variants, composed of PyTorch's eager operations: golden vectors, and
what bench/variants races against."""

from __future__ import annotations

import math
from typing import Callable

import torch
from torch import Tensor
from torch.nn import functional

from golden_support import Case, Header, Lcg


def bucket(distance: Tensor) -> Tensor:
    """T5's 32 relative position buckets, for distances up to 128, as its authors compute them."""
    n = distance.abs()
    large = 8 + (torch.log(n.clamp(min=1) / 8) / math.log(128 / 8) * 8).long()
    return (distance > 0) * 16 + torch.where(n < 8, n, large.clamp(max=15))


# ---- the compositions -------------------------------------------------------------------------


def attention(q, k, v):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return torch.softmax(scores, -1) @ v


def qk_norm(q, k, v, gain_q, gain_k):
    def norm(x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
    scores = (norm(q) * gain_q) @ (norm(k) * gain_k).transpose(-1, -2) * q.shape[-1] ** -0.5
    return torch.softmax(scores, -1) @ v


def softcapped(q, k, v):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    capped = torch.tanh(scores / 50) * 50
    return torch.softmax(capped, -1) @ v


def cosine(q, k, v, t, biases):
    scale = t.exp().clamp(max=100)
    cosines = functional.normalize(q, dim=-1) @ functional.normalize(k, dim=-1).transpose(-1, -2)
    scores = cosines * scale[:, None, None] + biases
    return torch.softmax(scores, -1) @ v


def relative_buckets(q, k, v, biases):
    scores = q @ k.transpose(-1, -2) + biases
    return torch.softmax(scores, -1) @ v


def alibi_window(q, k, v, slopes):
    distance = torch.arange(k.shape[-2]) - torch.arange(q.shape[-2])[:, None]
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    scores = scores + slopes[:, None, None] * distance
    scores = scores.masked_fill((distance > 0) | (distance <= -8), -torch.inf)
    return torch.softmax(scores, -1) @ v


def sigmoid_attention(q, k, v, b):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return torch.sigmoid(scores + b) @ v


def sink_logits(q, k, v, sinks):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    sinks = sinks[:, None, None].expand(*scores.shape[:-1], 1)
    weights = torch.softmax(torch.cat([scores, sinks], -1), -1)
    return weights[..., :-1] @ v


def gated_output(q, k, v, x, w_gate):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    context = torch.softmax(scores, -1) @ v
    gate = (x @ w_gate.flatten(1)).unflatten(-1, w_gate.shape[1:]).transpose(1, 2)
    return context * torch.sigmoid(gate)


def differential(q1, k1, q2, k2, v, weight, gain):
    scale = q1.shape[-1] ** -0.5
    signal = torch.softmax(q1 @ k1.transpose(-1, -2) * scale, -1)
    noise = torch.softmax(q2 @ k2.transpose(-1, -2) * scale, -1)
    context = (signal - weight * noise) @ v
    return context * torch.rsqrt(context.square().mean(-1, keepdim=True) + 1e-5) * gain * 0.8


def talking_heads(q, k, v, p_l, p_w):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    weights = torch.softmax(torch.einsum("th,bhqk->btqk", p_l, scores), -1)
    return torch.einsum("ht,btqk->bhqk", p_w, weights) @ v


def linear_attention(q, k, v):
    q, k = functional.elu(q) + 1, functional.elu(k) + 1
    state = k.transpose(-1, -2) @ v
    total = q @ k.sum(-2)[..., None]
    return q @ state / total


def latent_attention(q, q_rope, c, k_rope, w_k, w_v):
    k = (c @ w_k.flatten(1)).unflatten(-1, w_k.shape[1:]).transpose(1, 2)
    v = (c @ w_v.flatten(1)).unflatten(-1, w_v.shape[1:]).transpose(1, 2)
    scores = q @ k.transpose(-1, -2) + q_rope @ k_rope.transpose(-1, -2)[:, None]
    return torch.softmax(scores * (q.shape[-1] + q_rope.shape[-1]) ** -0.5, -1) @ v


def distances(queries: int, keys: int) -> Tensor:
    return torch.arange(queries)[:, None] - torch.arange(keys)


def retention(q, k, v, gamma):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    distance = distances(q.shape[-2], k.shape[-2])
    decay = (gamma[:, None, None] ** distance.clamp(min=0)).masked_fill(distance < 0, 0)
    return (scores * decay) @ v


def forgetting(q, k, v, gate):
    kept = functional.logsigmoid(gate).cumsum(-1)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    scores = scores + kept[..., :, None] - kept[..., None, :]
    scores = scores.masked_fill(distances(q.shape[-2], k.shape[-2]) < 0, -torch.inf)
    return torch.softmax(scores, -1) @ v


def stick_breaking(q, k, v):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    outside = distances(q.shape[-2], k.shape[-2]) <= 0
    passed = functional.logsigmoid(-scores).masked_fill(outside, 0)
    left = passed.flip(-1).cumsum(-1).flip(-1) - passed
    return torch.exp(functional.logsigmoid(scores) + left).masked_fill(outside, 0) @ v


def top_k(q, k, v):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    fourth = scores.topk(4, -1).values[..., -1:]
    return torch.softmax(scores.masked_fill(scores < fourth, -torch.inf), -1) @ v


def neighborhood(q, k, v):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    start = (torch.arange(q.shape[-2]) - 2).clamp(0, k.shape[-2] - 5)[:, None]
    key = torch.arange(k.shape[-2])
    scores = scores.masked_fill((key < start) | (key >= start + 5), -torch.inf)
    return torch.softmax(scores, -1) @ v


def shifted_windows(q, k, v, table):
    side = math.isqrt(k.shape[-2])
    row, column = torch.arange(side * side) // side, torch.arange(side * side) % side
    rows = row[None] - row[:, None] + side - 1
    columns = column[None] - column[:, None] + side - 1
    biases = table[rows * (2 * side - 1) + columns].permute(2, 0, 1)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + biases
    return torch.softmax(scores, -1) @ v


def disentangled(q, k, v, q_r, k_r):
    distance = distances(q.shape[-2], k.shape[-2])
    to_key = (distance + 4).clamp(0, 7).expand(*q.shape[:-1], -1)
    to_query = (4 - distance).clamp(0, 7).T.expand(*k.shape[:-1], -1)
    scores = q @ k.transpose(-1, -2)
    scores = scores + torch.gather(q @ k_r.transpose(-1, -2), -1, to_key)
    scores = scores + torch.gather(k @ q_r.transpose(-1, -2), -1, to_query).transpose(-1, -2)
    return torch.softmax(scores * (3 * q.shape[-1]) ** -0.5, -1) @ v


def cos_former(q, k, v):
    def phi(x):
        angle = math.pi / 2 / k.shape[-2] * torch.arange(x.shape[-2])[:, None]
        return torch.cat([torch.relu(x) * torch.cos(angle), torch.relu(x) * torch.sin(angle)], -1)
    of_q, of_k = phi(q), phi(k)
    return of_q @ (of_k.transpose(-1, -2) @ v) / (of_q @ of_k.sum(-2)[..., None] + 1e-6)


def global_window(q, k, v):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    hidden = distances(q.shape[-2], k.shape[-2]).abs() > 2
    hidden[0], hidden[:, 0] = False, False
    return torch.softmax(scores.masked_fill(hidden, -torch.inf), -1) @ v


def block_sparse(q, k, v, seen):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    size = k.shape[-2] // seen.shape[-1]
    sees = seen.repeat_interleave(size, 0).repeat_interleave(size, 1)
    return torch.softmax(scores.masked_fill(sees == 0, -torch.inf), -1) @ v


def axial(q, k, v):
    return attention(q, k, v)


def random_features(q, k, v, w):
    def phi(x):
        scaled = x * x.shape[-1] ** -0.25
        return torch.exp(scaled @ w.T - 0.5 * scaled.square().sum(-1, keepdim=True))
    of_q, of_k = phi(q), phi(k)
    return of_q @ (of_k.transpose(-1, -2) @ v) / (of_q @ of_k.sum(-2)[..., None])


def selected_blocks(q, k, v):
    blocks = 5 if k.shape[-2] == 10 else 8
    size = k.shape[-2] // blocks
    of_blocks = q @ k.unflatten(-2, (blocks, size)).mean(-2).transpose(-1, -2)
    selected = of_blocks >= of_blocks.topk(2, -1).values[..., -1:]
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    scores = scores.masked_fill(~selected.repeat_interleave(size, -1), -torch.inf)
    return torch.softmax(scores, -1) @ v


def dilated(q, k, v):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    distance = distances(q.shape[-2], k.shape[-2])
    hidden = (distance.abs() > 6) | (distance % 3 != 0)
    return torch.softmax(scores.masked_fill(hidden, -torch.inf), -1) @ v


def packed_documents(q, k, v, documents):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    hidden = distances(q.shape[-2], k.shape[-2]) < 0
    hidden = hidden | (documents[:, None, :, None] != documents[:, None, None, :])
    return torch.softmax(scores.masked_fill(hidden, -torch.inf), -1) @ v


def interpolated_biases(q, k, v, c, least, w1, b1, w2):
    distance = distances(q.shape[-2], k.shape[-2]).to(q.dtype)
    i = torch.arange(q.shape[-2], dtype=q.dtype)[:, None]
    x = torch.log(c * distance.clamp(min=0) + 1) / torch.log(c * i.clamp(min=least) + 1)
    biases = (torch.relu(x[..., None] * w1 + b1) @ w2).permute(2, 0, 1)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + biases
    return torch.softmax(scores.masked_fill(distance < 0, -torch.inf), -1) @ v


def gated_linear(q, k, v, gate):
    kept = functional.logsigmoid(gate).cumsum(-2) / 16
    scores = (q * kept.exp()) @ (k * (-kept).exp()).transpose(-1, -2) * q.shape[-1] ** -0.5
    return scores.masked_fill(distances(q.shape[-2], k.shape[-2]) < 0, 0) @ v


# ---- their arguments --------------------------------------------------------------------------


def variants(draw: Callable[..., Tensor], batch: int, heads: int, queries: int, keys: int,
             width: int) -> dict[Callable[..., Tensor], tuple]:
    """Each with its arguments, drawn when it is asked for; draw(shape..., scale=1)."""
    def q(features: int = width) -> Tensor:
        return draw(batch, heads, queries, features, scale=2.0)

    def k(features: int = width) -> Tensor:
        return draw(batch, heads, keys, features, scale=2.0)

    def square() -> Tensor:
        return draw(batch, heads, keys, width, scale=2.0)

    def window() -> Tensor:
        return draw(batch, heads, math.isqrt(keys) ** 2, width, scale=2.0)

    def grid() -> Tensor:
        return draw(batch, heads, 4, keys // 4, width, scale=2.0)

    def blocks_seen() -> Tensor:
        blocks = 5 if keys == 10 else 8
        i, j = torch.arange(blocks)[:, None], torch.arange(blocks)
        return ((i == 0) | (j == 0) | ((i - j).abs() <= 1) | ((3 * i + j) % 4 == 0)).float()

    def documents() -> Tensor:
        ends = torch.tensor([0.4, 0.6]) * keys
        return (torch.arange(keys)[:, None] >= ends).sum(-1).expand(batch, -1)

    def biases_by_bucket() -> Tensor:
        table = draw(32, heads)
        distance = torch.arange(keys) - torch.arange(queries)[:, None]
        return functional.embedding(bucket(distance), table).permute(2, 0, 1).contiguous()

    rank, rope = 2 * width, width // 2
    return {
        attention: lambda: (q(), k(), k()),
        qk_norm: lambda: (q(), k(), k(), draw(width), draw(width)),
        softcapped: lambda: (q(), k(), k()),
        cosine: lambda: (q(), k(), k(), torch.linspace(0, 6, heads), draw(heads, queries, keys)),
        relative_buckets: lambda: (q(), k(), k(), biases_by_bucket()),
        alibi_window: lambda: (q(), k(), k(), draw(heads)),
        sigmoid_attention: lambda: (q(), k(), k(), -math.log(keys)),
        sink_logits: lambda: (q(), k(), k(), draw(heads, scale=4.0)),
        gated_output: lambda: (q(), k(), k(), draw(batch, queries, heads * width),
                               draw(heads * width, heads, width, scale=0.5)),
        differential: lambda: (q(), k(), q(), k(), k(2 * width), 0.5, draw(2 * width)),
        talking_heads: lambda: (q(), k(), k(), draw(heads, heads), draw(heads, heads)),
        linear_attention: lambda: (q(), k(), k()),
        latent_attention: lambda: (q(), q(rope), draw(batch, keys, rank), draw(batch, keys, rope),
                                   draw(rank, heads, width, scale=0.5),
                                   draw(rank, heads, width, scale=0.5)),
        retention: lambda: (square(), k(), k(), draw(heads, scale=0.05) + 0.9),
        forgetting: lambda: (square(), k(), k(), draw(batch, heads, keys, scale=2.0) + 2),
        stick_breaking: lambda: (square(), k(), k()),
        top_k: lambda: (q(), k(), k()),
        neighborhood: lambda: (square(), k(), k()),
        shifted_windows: lambda: (window(), window(), window(),
                                  draw((2 * math.isqrt(keys) - 1) ** 2, heads)),
        disentangled: lambda: (q(), k(), k(), draw(heads, 8, width), draw(heads, 8, width)),
        cos_former: lambda: (square(), k(), k()),
        global_window: lambda: (square(), k(), k()),
        block_sparse: lambda: (square(), k(), k(), blocks_seen()),
        axial: lambda: (grid(), grid(), grid()),
        random_features: lambda: (draw(batch, heads, queries, width), draw(batch, heads, keys, width),
                                  draw(batch, heads, keys, width), draw(2 * width, width)),
        selected_blocks: lambda: (q(), k(), k()),
        dilated: lambda: (square(), k(), k()),
        packed_documents: lambda: (square(), k(), k(), documents()),
        interpolated_biases: lambda: (square(), k(), k(), 0.5, 4.0, draw(32), draw(32),
                                      draw(32, heads)),
        gated_linear: lambda: (square(), k(), k(), k()),
    }


def variant_cases() -> Header:
    header = Header("variants.hpp", "torch, in float64: published variants of attention "
                    "(examples/variants), batch 1, 2 heads, 12 queries, 10 keys, 8 features.")
    for seed, function in enumerate(variants(None, 1, 2, 12, 10, 8), 601):
        if function is attention:
            continue
        arguments = variants(Lcg(seed).draw, 1, 2, 12, 10, 8)[function]()
        answer = function(*(x.double() if isinstance(x, Tensor) else x for x in arguments))
        header.cases.append(Case(function.__name__, "the arguments in their order, as "
                                 "tools/golden_variants.py says", {"seed": seed},
                                 {"output": answer.float()}))
    return header
