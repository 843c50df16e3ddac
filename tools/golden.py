# SPDX-License-Identifier: BSL-1.0
"""Writes the golden vectors: what PyTorch answers for small cases, as C++ headers.

    /usr/bin/python3 tools/golden.py            rewrites test/golden/data
    /usr/bin/python3 tools/golden.py --check    compares only; exits 1 when a file differs
    ... --check --tolerance 1e-6                the same, but for rounding

It needs torch and numpy (on Debian and Ubuntu: apt-get install python3-torch python3-numpy).

Only answers are stored. Inputs and weights are drawn, here and in the C++ tests alike, from one
linear congruential generator whose state starts at the case's seed:

    each draw:   s = s * 1664525 + 1013904223 (mod 2^32);   value = ((s >> 8) * 2^-23 - 1) * scale

The scale is a power of two, so every value is exact in float32. Arrays are drawn whole, one after
another, row-major, in the order that each header's comment gives. A weight is (in, out), the
transpose of torch's. The order is always the same; what a case has not, it does not draw:

    attention      query input (batch, queries, hidden); key/value input (batch, keys, hidden), not
                   in self attention; weights q, k, v, o (hidden, hidden); biases q, k, v, o
    encoder layer  input (batch, tokens, hidden); weights q, k, v, o; biases q, k, v, o;
                   norm1 gamma, beta; up weight (hidden, feed_forward), up bias;
                   down weight (feed_forward, hidden), down bias; norm2 gamma, beta
    linear         input, weight, bias
    layer norm     input, gamma, beta

The calls with masks (golden_tables.py, golden_calls.py) have an order of their own, said there.
Two examples have their output checked: data/*.txt is what golden_examples.py makes of theirs.

Scales: inputs and gammas 1; biases and betas 1/8; a weight the power of two nearest (by ratio) to
1.7 / sqrt(in). Every case is also computed in float64 and must agree with float32; attention is
checked as well against the published formula, written out in `multi_head` below.

The committed files were made with the reference BLAS (Debian's libblas3) and come out byte for byte
the same there. Another BLAS rounds differently in the last bits, and so may another processor:
with OpenBLAS every file differs, and `--check --tolerance 1e-6` passes (tried).
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from golden_examples import texts
from golden_support import BIAS_SCALE, Case, Header, Lcg, agree, header_text, weight_scale
from golden_tables import tables

DATA = Path(__file__).resolve().parent.parent / "test" / "golden" / "data"
ATTENTION_DRAWS = "weights q, k, v, o (hidden, hidden)"
BIAS_DRAWS = "biases q, k, v, o (hidden)"


# ---- the formulas -----------------------------------------------------------------------------


@dataclass
class Attention:
    """Inputs and (in, out) weights of one multi-head attention, all of one element type."""

    query: Tensor
    context: Tensor
    weights: list[Tensor]  # q, k, v, o
    biases: list[Tensor]  # the same order, or empty
    heads: int
    lengths: tuple[int, ...] = ()

    def double(self) -> Attention:
        return Attention(self.query.double(), self.context.double(),
                         [w.double() for w in self.weights], [b.double() for b in self.biases],
                         self.heads, self.lengths)


def multi_head(a: Attention) -> Tensor:
    """The d2l book's layer: keys past a length score -1e6, they are not excluded."""
    def project(x: Tensor, i: int) -> Tensor:
        y = x @ a.weights[i]
        return y + a.biases[i] if a.biases else y

    def split_heads(x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], x.shape[1], a.heads, -1).permute(0, 2, 1, 3)

    q, k, v = (split_heads(project(x, i))
               for i, x in enumerate((a.query, a.context, a.context)))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if a.lengths:
        past = torch.arange(k.shape[2])[None, :] >= torch.tensor(a.lengths)[:, None]
        scores = scores.masked_fill(past[:, None, None, :], -1e6)
    out = torch.softmax(scores, -1) @ v
    return project(out.permute(0, 2, 1, 3).reshape(a.query.shape), 3)


def torch_attention(a: Attention) -> torch.nn.MultiheadAttention:
    hidden = a.query.shape[-1]
    layer = torch.nn.MultiheadAttention(hidden, a.heads, bias=bool(a.biases), batch_first=True,
                                        dtype=a.query.dtype)
    load_attention(layer, a.weights, a.biases)
    return layer.eval()


def load_attention(layer: torch.nn.MultiheadAttention, weights: list[Tensor],
                   biases: list[Tensor]) -> None:
    """torch stacks q, k, v and stores (out, in)."""
    layer.in_proj_weight.copy_(torch.cat([w.T for w in weights[:3]]))
    layer.out_proj.weight.copy_(weights[3].T)
    if biases:
        layer.in_proj_bias.copy_(torch.cat(biases[:3]))
        layer.out_proj.bias.copy_(biases[3])


def run_torch_attention(a: Attention, average: bool) -> tuple[Tensor, Tensor]:
    drop = None  # torch's mask is true where a key must NOT be attended to
    if a.lengths:
        drop = torch.arange(a.context.shape[1])[None, :] >= torch.tensor(a.lengths)[:, None]
    return torch_attention(a)(a.query, a.context, a.context, key_padding_mask=drop,
                              need_weights=True, average_attn_weights=average)


# ---- the cases --------------------------------------------------------------------------------


def draw_attention(seed: int, *, batch: int, queries: int, keys: int, hidden: int, heads: int,
                   bias: bool, itself: bool = False, ones: bool = False,
                   lengths: tuple[int, ...] = ()) -> tuple[Attention, dict, str]:
    """Draws a case's arrays; gives them, the constants of its namespace and its draw order."""
    lcg = Lcg(seed)
    if ones:
        query, context = torch.ones(batch, queries, hidden), torch.ones(batch, keys, hidden)
        order = "inputs are all ones, not drawn; "
    elif itself:
        query = context = lcg.draw(batch, queries, hidden)
        order = "input (batch, tokens, hidden), query, key and value alike; "
    else:
        query, context = lcg.draw(batch, queries, hidden), lcg.draw(batch, keys, hidden)
        order = "query input (batch, queries, hidden); key and value input (batch, keys, hidden); "
    weights = [lcg.weight(hidden, hidden) for _ in range(4)]
    biases = [lcg.bias(hidden) for _ in range(4)] if bias else []
    order += ATTENTION_DRAWS + ("; " + BIAS_DRAWS if bias else "")
    sizes = {"tokens": queries} if itself else {"queries": queries, "keys": keys}
    constants = {"seed": seed, "batch": batch, **sizes, "hidden": hidden, "heads": heads,
                 "has_bias": bias, "weight_scale": weight_scale(hidden)}
    if bias:
        constants["bias_scale"] = BIAS_SCALE
    return Attention(query, context, weights, biases, heads, lengths), constants, order


def d2l_cases() -> Header:
    header = Header("d2l_multi_head.hpp",
                    "The d2l book's MultiHeadAttention, keys past a length filled with -1e6.")
    seed = 100
    for ones in (True, False):
        for bias in (False, True):
            for lengths in ((), (3, 2)):
                seed += 1
                a, constants, draws = draw_attention(
                    seed, batch=2, queries=4, keys=6, hidden=100, heads=5, bias=bias, ones=ones,
                    lengths=lengths)
                name = ("d2l_" + ("ones" if ones else "random") + ("_bias" if bias else "")
                        + ("_lengths" if lengths else ""))
                output = agree(name, multi_head(a), multi_head(a.double()))
                header.cases.append(Case(name, draws, constants, {"output": output}, lengths))
    return header


def torch_attention_cases() -> Header:
    header = Header("torch_multi_head.hpp",
                    "torch.nn.MultiheadAttention(batch_first=True); lengths are given to it as a "
                    "key_padding_mask.")
    own = dict(batch=3, queries=7, keys=7, hidden=24, heads=3, itself=True)
    other = dict(batch=2, queries=5, keys=11, hidden=32, heads=4)
    one = dict(batch=1, queries=1, keys=1, hidden=8, heads=1, bias=True)
    wide = dict(batch=1, queries=33, keys=33, hidden=64, heads=8, bias=True, itself=True)
    for name, seed, weights, options in (
            ("torch_self", 201, "average_weights", dict(own, bias=True)),
            ("torch_cross", 202, "", dict(other, bias=True)),
            ("torch_self_no_bias", 203, "", dict(own, bias=False)),
            ("torch_cross_no_bias", 204, "", dict(other, bias=False)),
            ("torch_self_lengths", 205, "", dict(own, bias=True, lengths=(7, 4, 1))),
            ("torch_cross_lengths", 206, "head_weights", dict(other, bias=True, lengths=(6, 11))),
            ("torch_one_key", 207, "", one),
            ("torch_eight_heads", 208, "", wide)):
        a, constants, draws = draw_attention(seed, **options)
        average = weights == "average_weights"
        output, probabilities = run_torch_attention(a, average)
        output64, probabilities64 = run_torch_attention(a.double(), average)
        agree(name, output, output64)
        agree(name + " against the formula", output, multi_head(a.double()))
        agree(name + " weights", probabilities, probabilities64)
        arrays = {"output": output}
        if weights:
            arrays[weights] = probabilities
            draws += ("; average_weights are (batch, query, key)" if average
                      else "; head_weights are (batch, heads, query, key)")
        header.cases.append(Case(name, draws, constants, arrays, a.lengths))
    return header


def encoder_layer(norm_first: bool, drawn: dict[str, Tensor], dtype: torch.dtype) -> Tensor:
    hidden, feed_forward = drawn["up_weight"].shape
    layer = torch.nn.TransformerEncoderLayer(
        hidden, 4, feed_forward, dropout=0.0, activation="gelu", batch_first=True,
        norm_first=norm_first, dtype=dtype).eval()
    d = {name: value.to(dtype) for name, value in drawn.items()}
    load_attention(layer.self_attn, [d[f"weight_{i}"] for i in range(4)],
                   [d[f"bias_{i}"] for i in range(4)])
    for target, source in (
            (layer.norm1.weight, d["gamma1"]), (layer.norm1.bias, d["beta1"]),
            (layer.linear1.weight, d["up_weight"].T), (layer.linear1.bias, d["up_bias"]),
            (layer.linear2.weight, d["down_weight"].T), (layer.linear2.bias, d["down_bias"]),
            (layer.norm2.weight, d["gamma2"]), (layer.norm2.bias, d["beta2"])):
        target.copy_(source)
    return layer(d["input"])


def encoder_by_hand(norm_first: bool, drawn: dict[str, Tensor]) -> Tensor:
    """The same layer in float64, from its parts."""
    d = {name: value.double() for name, value in drawn.items()}

    def attend(x: Tensor) -> Tensor:
        return multi_head(Attention(x, x, [d[f"weight_{i}"] for i in range(4)],
                                    [d[f"bias_{i}"] for i in range(4)], 4))

    def feed_forward(x: Tensor) -> Tensor:
        up = functional.gelu(x @ d["up_weight"] + d["up_bias"])
        return up @ d["down_weight"] + d["down_bias"]

    def norm(x: Tensor, which: int) -> Tensor:
        return functional.layer_norm(x, x.shape[-1:], d[f"gamma{which}"], d[f"beta{which}"])

    x = d["input"]
    if norm_first:
        x = x + attend(norm(x, 1))
        return x + feed_forward(norm(x, 2))
    x = norm(x + attend(x), 1)
    return norm(x + feed_forward(x), 2)


def encoder_cases() -> Header:
    header = Header("torch_encoder_layer.hpp",
                    "torch.nn.TransformerEncoderLayer(activation='gelu', exact; dropout=0; "
                    "layer_norm_eps=1e-5).")
    batch, tokens, hidden, feed_forward = 2, 9, 32, 64
    for name, seed, norm_first in (("encoder_pre_norm", 301, True),
                                   ("encoder_post_norm", 302, False)):
        lcg = Lcg(seed)
        drawn = {"input": lcg.draw(batch, tokens, hidden)}
        drawn |= {f"weight_{i}": lcg.weight(hidden, hidden) for i in range(4)}
        drawn |= {f"bias_{i}": lcg.bias(hidden) for i in range(4)}
        drawn |= {"gamma1": lcg.draw(hidden), "beta1": lcg.bias(hidden)}
        drawn |= {"up_weight": lcg.weight(hidden, feed_forward), "up_bias": lcg.bias(feed_forward)}
        drawn |= {"down_weight": lcg.weight(feed_forward, hidden), "down_bias": lcg.bias(hidden)}
        drawn |= {"gamma2": lcg.draw(hidden), "beta2": lcg.bias(hidden)}
        output = encoder_layer(norm_first, drawn, torch.float32)
        agree(name, output, encoder_layer(norm_first, drawn, torch.float64))
        agree(name + " by hand", output, encoder_by_hand(norm_first, drawn))
        constants = {"seed": seed, "batch": batch, "tokens": tokens, "hidden": hidden, "heads": 4,
                     "feed_forward": feed_forward, "norm_first": norm_first, "epsilon": 1e-5,
                     "weight_scale": weight_scale(hidden), "up_scale": weight_scale(hidden),
                     "down_scale": weight_scale(feed_forward), "bias_scale": BIAS_SCALE,
                     "gamma_scale": 1.0, "beta_scale": BIAS_SCALE}
        draws = (f"input (batch, tokens, hidden); {ATTENTION_DRAWS}; {BIAS_DRAWS}; norm1 gamma, "
                 "beta; up weight (hidden, feed_forward), up bias; down weight (feed_forward, "
                 "hidden), down bias; norm2 gamma, beta")
        header.cases.append(Case(name, draws, constants, {"output": output}))
    return header


def llama_layer(drawn: dict[str, Tensor], heads: int, kv_heads: int, epsilon: float) -> Tensor:
    """LlamaDecoderLayer of Hugging Face's transformers, causal, positions from 0."""
    def norm(x: Tensor, gamma: Tensor) -> Tensor:
        return gamma * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon))

    def rotate_half(x: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        return torch.cat((-x[..., half:], x[..., :half]), dim=-1)

    def split(y: Tensor, n: int) -> Tensor:
        return y.reshape(y.shape[0], y.shape[1], n, -1).transpose(1, 2)

    d, x = drawn, drawn["input"]
    tokens, head_dim = x.shape[1], d["q"].shape[1] // heads
    frequencies = 1.0 / (10000 ** (torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim))
    angles = torch.outer(torch.arange(tokens, dtype=torch.float64), frequencies)
    angles = torch.cat((angles, angles), dim=-1)
    cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)

    y = norm(x, d["gamma1"])
    q, k, v = split(y @ d["q"], heads), split(y @ d["k"], kv_heads), split(y @ d["v"], kv_heads)
    q, k = (t * cosine + rotate_half(t) * sine for t in (q, k))
    k, v = (t.repeat_interleave(heads // kv_heads, dim=1) for t in (k, v))
    scores = q @ k.transpose(2, 3) / math.sqrt(head_dim)
    scores = scores + torch.full((tokens, tokens), float("-inf"), dtype=x.dtype).triu(1)
    context = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(x.shape[0], tokens, -1)
    x = x + context @ d["o"]
    y = norm(x, d["gamma2"])
    return x + (functional.silu(y @ d["gate"]) * (y @ d["up"])) @ d["down"]


def llama_cases() -> Header:
    header = Header("llama_layer.hpp", "A decoder layer of LLaMA: RMS norms, rotary positions in split "
                    "halves, grouped heads, causal attention, SwiGLU.")
    seed, batch, tokens, hidden, heads, kv_heads, feed_forward = 351, 2, 9, 32, 4, 2, 48
    epsilon, narrow = 1e-6, hidden * kv_heads // heads
    lcg = Lcg(seed)
    drawn = {"input": lcg.draw(batch, tokens, hidden), "q": lcg.weight(hidden, hidden),
             "k": lcg.weight(hidden, narrow), "v": lcg.weight(hidden, narrow),
             "o": lcg.weight(hidden, hidden), "gamma1": lcg.draw(hidden),
             "gate": lcg.weight(hidden, feed_forward), "up": lcg.weight(hidden, feed_forward),
             "down": lcg.weight(feed_forward, hidden), "gamma2": lcg.draw(hidden)}
    output = agree("llama", llama_layer(drawn, heads, kv_heads, epsilon),
                   llama_layer({n: t.double() for n, t in drawn.items()}, heads, kv_heads, epsilon))
    draws = ("input (batch, tokens, hidden); weights q (hidden, hidden), k and v (hidden, hidden / 2), "
             "o (hidden, hidden); norm1 gamma; gate, up (hidden, feed_forward), down (feed_forward, "
             "hidden); norm2 gamma")
    header.cases.append(Case("llama", draws, {
        "seed": seed, "batch": batch, "tokens": tokens, "hidden": hidden, "heads": heads,
        "kv_heads": kv_heads, "feed_forward": feed_forward, "weight_scale": weight_scale(hidden),
        "down_scale": weight_scale(feed_forward)}, {"output": output}))
    return header


def in_both(name: str, formula: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    return agree(name, formula(*inputs), formula(*(x.double() for x in inputs)))


def layer_norm_case() -> Case:
    lcg, seed, rows, hidden = Lcg(401), 401, 3, 37
    x, gamma, beta = lcg.draw(rows, hidden), lcg.draw(hidden), lcg.bias(hidden)
    output = in_both("layer_norm", lambda a, g, b: functional.layer_norm(a, (hidden,), g, b, 1e-5),
                     x, gamma, beta)
    return Case("torch_layer_norm", "input (rows, hidden); gamma (hidden); beta (hidden)",
                {"seed": seed, "rows": rows, "hidden": hidden, "epsilon": 1e-5,
                 "gamma_scale": 1.0, "beta_scale": BIAS_SCALE}, {"output": output})


def rms_norm_case() -> Case:
    lcg, seed, rows, hidden, epsilon = Lcg(405), 405, 3, 37, 1e-6
    x, gamma = lcg.draw(rows, hidden), lcg.draw(hidden)
    output = in_both("rms_norm", lambda a, g: a * torch.rsqrt(a.pow(2).mean(-1, keepdim=True)
                                                              + epsilon) * g, x, gamma)
    return Case("torch_rms_norm", "input (rows, hidden); gamma (hidden)",
                {"seed": seed, "rows": rows, "hidden": hidden, "epsilon": epsilon,
                 "gamma_scale": 1.0}, {"output": output})


def gelu_case() -> Case:
    points = 513
    x = torch.arange(points, dtype=torch.float32) / 32 - 8
    return Case("torch_gelu",
                "none: input i is i / 32 - 8, exact in float32; `exact` is x * Phi(x) "
                "by erf, `tanh_form` the tanh form", {"points": points},
                {"exact": in_both("gelu exact", functional.gelu, x),
                 "tanh_form": in_both("gelu tanh", lambda a: functional.gelu(a, approximate="tanh"),
                                 x)})


def silu_case() -> Case:
    points = 513
    x = torch.arange(points, dtype=torch.float32) / 16 - 16
    return Case("torch_silu", "none: input i is i / 16 - 16, exact in float32", {"points": points},
                {"output": in_both("silu", functional.silu, x)})


def softmax_case() -> Case:
    seed, rows, columns = 403, 3, 11
    scores = Lcg(seed).draw(rows, columns)
    scores = scores * torch.tensor([[4.0], [32.0], [256.0]]) + torch.tensor([[0.0], [0.0], [1e4]])
    scores[1, 5] = scores[1].max() + 60.0
    return Case("torch_softmax",
                "none needed: `scores` are stored (rows, columns); row 0 is mild, row "
                "1 has one score far above the rest, row 2 lies near 10000",
                {"rows": rows, "columns": columns},
                {"scores": scores,
                 "output": in_both("softmax", lambda a: torch.softmax(a, -1), scores)})


def linear_case() -> Case:
    lcg, seed, rows, inputs, outputs = Lcg(404), 404, 5, 13, 7
    x, weight, bias = lcg.draw(rows, inputs), lcg.weight(inputs, outputs), lcg.bias(outputs)
    output = in_both("linear", lambda a, w, b: functional.linear(a, w.T, b), x, weight, bias)
    return Case("torch_linear", "input (rows, inputs); weight (inputs, outputs); bias (outputs)",
                {"seed": seed, "rows": rows, "inputs": inputs, "outputs": outputs,
                 "weight_scale": weight_scale(inputs), "bias_scale": BIAS_SCALE},
                {"output": output})


def additive(q: Tensor, k: Tensor, v: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor,
             lengths: tuple[int, ...]) -> Tensor:
    """AdditiveAttention of the d2l book, its weights (in, out), without dropout."""
    features = torch.tanh((q @ w_q).unsqueeze(2) + (k @ w_k).unsqueeze(1))
    scores = (features @ w_v).squeeze(-1)
    past = torch.arange(k.shape[1])[None, :] >= torch.tensor(lengths)[:, None]
    return torch.bmm(torch.softmax(scores.masked_fill(past[:, None, :], -1e6), -1), v)


def additive_cases() -> Header:
    header = Header("d2l_additive.hpp", "The d2l book's AdditiveAttention, keys past a length filled with -1e6.")
    for name, seed, lengths in (("d2l_additive", 501, (6, 6)), ("d2l_additive_lengths", 502, (3, 1))):
        lcg, batch, queries, keys, query_size, key_size, hidden, values = Lcg(seed), 2, 5, 6, 20, 3, 8, 7
        drawn = [lcg.draw(batch, queries, query_size), lcg.draw(batch, keys, key_size),
                 lcg.draw(batch, keys, values), lcg.weight(query_size, hidden),
                 lcg.weight(key_size, hidden), lcg.draw(hidden, 1, scale=2.0)]
        output = agree(name, additive(*drawn, lengths), additive(*(x.double() for x in drawn), lengths))
        header.cases.append(Case(
            name, "queries (batch, queries, query_size); keys (batch, keys, key_size); values (batch, "
            "keys, values); W_q (query_size, hidden); W_k (key_size, hidden); w_v (hidden), times 2",
            {"seed": seed, "batch": batch, "queries": queries, "keys": keys, "query_size": query_size,
             "key_size": key_size, "hidden": hidden, "values": values,
             "query_scale": weight_scale(query_size), "key_scale": weight_scale(key_size)},
            {"output": output}, lengths))
    return header


def d2l_sinusoids(tokens: int, hidden: int, dtype: torch.dtype) -> Tensor:
    """PositionalEncoding of the d2l book."""
    table = torch.zeros((tokens, hidden), dtype=dtype)
    x = torch.arange(tokens, dtype=dtype).reshape(-1, 1) / torch.pow(
        10000, torch.arange(0, hidden, 2, dtype=dtype) / hidden)
    table[:, 0::2] = torch.sin(x)
    table[:, 1::2] = torch.cos(x)
    return table


def marian_sinusoids(tokens: int, hidden: int, dtype: torch.dtype) -> Tensor:
    """MarianSinusoidalPositionalEmbedding of Hugging Face's transformers."""
    angles = torch.tensor([[p / 10000 ** (2 * (j // 2) / hidden) for j in range(hidden)]
                           for p in range(tokens)], dtype=torch.float64)
    table = torch.zeros((tokens, hidden), dtype=dtype)
    sentinel = hidden // 2 + hidden % 2
    table[:, :sentinel] = torch.sin(angles[:, 0::2])
    table[:, sentinel:] = torch.cos(angles[:, 1::2])
    return table


def fairseq_sinusoids(tokens: int, hidden: int, dtype: torch.dtype) -> Tensor:
    """SinusoidalPositionalEmbedding.get_embedding of fairseq, after tensor2tensor."""
    half = hidden // 2
    steps = torch.exp(torch.arange(half, dtype=dtype) * -(math.log(10000) / (half - 1)))
    angles = torch.arange(tokens, dtype=dtype).unsqueeze(1) * steps.unsqueeze(0)
    table = torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)
    return torch.cat([table, torch.zeros(tokens, hidden % 2, dtype=dtype)], dim=1)


def sinusoid_cases() -> Header:
    header = Header("sinusoids.hpp", "Tables of sinusoidal positions (tokens, hidden), each by the "
                    "formula of the code it is named after.")
    for name, table, hidden in (("sinusoids_d2l", d2l_sinusoids, 12),
                                ("sinusoids_marian", marian_sinusoids, 12),
                                ("sinusoids_marian_odd", marian_sinusoids, 7),
                                ("sinusoids_fairseq", fairseq_sinusoids, 12),
                                ("sinusoids_fairseq_odd", fairseq_sinusoids, 7)):
        tokens = 20
        output = agree(name, table(tokens, hidden, torch.float32),
                       table(tokens, hidden, torch.float64))
        header.cases.append(Case(name, "none", {"tokens": tokens, "hidden": hidden},
                                 {"output": output}))
    return header


def function_cases() -> Header:
    return Header("torch_functional.hpp", "torch.nn.functional: layer_norm, gelu, silu, softmax, linear; rms_norm as LLaMA has it.",
                  [layer_norm_case(), rms_norm_case(), gelu_case(), silu_case(), softmax_case(), linear_case()])


# ---- files ------------------------------------------------------------------------------------

NUMBER = re.compile(r"-?(?:\d+\.\d*(?:e[+-]?\d+)?f?|\d+e[+-]?\d+f?|\d+f)")


def same(old: str, new: str, tolerance: float) -> bool:
    """Equal text, or equal but for numbers with a point within `tolerance` (absolute and relative)."""
    if old == new or tolerance == 0:
        return old == new
    skeletons = [" ".join(NUMBER.sub("#", text).split()) for text in (old, new)]
    if skeletons[0] != skeletons[1]:
        return False
    a, b = (np.array([float(n.rstrip("f")) for n in NUMBER.findall(text)]) for text in (old, new))
    return bool(np.all(np.abs(a - b) <= tolerance * (1 + np.abs(b))))


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes or checks the golden vectors.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 on a change")
    parser.add_argument("--tolerance", type=float, default=0.0, help="with --check: allowed error")
    options = parser.parse_args()

    torch.set_num_threads(1)
    different = 0
    with torch.no_grad():
        headers = [d2l_cases(), torch_attention_cases(), encoder_cases(), llama_cases(),
                   function_cases(), sinusoid_cases(), additive_cases(), *tables()]
        files = {h.file: header_text(h) for h in headers} | texts()
    for file, text in files.items():
        path = DATA / file
        if options.check:
            old = path.read_text() if path.exists() else ""
            ok = same(old, text, options.tolerance)
            different += not ok
            print(f"{file}: {'same' if ok else 'DIFFERENT'}")
        else:
            DATA.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"{file}: {len(text)} bytes")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
