# SPDX-License-Identifier: BSL-1.0
"""The blocks for golden.py: layers of transformers, norms, activations, tables of positions."""

from __future__ import annotations

import math
from typing import Callable

import torch
from torch import Tensor
from torch.nn import functional

from golden_attention import ATTENTION_DRAWS, BIAS_DRAWS, Attention, load_attention, multi_head
from golden_support import BIAS_SCALE, Case, Header, Lcg, agree, weight_scale


def torch_options(norm_first: bool | None) -> dict[str, object]:
    """None: torch is told neither the norm order nor the activation, and has its own."""
    return {} if norm_first is None else {"activation": "gelu", "norm_first": norm_first}


def encoder_layer(norm_first: bool | None, drawn: dict[str, Tensor], dtype: torch.dtype) -> Tensor:
    hidden, feed_forward = drawn["up_weight"].shape
    layer = torch.nn.TransformerEncoderLayer(
        hidden, 4, feed_forward, dropout=0.0, batch_first=True, dtype=dtype,
        **torch_options(norm_first)).eval()
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


def encoder_by_hand(norm_first: bool | None, drawn: dict[str, Tensor]) -> Tensor:
    """The same layer in float64, from its parts."""
    d = {name: value.double() for name, value in drawn.items()}

    def attend(x: Tensor) -> Tensor:
        return multi_head(Attention(x, x, [d[f"weight_{i}"] for i in range(4)],
                                    [d[f"bias_{i}"] for i in range(4)], 4))

    def feed_forward(x: Tensor) -> Tensor:
        activation = functional.relu if norm_first is None else functional.gelu
        up = activation(x @ d["up_weight"] + d["up_bias"])
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
                    "layer_norm_eps=1e-5). encoder_defaults: neither activation nor norm_first is given.")
    batch, tokens, hidden, feed_forward = 2, 9, 32, 64
    for name, seed, norm_first in (("encoder_pre_norm", 301, True),
                                   ("encoder_post_norm", 302, False),
                                   ("encoder_defaults", 303, None)):
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
                     "feed_forward": feed_forward, "norm_first": bool(norm_first), "epsilon": 1e-5,
                     "weight_scale": weight_scale(hidden), "up_scale": weight_scale(hidden),
                     "down_scale": weight_scale(feed_forward), "bias_scale": BIAS_SCALE,
                     "gamma_scale": 1.0, "beta_scale": BIAS_SCALE}
        draws = (f"input (batch, tokens, hidden); {ATTENTION_DRAWS}; {BIAS_DRAWS}; norm1 gamma, "
                 "beta; up weight (hidden, feed_forward), up bias; down weight (feed_forward, "
                 "hidden), down bias; norm2 gamma, beta")
        header.cases.append(Case(name, draws, constants, {"output": output}))
    return header


def decoder_layer(norm_first: bool | None, drawn: dict[str, Tensor], lengths: dict[str, tuple[int, ...]],
                  dtype: torch.dtype) -> Tensor:
    hidden, feed_forward = drawn["up_weight"].shape
    layer = torch.nn.TransformerDecoderLayer(
        hidden, 4, feed_forward, dropout=0.0, batch_first=True, dtype=dtype,
        **torch_options(norm_first)).eval()
    d = {name: value.to(dtype) for name, value in drawn.items()}
    for target, which in ((layer.self_attn, "self"), (layer.multihead_attn, "cross")):
        load_attention(target, [d[f"{which}_weight_{i}"] for i in range(4)],
                       [d[f"{which}_bias_{i}"] for i in range(4)])
    for target, source in (
            (layer.norm1.weight, d["gamma1"]), (layer.norm1.bias, d["beta1"]),
            (layer.norm2.weight, d["gamma2"]), (layer.norm2.bias, d["beta2"]),
            (layer.linear1.weight, d["up_weight"].T), (layer.linear1.bias, d["up_bias"]),
            (layer.linear2.weight, d["down_weight"].T), (layer.linear2.bias, d["down_bias"]),
            (layer.norm3.weight, d["gamma3"]), (layer.norm3.bias, d["beta3"])):
        target.copy_(source)

    def past(which: str, positions: int) -> Tensor | None:  # true where torch must not look
        if which not in lengths:
            return None
        return torch.arange(positions)[None, :] >= torch.tensor(lengths[which])[:, None]

    tokens = drawn["input"].shape[1]
    future = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    return layer(d["input"], d["memory"], tgt_mask=None if norm_first is None else future,
                 tgt_key_padding_mask=past("input", tokens),
                 memory_key_padding_mask=past("memory", drawn["memory"].shape[1]))


def decoder_cases() -> Header:
    header = Header("torch_decoder_layer.hpp",
                    "torch.nn.TransformerDecoderLayer(activation='gelu', exact; dropout=0; "
                    "layer_norm_eps=1e-5) with a causal tgt_mask; `lengths` are those of the memory, "
                    "given as memory_key_padding_mask, own_lengths those of the input "
                    "(tgt_key_padding_mask). decoder_defaults: activation, norm_first and tgt_mask are "
                    "not given.")
    batch, tokens, keys, hidden, feed_forward = 2, 7, 11, 32, 48
    for name, seed, norm_first, lengths in (
            ("decoder_pre_norm", 361, True, {}),
            ("decoder_post_norm", 362, False, {}),
            ("decoder_pre_norm_lengths", 363, True, {"memory": (4, 11)}),
            ("decoder_post_norm_lengths", 364, False, {"memory": (1, 6), "input": (7, 3)}),
            ("decoder_defaults", 365, None, {}),
            ("decoder_defaults_lengths", 366, None, {"memory": (8, 3), "input": (2, 6)})):
        lcg = Lcg(seed)
        drawn = {"input": lcg.draw(batch, tokens, hidden), "memory": lcg.draw(batch, keys, hidden)}
        for norm, which in ((1, "self"), (2, "cross")):
            drawn |= {f"{which}_weight_{i}": lcg.weight(hidden, hidden) for i in range(4)}
            drawn |= {f"{which}_bias_{i}": lcg.bias(hidden) for i in range(4)}
            drawn |= {f"gamma{norm}": lcg.draw(hidden), f"beta{norm}": lcg.bias(hidden)}
        drawn |= {"up_weight": lcg.weight(hidden, feed_forward), "up_bias": lcg.bias(feed_forward)}
        drawn |= {"down_weight": lcg.weight(feed_forward, hidden), "down_bias": lcg.bias(hidden)}
        drawn |= {"gamma3": lcg.draw(hidden), "beta3": lcg.bias(hidden)}
        output = agree(name, decoder_layer(norm_first, drawn, lengths, torch.float32),
                       decoder_layer(norm_first, drawn, lengths, torch.float64))
        constants = {"seed": seed, "batch": batch, "tokens": tokens, "keys": keys, "hidden": hidden,
                     "heads": 4, "feed_forward": feed_forward, "weight_scale": weight_scale(hidden),
                     "down_scale": weight_scale(feed_forward), "bias_scale": BIAS_SCALE}
        arrays = {"output": output}
        if "input" in lengths:
            arrays["own_lengths"] = torch.tensor(lengths["input"], dtype=torch.float32)
        header.cases.append(Case(name, "see decoder layer in golden.py", constants, arrays,
                                 lengths.get("memory", ())))
    return header


def llama_layer(drawn: dict[str, Tensor], heads: int, kv_heads: int, epsilon: float) -> Tensor:
    """LlamaDecoderLayer of Hugging Face's transformers, causal, positions from 0; with q_norm and k_norm Qwen3DecoderLayer."""
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
    if "q_norm" in d:
        q, k = norm(q, d["q_norm"]), norm(k, d["k_norm"])
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
                    "halves, grouped heads, causal attention, SwiGLU. One of Qwen3: also a norm of each "
                    "head's queries and keys.")
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
    header.cases.append(qwen3_case())
    return header


def qwen3_case() -> Case:
    seed, batch, tokens, hidden, heads, kv_heads, head_dim, feed_forward, epsilon = 352, 2, 9, 32, 4, 2, 12, 48, 1e-6
    lcg = Lcg(seed)
    wide, narrow = heads * head_dim, kv_heads * head_dim
    drawn = {"input": lcg.draw(batch, tokens, hidden), "gamma1": lcg.draw(hidden), "q": lcg.weight(hidden, wide),
             "k": lcg.weight(hidden, narrow), "v": lcg.weight(hidden, narrow), "o": lcg.weight(wide, hidden),
             "q_norm": lcg.draw(head_dim), "k_norm": lcg.draw(head_dim), "gamma2": lcg.draw(hidden),
             "gate": lcg.weight(hidden, feed_forward), "up": lcg.weight(hidden, feed_forward),
             "down": lcg.weight(feed_forward, hidden)}
    output = agree("qwen3", llama_layer(drawn, heads, kv_heads, epsilon),
                   llama_layer({n: t.double() for n, t in drawn.items()}, heads, kv_heads, epsilon))
    return Case("qwen3", "input (batch, tokens, hidden); the parameters in the order of the weights",
                {"seed": seed, "batch": batch, "tokens": tokens, "hidden": hidden, "heads": heads, "kv_heads": kv_heads,
                 "head_dim": head_dim, "feed_forward": feed_forward}, {"output": output})


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
    return Header("torch_functional.hpp", "torch.nn.functional: layer_norm, gelu, silu, softmax, "
                  "linear; rms_norm as LLaMA has it.",
                  [layer_norm_case(), rms_norm_case(), gelu_case(), silu_case(), softmax_case(),
                   linear_case()])
