#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""tools/import: random models come in, compile without warnings and compute what random_reference.py does; and the same model
gives the same files.

    random_graphs.py PROJECT_ROOT FIRST COUNT [--keep FOLDER] -- COMPILER...     TAP: those of seeds from FIRST on

FIRST is a seed, or today+N: N plus a number that changes every day. UMBEL_DAY=20784 repeats the models of that day. --keep copies
the files of what fails. Every third is a module of torch (random_modules.py), the others are operators of ONNX, drawn here. The tool may
refuse one in twenty, for a reason that docs/how-to/import.md has. It needs numpy, onnx and torch."""
import concurrent.futures
import functools
import itertools
import math
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]
from check import Checks  # noqa: E402
from formulas.check import seed as seed_of  # noqa: E402
from tap import split_command  # noqa: E402
try:
    import numpy as np
    import onnx
    import torch
    from onnx import helper, numpy_helper
    import random_modules
    import random_reference
    from random_modules import Draw, expressions
except ModuleNotFoundError as missing:
    print(f"1..0 # SKIP {sys.executable} has no {missing.name}")
    sys.exit(0)

# Reasons to refuse that docs/how-to/import.md has.
LISTED = re.compile(r"\((Asin|Acos|Atan)\): |integers are computed from numbers|has .* different weights|\(GatherND\): .* computed from an input")
PROBE = 2e-6  # of the largest number: what the probe may differ, which both compute in 64 bits and the file has in 32
BOUND = 1e-4  # what the results may differ, whatever the tool allows, if torch in 32 bits is as near; else 8 times its difference
SIZES = {"1": (1,), "n": (1, 1, 1, 2, 3), "w": (4, 6, 8, 12, 20), "c": (1, 2, 3, 4, 6), "l": (6, 8, 12, 16), "h": (6, 7, 8, 9)}


def inputs_of(d, text):
    """Shapes by names, from "x n t; y? t": a letter is one size, from 1 to 9 if SIZES lacks it, and an input with ? may be left out."""
    chosen, sizes = [one.split() for one in text.split("; ") if "?" not in one or d.chance(0.4)], {}
    return {name.rstrip("?"): [sizes.setdefault(one, d.choice(SIZES.get(one, range(1, 10)))) for one in letters] for name, *letters in chosen}


def values_of(d, name, shape):
    """ids are below 9, mask is of bool, intmask is 0 or 1, and all others are floats."""
    numbers = np.random.default_rng(d.getrandbits(32))
    kept = np.asarray(numbers.random(shape) < 0.7)
    kept[(..., slice(1)) if shape else ()] = True
    floats = np.asarray(numbers.standard_normal(shape), np.float32)
    return torch.tensor({"ids": numbers.integers(0, 9, shape), "mask": kept, "intmask": kept.astype("i8")}.get(name, floats))


class Illegal(Exception):
    """No legal operand, or values that are too large: another operator is drawn."""


class Value:
    """A name in the graph, and what it is for one input, so that operands of legal shapes can be chosen. x + y is a node Add."""
    __array_ufunc__ = None

    def __init__(self, graph, name, tensor, moving):
        self.graph, self.name, self.tensor, self.moving = graph, name, tensor.double() if tensor.is_floating_point() else tensor, moving
        self.shape, self.rank, self.is_float = list(tensor.shape), tensor.dim(), tensor.is_floating_point()


for method, operator in (("add", "Add"), ("sub", "Sub"), ("mul", "Mul"), ("truediv", "Div"), ("matmul", "MatMul"), ("pow", "Pow")):
    setattr(Value, f"__{method}__", lambda x, y, operator=operator: x.graph.op(operator, x, y))
    setattr(Value, f"__r{method}__", lambda x, y, operator=operator: x.graph.op(operator, y, x))
INPUT_SINCE_13 = {"ReduceSum": "axes", "Squeeze": "axes", "Unsqueeze": "axes", "Split": "split"}  # an attribute before
SINCE = {"HardSwish": 14, "Trilu": 14, "Celu": 12, "Einsum": 12, "GreaterOrEqual": 12, "LessOrEqual": 12, "LayerNormalization": 17}


class Graph:
    """A graph that grows: g.Relu(x, ...) adds a node."""

    def __init__(self, draw):
        self.draw, self.opset, self.as_nodes = draw, draw.of(11, 12, 13, 13, 14, 15, 16, 17, 17), draw.of(0.0, 0.2, 1.0)
        self.nodes, self.stored, self.recent, self.count, self.random = [], [], [], itertools.count(), draw.array

    def __getattr__(self, kind):
        return functools.partial(self.op, kind)

    def lifted(self, value):
        """A number, list or array as a constant. 2 is an integer, 2.0 isn't."""
        if isinstance(value, Value):
            return value
        array = np.full(self.draw.of((), (), (1,)), value, np.float32) if isinstance(value, float) else np.asarray(value)
        array = array.astype({"f": np.float32, "b": bool}.get(array.dtype.kind, np.int64))
        proto = numpy_helper.from_array(array, f"c_{next(self.count)}")
        if self.draw.chance(self.as_nodes):
            self.nodes.append(helper.make_node("Constant", [], [proto.name], value=proto))
        else:
            self.stored.append(proto)
        return Value(self, proto.name, torch.tensor(array), False)

    def op(self, kind, *inputs, outputs=1, **about):
        if self.opset >= 13 and INPUT_SINCE_13.get(kind) in about:
            inputs += (np.array(about.pop(INPUT_SINCE_13[kind]), np.int64),)
        inputs = inputs[::-1] if kind in ("Add", "Mul") and self.draw.chance(0.3) else inputs
        inputs = [None if one is None else self.lifted(one) for one in inputs]
        names = [f"{kind.lower()}_{next(self.count)}" for _ in range(outputs)]
        node = helper.make_node(kind, [one.name if one else "" for one in inputs], names, **about)
        try:
            found = random_reference.computed(node, self.opset, torch.float64, [one.tensor if one else None for one in inputs])[:outputs]
        except (RuntimeError, IndexError, ValueError) as problem:  # shapes that don't fit
            raise Illegal from problem
        legal = all(0 < x.numel() <= 3000 and x.dim() <= 6 and bool((x.abs() < 300).all() if x.is_floating_point() else 1) for x in found)
        zeros = kind == "Sub" and torch.equal(inputs[0].tensor, inputs[1].tensor)  # as of a norm of one element
        if not legal or zeros or SINCE.get(kind, 0) > self.opset or kind == "Gemm" and any(one.rank != 2 for one in inputs[:2]):
            raise Illegal
        self.nodes.append(node)
        made = [Value(self, name, value, any(one and one.moving for one in inputs)) for name, value in zip(names, found)]
        return made[0] if outputs == 1 else made

    def pick(self, wanted=lambda x: True):
        """A value of floats, usually a late one."""
        found = [x for x in self.recent if x.is_float and wanted(x)]
        if not found:
            raise Illegal
        return found[-1] if self.draw.chance(0.65) else self.draw.choice(found[-4:] if self.draw.chance(0.6) else found)

    def alike(self, x):
        return self.pick(lambda y: y.shape == x.shape)

    def axes(self, x):
        return [axis - x.rank if self.draw.chance(0.4) else axis for axis in self.draw.sample(range(x.rank), self.draw.randrange(1, x.rank + 1))]

    def beside(self, x):
        """A constant that broadcasts to the shape of x."""
        shape = [n if self.draw.chance(0.6) else 1 for n in x.shape]
        return self.random(*shape[self.draw.randrange(x.rank + 1):] if self.draw.chance(0.5) else [1] * self.draw.of(0, 0, 0, 1) + shape)

    def other(self, x):
        """What broadcasts with x."""
        fits = lambda y: all(1 in (m, n) or m == n for m, n in zip(x.shape[::-1], y.shape[::-1]))  # noqa: E731
        return self.beside(x) if self.draw.chance(0.4) else self.pick(fits)

    def positive(self, x):
        x = self.lifted(x)
        return self.draw.of(lambda: self.Abs(x) + 0.3, lambda: x * x + 0.5, lambda: self.Softplus(x), lambda: self.Exp(self.Tanh(x)))()

    def regrouped(self, x):
        """Sizes whose product is that of x, with 0 and -1."""
        d, axis, total = self.draw, self.draw.randrange(x.rank), math.prod(x.shape)
        first, part = (d.choice([m for m in range(1, n + 1) if n % m == 0]) for n in (total, x.shape[axis]))
        sizes = d.of([*x.shape[:axis], math.prod(x.shape[axis:axis + 2]), *x.shape[axis + 2:]], [first, total // first], [total], [1, total],
                     [*x.shape[:axis], part, x.shape[axis] // part, *x.shape[axis + 1:]])
        sizes = [0 if i < x.rank and x.shape[i] == n and d.chance(0.4) else n for i, n in enumerate(sizes)]
        return [-1 if i == axis else n for i, n in enumerate(sizes)]

    def bounds(self, x, axis):
        """Start, end, axis and step of a slice, counted from either side or beyond."""
        d, n = self.draw, x.shape[axis]
        (first, last), step = sorted(d.sample(range(n + 1), 2)), d.of(1, 1, 1, 2, 3)
        if d.chance(0.2):
            return last - 1, first - 1 if first else d.of(-n - 5, -2 ** 31), axis, -step
        return first if d.chance(0.6) else first - n, last if d.chance(0.5) else last - n if last < n else d.of(2 ** 31 - 1, 2 ** 63 - 1), axis, step

    def compared(self, x):
        d, ids = self.draw, [y for y in self.recent if y.tensor.dtype == torch.int64]
        made = (self.op(d.of("Equal", "Less"), d.choice(ids), np.int64(2)) if ids and d.chance(0.4) else
                self.op(d.of("Greater", "Less", "GreaterOrEqual", "LessOrEqual"), x, d.of(0.0, 0.3, self.other(x))))
        self.recent.append(d.of(made, self.Not(made)))
        return self.recent[-1]

    def einsum(self, x):
        """Letters for the axes of x and of another, and any of them in the result."""
        d, sizes = self.draw, dict(zip("abcd", x.shape)) | {c: self.draw.of(1, 2, 3, 5) for c in "ef"[:self.draw.of(0, 1, 1, 2)]}
        left, gap = "".join(sizes)[:x.rank], d.of("", " ")
        shared = [c for c in left if d.chance(0.6)]
        right, out = shared + [c for c in sizes if c in "ef"], [c for c in sizes if c not in shared or d.chance(0.4)]
        right, out = ("".join(d.sample(one, len(one))) for one in (right, out))
        (x, left), (y, right) = d.sample([(x, left), (self.random(*[sizes[c] for c in right], scale=0.5), right)], 2)
        return self.Einsum(x, y, equation=f"{left},{gap}{right}{gap}->{gap}{out}")

    def windowed(self, x):
        """Convolutions, pooling and resampling of a value with channels."""
        d, x = self.draw, self.Unsqueeze(x, axes=[self.draw.of(0, 1)]) if x.rank == 2 else x
        (_, c, *sizes), legal = x.shape, 3 <= x.rank <= 4
        kernel, m = [d.choice([k for k in (1, 2, 3, 3, 5) if k <= n + 1]) for n in sizes], d.choice([n for n in (1, 1, 2, 3, c) if c % n == 0])
        pads, about = [d.randrange(min(k - 1, 2) + 1) for k in kernel * 2], dict(kernel_shape=kernel, strides=[d.of(1, 1, 2, 3) for _ in sizes])
        how = d.of(*[{"pads": pads}] * 4, {"auto_pad": d.of("SAME_UPPER", "SAME_LOWER", "VALID")})
        if not legal or any(n + ("pads" in how) * (a + b) < k for n, a, b, k in zip(sizes, pads, pads[len(sizes):], kernel)):
            raise Illegal
        stretch = {"dilations": [d.of(1, 2) if 2 * k - 1 <= n else 1 for k, n in zip(kernel, sizes)]} if d.chance(0.3) and "pads" in how else {}
        bias = [self.random(60)] if d.chance(0.6) else []
        return d.choice(WINDOWS)(self, d, x, c, sizes, kernel, pads, m, d.of(1, 2, 3, 5), bias, about, how, stretch)

    def resized(self, x, sizes):
        d, none = self.draw, None if self.opset > 12 else np.zeros(0, np.float32)
        how = d.of({"mode": "linear"}, {"mode": "nearest", "nearest_mode": d.of("floor", "round_prefer_floor", "ceil", "round_prefer_ceil")})
        kind = d.of("asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel")
        sizes = d.of([np.array([1, 1] + [d.of(2, 2, 3, 0.5) for _ in sizes], np.float32)], [none, x.shape[:2] + [d.of(1, 3, 6, 9) for _ in sizes]])
        return self.Resize(x, none, *sizes, coordinate_transformation_mode=kind, **how)


# Operators of the graph g, draw d, a value x, an axis a of it with n elements, and k for keepdims.
WINDOWS = expressions("g, d, x, c, sizes, kernel, pads, m, out, bias, about, how, stretch", globals(), """
g.Conv(x, g.random(m * out, c // m, *kernel, scale=0.5), *[b[:m * out] for b in bias], group=m, **about, **how, **stretch) ; g.resized(x, sizes)
g.Conv(x, g.random(c * out, 1, *kernel, scale=0.5), *[b[:c * out] for b in bias], group=c, **about, **how, **stretch) ; g.MaxPool(x, **about, **how)
g.ConvTranspose(x, g.random(c, out, *kernel, scale=0.5), *[b[:m * out] for b in bias], group=m, pads=pads, **about) ; g.resized(x, sizes)
g.ConvTranspose(x, g.random(c, 1, *kernel), group=c, output_padding=[d.randrange(s) for s in about["strides"]], **about)
g.AveragePool(x, count_include_pad=d.of(0, 1), **about, **how) ; g.op(d.of("GlobalAveragePool", "GlobalMaxPool"), x)
""")
ONE = expressions("g, d, x, a, n, k", globals(), """
g.op(d.choice("Relu Sigmoid Tanh Abs Neg Erf Softplus Softsign Sin Cos Identity Exp Selu Floor Ceil Sign HardSwish".split()), x) ; g.Cast(x, to=1)
g.op(d.of("Elu", "LeakyRelu", "ThresholdedRelu", "Celu"), x, alpha=d.of(0.3, 1.7)) ; g.HardSigmoid(x, alpha=d.of(0.2, 1 / 6), beta=0.5)
g.op(d.of("Sqrt", "Log", "Reciprocal"), g.positive(x)) ; g.Dropout(x, **({"ratio": 0.5} if g.opset < 12 else {})) ; x * g.Sigmoid(x)
g.op(d.choice("Sin Tan Sinh Cosh Asinh Atanh Asin".split()[:7 if d.chance(0.3) else 6]), g.Tanh(x) * 0.9) ; x * g.Tanh(g.Softplus(x))
g.Clip(x, *d.of((np.float32(-0.6),), (None, np.float32(0.7)), (np.float32(-1), np.float32(1)))) ; x ** d.of(2.0, 3.0, *[np.int64(2)] * (g.opset > 11))
g.PRelu(x, g.random(*x.shape[d.randrange(x.rank + 1):])) ; g.positive(x) ** d.of(0.5, -1.0, -0.5, 1.7) ; 0.5 * x * (g.Erf(x / 1.4142135) + 1.0)
g.Mod(x, 0.7, fmod=1) ; (0.5 * x) * (1.0 + g.Tanh((x + d.of(x * (x * x), x ** 3.0) * 0.044715) * 0.7978845608))
""")
TWO = expressions("g, d, x, a, n, k", globals(), """
g.op(d.of("Add", "Mul", "Sub", "Max", "Min", "Sum", "Mean"), *d.sample([x, g.other(x)], 2)) ; x / g.positive(g.other(x)) ; g.other(x) / g.positive(x)
g.op(d.of("Max", "Min", "Sum", "Mean"), *d.of((x, g.alike(x), x), (g.alike(x), x, g.other(x)), (x, g.alike(x)))) ; g.positive(x) ** g.Tanh(g.other(x))
g.op(d.of("Add", "Mul", "Sub"), *d.sample([x, g.other(x)], 2)) ; g.Tanh(x) + g.Tanh(x)
""")
MOVES = expressions("g, d, x, a, n, k", globals(), """
g.Transpose(x, perm=d.sample(range(x.rank), x.rank)) ; g.Transpose(x) ; g.Reshape(x, g.regrouped(x)) ; g.Reshape(x, g.regrouped(x)) ; g.Squeeze(x)
g.Pad(x, [d.randrange(min(4, m)) * d.of(0, 0, 1) for m in x.shape * 2], mode=d.of("reflect", "edge")) ; g.Slice(x, *map(list, zip(g.bounds(x, a))))
g.Pad(x, [d.of(0, 0, 0, 1, 2, 3) for _ in x.shape * 2], *d.of([], [np.float32(d.of(0.5, -2))])) ; g.Unsqueeze(x, axes=d.sample(range(x.rank + 2), 2))
g.Squeeze(x, axes=[i - d.of(0, x.rank) for i in range(x.rank) if x.shape[i] == 1]) if 1 in x.shape else g.Unsqueeze(x, axes=[a])
g.Slice(x, *map(list, zip(*[g.bounds(x, i) for i in g.axes(x)[:2]]))) ; g.Concat(*d.sample([x, g.alike(x)], 2), axis=a) ; g.Flatten(x, axis=a)
g.Concat(g.random(*[m if i != a % x.rank else 2 for i, m in enumerate(x.shape)]), x, axis=a) ; g.Gather(x, np.int64(d.randrange(n)), axis=a)
g.Concat(*g.Split(x, outputs=2, axis=a, split=[1, n - 1])[::-1], axis=a) ; (lambda y, z: y * g.Sigmoid(z))(*g.Split(x, outputs=2, axis=a))
g.Gather(x, np.array([d.randrange(-n if d.chance(0.3) else 0, n) for _ in range(6)]).reshape(d.of((6,), (2, 3), (6, 1)))[:d.of(1, 6)], axis=a)
g.GatherElements(x, np.array([d.randrange(n) for _ in range(x.tensor.numel())]).reshape(x.shape), axis=a) ; g.Slice(x, [-1], [-2 ** 31], [a], [-1])
g.GatherND(x, (lambda depth: np.array([[d.randrange(m) for m in x.shape[:depth]] for _ in range(4)]))(d.of(1, x.rank)))
(lambda i, y: g.Concat(g.Unsqueeze(x, axes=[i]), g.Unsqueeze(y, axes=[i]), axis=i))(d.randrange(x.rank + 1), g.alike(x))
(lambda by: g.Concat(g.Slice(x, [-by], [2 ** 31 - 1], [a]), g.Slice(x, [0], [-by], [a]), axis=a))(d.randrange(1, n)) ; g.SpaceToDepth(x, blocksize=2)
g.CumSum(x, d.of(np.int64(a), [a]), exclusive=d.of(0, 0, 1), reverse=d.of(0, 0, 1)) ; g.DepthToSpace(x, blocksize=2, mode=d.of("DCR", "CRD"))
g.Tile(x, [d.of(1, 1, 2, 3) for _ in x.shape]) ; g.Expand(x, [2] * d.of(0, 1) + [d.of(1, 2, 4, 5) if m == 1 else d.of(1, m) for m in x.shape])
g.Reshape(x, g.Concat(g.Unsqueeze(g.Gather(g.Shape(x), np.int64(0), axis=0), axes=[0]), [-1], axis=0)) ; g.Trilu(x, np.int64(d.of(-1, 0, 1)), upper=k)
x * g.Sin(g.Cast(np.arange(x.shape[-1]), to=1)) ; x - g.ConstantOfShape(g.Shape(x), value=numpy_helper.from_array(np.array([0.5], np.float32)))
g.Reshape(x, g.Concat(g.Slice(g.Shape(x), [0], [1], [0]) * g.Slice(g.Shape(x), [1], [2], [0]), [-1], axis=0))
(lambda y: y + g.EyeLike(y, k=k))(g.Flatten(x, axis=-1)) ; x + g.Range(np.float32(0), np.float32(x.shape[-1]), np.float32(1)) * 0.1
""")
SUMS = expressions("g, d, x, a, n, k", globals(), """
g.op("Reduce" + d.of("Sum", "Mean", "Max", "Min", "L1", "L2", "SumSquare", "LogSumExp"), x, axes=g.axes(x), keepdims=k)
g.op("Reduce" + d.of("Sum", "Mean", "Max", "Min", "LogSumExp"), x, axes=g.axes(x), keepdims=k) ; g.ReduceLogSum(g.positive(x), axes=[a], keepdims=k)
g.op("Reduce" + d.of("Sum", "Mean", "Max", "L2"), x, keepdims=k) ; g.ReduceProd(g.Tanh(x), axes=[a], keepdims=k) ; x - g.ReduceMean(x, axes=[a])
g.Cast(g.op(d.of("ArgMax", "ArgMin"), x, axis=a, keepdims=k, **({"select_last_index": 1} if g.opset > 11 and d.chance(0.2) else {})), to=1)
g.op(d.of("Softmax", "LogSoftmax"), x, axis=a) ; g.Softmax(x, axis=a) ; g.op(d.of("LogSoftmax", "Hardmax"), x)
g.LpNormalization(x + 0.1, axis=a, p=d.of(1, 2)) ; (lambda low: (x - low) / (g.ReduceMax(x, axes=[a]) - low + 0.1))(g.ReduceMin(x, axes=[a]))
""")
LOGIC = expressions("g, d, x, a, n, k", globals(), """
g.Where(g.compared(x), *d.sample([x, d.of(0.0, -1.5, g.other(x))], 2)) ; g.Where(g.compared(x), 1.0, -1.0) ; g.Cast(g.compared(x), to=1)
g.Where(g.op(d.of("And", "Or", "Xor"), g.compared(x), g.compared(x)), x, g.other(x)) ; x * g.Cast(g.compared(x), to=1)
""")
PRODUCTS = expressions("g, d, x, a, n, k", globals(), """
x @ g.random(*d.of((), [m if d.chance(0.5) else 1 for m in x.shape[:-2]] or [2]), x.shape[-1], d.of(1, 2, 4, 7, 16), scale=0.4) ; g.einsum(x)
g.Gemm(x, g.random(*x.shape), transB=1, alpha=0.5) ; g.Gemm(x, g.random(4, x.shape[0]), transA=1, transB=1) ; g.einsum(x)
g.Gemm(x, g.random(x.shape[1], 5), g.random(*d.of((5,), (1, 5), (x.shape[0], 1), (*x.shape[:1], 5), (), (1,))), beta=-2.0)
x @ g.random(x.shape[-1], 6, scale=0.4) + g.random(6) ; g.random(*[1] * d.of(0, 1), d.of(1, 2, 5, 12), x.shape[-2], scale=0.4) @ x
x @ g.random(x.shape[-1], scale=0.4) ; g.random(x.shape[-2], scale=0.4) @ x
(lambda y: d.of(lambda: x @ y, lambda: y @ x)() * 0.3)(g.Transpose(x, perm=[*range(x.rank - 2), x.rank - 1, x.rank - 2]))
(x @ g.pick(lambda y: y.rank and y.shape[-2 if y.rank > 1 else 0] == x.shape[-1])) * 0.3
""")
LAYERS = expressions("g, d, x, a, n, k", globals(), """
(lambda y: y / g.Sqrt(g.ReduceMean(y * y, axes=[a]) + 1e-3) * g.random(x.shape[-1]))(x - g.ReduceMean(x, axes=[a]))
x * (g.ReduceMean(x ** 2.0, axes=[-1]) + 1e-2) ** -0.5 * g.random(x.shape[-1])
(lambda y: y * g.Reciprocal(g.Sqrt(g.ReduceMean(y ** 2.0, axes=[-1]) + 1e-2)))(x - g.ReduceMean(x, axes=[-1])) + g.random(x.shape[-1])
g.LRN(x, size=d.of(2, 3, 5), alpha=d.of(0.1, 1e-4), bias=d.of(1.0, 2.0))
x + g.Relu(x @ g.random(x.shape[-1], 8, scale=0.4) + g.random(8)) @ g.random(8, x.shape[-1], scale=0.4)
d.choice(ONE)(g, d, x @ g.random(x.shape[-1], 5, scale=0.4), 0, 0, 0) * (x @ g.random(x.shape[-1], 5, scale=0.4))
(lambda i: g.LayerNormalization(x, *[1 + g.random(*x.shape[i:], scale=0.2) for _ in "sb"[d.of(0, 1):]], axis=i, epsilon=1e-3))(d.of(-1, x.rank - 2))
g.BatchNormalization(x, *[1 + g.random(x.shape[1], scale=0.2) for _ in range(3)], np.abs(g.random(x.shape[1])) + 0.5, epsilon=d.of(1e-5, 1e-3))
g.InstanceNormalization(x, *[1 + g.random(x.shape[1], scale=0.2) for _ in range(2)], epsilon=1e-2) if math.prod(x.shape[2:]) > 1 else x
""")
INTEGERS = expressions("g, d, x, a, n, k", globals(), """
g.Cast(d.choice([y for y in g.recent if not y.is_float]), to=1) ; g.Gather(g.random(9, 4), d.choice([y for y in g.recent if y.name == "ids"]), axis=0)
(lambda y: g.Gather(g.random(10, 3), g.Concat(y + np.int64(1), y, axis=-1), axis=0))(d.choice([y for y in g.recent if y.name == "ids"]))
""")
GROUPS = (ONE, TWO, MOVES, SUMS, LOGIC, PRODUCTS, LAYERS, [lambda g, d, x, *rest: g.windowed(x)], INTEGERS)
MIXES = ("346423311", "129311000", "561340102", "122308300", "121301900", "221300170", "232721201")  # how often each group
INPUTS = ("x t w; y? t w; ids? n t", "x n t w; ids? n s; mask? t", "x n t w; y? w; mask? n t", "x n c h h; y? n c h h", "x n c l; y? n 1 l",
          "x w; y? t 1", "x n t t; y?")


def graph(d, number, path):
    """Writes a model of what one to three late values need; its inputs."""
    g, wanted, inputs = Graph(d), d.randrange(6, 16), inputs_of(d, d.choice(INPUTS))
    g.recent = [Value(g, name, values_of(d, name, shape), True) for name, shape in inputs.items()]
    for _ in range(300):
        before = list(g.nodes), list(g.stored), list(g.recent)
        try:
            x = g.pick(lambda x: x.rank)
            a = d.randrange(-x.rank, x.rank)
            made = d.choice(d.choices(GROUPS, map(int, MIXES[number % len(MIXES)]))[0])(g, d, x, a, x.shape[a], d.of(0, 1))
            if not made.moving:
                raise Illegal
            g.recent.append(made)
            if (wanted := wanted - 1) == 0:
                break
        except (Illegal, IndexError, ValueError):
            g.nodes, g.stored, g.recent = before
    made, read = [x for x in g.recent if x.moving and x.name not in inputs], {name for node in g.nodes for name in node.input}
    ends = [x for x in made if x.name not in read][-d.of(1, 1, 2, 3):] + ([d.choice(made)] if d.chance(0.1) else [])
    names, nodes = {x.name for x in ends}, []
    for node in reversed(g.nodes):
        if names & set(node.output):
            nodes.insert(0, node)
            names.update(node.input)
    kinds = {torch.float64: 1, torch.int64: 7, torch.bool: 9}
    infos = {x.name: helper.make_tensor_value_info(x.name, kinds[x.tensor.dtype], x.shape) for x in g.recent}
    model = helper.make_graph(nodes, "graph", [infos[name] for name in inputs if name in names],
                              [infos[name] for name in dict.fromkeys(x.name for x in ends)], [one for one in g.stored if one.name in names])
    onnx.save(helper.make_model(model, opset_imports=[helper.make_opsetid("", g.opset)], ir_version=8), str(path))
    return inputs, []


def drawn(seed, path):
    """Writes a model; its inputs and options. torch can't export all that it computes, and writes some wrong shapes: then others are drawn."""
    d = Draw(seed)
    for attempt in range(20):
        try:
            inputs, options = graph(d, seed, path) if seed % 3 else random_modules.made(d, seed // 3, path, inputs_of, values_of)
            model = onnx.load(str(path))
            onnx.checker.check_model(model, full_check=True)
            inputs = {one.name: inputs[one.name] for one in model.graph.input}
            found = random_reference.results(model, {name: values_of(d, name, shape) for name, shape in inputs.items()})
            if all(0 < x.numel() and torch.isfinite(x).all() for x in found):
                return inputs, options
        except Exception:
            if attempt == 19:
                raise
    raise Illegal


def apart(value, wanted):
    """The largest difference, of the largest number."""
    value, wanted = (np.asarray(x, np.float64).reshape(-1) for x in (value, wanted))
    return float(np.abs(value - wanted).max() / max(np.abs(wanted).max(), 1e-30)) if value.size == wanted.size else math.inf


class Models(Checks):
    left_out = 0  # refused for a reason of the page

    def checked(self, name, inputs, options):
        path, check = self.folder / "m.onnx", lambda what, *how: self.tap.check(f"{name}: {what}", *how)
        code, out, said = self.run(path, "--out", self.folder, *options)
        if code and LISTED.search(said):
            self.left_out += 1
            self.tap.skip(f"{name}: comes in", said.strip())
            return
        check("comes in", code == 0, said)
        if code:
            return
        # Another process, whose sets have other orders.
        again = self.folder / "again"
        command, seeded = [sys.executable, self.root / "tools/import", path, "--out", again, *options], os.environ | {"PYTHONHASHSEED": "7"}
        subprocess.run(command, capture_output=True, env=seeded)
        files = [path.with_name(file) for file in ("m.hpp", "m_test.cpp", "m.safetensors")]
        check("the same files again", all((again / file.name).read_bytes() == file.read_bytes() for file in files))
        probe, model = self.read.read_file(self.folder / "m.safetensors", False).tensors, onnx.load(str(path))
        values = {one: values_of(Draw(1), one, shape) for one, shape in inputs.items()}
        for k, one in enumerate(one for one in inputs if f"input {one} isn't read" not in out):
            values[one] = torch.tensor(probe[f"probe.input.{k}"]).to(values[one].dtype).reshape(values[one].shape)
        fine, rough = (random_reference.results(model, values, real) for real in (torch.float64, torch.float32))
        far = [apart(probe[f"probe.output.{k}"], wanted) for k, wanted in enumerate(fine)]
        check("the probe is the reference's", max(far) <= PROBE, f"{far} of the largest numbers")
        if program := self.compiled("m"):
            code, out = self.verdict(program, self.folder / "m.safetensors")
            check("computes the probe", code == 0, out)
            largest = [float(wanted.double().abs().max()) for wanted in fine]
            allowed = [max(BOUND, 8 * apart(a, b)) * n for a, b, n in zip(rough, fine, largest)]
            found = [float(number) for number in re.findall("largest difference ([^,]+),", out)]
            check("is near the reference", len(found) == len(fine) and all(a <= b for a, b in zip(found, allowed)), f"{found}, {allowed} allowed")


def main():
    (root, first, count, *keep), compiler = split_command(sys.argv[1:])
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as path:
        checks = Models(pathlib.Path(root).resolve(), compiler, pathlib.Path(path))
        for seed in range(seed_of(first), seed_of(first) + int(count)):
            checks.folder, name, failed = pathlib.Path(path) / str(seed), f"{'graph' if seed % 3 else 'module'} {seed}", checks.tap.failed
            checks.folder.mkdir()
            try:
                # In its own process: torch's exporter can leave torch broken.
                with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
                    drawing = pool.submit(drawn, seed, checks.folder / "m.onnx").result()
                checks.checked(name, *drawing)
            except Exception:
                checks.tap.check(name, False, traceback.format_exc())
            if checks.tap.failed > failed and keep:
                shutil.copytree(checks.folder, pathlib.Path(keep[1]) / str(seed), dirs_exist_ok=True)
        checks.tap.check("few are refused", checks.left_out <= max(1, int(count) / 20), f"{checks.left_out} of {count} are")
    return checks.tap.finish()


if __name__ == "__main__":
    sys.exit(main())
