# SPDX-License-Identifier: BSL-1.0
"""Golden vectors of the operations on tensors: functions of each element, reductions, selection, lookup."""

from __future__ import annotations

from typing import Callable

import torch
from torch import Tensor
from torch.nn import functional

from golden_support import Case, Header, Lcg, agree


def in_both(name: str, function: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    return agree(name, function(*inputs), function(*(x.double() for x in inputs)))


def elementwise_case() -> Case:
    points = 129
    x = torch.arange(points, dtype=torch.float32) / 8 - 8
    positive = (torch.arange(points, dtype=torch.float32) + 1) / 8
    arrays = {name: in_both(name, function, x) for name, function in
              (("exp", torch.exp), ("tanh", torch.tanh), ("sigmoid", torch.sigmoid),
               ("abs", torch.abs))}
    arrays |= {name: in_both(name, function, positive) for name, function in
               (("log", torch.log), ("sqrt", torch.sqrt), ("rsqrt", torch.rsqrt))}
    return Case("torch_elementwise", "none: input i is i / 8 - 8, and (i + 1) / 8 for log, sqrt "
                "and rsqrt", {"points": points}, arrays)


def reduction_case() -> Case:
    lcg, seed, shape = Lcg(501), 501, (2, 3, 5, 4)
    x = lcg.draw(*shape, scale=4.0)
    arrays = {name: in_both(name, function, x) for name, function in
              (("sum_key", lambda a: a.sum(2)), ("sum_query_dim", lambda a: a.sum((1, 3))),
               ("sum_all", lambda a: a.sum().reshape(1)), ("max_key", lambda a: a.amax(2)),
               ("max_batch_key", lambda a: a.amax((0, 2))),
               ("min_query_dim", lambda a: a.amin((1, 3))),
               ("mean_query_dim", lambda a: a.mean((1, 3))))}
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


def operation_cases() -> Header:
    return Header("torch_operations.hpp", "torch: functions of each element, reductions, "
                  "log_softmax, where, masked_fill, embedding, one_hot.",
                  [elementwise_case(), reduction_case(), log_softmax_case(), where_case(),
                   lookup_case()])
