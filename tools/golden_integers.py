# SPDX-License-Identifier: BSL-1.0
"""Layers in integers for golden.py: the definition of docs/integers.md ("Each rounding" and "Numbers chosen when packing"),
written from that page alone, in numpy. Sums are of 64 bits here and must fit in 32.

Weights and inputs are drawn; ranges are constants, some of which are too small, so that results are cut off."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import torch

from golden_support import Case, Header, Lcg

EPSILON = float(np.float32(1e-5))
LOG2_E = 1.4426950408889634


# ---- each rounding ----------------------------------------------------------------------------


def fits(v: np.ndarray) -> np.ndarray:
    assert np.all(np.abs(v) < 2**31), "a number of more than 32 bits"
    return v


def rounded(v: np.ndarray, shift: int) -> np.ndarray:
    """To the nearest, halves up."""
    return v if shift == 0 else fits(v + 2 ** (shift - 1)) >> shift


def clamp(v: np.ndarray, bits: int) -> np.ndarray:
    most = 2 ** (bits - 1) - 1
    return np.clip(v, -most, most)


def near(v: np.ndarray | float, most: int) -> np.ndarray:
    """The nearest integer, halves to even, of doubles."""
    return np.clip(np.rint(np.asarray(v, np.float64)), -most, most).astype(np.int64)


def digits_of(v: int) -> int:
    return int(v).bit_length()


def quantize(x: np.ndarray, unit: float, bits: int) -> np.ndarray:
    return near(x.astype(np.float64) / unit, 2 ** (bits - 1) - 1)


def unit8(largest: float) -> float:
    return float(np.float32(largest)) / 127


def unit16(largest: float) -> float:
    return float(np.float32(largest)) / 16384


def change_of_unit(source: float, to: float) -> tuple[int, int]:
    shift = 29
    while shift > 1 and source / to * 2.0**shift > 32767:
        shift -= 1
    return int(near(source / to * 2.0**shift, 32767)), shift


def in_unit(v: np.ndarray, numbers: tuple[int, int]) -> np.ndarray:
    multiplier, shift = numbers
    return rounded(fits(v * multiplier), shift)


class Map:
    """A linear map, weight (in, out)."""

    def __init__(self, weight: np.ndarray, bias: np.ndarray | None, source: float, to: float) -> None:
        w = weight.astype(np.float64)
        b = np.zeros(w.shape[1]) if bias is None else bias.astype(np.float64)
        scale = np.maximum(np.abs(w).max(axis=0) / 127, np.abs(b) / source / 2.0**24)
        zeros = scale == 0
        scale[zeros] = 1
        self.weight = near(w / scale, 127)
        self.bias = near(b / source / scale, 2**25)
        factor = np.where(zeros, 0, source * scale / to)
        self.choose(factor, 128.0 * np.abs(self.weight).sum(axis=0) + np.abs(self.bias))

    def choose(self, factor: np.ndarray, most: np.ndarray) -> None:
        def below(m: np.ndarray, before: int, after: int) -> np.ndarray:
            return (most / 2.0**before + 2) * m < 2.0**31 - 2.0 ** (after - 1)

        for before in range(16):
            for after in range(29, 0, -1):
                m = near(factor * 2.0 ** (before + after), 2**24)
                if np.all(m <= 32767) and np.all(below(m, before, after)):
                    break
            if (np.all(m <= 32767) and np.all(below(m, before, after)) and m.max() >= 4096) or before == 15:
                break
        m = np.minimum(m, 32767)
        while not np.all(below(m, before, after)):
            m = np.where(below(m, before, after), m, m // 2)
        self.multiplier, self.before, self.after = m, before, after

    def rescaled(self, total: np.ndarray) -> np.ndarray:
        return rounded(fits(rounded(total, self.before) * self.multiplier), self.after)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Not clamped."""
        return self.rescaled(fits(x @ self.weight + self.bias))


def power_of_half(t: np.ndarray, bits: int) -> np.ndarray:
    f = t % 256
    p = 32512 - ((f * (21835 - ((5579 * f) >> 8))) >> 8)
    if bits == 16:
        return np.array([rounded(a, int(b)) for a, b in zip(p, t >> 8)])
    return rounded(p >> (t >> 8), 8)


class Softmax:
    def __init__(self, q: float, k: float, scale: float, bits: int) -> None:
        each = min(q * k * scale * LOG2_E * 256, 2304.0)
        self.bits, self.shift = bits, 19 if bits == 8 else 18
        while self.shift > 0 and each * 2.0**self.shift > 65535:
            self.shift -= 1
        self.multiplier = int(near(each * 2.0**self.shift, 65535))
        self.cut = min(math.floor((2304 if bits == 8 else 4096) / each) + 1, 2**30)

    def __call__(self, distance: np.ndarray) -> np.ndarray:
        d = np.minimum(distance, self.cut)
        return power_of_half(rounded(fits(d * self.multiplier), self.shift), self.bits)


def attend(q: np.ndarray, k: np.ndarray, v: np.ndarray, seen: np.ndarray, softmax: Softmax) -> np.ndarray:
    """One head: (queries, width), (keys, width), (keys, width), (queries, keys)."""
    out = np.zeros((q.shape[0], v.shape[1]), np.int64)
    for i in range(q.shape[0]):
        keys = np.flatnonzero(seen[i])
        if keys.size == 0:
            continue
        out[i] = attend_to_scores(fits(k[keys] @ q[i])[None], v[keys], softmax)
    return out


def attend_to_scores(score: np.ndarray, v: np.ndarray, softmax: Softmax) -> np.ndarray:
    """Of one query: (1, keys), (keys, width)."""
    weight = softmax(score[0].max() - score[0])
    total = int(fits(weight.sum()))
    if softmax.bits == 16:
        down = digits_of(total) - 15
        inverse = 2**30 // (total >> down)
        return rounded(fits(fits((weight @ v) >> (7 + down)) * inverse), 23)[None]
    drop = min(max(digits_of(total) - 14, 0), 7)
    inverse = 2 ** (24 + drop) // total
    return rounded(fits((fits(weight @ v) >> drop) * inverse), 24)[None]


def rotate(x: np.ndarray, pairs: str) -> np.ndarray:
    """(positions, heads, width) of 16 bits, to 8."""
    positions, _, width = x.shape
    angle = np.arange(positions)[:, None] * 10000.0 ** (-2 * np.arange(width // 2) / width)
    cosine, sine = (near(2.0**14 * f(angle), 32767)[:, None, :] for f in (np.cos, np.sin))
    first, second = ((slice(0, None, 2), slice(1, None, 2)) if pairs == "adjacent" else
                     (slice(0, width // 2), slice(width // 2, None)))
    a, b = x[..., first], x[..., second]
    y = np.empty_like(x)
    y[..., first] = clamp(rounded(a * cosine - b * sine, 21), 8)
    y[..., second] = clamp(rounded(b * cosine + a * sine, 21), 8)
    return y


class Norm:
    def __init__(self, gamma: np.ndarray, beta: np.ndarray | None, source: float, to: float) -> None:
        g = gamma.astype(np.float64)
        b = np.zeros_like(g) if beta is None else beta.astype(np.float64)
        self.size, self.centred = g.size, beta is not None
        root = math.sqrt(self.size)
        of_epsilon = (self.size if self.centred else 32768) * math.sqrt(self.size * EPSILON) / source
        self.epsilon = int(near(of_epsilon, 2**30))
        self.digits = max(d for d in range(16) if (self.size + 1) << (2 * d) < 2**32)
        most_beta = 2**30 - 1 - 2**24
        shift = 24
        while shift > 1 and (np.any(np.abs(root * g / to) * 2.0 ** (shift - 15) > 32767) or
                             np.any(np.abs(b / to) * 2.0**shift > most_beta)):
            shift -= 1
        self.shift = shift
        self.gamma = near(root * g / to * 2.0 ** (shift - 15), 32767)
        self.beta = near(b / to * 2.0**shift, most_beta)

    def __call__(self, x: np.ndarray, bits: int) -> np.ndarray:
        return np.stack([self.row(row, bits) for row in x])

    def row(self, x: np.ndarray, bits: int) -> np.ndarray:
        difference = fits(self.size * x - x.sum() if self.centred else 2**15 * x)
        every = np.append(difference, self.epsilon)
        down = digits_of(np.abs(every).max()) - self.digits
        every = every >> down if down >= 0 else every << -down
        squares = int((every**2).sum())
        assert squares < 2**32
        root = math.isqrt(squares)
        inverse = 2**30 // root if root else 0
        scaled = fits(every[:-1] * inverse) >> 15
        return clamp(rounded(fits(scaled * self.gamma + self.beta), self.shift), bits)


def gelu(v: float) -> float:
    return 0.5 * v * (1 + math.erf(v / math.sqrt(2)))


def silu(v: float) -> float:
    return v / (1 + math.exp(-v))


def table(function, source: float, to: float, bits: int = 8) -> np.ndarray:
    """Of the inputs -128 to 127."""
    return near([function((i - 128) * source) / to for i in range(256)], 2 ** (bits - 1) - 1)


def mean(x: np.ndarray, source: float, to: float, length: int | None = None) -> np.ndarray:
    """Over the rows, or over the first ones."""
    count = x.shape[0]
    n = count if length is None else length
    total = np.array([(2 * int(s) * count + n) // (2 * n) if n else 0 for s in x[:n].sum(axis=0)])
    dropped = max(digits_of(128 * count) - 14, 0)
    return clamp(in_unit(rounded(total, dropped),
                         change_of_unit(source * 2.0**dropped / count, to)), 8)


# ---- layers of these --------------------------------------------------------------------------


@dataclass
class Drawn:
    """What a layer is drawn with, in the order of golden.py."""

    lcg: Lcg
    constants: dict = field(default_factory=dict)

    def of(self, *shape: int, scale: float = 1) -> np.ndarray:
        return self.lcg.draw(*shape, scale=scale).numpy()


def draw_attention(d: Drawn, hidden: int, heads: int, kv_heads: int, width: int, scale: float, has_bias: bool) -> dict:
    outputs = {"q": heads * width, "k": kv_heads * width, "v": kv_heads * width, "o": hidden}
    inputs = {"q": hidden, "k": hidden, "v": hidden, "o": heads * width}
    weights = {n: d.of(inputs[n], outputs[n], scale=scale) for n in "qkvo"}
    biases = {n: d.of(outputs[n], scale=0.125) if has_bias else None for n in "qkvo"}
    return {n: (weights[n], biases[n]) for n in "qkvo"}


def multi_head(w: dict, x: np.ndarray, seen: np.ndarray, heads: int, kv_heads: int, width: int, units: dict,
               rope: str | None = None, bits: int = 8, memory: np.ndarray | None = None) -> np.ndarray:
    """bits: of the weights of the softmax. Not clamped. units: of the input, of q, k and v, of the output. memory: of keys
    and values, with a unit of its own."""
    def projected(name: str, count: int) -> np.ndarray:
        turned = rope is not None and name != "v"
        to = units[name] / 128 if turned else units[name]
        of_memory = memory is not None and name != "q"
        y = Map(*w[name], units["memory" if of_memory else "input"], to)(memory if of_memory else x)
        y = clamp(y, 16 if turned else 8).reshape(-1, count, width)
        return rotate(y, rope) if turned else y

    q, k, v = projected("q", heads), projected("k", kv_heads), projected("v", kv_heads)
    softmax = Softmax(units["q"], units["k"], 1 / math.sqrt(width), bits)
    share = heads // kv_heads
    context = [attend(q[:, h], k[:, h // share], v[:, h // share], seen, softmax) for h in range(heads)]
    return Map(*w["o"], units["v"], units["output"])(np.concatenate(context, axis=1))


def feed_forward(w: dict, x: np.ndarray, function, units: dict) -> np.ndarray:
    """Not clamped."""
    up = clamp(Map(*w["up"], units["input"], units["up"])(x), 8)
    if "gate" in w:
        gate = clamp(Map(*w["gate"], units["input"], units["gate"])(x), 8)
        activated = table(function, units["gate"], units["activated"])[gate + 128]
        wide = clamp(in_unit(activated * up, change_of_unit(units["activated"] * units["up"], units["product"])), 8)
        return Map(*w["down"], units["product"], units["output"])(wide)
    activated = table(function, units["up"], units["activated"])[up + 128]
    return Map(*w["down"], units["activated"], units["output"])(activated)


def every_key(queries: int, keys: int) -> np.ndarray:
    return np.ones((queries, keys), bool)


def causal(size: int) -> np.ndarray:
    return np.tril(every_key(size, size))


def first_keys(size: int, length: int) -> np.ndarray:
    return np.broadcast_to(np.arange(size) < length, (size, size))


# ---- cases ------------------------------------------------------------------------------------


def result(values: np.ndarray, bits: int) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(clamp(values, bits)).astype(f"int{bits}"))


def linear_case(name: str, seed: int, rows: int, inputs: int, outputs: int, ranges: tuple[float, float]) -> Case:
    d = Drawn(Lcg(seed))
    x, weight, bias = d.of(rows, inputs), d.of(inputs, outputs), d.of(outputs, scale=0.125)
    weight[:, 1] *= np.float32(2.0**-30)
    weight[:, 2], bias[2] = 0, 0
    source, to = unit8(ranges[0]), ranges[1]
    x8 = quantize(x, source, 8)
    return Case(name, "input, weight, bias 1/8; then the weights of output 1 times 2^-30, weights and bias of output 2 are 0",
                {"seed": seed, "rows": rows, "inputs": inputs, "outputs": outputs, "input_range": ranges[0],
                 "output_range": to},
                {"of_8_bits": result(Map(weight, bias, source, unit8(to))(x8), 8),
                 "of_16_bits": result(Map(weight, bias, source, unit16(to))(x8), 16)})


def attention_case(name: str, seed: int, tokens: int, heads: int, kv_heads: int, width: int, rope: str | None,
                   bits: int = 8) -> Case:
    hidden = heads * width
    d = Drawn(Lcg(seed))
    x = d.of(tokens, hidden)
    w = draw_attention(d, hidden, heads, kv_heads, width, 0.5, True)
    ranges = {"input": 1.0, "q": 1.75, "k": 2.5, "v": 1.25, "output": 1.5}
    units = {n: unit8(r) for n, r in ranges.items()}
    x8 = quantize(x, units["input"], 8)
    masks = {"every_key": every_key(tokens, tokens), "causal": causal(tokens), "no_key": first_keys(tokens, 0),
             "one_key": first_keys(tokens, 1), "some_keys": first_keys(tokens, tokens - 3)}
    return Case(name, "input; weights q, k, v, o 1/2; biases q, k, v, o 1/8",
                {"seed": seed, "tokens": tokens, "hidden": hidden, "heads": heads, "kv_heads": kv_heads} |
                {f"{n}_range": r for n, r in ranges.items()},
                {mask: result(multi_head(w, x8, seen, heads, kv_heads, width, units, rope, bits), 8)
                 for mask, seen in masks.items()})


def norm_case(name: str, seed: int, rows: int, hidden: int, centred: bool) -> Case:
    d = Drawn(Lcg(seed))
    x, gamma, beta = d.of(rows, hidden, scale=8), d.of(hidden), d.of(hidden, scale=0.125)
    x[0], x[1] = 0, 5
    x[2] *= np.float32(2.0**-10)
    ranges = {"input": 3.0, "output": 1.0}
    source = unit16(ranges["input"])
    norm = Norm(gamma, beta if centred else None, source, unit8(ranges["output"]))
    return Case(name, "input 8, gamma, beta 1/8" + ("" if centred else " (not used)") +
                "; then row 0 of the input is 0, row 1 is 5, row 2 is times 2^-10",
                {"seed": seed, "rows": rows, "hidden": hidden} | {f"{n}_range": r for n, r in ranges.items()},
                {"output": result(norm(quantize(x, source, 16), 8), 8)})


def table_case() -> Case:
    return Case("activations", "nothing", {"up_range": 4.5, "activated_range": 4.0},
                {n: result(table(f, unit8(4.5), unit8(4.0)), 8)
                 for n, f in (("gelu_exact", gelu), ("silu", silu), ("relu", lambda v: max(v, 0.0)))})


def mean_case(name: str, seed: int, rows: int) -> Case:
    x = Drawn(Lcg(seed)).of(rows, 3)
    ranges = {"input": 0.875, "output": 0.25}
    x8 = quantize(x, unit8(ranges["input"]), 8)
    x8[:, 2] = 127
    return Case(name, "input, of which feature 2 is 127 after quantize",
                {"seed": seed, "rows": rows} | {f"{n}_range": r for n, r in ranges.items()},
                {"output": result(mean(x8, unit8(ranges["input"]), unit8(ranges["output"])), 8)} |
                {f"first_{n}": result(mean(x8, unit8(ranges["input"]), unit8(ranges["output"]), n), 8) for n in (0, 1, 5)})


def part(s: np.ndarray, norm: tuple, units: tuple[float, float], norm_first: bool, compute) -> np.ndarray:
    """Of a layer: residual sums and what `compute` makes of them. units: of the sums, of what it takes."""
    residual, source = units
    if norm_first:
        return clamp(s + compute(Norm(*norm, residual, source)(s, 8)), 16)
    taken = clamp(in_unit(s, change_of_unit(residual, source)), 8)
    return Norm(*norm, residual, residual)(clamp(s + compute(taken), 16), 16)


def encoder_case(name: str, seed: int, tokens: int, heads: int, kv_heads: int, width: int, wide: int, norm_first: bool,
                 gated: bool) -> Case:
    """Gated: as LLaMA's layers are, with RMS norms, SiLU and rotary positions, without biases."""
    hidden = heads * width
    d = Drawn(Lcg(seed))
    x = d.of(tokens, hidden)
    w = draw_attention(d, hidden, heads, kv_heads, width, 0.25, not gated)

    def linear(inputs: int, outputs: int) -> tuple:
        weight = d.of(inputs, outputs, scale=0.25)
        return weight, None if gated else d.of(outputs, scale=0.125)

    def norm() -> tuple:
        gamma = d.of(hidden)
        return gamma, None if gated else d.of(hidden, scale=0.125)

    norm1 = norm()
    network = ({"gate": linear(hidden, wide)} if gated else {}) | {"up": linear(hidden, wide), "down": linear(wide, hidden)}
    norm2 = norm()
    ranges = {"residual": 2.5, "attention_input": 1.5, "q": 1.25, "k": 1.5, "v": 1.0, "feed_forward_input": 1.75}
    ranges |= {"gate": 1.5} if gated else {}
    ranges |= {"up": 1.25, "activated": 1.0}
    ranges |= {"product": 0.875} if gated else {}
    residual = unit16(ranges["residual"])
    units = {n: unit8(r) for n, r in ranges.items()}
    of_attention = units | {"input": units["attention_input"], "output": residual}
    of_network = units | {"input": units["feed_forward_input"], "output": residual}
    function = silu if gated else gelu
    rope = "halves" if gated else None

    def whole(seen: np.ndarray) -> np.ndarray:
        s = quantize(x, residual, 16)
        s = part(s, norm1, (residual, of_attention["input"]), norm_first,
                 lambda t: multi_head(w, t, seen, heads, kv_heads, width, of_attention, rope))
        return part(s, norm2, (residual, of_network["input"]), norm_first,
                    lambda t: feed_forward(network, t, function, of_network))

    gate = "gate weight; " if gated else ""
    return Case(name, "input; weights q, k, v, o 1/4; " + ("" if gated else "biases q, k, v, o 1/8; ") + "gamma1; " +
                ("" if gated else "beta1 1/8; ") + gate + "up, down, each a weight 1/4" +
                ("" if gated else " and a bias 1/8") + "; gamma2" + ("" if gated else "; beta2 1/8"),
                {"seed": seed, "tokens": tokens, "hidden": hidden, "heads": heads, "kv_heads": kv_heads,
                 "feed_forward": wide} | {f"{n}_range": r for n, r in ranges.items()},
                {"every_key": result(whole(every_key(tokens, tokens)), 16), "causal": result(whole(causal(tokens)), 16)})


def decoder_case(name: str, seed: int, tokens: int, keys: int, heads: int, width: int, wide: int, norm_first: bool) -> Case:
    hidden = heads * width
    d = Drawn(Lcg(seed))
    x, y = d.of(tokens, hidden), d.of(keys, hidden)

    def norm() -> tuple:
        return d.of(hidden), d.of(hidden, scale=0.125)

    own = draw_attention(d, hidden, heads, heads, width, 0.25, True)
    norm1 = norm()
    cross = draw_attention(d, hidden, heads, heads, width, 0.25, True)
    norm2 = norm()
    network = {n: (d.of(i, o, scale=0.25), d.of(o, scale=0.125)) for n, i, o in [("up", hidden, wide), ("down", wide, hidden)]}
    norm3 = norm()
    ranges = {"residual": 2.5, "self_input": 1.5, "q": 1.25, "k": 1.5, "v": 1.0, "memory": 0.875, "cross_input": 1.625,
              "cross_q": 1.125, "cross_k": 1.375, "cross_v": 0.75, "feed_forward_input": 1.75, "up": 1.25, "activated": 1.0}
    residual = unit16(ranges["residual"])
    units = {n: unit8(r) for n, r in ranges.items()} | {"output": residual}
    of_own = units | {"input": units["self_input"]}
    of_cross = units | {"input": units["cross_input"]} | {n: units[f"cross_{n}"] for n in "qkv"}
    of_network = units | {"input": units["feed_forward_input"]}
    memory = quantize(y, units["memory"], 8)

    def whole(seen: np.ndarray, seen_memory: np.ndarray) -> np.ndarray:
        s = quantize(x, residual, 16)
        s = part(s, norm1, (residual, of_own["input"]), norm_first,
                 lambda t: multi_head(own, t, seen, heads, heads, width, of_own))
        s = part(s, norm2, (residual, of_cross["input"]), norm_first,
                 lambda t: multi_head(cross, t, seen_memory, heads, heads, width, of_cross, memory=memory))
        return part(s, norm3, (residual, of_network["input"]), norm_first,
                    lambda t: feed_forward(network, t, gelu, of_network))

    some_keys = np.broadcast_to(np.arange(keys) < keys - 3, (tokens, keys))
    return Case(name, "input; memory; of self attention weights q, k, v, o 1/4 and biases q, k, v, o 1/8; gamma1; beta1 1/8; of "
                "attention to the memory the same; gamma2; beta2 1/8; up, down, each a weight 1/4 and a bias 1/8; gamma3; beta3 1/8",
                {"seed": seed, "tokens": tokens, "keys": keys, "hidden": hidden, "heads": heads,
                 "feed_forward": wide} | {f"{n}_range": r for n, r in ranges.items()},
                {"causal": result(whole(causal(tokens), every_key(tokens, keys)), 16),
                 "some_keys": result(whole(every_key(tokens, tokens), some_keys), 16)})


class Sum:
    """Of two values, or their difference."""

    def __init__(self, first: float, second: float, to: float, sign: int = 1) -> None:
        factors = first / to, second / to
        self.shift = 29
        while self.shift > 1 and max(factors) * 2.0**self.shift > 16383:
            self.shift -= 1
        self.first, self.second = (int(near(f * 2.0**self.shift, 16383)) for f in factors)
        self.second *= sign

    def __call__(self, a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
        return clamp(rounded(fits(a * self.first + b * self.second), self.shift), bits)


def contraction(a: np.ndarray, b: np.ndarray, factor: float, bits: int) -> np.ndarray:
    """a (rows, depth) by b (depth, columns), which have 8 bits. factor: unit of a times unit of b / that of the result."""
    depth = a.shape[1]
    numbers = Map.__new__(Map)  # only its shifts and multiplier
    numbers.choose(np.array([factor]), np.array([128.0 * 127 * depth]))
    return clamp(numbers.rescaled(fits(a @ b)), bits)


def formula_case(name: str, seed: int, tokens: int, hidden: int, width: int) -> Case:
    """Attention with scores that are capped and biased, gated, in a residual sum."""
    d = Drawn(Lcg(seed))
    x, bias = d.of(tokens, hidden), d.of(tokens, tokens)
    gamma, beta = d.of(hidden), d.of(hidden, scale=0.125)
    maps = {n: (d.of(hidden, width, scale=0.25), d.of(width, scale=0.125)) for n in ("q", "k", "v", "gate")}
    maps["o"] = d.of(width, hidden, scale=0.25), d.of(hidden, scale=0.125)
    ranges = {"x": 0.875, "bias": 0.75, "normed": 1.5, "q": 1.25, "k": 1.5, "v": 1.0, "gate": 0.75, "scores": 0.625,
              "capped": 0.5, "added": 1.375, "activated": 0.5, "gated": 0.375, "branch": 0.5, "sum": 1.25}
    units = {n: (unit16 if n in ("x", "bias", "capped", "added", "branch", "sum") else unit8)(r) for n, r in ranges.items()}
    x16, bias16 = quantize(x, units["x"], 16), quantize(bias, units["bias"], 16)
    normed = Norm(gamma, beta, units["x"], units["normed"])(x16, 8)
    q, k, v, gate = (clamp(Map(*maps[n], units["normed"], units[n])(normed), 8) for n in ("q", "k", "v", "gate"))
    of_products = units["scores"] / 0.5  # the factor 0.5 of the scores changes only the unit
    scores = contraction(q, k.T, units["q"] * units["k"] / of_products, 8)
    capped = table(lambda s: math.tanh(s * 0.5), of_products, units["capped"], 16)[scores + 128]
    added = Sum(2 * units["capped"], units["bias"], units["added"])(capped, bias16, 16)
    softmax = Softmax(units["added"], 1, 1, 8)
    context = np.concatenate([attend_to_scores(added[i:i + 1, :i + 1], v[:i + 1], softmax) for i in range(tokens)])
    activated = table(silu, units["gate"], units["activated"])[gate + 128]
    gated = clamp(in_unit(context * activated, change_of_unit(units["v"] * units["activated"], units["gated"])), 8)
    branch = clamp(Map(*maps["o"], units["gated"], units["branch"])(gated), 16)
    return Case(name, "input; bias (tokens, tokens); gamma; beta 1/8; q, k, v, gate, o, each a weight 1/4 and a bias 1/8",
                {"seed": seed, "tokens": tokens, "hidden": hidden, "width": width} |
                {f"{n}_range": r for n, r in ranges.items()},
                {"output": result(Sum(units["x"], units["branch"], units["sum"])(x16, branch, 16), 16)})


def integer_cases() -> Header:
    return Header("integers.hpp", "Layers in integers, by the definition of docs/integers.md in numpy (tools/golden_integers.py).", [
        linear_case("integer_linear_one", 2001, 1, 1, 3, (1.0, 0.75)),
        linear_case("integer_linear", 2002, 5, 37, 21, (0.75, 4.0)),
        linear_case("integer_linear_long", 2003, 2, 1030, 7, (1.0, 20.0)),
        linear_case("integer_linear_cut_off", 2004, 3, 18, 5, (1.0, 0.001)),
        attention_case("integer_attention", 2011, 9, 3, 3, 5, None),
        attention_case("integer_attention_groups", 2012, 21, 4, 2, 8, None),
        attention_case("integer_attention_adjacent_pairs", 2013, 19, 2, 1, 6, "adjacent"),
        attention_case("integer_attention_long", 2014, 150, 1, 1, 4, None),
        attention_case("integer_attention_16_bits", 2015, 19, 2, 1, 6, None, 16),
        attention_case("integer_attention_16_bits_long", 2016, 300, 1, 1, 4, None, 16),
        norm_case("integer_layer_norm_one", 2021, 3, 1, True),
        norm_case("integer_layer_norm", 2022, 5, 27, True),
        norm_case("integer_layer_norm_long", 2023, 4, 300, True),
        norm_case("integer_rms_norm", 2024, 5, 27, False),
        table_case(),
        mean_case("integer_mean", 2031, 7), mean_case("integer_mean_long", 2032, 500),
        encoder_case("integer_encoder_pre_norm", 2041, 9, 3, 3, 5, 22, True, False),
        encoder_case("integer_encoder_post_norm", 2042, 9, 3, 3, 5, 22, False, False),
        encoder_case("integer_encoder_llama", 2043, 18, 4, 2, 6, 26, True, True),
        decoder_case("integer_decoder_pre_norm", 2051, 9, 14, 3, 5, 22, True),
        decoder_case("integer_decoder_post_norm", 2052, 6, 19, 2, 7, 22, False),
        formula_case("integer_formula", 2061, 13, 10, 6),
    ])
