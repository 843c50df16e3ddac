# SPDX-License-Identifier: BSL-1.0
"""Calls of attention with masks of every kind: drawn, answered, and written as types (golden.py).

A call is drawn in this order (golden.py says how), what it has not is not drawn:

    layers   query input (batch, queries, hidden); key input (batch, keys, key_hidden) when inputs is
             2 or 3; value input (batch, keys, value_hidden) when inputs is 3; weights q, k, v, o;
             biases q, k, v, o; the masks, in their order
    dot      queries (batch, heads, queries, head_dim); keys (batch, kv_heads, keys, head_dim);
             values (batch, kv_heads, keys, value_dim); the masks

A mask is a word and, after a colon, its axes, letters of b(atch) h(eads) q(uery) k(ey):

    drop:qk keep:bk     a draw below -1/4 drops, but never key 0
    bias:hqk hide:qk    draws times 2; hide: those below -1/2 are -infinity, but never at key 0
    lens:b lens:bq      Call.lengths
    causal causal:2     the position of query 0; also window:left,right,position and alibi:position
    dropout:50,7        a rate of 50 percent, seed 7: which weights, Philox 4x32-10 says (philox below)

Of long answers a part is stored: element i * step mod count, step prime to the count.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from golden_support import BIAS_SCALE, Case, Lcg, agree, weight_scale

STORED = 100
INFINITY = float("inf")


@dataclass(frozen=True)
class Call:
    name: str
    masks: tuple[str, ...] = ()
    batch: int = 2
    queries: int = 5
    keys: int = 11
    hidden: int = 24
    heads: int = 3
    kv_heads: int = 0  # 0: as heads
    head_dim: int = 0  # 0: hidden / heads
    value_dim: int = 0  # 0: as head_dim
    key_hidden: int = 0  # 0: as hidden
    value_hidden: int = 0  # 0: as hidden
    output: int = 0  # 0: as hidden
    inputs: int = 2
    has_bias: bool = True
    lengths: tuple[int, ...] = ()
    input_scale: float = 1.0
    weights: str = ""  # "by_head", "average": stored too
    double: bool = False
    # What PyTorch's layer has not.
    scale: float = 0.0  # 0: 1 / sqrt(head_dim)
    softcap: float = 0.0
    rope: str = ""  # "halves", "adjacent"
    rope_width: int = 0  # 0: head_dim
    rope_base: float = 10000.0
    fill: float = -INFINITY  # of a score that is masked

    @property
    def dropout(self) -> float:
        """The rate."""
        return sum(int(m[8:].split(",")[0]) / 100 for m in self.masks if m.startswith("dropout:"))

    def full(self) -> Call:
        """With every size said."""
        head_dim = self.head_dim or self.hidden // self.heads
        return replace(self, kv_heads=self.kv_heads or self.heads, head_dim=head_dim,
                       value_dim=self.value_dim or head_dim,
                       key_hidden=self.key_hidden or self.hidden,
                       value_hidden=self.value_hidden or self.hidden,
                       output=self.output or self.hidden)

    def axes(self, letters: str) -> list[int]:
        sizes = {"b": self.batch, "h": self.heads, "q": self.queries, "k": self.keys, "1": 1}
        return [sizes[letter] for letter in letters]


@dataclass
class Drawn:
    """Inputs, weights and biases of a call; masks as (word, letters, tensor)."""

    inputs: list[Tensor]
    weights: list[Tensor]
    biases: list[Tensor]
    masks: list[tuple[str, str, Tensor]]

    def to(self, dtype: torch.dtype) -> Drawn:
        def convert(x: Tensor) -> Tensor:
            return x.to(dtype) if x.is_floating_point() else x
        return Drawn(*([convert(x) for x in xs] for xs in (self.inputs, self.weights, self.biases)),
                     [(word, axes, convert(m)) for word, axes, m in self.masks])


# ---- drawing ----------------------------------------------------------------------------------


def draw_layer(lcg: Lcg, c: Call) -> Drawn:
    x = lcg.draw(c.batch, c.queries, c.hidden, scale=c.input_scale)
    y = lcg.draw(c.batch, c.keys, c.key_hidden, scale=c.input_scale) if c.inputs > 1 else x
    z = lcg.draw(c.batch, c.keys, c.value_hidden, scale=c.input_scale) if c.inputs > 2 else y
    shapes = ((c.hidden, c.heads * c.head_dim), (c.key_hidden, c.kv_heads * c.head_dim),
              (c.value_hidden, c.kv_heads * c.value_dim), (c.heads * c.value_dim, c.output))
    weights = [lcg.draw(*shape, scale=weight_scale(c.hidden)) for shape in shapes]
    biases = [lcg.bias(shape[1]) for shape in shapes] if c.has_bias else []
    return Drawn([x, y, z], weights, biases, draw_masks(lcg, c))


def draw_heads(lcg: Lcg, c: Call) -> Drawn:
    inputs = [lcg.draw(c.batch, heads, length, width, scale=c.input_scale)
              for heads, length, width in ((c.heads, c.queries, c.head_dim),
                                           (c.kv_heads, c.keys, c.head_dim),
                                           (c.kv_heads, c.keys, c.value_dim))]
    return Drawn(inputs, [], [], draw_masks(lcg, c))


def draw_masks(lcg: Lcg, c: Call) -> list[tuple[str, str, Tensor]]:
    """Each as flags that are true where a query attends, or as numbers to add."""
    query, key = torch.arange(c.queries)[:, None], torch.arange(c.keys)[None, :]
    masks = []
    for mask in c.masks:
        word, _, rest = mask.partition(":")
        numbers = [int(n) for n in rest.split(",") if n.lstrip("-").isdigit()]
        if word in ("drop", "keep"):
            drawn = lcg.draw(*c.axes(rest)) >= -0.25
            drawn[..., 0] = True
        elif word in ("bias", "hide"):
            drawn = lcg.draw(*c.axes(rest), scale=2.0)
            if word == "hide":
                hidden = drawn < -0.5
                hidden[..., 0] = False
                drawn = drawn.masked_fill(hidden, -INFINITY)
        elif word == "lens":
            drawn = key[0] < torch.tensor(c.lengths).reshape(*c.axes(rest), 1)
            rest += "k"
        elif word == "causal":
            drawn, rest = key <= query + (numbers or [0])[0], "qk"
        elif word == "window":
            position = query + (numbers + [0])[2]
            drawn, rest = (key >= position - numbers[0]) & (key <= position + numbers[1]), "qk"
        elif word == "dropout":
            drawn, rest = kept_by_dropout(c, numbers[0] / 100, numbers[1]), "bhqk"
        elif word == "alibi":
            slopes = torch.tensor(alibi_slopes(c.heads)).reshape(-1, 1, 1)
            drawn, rest = slopes * (key - query - (numbers or [0])[0]), "hqk"
        else:
            sys.exit(f"golden_calls.py: {c.name}: no such mask: {mask}")
        masks.append((word, rest, drawn))
    return masks


def philox(counter: list[np.ndarray], key: int) -> list[np.ndarray]:
    """Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011) of counters in arrays of uint64."""
    low, high, word = key & 0xFFFFFFFF, key >> 32, np.uint64(0xFFFFFFFF)
    c = counter
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [second >> np.uint64(32) ^ c[1] ^ np.uint64(low), second & word,
             first >> np.uint64(32) ^ c[3] ^ np.uint64(high), first & word]
        low, high = low + 0x9E3779B9 & 0xFFFFFFFF, high + 0xBB67AE85 & 0xFFFFFFFF
    return c


def kept_by_dropout(c: Call, rate: float, seed: int) -> Tensor:
    """True where a weight stays: the word of its place is not below the rate (docs/numerics.md)."""
    stream, query, key = np.meshgrid(*(np.arange(n, dtype=np.uint64) for n in
                                       (c.batch * c.heads, c.queries, c.keys)), indexing="ij")
    words = philox([key // np.uint64(4), query, stream, np.zeros_like(key)], seed)
    drawn = np.choose((key % np.uint64(4)).astype(int), words)
    return torch.from_numpy(drawn >= np.uint64(rate * 2**32)).reshape(c.axes("bhqk"))


def alibi_slopes(heads: int) -> list[float]:
    """The authors' code (Press, Smith and Lewis 2022)."""
    def of_power(n: int) -> list[float]:
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if math.log2(heads).is_integer():
        return of_power(heads)
    power = 2 ** math.floor(math.log2(heads))
    return of_power(power) + alibi_slopes(2 * power)[0::2][:heads - power]


# ---- answering --------------------------------------------------------------------------------


def merged(c: Call, d: Drawn) -> tuple[Tensor | None, Tensor | None]:
    """All flags and all numbers, each (batch, heads, query, key) or broadcast to it; or None."""
    keep = add = None
    for word, letters, mask in d.masks:
        if word == "dropout":
            continue
        mask = mask.reshape([n if letter in letters else 1
                             for letter, n in zip("bhqk", c.axes("bhqk"))]
                            if "1" not in letters else c.axes("b1") + c.axes("1k"))
        if mask.dtype == torch.bool:
            keep = mask if keep is None else keep & mask
        else:
            add = mask if add is None else add + mask
    return keep, add


def attend(c: Call, q: Tensor, k: Tensor, v: Tensor, d: Drawn) -> tuple[Tensor, Tensor]:
    """The formula, over (batch, heads, position, width): the context and the weights."""
    k, v = (x.repeat_interleave(c.heads // c.kv_heads, dim=1) for x in (k, v))
    scores = q @ k.transpose(-1, -2) * (c.scale or 1 / math.sqrt(c.head_dim))
    if c.softcap:
        scores = c.softcap * torch.tanh(scores / c.softcap)
    keep, add = merged(c, d)
    if add is not None:
        scores = scores + add
    if keep is not None:
        scores = scores.masked_fill(~keep, c.fill)
    weights = torch.softmax(scores, -1).nan_to_num(0.0)  # a row of -infinity: zeros, as in ONNX
    for word, _, kept in d.masks:
        if word == "dropout":  # in training: torch.nn.Dropout, but for who draws
            weights = weights * kept / (1 - c.dropout)
    return weights @ v, weights


def turn(c: Call, x: Tensor) -> Tensor:
    """Rotary positions, each pairing in the words of its models' code."""
    width = c.rope_width or c.head_dim
    steps = c.rope_base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.arange(x.shape[2], dtype=torch.float64)[:, None] * steps
    turned, rest = x[..., :width], x[..., width:]
    if c.rope == "halves":
        cos, sin = (f(torch.cat((angles, angles), -1)).to(x.dtype) for f in (torch.cos, torch.sin))
        first, second = turned.chunk(2, -1)
        turned = turned * cos + torch.cat((-second, first), -1) * sin
    else:
        pairs = torch.view_as_complex(turned.double().reshape(*turned.shape[:-1], -1, 2))
        pairs = pairs * torch.polar(torch.ones_like(angles), angles)
        turned = torch.view_as_real(pairs).flatten(-2).to(x.dtype)
    return torch.cat((turned, rest), -1)


def layer_by_formula(c: Call, d: Drawn) -> tuple[Tensor, Tensor]:
    def project(x: Tensor, i: int) -> Tensor:
        y = x @ d.weights[i]
        return y + d.biases[i] if d.biases else y

    q, k, v = (project(x, i).reshape(c.batch, x.shape[1], heads, -1).transpose(1, 2)
               for i, (x, heads) in enumerate(zip(d.inputs, (c.heads, c.kv_heads, c.kv_heads))))
    if c.rope:
        q, k = turn(c, q), turn(c, k)
    context, weights = attend(c, q, k, v, d)
    return project(context.transpose(1, 2).flatten(2), 3), weights


def layer_of_torch(c: Call, d: Drawn) -> tuple[Tensor, Tensor]:
    """torch.nn.MultiheadAttention. Its masks are true where a query must NOT attend."""
    layer = torch.nn.MultiheadAttention(
        c.hidden, c.heads, bias=c.has_bias, batch_first=True, dtype=d.inputs[0].dtype,
        kdim=c.key_hidden, vdim=c.value_hidden).eval()
    if layer._qkv_same_embed_dim:
        layer.in_proj_weight.copy_(torch.cat([w.T for w in d.weights[:3]]))
    else:
        for target, weight in zip((layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight),
                                  d.weights):
            target.copy_(weight.T)
    layer.out_proj.weight.copy_(d.weights[3].T)
    if d.biases:
        layer.in_proj_bias.copy_(torch.cat(d.biases[:3]))
        layer.out_proj.bias.copy_(d.biases[3])

    padding = mask = None
    for _, letters, given in d.masks:
        if letters == "bk":
            padding = ~given if padding is None else padding | ~given
            continue
        if letters != "qk":
            given = given.reshape([n if letter in letters else 1
                                   for letter, n in zip("bhqk", c.axes("bhqk"))])
            given = given.expand(c.axes("bhqk")).flatten(0, 1)
        if given.dtype == torch.bool:
            given = ~given
        if mask is None:
            mask = given
        elif mask.dtype == given.dtype == torch.bool:
            mask = mask | given
        else:
            flags, numbers = (mask, given) if mask.dtype == torch.bool else (given, mask)
            mask = numbers.masked_fill(flags, -INFINITY)
    return layer(*d.inputs, key_padding_mask=padding, attn_mask=mask, need_weights=True,
                 average_attn_weights=c.weights == "average")


def heads_by_formula(c: Call, d: Drawn) -> tuple[Tensor, Tensor]:
    return attend(c, *d.inputs, d)


def heads_of_torch(c: Call, d: Drawn) -> tuple[Tensor, Tensor]:
    """The public scaled_dot_product_attention, or torch 1.13's; flags are true where a query attends."""
    keep, add = merged(c, d)
    assert add is None, c.name
    k, v = (x.repeat_interleave(c.heads // c.kv_heads, dim=1) for x in d.inputs[1:])
    causal = c.masks == ("causal",)
    mask = None if causal or keep is None else keep.expand(c.axes("bhqk"))
    if hasattr(functional, "scaled_dot_product_attention"):
        context = functional.scaled_dot_product_attention(d.inputs[0], k, v, mask, is_causal=causal)
    else:
        context, _ = functional._scaled_dot_product_attention(d.inputs[0], k, v, mask, 0.0, False,
                                                              causal)
    return context, attend(c, *d.inputs, d)[1]


# ---- writing ----------------------------------------------------------------------------------


def part(values: Tensor) -> tuple[int, Tensor]:
    """The step, and every step-th element around the array until STORED are there."""
    values = values.flatten()
    count = len(values)
    if count <= STORED:
        return 1, values
    step = count // STORED + 1
    while math.gcd(step, count) != 1:
        step += 1
    return step, values[torch.arange(STORED) * step % count]


def case_of(seed: int, call: Call, *, heads_only: bool = False, of_torch: bool = False) -> Case:
    """The answer in the call's type; float32 and float64, PyTorch and the formula must agree."""
    c = call.full()
    drawn = (draw_heads if heads_only else draw_layer)(Lcg(seed), c)
    formula = heads_by_formula if heads_only else layer_by_formula
    answer = formula if not of_torch else heads_of_torch if heads_only else layer_of_torch
    single, double = drawn.to(torch.float32), drawn.to(torch.float64)
    exact, exact_weights = formula(c, double)
    if c.weights == "average":
        exact_weights = exact_weights.mean(1)
    output, weights = answer(c, double if c.double else single)
    agree(c.name, output, exact)
    agree(c.name + " weights", weights, exact_weights)
    if c.double and (output - exact).abs().max() > 1e-13 * (1 + exact.abs().max()):
        sys.exit(f"golden_calls.py: {c.name}: PyTorch and the formula differ in float64")

    constants: dict[str, int | float | bool] = {"seed": seed}
    names = ("batch queries keys heads kv_heads head_dim value_dim".split() if heads_only else
             "batch queries keys hidden heads kv_heads head_dim value_dim key_hidden value_hidden "
             "output_hidden inputs".split())
    constants |= {name: getattr(c, "output" if name == "output_hidden" else name) for name in names}
    constants["step"], stored = part(output)
    arrays = {"output": stored}
    if c.weights:
        name = "average_weights" if c.weights == "average" else "weights"
        constants["weights_step"], arrays[name] = part(weights)
    if not heads_only:
        constants |= {"has_bias": c.has_bias, "weight_scale": weight_scale(c.hidden),
                      "bias_scale": BIAS_SCALE}
    constants["input_scale"] = c.input_scale
    if c.weights:
        constants["drops"] = c.dropout > 0  # the weights are then those that it leaves
    masks = " & ".join(c.masks) or "none"
    return Case(c.name, f"Masks: {masks}", constants, arrays, c.lengths)
