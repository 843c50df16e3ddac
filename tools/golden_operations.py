# SPDX-License-Identifier: BSL-1.0
"""Golden vectors of the operations on tensors: functions of each element, reductions, selection, lookup, rotary positions."""

from __future__ import annotations

from typing import Callable

import torch
from torch import Tensor
from torch.nn import functional

from golden_support import Case, Header, Lcg, agree


def in_both(name: str, function: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    return agree(name, function(*inputs), function(*(x.double() for x in inputs)))


def slope(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    with torch.enable_grad():
        at = x.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(function(at).sum(), at)
    return gradient


def elementwise_case() -> Case:
    points = 129
    x = torch.arange(points, dtype=torch.float32) / 8 - 8
    positive = (torch.arange(points, dtype=torch.float32) + 1) / 8
    arrays = {name: in_both(name, function, x) for name, function in
              (("exp", torch.exp), ("tanh", torch.tanh), ("sigmoid", torch.sigmoid),
               ("abs", torch.abs))}
    arrays |= {name: in_both(name, function, positive) for name, function in
               (("log", torch.log), ("sqrt", torch.sqrt), ("rsqrt", torch.rsqrt))}
    # Functions with their gradients: of x, and of p, which is positive.
    of_x = {"softplus": lambda a: functional.softplus(a, threshold=1e9), "log_sigmoid": functional.logsigmoid,
            "elu": functional.elu, "erf": torch.erf, "sin": torch.sin, "cos": torch.cos, "floor": torch.floor,
            "cube": lambda a: a ** 3, "power_of_two": lambda a: 2 ** a, "remainder": lambda a: a % 3,
            "negative_remainder": lambda a: a % -2.5, "clamp": lambda a: a.clamp(-1, 2),
            "clamp_by": lambda a: a.clamp(a * 0.5, 2 - a)}
    of_positive = {"root": lambda a: a ** 0.5, "self_power": lambda a: a ** (a * 0.25),
                   "remainder_by": lambda a: torch.remainder(torch.full_like(a, 3.25), a)}
    for functions, of in ((of_x, x), (of_positive, positive)):
        for name, function in functions.items():
            arrays[name] = in_both(name, function, of)
            if name != "floor":
                arrays[f"d_{name}"] = in_both(f"d_{name}", lambda a, f=function: slope(f, a), of)
    return Case("torch_elementwise", "none: input i is i / 8 - 8, and (i + 1) / 8 for log, sqrt, rsqrt, root, "
                "self_power and remainder_by; d_: the gradient of the sum", {"points": points}, arrays)


def reduction_case() -> Case:
    lcg, seed, shape = Lcg(501), 501, (2, 3, 5, 4)
    x = lcg.draw(*shape, scale=4.0)
    arrays = {name: in_both(name, function, x) for name, function in
              (("sum_key", lambda a: a.sum(2)), ("sum_query_dim", lambda a: a.sum((1, 3))),
               ("sum_all", lambda a: a.sum().reshape(1)), ("max_key", lambda a: a.amax(2)),
               ("max_batch_key", lambda a: a.amax((0, 2))),
               ("min_query_dim", lambda a: a.amin((1, 3))),
               ("mean_query_dim", lambda a: a.mean((1, 3))),
               ("variance_key", lambda a: a.var(2, unbiased=False)),
               ("variance_query_dim", lambda a: a.var((1, 3), unbiased=False)))}
    return Case("torch_reductions", "input (batch, query, key, head_dim), scale 4",
                {"seed": seed, "batch": shape[0], "query": shape[1], "key": shape[2],
                 "head_dim": shape[3]}, arrays)


def log_softmax_case() -> Case:
    lcg, seed, rows, columns = Lcg(502), 502, 3, 37
    scores = lcg.draw(rows, columns, scale=16.0)
    return Case("torch_log_softmax", "scores (rows, columns), scale 16",
                {"seed": seed, "rows": rows, "columns": columns},
                {"output": in_both("log_softmax", lambda a: torch.log_softmax(a, -1), scores)})


def where_case() -> Case:
    lcg, seed, rows, columns = Lcg(503), 503, 3, 7
    x, y = lcg.draw(rows, columns), lcg.draw(rows, columns)
    return Case("torch_where", "x, y (rows, columns); `chosen` is x where x < y, else 0.5; "
                "`weights` the softmax of y without the columns where x > y",
                {"seed": seed, "rows": rows, "columns": columns},
                {"chosen": in_both("where", lambda a, b: torch.where(a < b, a, 0.5 + 0 * a), x, y),
                 "weights": in_both("hide", lambda a, b: torch.softmax(
                     b.masked_fill(a > b, float("-inf")), -1), x, y)})


def lookup_case() -> Case:
    lcg, seed, words, hidden = Lcg(504), 504, 11, 3
    table = lcg.draw(words, hidden)
    ids = torch.tensor([[3, 0, 10, 3], [7, 1, 2, 9]])
    return Case("torch_embedding", "table (words, hidden); ids {3, 0, 10, 3}, {7, 1, 2, 9}",
                {"seed": seed, "words": words, "hidden": hidden},
                {"rows": functional.embedding(ids, table),
                 "one_hot": functional.one_hot(ids, words).float()})


def two_operands_case() -> Case:
    lcg, seed, rows, columns = Lcg(505), 505, 3, 7
    x, y = lcg.draw(rows, columns), lcg.draw(rows, columns)
    return Case("torch_two_operands", "x, y (rows, columns)", {"seed": seed, "rows": rows, "columns": columns},
                {"maximum": in_both("maximum", torch.maximum, x, y),
                 "minimum": in_both("minimum", torch.minimum, x, y),
                 "at_least": in_both("clamp", lambda a: a.clamp(min=0.25), x),
                 "stacked": in_both("stack", lambda a, b: torch.stack((a, b, a)), x, y)})


def rotary_case() -> Case:
    """Rotary positions as the models' own code has them: LLaMA's halves by rotate_half, its pairs by complex numbers."""
    lcg, seed, tokens, features, width, base = Lcg(506), 506, 4, 10, 6, 500
    x = lcg.draw(tokens, features)

    def turns(positions: list[int], count: int, by: float, like: Tensor) -> tuple[Tensor, Tensor]:
        angles = torch.outer(torch.tensor(positions, dtype=torch.float64),
                             by ** (-torch.arange(0, count, 2, dtype=torch.float64) / count))
        return angles.cos().to(like.dtype), angles.sin().to(like.dtype)

    def halves(a: Tensor, positions: list[int]) -> Tensor:
        cosine, sine = (torch.cat((t, t), -1) for t in turns(positions, features, 10000.0, a))
        first, second = a.chunk(2, -1)
        return a * cosine + torch.cat((-second, first), -1) * sine

    def pairs(a: Tensor, positions: list[int]) -> Tensor:
        numbers = torch.view_as_complex(a[:, :width].reshape(tokens, -1, 2))
        turned = torch.view_as_real(numbers * torch.complex(*turns(positions, width, float(base), a)))
        return torch.cat((turned.flatten(-2), a[:, width:]), -1)

    count, some = [0, 1, 2, 3], [40, 0, 7, 1000]
    return Case("torch_rotary", "x (tokens, features); halves of all features, base 10000; pairs of `width`, of "
                "`base`; of positions 0, 1, 2, 3 and 40, 0, 7, 1000",
                {"seed": seed, "tokens": tokens, "features": features, "width": width, "base": base},
                {"halves": in_both("halves", lambda a: halves(a, count), x),
                 "pairs": in_both("pairs", lambda a: pairs(a, count), x),
                 "halves_at": in_both("halves_at", lambda a: halves(a, some), x),
                 "pairs_at": in_both("pairs_at", lambda a: pairs(a, some), x)})


def convolution_case() -> Case:
    """Weights as torch has them: (output channels, input channels of a group, positions)."""
    lcg, seed, channels, positions, outputs, size = Lcg(507), 507, 4, 11, 6, 3
    x = lcg.draw(1, channels, positions)
    kernel, grouped, by_channel = lcg.draw(outputs, channels, size), lcg.draw(outputs, channels // 2, size), lcg.draw(channels, 1, size)
    image, of_image = lcg.draw(1, channels, 6, 7), lcg.draw(outputs, channels, 3, 2)
    return Case("torch_convolutions", "x (channels, positions); kernel (outputs, channels, 3), grouped (outputs, channels / 2, 3), "
                "by_channel (channels, 3); image (channels, 6, 7), of_image (outputs, channels, 3, 2)",
                {"seed": seed, "channels": channels, "positions": positions, "outputs": outputs, "size": size},
                {"plain": in_both("conv1d", functional.conv1d, x, kernel),
                 "spread": in_both("conv1d", lambda a, b: functional.conv1d(a, b, stride=2, padding=3, dilation=2), x, kernel),
                 "grouped_result": in_both("groups", lambda a, b: functional.conv1d(a, b, padding=1, groups=2), x, grouped),
                 "depthwise": in_both("depthwise", lambda a, b: functional.conv1d(a, b, groups=channels), x, by_channel),
                 "of_two": in_both("conv2d", lambda a, b: functional.conv2d(a, b, stride=(2, 1), padding=(1, 0)), image, of_image),
                 "largest": in_both("max_pool1d", lambda a: functional.max_pool1d(a, 3, stride=2, padding=1), x),
                 "means": in_both("avg_pool2d", lambda a: functional.avg_pool2d(a, (2, 3)), image)})


def operation_cases() -> Header:
    return Header("torch_operations.hpp", "torch: functions of each element, reductions, "
                  "log_softmax, where, masked_fill, embedding, one_hot, maximum, minimum, stack, rotary positions, "
                  "convolutions, pooling.",
                  [elementwise_case(), reduction_case(), log_softmax_case(), where_case(),
                   lookup_case(), two_operands_case(), rotary_case(), convolution_case()])
