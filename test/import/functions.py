# SPDX-License-Identifier: BSL-1.0
"""Operators of ONNX that tools/import writes as functions of others, against torch: what numpy computes of the expanded graph."""
import math

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch.nn import functional as F

KINDS = {np.dtype("f4"): 1, np.dtype("u1"): 2, np.dtype("i1"): 3, np.dtype("i4"): 6, np.dtype("i8"): 7, np.dtype("?"): 9}


def attended(q, k, v, mask=None, cap=0.0, scale=None, past=0, causal=False):
    """(batch, heads, token, width); groups of heads share keys."""
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = q @ k.transpose(2, 3) * (scale or 1 / math.sqrt(q.shape[3]))
    scores = torch.tanh(scores / cap) * cap if cap else scores
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[2:]).triu(1 + past).bool(), -math.inf)
    return scores.softmax(-1) @ v


def heads_of(x, heads):
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def turned(x, cosines, sines, width, interleaved):
    """x (batch, heads, token, head_dim), tables (token, width / 2)"""
    part, rest = x[..., :width], x[..., width:]
    if interleaved:
        number = torch.view_as_complex(part.unflatten(3, (-1, 2)).contiguous()) * torch.complex(cosines, sines)
        return torch.cat((torch.view_as_real(number).flatten(3), rest), 3)
    number = torch.complex(part[..., :width // 2], part[..., width // 2:]) * torch.complex(cosines, sines)
    return torch.cat((number.real, number.imag, rest), 3)


def cases():
    """Name, operator, inputs (those that are fixed as a list of one), attributes, and what torch computes of the inputs."""
    random = np.random.default_rng(3)

    def some(*shape):
        return random.standard_normal(shape).astype("f4")
    q, k, v, small = some(2, 4, 5, 8), some(2, 4, 7, 8), some(2, 4, 7, 6), some(2, 2, 7, 8)
    mask, bias = random.random((5, 7)) < 0.7, some(2, 1, 5, 7)
    mask[:, 0] = True
    yield "attention", "Attention", [q, k, v], {}, attended
    yield "attention, causal", "Attention", [q, q, q], {"is_causal": 1}, lambda *x: attended(*x, causal=True)
    yield "attention, a mask", "Attention", [q, k, v, mask], {}, attended
    yield "attention, a bias and softcap", "Attention", [q, k, v, bias], {"softcap": 2.0, "scale": 0.5}, lambda *x: attended(*x, cap=2.0, scale=0.5)
    yield "attention, groups", "Attention", [q, small, small], {}, attended
    yield "attention, a short mask", "Attention", [q, k, v, mask[:, :4]], {}, lambda q, k, v, m: attended(q, k, v, F.pad(m, (0, 3)))
    yield ("attention, a past", "Attention", [q, q, q, None, k, k], {"is_causal": 1},
           lambda q, k, v, past_k, past_v: attended(q, torch.cat((past_k, k), 2), torch.cat((past_v, v), 2), past=7, causal=True))
    yield ("attention, three axes", "Attention", [some(2, 5, 32), some(2, 7, 16), some(2, 7, 16)], {"q_num_heads": 4, "kv_num_heads": 2},
           lambda q, k, v: attended(heads_of(q, 4), heads_of(k, 2), heads_of(v, 2)).transpose(1, 2).flatten(2))
    angles = random.uniform(0, 6, (9, 4)).astype("f4")
    cosines, sines, rows = np.cos(angles), np.sin(angles), np.tile([2, 0, 1, 8, 8], (2, 1))
    for interleaved in (0, 1):
        yield (f"rotary, interleaved {interleaved}", "RotaryEmbedding", [q, [cosines[None, :5]], [sines[None, :5]]], {"interleaved": interleaved},
               lambda x, c, s, i=interleaved: turned(x, c[0], s[0], 8, i))
    yield ("rotary, positions and a part", "RotaryEmbedding", [some(2, 5, 32), [cosines[:, :2]], [sines[:, :2]], [rows]],
           {"num_heads": 4, "rotary_embedding_dim": 4},
           lambda x, c, s, p: turned(heads_of(x, 4), c[p[0]], s[p[0]], 4, 0).transpose(1, 2).flatten(2))
    x, image = some(3, 4, 6), some(2, 4, 7, 6)
    gamma, beta = some(4), some(4)
    yield ("layer norm of two axes", "LayerNormalization", [x, [some(4, 6)], [some(4, 6)]], {"axis": 1},
           lambda x, g, b: F.layer_norm(x, (4, 6), g, b))
    yield ("layer norm, its mean and deviation", "LayerNormalization", [x, [some(6)], [some(6)]], {"outputs": 3},
           lambda x, g, b: (F.layer_norm(x, (6,), g, b), x.mean(2, True), 1 / (x.var(2, unbiased=False, keepdim=True) + 1e-5).sqrt()))
    yield ("rms norm of two axes", "RMSNormalization", [x, [some(4, 6)]], {"axis": 1, "epsilon": 0.1},
           lambda x, g: x / ((x * x).mean((1, 2), True) + 0.1).sqrt() * g)
    yield "instance norm of one position", "InstanceNormalization", [x[:, :, :1], [x[0, :, 0]], [x[0, :, 1]]], {}, lambda x, g, b: 0 * x + b[:, None]
    yield "instance norm", "InstanceNormalization", [image, [gamma], [beta]], {}, lambda x, g, b: F.instance_norm(x, None, None, g, b)
    yield "group norm", "GroupNormalization", [image, [gamma], [beta]], {"num_groups": 2}, lambda x, g, b: F.group_norm(x, 2, g, b)
    yield ("group norm, a weight a group", "GroupNormalization", [image, [gamma[:2]], [beta[:2]]], {"num_groups": 2},
           lambda x, g, b: F.group_norm(x, 2, g.repeat_interleave(2), b.repeat_interleave(2)))
    yield ("mean and variance", "MeanVarianceNormalization", [image], {},
           lambda x: (x - x.mean((0, 2, 3), True)) / x.var((0, 2, 3), unbiased=False, keepdim=True).sqrt())
    yield ("local response norm", "LRN", [image], {"size": 3, "alpha": 0.2, "beta": 0.6, "bias": 1.5},
           lambda x: F.local_response_norm(x, 3, 0.2, 0.6, 1.5))
    yield ("lp pool", "LpPool", [image], {"kernel_shape": [3, 2], "strides": [2, 1], "p": 3}, lambda x: F.lp_pool2d(x.abs(), 3.0, (3, 2), (2, 1)))
    yield "lp norm", "LpNormalization", [x], {"axis": 1, "p": 1}, lambda x: F.normalize(x, p=1, dim=1)
    halves = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.4, -0.4, 3.0], "f4")
    for name, op, about, wanted in (
            ("round", "Round", {}, torch.round), ("ceil", "Ceil", {}, torch.ceil), ("sign", "Sign", {}, torch.sign), ("tan", "Tan", {}, torch.tan),
            ("sinh", "Sinh", {}, torch.sinh), ("asinh", "Asinh", {}, torch.asinh), ("cosh", "Cosh", {}, torch.cosh), ("selu", "Selu", {}, F.selu),
            ("celu", "Celu", {"alpha": 0.7}, lambda x: F.celu(x, 0.7)), ("elu", "Elu", {"alpha": 0.7}, lambda x: F.elu(x, 0.7)),
            ("leaky relu", "LeakyRelu", {"alpha": 0.2}, lambda x: F.leaky_relu(x, 0.2)), ("mish", "Mish", {}, F.mish),
            ("softsign", "Softsign", {}, F.softsign), ("hard sigmoid", "HardSigmoid", {"alpha": 1 / 6}, F.hardsigmoid),
            ("hard swish", "HardSwish", {}, F.hardswish), ("threshold", "ThresholdedRelu", {"alpha": 0.6}, lambda x: F.threshold(x, 0.6, 0)),
            ("swish", "Swish", {"alpha": 1.7}, lambda x: x * torch.sigmoid(1.7 * x)),
            ("shrink", "Shrink", {"lambd": 0.5, "bias": 0.5}, lambda x: F.softshrink(x, 0.5))):
        yield name, op, [halves], about, wanted
    yield "acosh", "Acosh", [1 + np.abs(halves)], {}, torch.acosh
    yield "atanh", "Atanh", [halves / 4], {}, torch.atanh
    yield "prelu", "PRelu", [image, [some(4, 1, 1)]], {}, lambda x, s: F.prelu(x, s.flatten())
    yield "fmod", "Mod", [5 * x, [np.array(1.5, "f4")]], {"fmod": 1}, torch.fmod
    yield "mean of three", "Mean", [x, some(6), some(4, 1)], {}, lambda a, b, c: (a + b + c) / 3
    yield "largest of three", "Max", [x, some(6), some(4, 1)], {}, lambda a, b, c: torch.maximum(torch.maximum(a, b), c)
    yield "one", "Min", [x, x], {}, torch.minimum
    yield "triangle", "Trilu", [x, [np.array(1)]], {"upper": 0}, lambda x, k: x.tril(1)
    for name, op, wanted in (("product", "ReduceProd", lambda x, a: x.prod(1, True).prod(2, True)), ("l1", "ReduceL1", lambda x, a: x.abs().sum((1, 2), True)),
                             ("l2", "ReduceL2", lambda x, a: (x * x).sum((1, 2), True).sqrt()), ("squares", "ReduceSumSquare", lambda x, a: (x * x).sum((1, 2), True)),
                             ("log of a sum", "ReduceLogSumExp", lambda x, a: x.logsumexp((1, 2), True))):
        yield name, op, [3 * x, [np.array([1, -1])]], {}, wanted
    yield "log of the sum", "ReduceLogSum", [np.abs(x)], {"keepdims": 0}, lambda x: x.sum().log()
    yield "no axes, all", "ReduceMean", [x, [np.zeros(0, "i8")]], {}, lambda x, a: x.mean((0, 1, 2), True)
    yield "no axes, none", "ReduceL2", [x, [np.zeros(0, "i8")]], {"noop_with_empty_axes": 1}, lambda x, a: x.abs()
    for name, inputs, about, wanted in (("product, computed", [some(6, 3), some(4, 3), some(6, 1)], {"transB": 1, "alpha": 0.5, "beta": 2.0},
                                         lambda a, b, c: 0.5 * a @ b.T + 2 * c),
                                        ("product, turned", [some(3, 6), some(3, 4)], {"transA": 1}, lambda a, b: a.T @ b)):
        yield name, "Gemm", inputs, about, wanted
    yield ("convolution, a computed kernel", "Conv", [image, some(6, 2, 3, 2), some(6)],
           {"group": 2, "strides": [2, 1], "pads": [1, 0, 2, 1], "dilations": [1, 2]},
           lambda x, w, b: F.conv2d(F.pad(x, (0, 1, 1, 2)), w, b, (2, 1), 0, (1, 2), 2))
    yield ("convolution, a computed kernel for each channel", "Conv", [x, some(4, 1, 3)], {"group": 4, "auto_pad": "SAME_UPPER"},
           lambda x, w: F.conv1d(x, w, None, 1, 1, 1, 4))
    yield "convolution, a computed bias", "Conv", [image, [some(5, 4, 1, 1)], some(5)], {}, lambda x, w, b: F.conv2d(x, w, b)
    yield "product of one row, turned", "Gemm", [some(1, 16), [some(1, 3)]], {"transA": 1}, lambda a, b: a.T @ b
    yield ("last of equals", "ArgMax", [np.round(x)], {"axis": -1, "select_last_index": 1, "keepdims": 0},
           lambda x: x.shape[-1] - 1 - x.flip(-1).argmax(-1))
    yield ("eye", "EyeLike", [x[0]], {"k": 1, "dtype": 1}, lambda x: torch.ones(4, 6).triu(1) - torch.ones(4, 6).triu(2))
    yield "elements of one", "GatherElements", [x[:, :1], np.zeros((2, 3, 6), "i8")], {"axis": 1}, lambda x, i: x[:2].expand(2, 3, 6)
    yield "hardmax", "Hardmax", [x], {"axis": 1}, lambda x: F.one_hot(x.argmax(1), 4).transpose(1, 2).double()
    yield ("one hot", "OneHot", [np.array([1, -1, 5, 0]), [np.array(3)], [np.array([2, 7], "f4")]], {"axis": 0},
           lambda i, d, v: torch.tensor([[2.0, 2, 2, 7], [7, 2, 2, 2], [2, 7, 2, 2]]))
    yield "padded by a negative number", "Pad", [x, [np.array([0, -1, 2, 0, 1, -3])]], {}, lambda x, p: F.pad(x, (2, -3, -1, 1))
    yield "cropped and padded", "CenterCropPad", [x, [np.array([2, 9])]], {"axes": [1, 2]}, lambda x, s: F.pad(x[:, 1:3], (1, 2))
    yield ("scattered rows", "ScatterND", [x, [np.array([[2, 1], [0, 3]])], some(2, 6)], {},
           lambda x, i, u: x.index_put((i[:, 0], i[:, 1]), u))
    yield ("scattered elements", "ScatterElements", [x, [np.array([[[3, 1]]])], some(1, 1, 2)], {"axis": 1}, lambda x, i, u: x.scatter(1, i, u))
    yield "gathered rows", "GatherND", [x, [np.array([[2, 1], [0, 3]])]], {}, lambda x, i: x[i[:, 0], i[:, 1]]
    yield "gathered in a batch", "GatherND", [x, [np.array([[1], [0], [3]])]], {"batch_dims": 1}, lambda x, i: x[range(3), i[:, 0]]
    for equation, inputs in (("bij,bjk,kl->bl", [x, some(3, 6, 2), some(2, 5)]), ("bii->bi", [some(3, 4, 4)]), ("ij->i", [some(3, 4)]),
                             ("ij->ji", [some(3, 4)]), ("i,i", [some(4), some(4)]), ("...ij,...jk->...ik", [image, some(6, 3)]), ("ij,k->k", [some(3, 4), some(5)])):
        yield f"einsum {equation}", "Einsum", inputs, {"equation": equation}, lambda *x, e=equation: torch.einsum(e, *x)
    yield "space to depth", "SpaceToDepth", [some(2, 3, 4, 6)], {"blocksize": 2}, lambda x: F.pixel_unshuffle(x, 2).unflatten(1, (3, 4)).transpose(1, 2).flatten(1, 2)
    yield "depth to space", "DepthToSpace", [some(2, 8, 3, 2)], {"blocksize": 2, "mode": "CRD"}, lambda x: F.pixel_shuffle(x, 2)
    yield ("largest of windows over the end", "MaxPool", [image], {"kernel_shape": [3, 2], "strides": [2, 4], "pads": [1, 0, 1, 0], "ceil_mode": 1},
           lambda x: F.max_pool2d(x, (3, 2), (2, 4), (1, 0), ceil_mode=True))
    yield ("means of windows over the end", "AveragePool", [image], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
           lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True, count_include_pad=False))
    yield ("corners aligned", "Resize", [image, None, [np.array([1, 1, 0.5, 0.7], "f4")]],
           {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
           lambda x, s: F.interpolate(x, scale_factor=(0.5, 0.7), mode="bilinear", align_corners=True))
    yield ("cubic", "Resize", [image, None, [np.array([1, 1, 2.5, 1.5], "f4")]], {"mode": "cubic"},
           lambda x, s: F.interpolate(x, scale_factor=(2.5, 1.5), mode="bicubic", align_corners=False))


def quantized():
    """A product as each quantized form writes it; what torch computes in floats of the same integers."""
    random = np.random.default_rng(4)
    x, w = random.standard_normal((5, 6)).astype("f4"), random.integers(-90, 91, (6, 3)).astype("i1")
    scale, each = np.array(0.02, "f4"), np.array([0.01, 0.02, 0.03], "f4")
    byte, zero, no = np.array(128, "u1"), np.array(0, "u1"), np.array(0, "i1")
    node = helper.make_node
    constants = {"w": w, "scale": scale, "each": each, "byte": byte, "zero": zero, "no": no}
    in_floats = torch.from_numpy(x).double() @ (torch.from_numpy(w).double() * torch.from_numpy(each).double())
    same = [node("QuantizeLinear", ["x", "scale", "byte"], ["xq"]), node("DequantizeLinear", ["xq", "scale", "byte"], ["xf"]),
            node("DequantizeLinear", ["w", "each", ""], ["wf"], axis=1), node("MatMul", ["xf", "wf"], ["m"])]
    yield "QDQ", [*same, node("QuantizeLinear", ["m", "scale", "byte"], ["mq"]), node("DequantizeLinear", ["mq", "scale", "byte"], ["y"])], constants, x, in_floats
    yield ("QDQ, ReLU as a zero point", [*same, node("QuantizeLinear", ["m", "scale", "zero"], ["mq"]), node("DequantizeLinear", ["mq", "scale", "zero"], ["y"])],
           constants, x, in_floats.relu())
    yield ("a dynamic scale", [node("DynamicQuantizeLinear", ["x"], ["xq", "xs", "xz"]), node("MatMulInteger", ["xq", "w", "xz", "no"], ["i"]),
                               node("Cast", ["i"], ["f"], to=1), node("Mul", ["xs", "each"], ["s"]), node("Mul", ["f", "s"], ["y"])], constants, x, in_floats)
    yield ("QLinear", [node("QuantizeLinear", ["x", "scale", "byte"], ["xq"]),
                       node("QLinearMatMul", ["xq", "scale", "byte", "w", "each", "no", "scale", "byte"], ["yq"]),
                       node("DequantizeLinear", ["yq", "scale", "byte"], ["y"])], constants, x, in_floats)


def model_of(nodes, feeds, fixed, outputs=("y",), functions=(), opset=23):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(name, KINDS[x.dtype], x.shape) for name, x in feeds.items()],
                              [helper.make_tensor_value_info(name, 1, None) for name in outputs],
                              [numpy_helper.from_array(np.asarray(x), name) for name, x in fixed.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], functions=functions)


def wide(x):
    made = torch.from_numpy(np.asarray(x))
    return made.double() if made.dtype == torch.float32 else made


def decoder_layer(tokens=9, heads=4, kv_heads=2, width=8, hidden=48, interleaved=0):
    """As exporters of opset 23 and 24 write it: RMSNormalization, RotaryEmbedding, Attention, Swish."""
    random = np.random.default_rng(6)
    features = heads * width
    angles = np.outer(np.arange(tokens), 10000.0 ** (-np.arange(0, width, 2) / width)).astype("f4")[None]
    fixed = {"cos": np.cos(angles), "sin": np.sin(angles)}
    for name, shape in (("g1", (features,)), ("g2", (features,)), ("wq", (features, features)), ("wk", (features, kv_heads * width)),
                        ("wv", (features, kv_heads * width)), ("wo", (features, features)), ("wg", (features, hidden)), ("wu", (features, hidden)),
                        ("wd", (hidden, features))):
        fixed[name] = (random.standard_normal(shape) / math.sqrt(shape[0])).astype("f4")

    def node(op, *names, **about):
        return helper.make_node(op, list(names[:-1]), [names[-1]], name=f"/layers.0/{names[-1]}/{op}", **about)
    nodes = [node("RMSNormalization", "x", "g1", "n1"), *(node("MatMul", "n1", f"w{c}", c) for c in "qkv"),
             node("RotaryEmbedding", "q", "cos", "sin", "rq", num_heads=heads, interleaved=interleaved),
             node("RotaryEmbedding", "k", "cos", "sin", "rk", num_heads=kv_heads, interleaved=interleaved),
             node("Attention", "rq", "rk", "v", "a", q_num_heads=heads, kv_num_heads=kv_heads, is_causal=1), node("MatMul", "a", "wo", "o"),
             node("Add", "x", "o", "h"), node("RMSNormalization", "h", "g2", "n2"), node("MatMul", "n2", "wg", "g"), node("MatMul", "n2", "wu", "u"),
             node("Swish", "g", "s"), node("Mul", "s", "u", "p"), node("MatMul", "p", "wd", "d"), node("Add", "h", "d", "y")]
    return model_of(nodes, {"x": np.zeros((1, tokens, features), "f4")}, fixed)


def control_flow():
    """Name, nodes, constants, x and what torch computes: loops and choices that are fixed, sequences of tensors."""
    x = np.random.default_rng(7).standard_normal((3, 4)).astype("f4")

    def tensor(name):
        return helper.make_tensor_value_info(name, 1, None)

    def node(op, inputs, outputs, **about):
        return helper.make_node(op, inputs.split(), outputs.split(), **about)
    twice = helper.make_graph([node("SequenceAt", "rows i", "row"), node("Concat", "row row", "both", axis=0), node("SequenceInsert", "s both", "more"),
                               node("Identity", "go", "still")], "twice", [tensor("i"), tensor("go"), tensor("s")], [tensor("still"), tensor("more")])
    yield ("a loop over a sequence", [node("SplitToSequence", "x", "rows", axis=0), node("SequenceEmpty", "", "none"),
                                      node("Loop", "count true none", "all", body=twice), node("ConcatFromSequence", "all", "y", axis=0)],
           {"count": np.array(3), "true": np.array(True)}, x, lambda x: x.repeat_interleave(2, 0))
    sums = helper.make_graph([node("Gather", "x i", "row"), node("Add", "sum row", "total"), node("Identity", "total", "kept"),
                              node("Less", "i last", "still")], "sums", [tensor("i"), tensor("go"), tensor("sum")],
                             [tensor("still"), tensor("total"), tensor("kept")], [numpy_helper.from_array(np.array(1), "last")])
    yield ("a loop that ends early and collects", [
        helper.make_node("Loop", ["count", "", "zero"], ["end", "all"], body=sums), node("Add", "end all", "y")],
           {"count": np.array(9), "zero": np.zeros(4, "f4")}, x, lambda x: x[:2].cumsum(0) + x[:2].sum(0))
    squeezed = helper.make_graph([node("Squeeze", "rows first", "small")], "squeezed", [], [tensor("small")])
    other = helper.make_graph([node("Identity", "rows", "same")], "same", [], [tensor("same")])
    yield ("a choice by a size", [node("Unsqueeze", "x first", "rows"), node("Shape", "rows", "sizes"), node("Gather", "sizes first", "size"),
                                  node("Equal", "size one", "is_one"), node("If", "is_one", "y", then_branch=squeezed, else_branch=other)],
           {"first": np.array([0]), "one": np.array([1])}, x, lambda x: x)
    yield ("places in a sequence", [node("SplitToSequence", "x sizes", "parts", axis=1), node("SequenceErase", "parts middle", "two"),
                                    node("SequenceLength", "two", "count"), node("Cast", "count", "number", to=1),
                                    node("SequenceAt", "two last", "part"), node("SequenceConstruct", "part part", "pair"),
                                    node("ConcatFromSequence", "pair", "stack", axis=0, new_axis=1), node("Mul", "stack number", "y")],
           {"sizes": np.array([1, 2, 1]), "middle": np.array(1), "last": np.array(-1)}, x, lambda x: 2 * torch.stack((x[:, 3:], x[:, 3:])))


def check(tap, tool):
    def compared(name, model, feeds, wanted):
        values = tool.import_operators.evaluated(tool.import_functions.expanded(model, feeds)[0], feeds, double=True)
        for one, result in zip(model.graph.output, wanted if isinstance(wanted, tuple) else (wanted,)):
            made, result = values[one.name], result.numpy()
            far = np.abs(made - result).max() if made.shape == result.shape else math.inf
            tap.check(f"function: {name}, {one.name}", far <= 3e-6 * max(1, np.abs(result).max()), f"{far} {made.shape} {result.shape}")
    for name, op, inputs, about, wanted in cases():
        count = about.pop("outputs", 1)
        feeds = {f"x{i}": x for i, x in enumerate(inputs) if isinstance(x, np.ndarray)}
        fixed = {f"x{i}": x[0] for i, x in enumerate(inputs) if isinstance(x, list)}
        names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
        outputs = [f"y{i}" for i in range(count)]
        model = model_of([helper.make_node(op, names, outputs, name="it", **about)], feeds, fixed, outputs)
        compared(name, model, feeds, wanted(*(wide(x[0] if isinstance(x, list) else x) for x in inputs if x is not None)))
    for name, nodes, fixed, x, wanted in [*quantized(), *control_flow()]:
        compared(name, model_of(nodes, {"x": x}, fixed), {"x": x}, wanted(wide(x)) if callable(wanted) else wanted)
    x = np.random.default_rng(5).standard_normal((3, 2, 2)).astype("f4")
    for about, rows in (({"axis": 0}, (1, 12)), ({}, (3, 4))):
        for op, of_rows in (("Softmax", lambda x: x.softmax(1)), ("Hardmax", lambda x: F.one_hot(x.argmax(1), x.shape[1]).double())):
            node = helper.make_node(op, ["x"], ["y"], **about)
            compared(f"{op} of opset 11, {rows[0]} rows", model_of([node], {"x": x}, {}, opset=11), {"x": x}, of_rows(wide(x).reshape(rows)).reshape(x.shape))
    inner = helper.make_function("own", "Twice", ["a"], ["c"], [helper.make_node("Add", ["a", "a"], ["c"])], [helper.make_opsetid("", 23)])
    alpha = onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    steps = [helper.make_node("LeakyRelu", ["a"], ["b"]), helper.make_node("Twice", ["b"], ["c"], domain="own")]
    steps[0].attribute.append(alpha)
    outer = helper.make_function("own", "Both", ["a"], ["c"], steps, [helper.make_opsetid("", 23), helper.make_opsetid("own", 1)], ["slope"])
    calls = [helper.make_node("Both", ["x"], ["b"], domain="own", slope=0.3), helper.make_node("Both", ["b"], ["y"], domain="own", slope=0.2)]
    compared("of the model, in one another", model_of(calls, {"x": x}, {}, functions=[inner, outer]), {"x": x},
             2 * F.leaky_relu(2 * F.leaky_relu(wide(x), 0.3), 0.2))
