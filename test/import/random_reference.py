# SPDX-License-Identifier: BSL-1.0
"""What a graph of ONNX computes, in torch, as ONNX's specification has it: the reference of random_graphs.py. It shares nothing
with tools/import: the probe is computed there, and may be wrong as the header is."""
import itertools
import math

import numpy as np
import torch
from onnx import NodeProto, helper, numpy_helper
from torch.nn import functional as F


def computed(proto, opset, real, arguments):
    """The results of a node. real: the type of all floats."""
    made = getattr(Node, proto.op_type, OPERATORS.get(proto.op_type))(Node(proto, opset, real), *arguments)
    return made if isinstance(made, (tuple, list)) else (made,)


def results(model, inputs, real=torch.float64):
    """Those of a model for tensors by the names of its inputs."""
    opset, values = model.opset_import[0].version, {"": None}
    values |= {one.name: Node(NodeProto(), opset, real).tensor(one) for one in model.graph.initializer}
    values |= {name: value.to(real) if value.is_floating_point() else value for name, value in inputs.items()}
    for node in model.graph.node:
        values.update(zip(node.output, computed(node, opset, real, [values[name] for name in node.input])))
    return [values[one.name] for one in model.graph.output]


def listed(value):
    return None if value is None else [int(n) for n in value.reshape(-1)]


def by_channel(value, x):
    return value.reshape([-1] + [1] * (x.dim() - 2))


def standard(x, axes, epsilon):
    centered = x - x.mean(axes, keepdim=True)
    return centered / (centered.square().mean(axes, keepdim=True) + epsilon).sqrt()


class Node:
    """The attributes of a node, a("axis", 1), and the operators of more than a line."""

    def __init__(a, proto, opset, real):
        a.kind, a.opset, a.real, a.count = proto.op_type, opset, real, len(proto.output)
        a.values = {one.name: helper.get_attribute_value(one) for one in proto.attribute}

    def __call__(a, name, default=None):
        value = a.values.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def tensor(a, proto):
        value = torch.tensor(np.array(numpy_helper.to_array(proto)))
        return value.to(a.real) if value.is_floating_point() else value

    def axes(a, x, given, new=0):
        """Axes are an attribute of older opsets, and an input of newer ones."""
        axes = a("axes") if given is None else listed(given)
        return sorted(axis % (x.dim() + new) for axis in axes) if axes else list(range(x.dim()))

    def Unsqueeze(a, x, given=None):
        for axis in a.axes(x, given, len(a("axes") or given)):
            x = x.unsqueeze(axis)
        return x

    def Slice(a, x, starts, ends, axes=None, steps=None):
        """A negative step goes down to the end, which is left out, and ONNX moves both into the axis."""
        starts, ends = listed(starts), listed(ends)
        for start, end, axis, step in zip(starts, ends, listed(axes) or range(len(starts)), listed(steps) or [1] * len(starts)):
            n = x.shape[axis]
            start, end = (at + n if at < 0 else at for at in (start, end))
            at = range(max(start, 0), min(end, n), step) if step > 0 else range(min(start, n - 1), max(end, -1), step)
            x = x.index_select(axis, torch.tensor(list(at), dtype=torch.int64))
        return x

    def Pad(a, x, pads, value=None):
        pads, mode = listed(pads), a("mode", "constant")
        for axis, n in enumerate(x.shape):
            at = torch.arange(-pads[axis], n + pads[axis + x.dim()])
            inside = ((at >= 0) & (at < n)).reshape([-1] + [1] * (x.dim() - axis - 1))
            at = (n - 1 - (at % (2 * n - 2) - (n - 1)).abs()) if mode == "reflect" and n > 1 else at.clamp(0, n - 1)
            x = x.index_select(axis, at)
            x = torch.where(inside, x, torch.zeros_like(x) if value is None else value.reshape(())) if mode == "constant" else x
        return x

    def Gather(a, x, at):
        axis = a("axis", 0) % x.dim()
        return x.index_select(axis, (at % x.shape[axis]).reshape(-1)).reshape(x.shape[:axis] + at.shape + x.shape[axis + 1:])

    def CumSum(a, x, axis):
        turned = x.flip(int(axis)) if a("reverse", 0) else x
        total = turned.cumsum(int(axis)) - (turned if a("exclusive", 0) else 0)
        return total.flip(int(axis)) if a("reverse", 0) else total

    def ArgMax(a, x):
        axis, x, keep = a("axis", 0) % x.dim(), -x if a.kind == "ArgMin" else x, bool(a("keepdims", 1))
        best, at = x == x.amax(axis, keepdim=True), torch.arange(x.shape[axis]).reshape([-1] + [1] * (x.dim() - 1 - axis))
        if a("select_last_index", 0):
            return torch.where(best, at, -1).amax(axis, keepdim=keep)
        return torch.where(best, at, x.shape[axis]).amin(axis, keepdim=keep)

    def Softmax(a, x):
        """Before opset 13, over all axes from one on."""
        axis = a("axis", 1 if a.opset < 13 else -1) % x.dim()
        y, axis = (x.reshape(math.prod(x.shape[:axis]), -1), 1) if a.opset < 13 else (x, axis)
        below = y - y.amax(axis, keepdim=True)
        total = below.exp().sum(axis, keepdim=True)
        first = (below == 0) & ((below == 0).cumsum(axis) == 1)
        return {"Softmax": below.exp() / total, "LogSoftmax": below - total.log(), "Hardmax": first.to(x.dtype)}[a.kind].reshape(x.shape)

    def windows(a, x, kernel, fill=0.0):
        """x with one axis more, the elements of each window."""
        count = len(kernel)
        strides, dilations, given = a("strides", [1] * count), a("dilations", [1] * count), a("pads", [0] * 2 * count)
        for axis, (k, s, d) in enumerate(zip(kernel, strides, dilations)):
            n = x.shape[2 + axis]
            total = max((math.ceil(n / s) - 1) * s + (k - 1) * d + 1 - n, 0)
            before, after = {"NOTSET": (given[axis], given[axis + count]), "VALID": (0, 0), "SAME_UPPER": (total // 2, total - total // 2),
                             "SAME_LOWER": (total - total // 2, total // 2)}[a("auto_pad", "NOTSET")]
            at = torch.arange((n + before + after - (k - 1) * d - 1) // s + 1)[:, None] * s + torch.arange(k) * d
            x = F.pad(x.movedim(2 + axis, -1), (before, after), value=fill).movedim(-1, 2 + axis)
            x = x.index_select(2 + axis, at.reshape(-1)).unflatten(2 + axis, at.shape).movedim(3 + axis, -1)
        return x.flatten(-count)

    def Conv(a, x, w, bias=None):
        seen, w = a.windows(x, w.shape[2:]).unflatten(1, (a("group", 1), -1)), w.flatten(2).unflatten(0, (a("group", 1), -1))
        y = torch.einsum("ngc...t,goct->ngo...", seen, w).flatten(1, 2)
        return y if bias is None else y + by_channel(bias, y)

    def ConvTranspose(a, x, w, bias=None):
        """Each element adds the kernel at its place."""
        rank, kernel, groups = x.dim() - 2, w.shape[2:], a("group", 1)
        strides, extra, pads = a("strides", [1] * rank), a("output_padding", [0] * rank), a("pads", [0] * 2 * rank)
        sizes = [s * (n - 1) + k + e for n, k, s, e in zip(x.shape[2:], kernel, strides, extra)]
        y, x = torch.zeros([x.shape[0], w.shape[1] * groups] + sizes, dtype=x.dtype), x.unflatten(1, (groups, -1))
        w = w.unflatten(0, (groups, -1))
        for tap in itertools.product(*map(range, kernel)):
            places = [slice(t, t + (n - 1) * s + 1, s) for t, n, s in zip(tap, x.shape[3:], strides)]
            y[(..., *places)] += torch.einsum("ngc...,gco->ngo...", x, w[(slice(None),) * 3 + tap]).flatten(1, 2)
        y = y[(..., *[slice(before, n - after) for n, before, after in zip(sizes, pads[:rank], pads[rank:])])]
        return y if bias is None else y + by_channel(bias, y)

    def Resize(a, x, roi=None, scales=None, sizes=None):
        sizes = listed(sizes) or [math.floor(n * float(s)) for n, s in zip(x.shape, scales)]
        scales = scales if scales is not None and len(scales) else [m / n for m, n in zip(sizes, x.shape)]
        for axis, (n, m, scale) in enumerate(zip(x.shape, sizes, map(float, scales))):
            if n == m and scale == 1:
                continue
            at = torch.arange(m, dtype=torch.float64)
            half = (at + 0.5) / scale - 0.5
            at = {"asymmetric": at / scale, "align_corners": at * (n - 1) / max(m - 1, 1), "half_pixel": half,
                  "pytorch_half_pixel": half if m > 1 else at * 0}[a("coordinate_transformation_mode", "half_pixel")]
            if a("mode", "nearest") == "nearest":
                at = {"floor": at.floor(), "ceil": at.ceil(), "round_prefer_floor": (at - 0.5).ceil(), "round_prefer_ceil": (at + 0.5).floor()}[
                    a("nearest_mode", "round_prefer_floor")]
                x = x.index_select(axis, at.long().clamp(0, n - 1))
                continue
            share = (at - at.floor()).to(x.dtype).reshape([-1] + [1] * (x.dim() - axis - 1))
            below, above = (x.index_select(axis, (at.floor() + i).long().clamp(0, n - 1)) for i in (0, 1))
            x = below * (1 - share) + above * share
        return x


OF_TENSORS = {name: getattr(torch, name.lower()) for name in (
    "Abs Neg Exp Log Sqrt Sin Cos Tan Asin Sinh Cosh Tanh Asinh Atanh Erf Floor Ceil Sign Round Reciprocal Sigmoid MatMul Where").split()}
OF_TENSORS |= {name: getattr(torch, function) for name, function in (pair.split(":") for pair in (
    "Add:add Sub:sub Mul:mul Pow:pow Greater:gt Less:lt GreaterOrEqual:ge LessOrEqual:le Equal:eq And:logical_and Or:logical_or Xor:logical_xor "
    "Not:logical_not Identity:clone Relu:relu").split())}
OF_TENSORS |= {
    "Softplus": lambda x: torch.logaddexp(x, 0 * x), "Softsign": lambda x: x / (1 + x.abs()), "HardSwish": lambda x: x * (x / 6 + 0.5).clamp(0, 1),
    "PRelu": lambda x, slope: torch.where(x < 0, x * slope, x), "Tile": lambda x, n: x.repeat(listed(n)), "Mean": lambda *xs: sum(xs) / len(xs),
    "Div": lambda x, y: x / y if x.is_floating_point() else torch.div(x, y, rounding_mode="trunc"), "Sum": lambda *xs: sum(xs[1:], xs[0]),
    "Expand": lambda x, n: x.expand(torch.broadcast_shapes(x.shape, listed(n))).clone(), "GatherND": lambda x, at: x[at.unbind(-1)],
    "GlobalAveragePool": lambda x: x.mean(list(range(2, x.dim())), True), "GlobalMaxPool": lambda x: x.amax(list(range(2, x.dim())), True),
    "Max": lambda *xs: torch.stack(torch.broadcast_tensors(*xs)).amax(0), "Min": lambda *xs: torch.stack(torch.broadcast_tensors(*xs)).amin(0),
    "Range": lambda start, end, step: start + step * torch.arange(math.ceil((end - start) / step), dtype=start.dtype),
}
OF_AXES = {
    "Sum": torch.sum, "Mean": torch.mean, "Max": torch.amax, "Min": torch.amin, "LogSumExp": torch.logsumexp, "L1": lambda x, *how: x.abs().sum(*how),
    "L2": lambda x, *how: x.square().sum(*how).sqrt(), "SumSquare": lambda x, *how: x.square().sum(*how), "LogSum": lambda x, *how: x.sum(*how).log(),
    "Prod": lambda x, axes, keep: x.prod(axes[-1], keep) if len(axes) == 1 else OF_AXES["Prod"](x.prod(axes[-1], keep), axes[:-1], keep),
}
OPERATORS = {name: lambda a, *xs, function=function: function(*xs) for name, function in OF_TENSORS.items()} | {
    f"Reduce{name}": lambda a, x, axes=None, f=function: f(x, a.axes(x, axes), bool(a("keepdims", 1))) for name, function in OF_AXES.items()}
OPERATORS |= {
    "Mod": lambda a, x, y: torch.fmod(x, y) if a("fmod", 0) else torch.remainder(x, y), "Selu": lambda a, x: F.selu(x), "ArgMin": Node.ArgMax,
    "LeakyRelu": lambda a, x: F.leaky_relu(x, a("alpha", 0.01)), "Elu": lambda a, x: F.elu(x, a("alpha", 1.0)), "LogSoftmax": Node.Softmax,
    "Celu": lambda a, x: F.celu(x, a("alpha", 1.0)), "ThresholdedRelu": lambda a, x: F.threshold(x, a("alpha", 1.0), 0.0), "Hardmax": Node.Softmax,
    "HardSigmoid": lambda a, x: (a("alpha", 0.2) * x + a("beta", 0.5)).clamp(0, 1), "Dropout": lambda a, x, *rest: x,
    "Clip": lambda a, x, low=None, high=None: x.clamp(-math.inf if low is None else float(low), math.inf if high is None else float(high)),
    "Cast": lambda a, x: x != 0 if a("to") == 9 else x.to(a.real if a("to") in (1, 11) else torch.int64), "Constant": lambda a: a.tensor(a("value")),
    "Flatten": lambda a, x: x.reshape(math.prod(x.shape[:a("axis", 1)]), -1), "Concat": lambda a, *xs: torch.cat(xs, a("axis")),
    "ConstantOfShape": lambda a, n: (a.tensor(a("value")) if a("value") else torch.zeros(1, dtype=a.real)).reshape(()).repeat(listed(n)),
    "Shape": lambda a, x: torch.tensor(x.shape[a("start", 0):a("end")], dtype=torch.int64),
    "EyeLike": lambda a, x: (torch.arange(x.shape[1]) - torch.arange(x.shape[0])[:, None] == a("k", 0)).to(a.real),
    "Trilu": lambda a, x, k=0: torch.triu(x, int(k)) if a("upper", 1) else torch.tril(x, int(k)),
    "Reshape": lambda a, x, n: x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(listed(n))]),
    "Squeeze": lambda a, x, axes=None: x.reshape([n for axis, n in enumerate(x.shape) if n != 1 or axis not in a.axes(x, axes)]),
    "Split": lambda a, x, n=None: x.split(listed(n) or a("split") or x.shape[a("axis", 0)] // a.count, a("axis", 0)),
    "Transpose": lambda a, x: x.permute(a("perm", list(range(x.dim()))[::-1])),
    "GatherElements": lambda a, x, at: x.gather(a("axis", 0), at % x.shape[a("axis", 0)]),
    "DepthToSpace": lambda a, x: F.pixel_shuffle(
        x if a("mode") == "CRD" else x.unflatten(1, (a("blocksize") ** 2, -1)).transpose(1, 2).flatten(1, 2), a("blocksize")),
    "SpaceToDepth": lambda a, x: F.pixel_unshuffle(x, a("blocksize")).unflatten(1, (-1, a("blocksize") ** 2)).transpose(1, 2).flatten(1, 2),
    "Gemm": lambda a, x, y, c=0: a("alpha", 1.0) * ((x.t() if a("transA", 0) else x) @ (y.t() if a("transB", 0) else y)) + a("beta", 1.0) * c,
    "Einsum": lambda a, *xs: torch.einsum(a("equation").replace(" ", ""), *xs),
    "LpNormalization": lambda a, x: x / x.norm(a("p", 2), a("axis", -1), True),
    "LayerNormalization": lambda a, x, s, b=0: standard(x, list(range(a("axis", -1) % x.dim(), x.dim())), a("epsilon", 1e-5)) * s + b,
    "BatchNormalization": lambda a, x, s, b, m, v: by_channel(s / (v + a("epsilon", 1e-5)).sqrt(), x) * (x - by_channel(m, x)) + by_channel(b, x),
    "InstanceNormalization": lambda a, x, s, b: standard(x, list(range(2, x.dim())), a("epsilon", 1e-5)) * by_channel(s, x) + by_channel(b, x),
    "MaxPool": lambda a, x: a.windows(x, a("kernel_shape"), -math.inf).amax(-1), "AveragePool": lambda a, x:
        a.windows(x, a("kernel_shape")).sum(-1) / a.windows(torch.ones_like(x), a("kernel_shape"), float(a("count_include_pad", 0))).sum(-1),
    "LRN": lambda a, x: x / (a("bias", 1.0) + a("alpha", 1e-4) / a("size") * F.pad(
        x.square().movedim(1, -1), [(a("size") - 1) // 2, a("size") // 2]).unfold(-1, a("size"), 1).sum(-1).movedim(-1, 1)) ** a("beta", 0.75),
}
