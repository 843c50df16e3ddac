# SPDX-License-Identifier: BSL-1.0
"""Multi-head attention for golden.py: the formula, torch's layer, and the cases of both."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from golden_support import BIAS_SCALE, Case, Header, Lcg, agree, weight_scale

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
