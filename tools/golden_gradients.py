# SPDX-License-Identifier: BSL-1.0
"""Gradients for golden.py: what torch's autograd gives in double for small cases of layers, masks and losses.

A case draws its inputs and weights, each parameter in the order that for_each_parameter lists, and last dy, of the
shape of the result y; its answer is the gradient of the sum of y dy by each array in the order drawn, one behind another.
"""

from __future__ import annotations

import math
from typing import Callable

import torch
from torch import Tensor
from torch.nn import functional

from golden_support import Case, Header, Lcg


class Drawn:
    """Draws arrays in double and remembers those that have a gradient."""

    def __init__(self, seed: int) -> None:
        self.lcg, self.arrays = Lcg(seed), []

    def fixed(self, *shape: int) -> Tensor:
        return self.lcg.draw(*shape).double()

    def __call__(self, *shape: int) -> Tensor:
        self.arrays.append(self.fixed(*shape).requires_grad_())
        return self.arrays[-1]

    def linear(self, inputs: int, outputs: int, bias: bool) -> tuple[Tensor, Tensor | None]:
        return self(inputs, outputs), self(outputs) if bias else None


def project(x: Tensor, map: tuple[Tensor, Tensor | None]) -> Tensor:
    return x @ map[0] if map[1] is None else x @ map[0] + map[1]


def rotated(x: Tensor, adjacent: bool) -> Tensor:
    """x (..., position, head_dim): pair i by the angle position 10000^(-2 i / head_dim)."""
    positions, width = x.shape[-2:]
    angles = torch.outer(torch.arange(positions).double(), 10000.0 ** -(torch.arange(0, width, 2).double() / width))
    if adjacent:
        a, b = x[..., 0::2], x[..., 1::2]
    else:
        a, b = x[..., :width // 2], x[..., width // 2:]
    c, s = angles.cos(), angles.sin()
    pair = (a * c - b * s, a * s + b * c)
    return torch.stack(pair, -1).flatten(-2) if adjacent else torch.cat(pair, -1)


class Attention:
    """multi_head_attention. seen: which keys a query sees, (..., query, key); a query that sees none gets 0."""

    def __init__(self, draw: Drawn, hidden: int, heads: int, bias: bool, kv_heads: int | None = None,
                 head_dim: int | None = None, value_dim: int | None = None, rope: str = "", softcap: float = 0,
                 normed: bool = False) -> None:
        self.heads, self.kv_heads, self.rope, self.softcap = heads, kv_heads or heads, rope, softcap
        head_dim = head_dim or hidden // heads
        value_dim = value_dim or head_dim
        self.maps = [draw.linear(hidden, heads * head_dim, bias), draw.linear(hidden, self.kv_heads * head_dim, bias),
                     draw.linear(hidden, self.kv_heads * value_dim, bias), draw.linear(heads * value_dim, hidden, bias)]
        self.norms = [Norm(draw, head_dim), Norm(draw, head_dim)] if normed else []

    def __call__(self, x: Tensor, memory: Tensor, seen: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
        def split(y: Tensor, heads: int) -> Tensor:
            return y.unflatten(-1, (heads, -1)).transpose(-2, -3)

        q = split(project(x, self.maps[0]), self.heads)
        k, v = (split(project(memory, self.maps[i]), self.kv_heads) for i in (1, 2))
        if self.norms:
            q, k = self.norms[0](q), self.norms[1](k)
        if self.rope:
            q, k = (rotated(y, self.rope == "adjacent") for y in (q, k))
        k, v = (y.repeat_interleave(self.heads // self.kv_heads, dim=-3) for y in (k, v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if self.softcap:
            scores = torch.tanh(scores / self.softcap) * self.softcap
        if bias is not None:
            scores = scores + bias
        if seen is None:
            p = torch.softmax(scores, -1)
        else:
            p = torch.softmax(scores.masked_fill(~seen, torch.finfo(scores.dtype).min), -1) * seen
        return project((p @ v).transpose(-2, -3).flatten(-2), self.maps[3])


class Norm:
    def __init__(self, draw: Drawn, hidden: int, rms: bool = False, epsilon: float = 1e-5) -> None:
        self.gamma, self.epsilon = draw(hidden), epsilon
        self.beta = None if rms else draw(hidden)

    def __call__(self, x: Tensor) -> Tensor:
        if self.beta is not None:
            return functional.layer_norm(x, x.shape[-1:], self.gamma, self.beta, self.epsilon)
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon) * self.gamma


class FeedForward:
    def __init__(self, draw: Drawn, hidden: int, width: int, activation: Callable, bias: bool, gated: bool = False) -> None:
        self.gate = draw.linear(hidden, width, bias) if gated else None
        self.up, self.down = draw.linear(hidden, width, bias), draw.linear(width, hidden, bias)
        self.activation = activation

    def __call__(self, x: Tensor) -> Tensor:
        if self.gate:
            return project(self.activation(project(x, self.gate)) * project(x, self.up), self.down)
        return project(self.activation(project(x, self.up)), self.down)


class Encoder:
    def __init__(self, draw: Drawn, hidden: int, width: int, activation: Callable, first: bool, bias: bool = True,
                 rms: bool = False, gated: bool = False, **attention) -> None:
        self.first = first
        self.norm1 = Norm(draw, hidden, rms)
        self.attention = Attention(draw, hidden, bias=bias, **attention)
        self.norm2 = Norm(draw, hidden, rms)
        self.feed_forward = FeedForward(draw, hidden, width, activation, bias, gated)

    def __call__(self, x: Tensor, seen: Tensor | None = None) -> Tensor:
        if self.first:
            y = self.norm1(x)
            x = x + self.attention(y, y, seen)
            return x + self.feed_forward(self.norm2(x))
        x = self.norm1(x + self.attention(x, x, seen))
        return self.norm2(x + self.feed_forward(x))


class Decoder:
    """decoder_layer with the norms first."""

    def __init__(self, draw: Drawn, hidden: int, heads: int, width: int, activation: Callable) -> None:
        self.norm1, self.own = Norm(draw, hidden), Attention(draw, hidden, heads, True)
        self.norm2, self.cross = Norm(draw, hidden), Attention(draw, hidden, heads, True)
        self.norm3, self.feed_forward = Norm(draw, hidden), FeedForward(draw, hidden, width, activation, True)

    def __call__(self, x: Tensor, memory: Tensor, own_seen: Tensor | None, seen: Tensor | None) -> Tensor:
        y = self.norm1(x)
        x = x + self.own(y, y, own_seen)
        x = x + self.cross(self.norm2(x), memory, seen)
        return x + self.feed_forward(self.norm3(x))


# ---- masks ------------------------------------------------------------------------------------------------------------


def up_to(lengths: tuple[int, ...], keys: int) -> Tensor:
    return (torch.arange(keys)[None, :] < torch.tensor(lengths)[:, None])[:, None, None, :]


def causal(n: int) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool).tril()


# ---- the cases --------------------------------------------------------------------------------------------------------


def self_attention(d: Drawn) -> Tensor:
    x = d(2, 3, 4)
    return Attention(d, 4, 2, True)(x, x)


def cross_attention(d: Drawn) -> Tensor:
    x, memory = d(2, 2, 4), d(2, 3, 4)
    return Attention(d, 4, 2, True)(x, memory, up_to((2, 0), 3))


def grouped_attention(d: Drawn) -> Tensor:
    x = d(3, 8)
    return Attention(d, 8, 4, False, kv_heads=2, rope="split")(x, x, causal(3))


def normed_attention(d: Drawn) -> Tensor:
    x = d(2, 3, 8)
    return Attention(d, 8, 4, True, kv_heads=2, head_dim=6, rope="split", normed=True)(x, x, causal(3))


def windowed_attention(d: Drawn) -> Tensor:
    x, i = d(5, 4), torch.arange(5)
    behind = i[:, None] - i[None, :]
    return Attention(d, 4, 1, True, value_dim=3, rope="adjacent")(x, x, (behind <= 1) & (behind >= 0))


def softcapped_attention(d: Drawn) -> Tensor:
    x, memory = d(3, 4), d(4, 4)
    keep = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 0]], dtype=torch.bool)
    return Attention(d, 4, 2, False, head_dim=3, softcap=1)(x, memory, keep)


def biased_attention(d: Drawn) -> Tensor:
    x, memory, bias = d(2, 3, 4), d(2, 4, 4), d(2, 3, 4)
    return Attention(d, 4, 2, True, softcap=1)(x, memory, up_to((4, 3), 4), bias)


def relative_attention(d: Drawn) -> Tensor:
    x, table, i = d(3, 8), d(5, 4), torch.arange(3)
    bias = table[i[None, :] - i[:, None] + 2].permute(2, 0, 1)
    return Attention(d, 8, 4, False, kv_heads=2)(x, x, causal(3), bias)


def additive_attention(d: Drawn) -> Tensor:
    """Two heads, each with scores of 3 features and half of the values."""
    x, memory, values = d(2, 3, 4), d(2, 4, 5), d(2, 4, 6)
    q, k, score = d.linear(4, 6, True), d.linear(5, 6, True), d(6)
    tangents = torch.tanh(project(x, q)[:, :, None] + project(memory, k)[:, None])
    scores = (tangents * score).unflatten(-1, (2, 3)).sum(-1).movedim(-1, 1)
    seen = up_to((4, 2), 4)
    p = torch.softmax(scores.masked_fill(~seen, -math.inf), -1)
    return (p @ values.unflatten(-1, (2, 3)).transpose(1, 2)).transpose(1, 2).flatten(-2)


def tanh_gelu(x: Tensor) -> Tensor:
    return functional.gelu(x, approximate="tanh")


def encoder_first(d: Drawn) -> Tensor:
    x = d(2, 3, 4)
    return Encoder(d, 4, 5, tanh_gelu, True, heads=2)(x, up_to((3, 2), 3) & causal(3))


def encoder_last(d: Drawn) -> Tensor:
    x = d(3, 4)
    return Encoder(d, 4, 5, torch.relu, False, heads=2)(x)


def gated_encoder(d: Drawn) -> Tensor:
    x = d(3, 8)
    return Encoder(d, 8, 3, functional.silu, True, bias=False, rms=True, gated=True, heads=2, kv_heads=1,
                   rope="split")(x, causal(3))


def decoder(d: Drawn) -> Tensor:
    x, memory = d(2, 3, 4), d(2, 2, 4)
    return Decoder(d, 4, 2, 3, functional.gelu)(x, memory, causal(3), up_to((1, 2), 2))


def norms(d: Drawn) -> Tensor:
    x = d(3, 7)
    return Norm(d, 7)(x) + Norm(d, 7, rms=True)(x)


def positions(d: Drawn) -> Tensor:
    return d(2, 3, 4) + d(3, 4)


def losses(d: Drawn) -> Tensor:
    x, y = d(2, 3, 5), d(2, 3, 5)
    labels = torch.tensor([4, 0, 2, -100, 2, 1])
    return (functional.cross_entropy(x.flatten(0, 1), labels, ignore_index=-100, label_smoothing=0.1)
            + functional.cross_entropy(y.flatten(0, 1), labels.clamp(min=0), ignore_index=0)
            + functional.mse_loss(x, y))


def tied_embedding(d: Drawn) -> Tensor:
    table = d(5, 4)
    return torch.log_softmax(table[torch.tensor([3, 0, 3])] @ table.T, -1)


def sinusoids(positions: int, width: int) -> Tensor:
    """Sines in even places, cosines in odd ones, as Vaswani et al. 2017 have it."""
    angles = torch.outer(torch.arange(positions).double(), 10000.0 ** -(torch.arange(0, width, 2).double() / width))
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)


def embedding(d: Drawn) -> Tensor:
    """Words, positions and logits by the same table."""
    table = d(5, 4)
    x = torch.tanh(table[torch.tensor([[3, 0, 3], [1, 4, 2]])] * 2 + sinusoids(3, 4))
    return torch.log_softmax(x @ table.T, -1)


def classifier(d: Drawn) -> Tensor:
    table, places = d(5, 4), d(3, 4)
    layer, head = Encoder(d, 4, 5, functional.gelu, True, heads=2), d.linear(4, 3, True)
    x = table[torch.tensor([[3, 0, 3], [1, 4, 2]])] + places
    return functional.cross_entropy(project(layer(x, up_to((3, 2), 3)).mean(-2), head), torch.tensor([2, 0]))


CASES = {"self_attention": self_attention, "cross_attention": cross_attention, "grouped_attention": grouped_attention,
         "windowed_attention": windowed_attention, "softcapped_attention": softcapped_attention,
         "encoder_norms_first": encoder_first, "encoder_norms_last": encoder_last, "gated_encoder": gated_encoder,
         "decoder": decoder, "norms": norms,
         "positions": positions, "losses": losses, "tied_embedding": tied_embedding, "classifier": classifier,
         "biased_attention": biased_attention, "relative_attention": relative_attention,
         "additive_attention": additive_attention, "embedding": embedding,
         "normed_attention": normed_attention}

# Where the rows of a sum cancel, so that float by torch is 4e-6 off by the seed of the case's place, another.
SEEDS = {"decoder": 951}


def torch_layers_agree() -> None:
    """The layers above are torch's, where torch has them."""
    d = Drawn(1)
    x, layer = d(2, 3, 4), Encoder(d, 4, 5, torch.relu, False, heads=2)
    theirs = torch.nn.TransformerEncoderLayer(4, 2, 5, dropout=0.0, batch_first=True, dtype=torch.float64)
    maps, ff = layer.attention.maps, layer.feed_forward
    with torch.no_grad():
        for to, of in ((theirs.self_attn.in_proj_weight, torch.cat([w.T for w, _ in maps[:3]])),
                       (theirs.self_attn.in_proj_bias, torch.cat([b for _, b in maps[:3]])),
                       (theirs.self_attn.out_proj.weight, maps[3][0].T), (theirs.self_attn.out_proj.bias, maps[3][1]),
                       (theirs.linear1.weight, ff.up[0].T), (theirs.linear1.bias, ff.up[1]),
                       (theirs.linear2.weight, ff.down[0].T), (theirs.linear2.bias, ff.down[1]),
                       (theirs.norm1.weight, layer.norm1.gamma), (theirs.norm1.bias, layer.norm1.beta),
                       (theirs.norm2.weight, layer.norm2.gamma), (theirs.norm2.bias, layer.norm2.beta)):
            to.copy_(of)
    seen = up_to((3, 2), 3)
    dy = d.fixed(2, 3, 4)
    (ours,) = torch.autograd.grad((layer(x, seen) * dy).sum(), x)
    (of_torch,) = torch.autograd.grad((theirs(x, src_key_padding_mask=~seen[:, 0, 0]) * dy).sum(), x)
    assert (ours - of_torch).abs().max() <= 1e-13 * ours.abs().max()


def gradient_cases() -> Header:
    header = Header("torch_gradients.hpp", "torch.autograd in double: the gradient of the sum of y dy by each array that "
                    "is drawn before dy, in their order. 0 is what rounding alone keeps from being 0 (the biases of keys). "
                    "14 digits.")
    with torch.enable_grad():
        torch_layers_agree()
        for place, (name, compute) in enumerate(CASES.items()):
            seed = SEEDS.get(name, 901 + place)
            d = Drawn(seed)
            y = compute(d)
            (y * d.fixed(*y.shape)).sum().backward()
            gradient = torch.cat([x.grad.flatten() for x in d.arrays])
            digits = [0.0 if abs(g) < 1e-14 else float(f"{g:.13e}") for g in gradient.tolist()]
            header.cases.append(Case(f"gradient_of_{name}", "see golden_gradients.py", {"seed": seed},
                                     {"answer": torch.tensor(digits, dtype=torch.float64)}))
    return header
